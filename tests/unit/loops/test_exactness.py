"""An expression called exact has the value of mathematics at the ends of the ranges of its types."""

from __future__ import annotations

from itertools import product
from typing import cast

import pytest

from comprehensive.loops.exactness import is_exact
from comprehensive.metafork.ast import Expr, ScalarType
from comprehensive.metafork.scalar_types import INTEGER_TYPES
from tests.unit.metafork.trees import parse_as

TYPES = {
    "c": ScalarType.UNSIGNED_CHAR,
    "i": ScalarType.INT,
    "u": ScalarType.UNSIGNED,
    "l": ScalarType.LONG,
    "x": ScalarType.FLOAT,
    "h": ScalarType.SHORT,
    "z": ScalarType.UNSIGNED_LONG,
}


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("i + 1", True),
        ("i * i - l", True),
        ("u", True),
        ("u + 1", False),
        ("u - u", False),
        ("-u", False),
        ("-i", True),
        ("u + l", True),
        ("u / 2u", True),
        ("u / 2", True),
        ("u / i", False),
        ("u % l", True),
        ("c * c", True),
        ("(int)l", False),
        ("(int)u", False),
        ("(int)c", True),
        ("(long)u", True),
        ("(long)(u + 1)", False),
        ("(unsigned)i", False),
        ("i < u", False),
        ("0 <= u", True),
        ("i < l && u < 2u", True),
        ("i < 0 ? i : 2", True),
        ("i < 0 ? i : u", False),
        ("u << 1", False),
        ("!i", True),
        ("h * h", True),
        ("z / 2", True),
        ("z / i", False),
        ("z < u", True),
        ("l < z", False),
        ("z + l", False),
        ("(short)h", True),
        ("(short)c", True),
        ("(long)z", False),
        ("(unsigned long)u", True),
        ("x", False),
    ],
)
def test_exactness(text: str, exact: bool) -> None:
    expr = parse_as("condition", text)
    assert is_exact(cast(Expr, expr), TYPES) is exact


def test_a_type_holds_the_values_of_another_exactly_where_the_ranges_say_so() -> None:
    for target, source in product(INTEGER_TYPES, INTEGER_TYPES):
        # `unsigned` to `int` and the like: never, although parts of the ranges agree.
        inside = all(target.wrapped(value) == value for value in (source.lowest, source.highest))
        assert target.holds(source) is inside
