"""Integers of other types than ``int``: what is rewritten has the value that C computes, on numbers."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial
from comprehensive.loops.conversions import in_type, without_conversions
from comprehensive.loops.integers import Ring
from comprehensive.loops.interpreter import UndefinedBehaviour, c_value
from comprehensive.loops.intervals import Interval, values_of
from comprehensive.loops.ir import Nest, Role, Scalar
from comprehensive.loops.normalize.bounds import upper_bound
from comprehensive.loops.normalize.counters import LARGEST_COUNT, counted_in_int
from comprehensive.loops.normalize.narrow import in_int
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Expr,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.printer import print_expr, print_stmts
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import subexpressions
from tests.unit.loops.nests import body_of, nest_of

INT, UNSIGNED, LONG, SIZE = (
    ScalarType.INT,
    ScalarType.UNSIGNED,
    ScalarType.LONG,
    ScalarType.UNSIGNED_LONG,
)
TYPES = {"y": INT, "i": INT, "u": UNSIGNED, "l": LONG, "z": SIZE, "c": ScalarType.UNSIGNED_CHAR}
RANGES = {"y": Interval(0, LARGEST_COUNT - 1)}
VALUES = {
    "y": (0, 1, 2, 77, LARGEST_COUNT - 1),
    "i": (-(2**31), -5, -1, 0, 1, 3, 2**31 - 1),
    "u": (0, 1, 5, 2**31, 2**32 - 1),
    "l": (-(2**63), -(2**32) - 1, -1, 0, 2, 2**32, 2**63 - 1),
    "z": (0, 1, 4, 2**32 - 1, 2**63, 2**64 - 1),
    "c": (0, 1, 255),
}


def leaves() -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.sampled_from([*TYPES, "y", "y"]).map(Name),
        st.sampled_from([0, 1, 2, 3, 65536, 2**31 - 1]).map(IntLiteral),
        st.sampled_from([0, 1, 7, 2**32 - 1]).map(lambda value: IntLiteral(value, type=SIZE)),
    )


def nodes(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    kinds = st.sampled_from([INT, UNSIGNED, LONG, SIZE, ScalarType.SHORT])
    return st.one_of(
        st.builds(Cast, kinds, inner),
        st.builds(Binary, st.sampled_from(["+", "-", "*", "+", "-"]), inner, inner),
        st.builds(Binary, st.sampled_from(["/", "%", "<", "=="]), inner, inner),
        st.builds(Unary, st.just("-"), inner),
        st.builds(Conditional, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(leaves(), nodes, max_leaves=6)
POINTS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})


def value_of(expr: Expr, point: dict[str, int]) -> int:
    """Return the value that C computes; the example is rejected where that has no meaning."""
    try:
        return int(c_value(expr, point, TYPES))
    except UndefinedBehaviour:
        assume(False)
        raise


@given(EXPRESSIONS, POINTS)
def test_a_polynomial_without_conversions_is_the_value_modulo_the_range_of_its_type(
    expr: Expr, point: dict[str, int]
) -> None:
    expected = value_of(expr, point)
    ring = Ring()
    polynomial = ring.read(without_conversions(expr, TYPES))
    atoms = {s: value_of(ring.write(Polynomial.symbol(s)), point) for s in polynomial.symbols}
    found = int(polynomial.evaluate(atoms))
    kind = promote(type_of(expr, TYPES))
    assert (found % 2**kind.bits == expected % 2**kind.bits) if kind.wraps else found == expected


@given(EXPRESSIONS, st.sampled_from([UNSIGNED, LONG, SIZE]), POINTS)
def test_a_polynomial_is_computed_in_a_type(expr: Expr, kind: ScalarType, point: dict[str, int]) -> None:
    plain = without_conversions(expr, TYPES)
    of = promote(type_of(expr, TYPES))
    assume(of.is_exact or kind.bits <= of.bits)
    expected = value_of(expr, point)
    ring = Ring()
    for written in (plain, ring.write(ring.read(plain))):
        found = in_type(written, kind, TYPES)
        assert type_of(found, TYPES) is kind
        assert value_of(found, point) == kind.wrapped(expected)


@given(EXPRESSIONS, POINTS)
def test_values_are_within_the_interval(expr: Expr, point: dict[str, int]) -> None:
    least, greatest = values_of(expr, TYPES, RANGES)
    assert least <= value_of(expr, point) <= greatest


@given(EXPRESSIONS, POINTS)
def test_values_and_subscripts_are_the_same_in_int(expr: Expr, point: dict[str, int]) -> None:
    expected = value_of(expr, point)
    for target, kind in (("i", INT), ("u", UNSIGNED), ("z", SIZE), ("x", None)):
        (found,) = in_int((Assign(Name(target), "=", expr),), {**TYPES, "x": ScalarType.DOUBLE}, RANGES)
        assert isinstance(found, Assign)
        value = value_of(found.value, point)
        assert value == expected if kind is None else kind.wrapped(value) == kind.wrapped(expected)
    reference = Assign(Index("x", (expr,)), "=", IntLiteral(0))
    (found,) = in_int((reference,), {**TYPES, "x": ScalarType.DOUBLE}, RANGES)
    assert isinstance(found, Assign)
    assert isinstance(found.target, Index)
    assert (value_of(found.target.subscripts[0], point) - expected) % 2**64 == 0


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a[(size_t)y + 1] = (size_t)y;", "a[y + 1] = y;\n"),
        ("a[(size_t)y - 1] = (size_t)y - 1;", "a[y - 1] = (unsigned long)y - 1;\n"),  # which wraps around
        ("a[((size_t)y - 1) * z] = 0;", "a[(y - 1) * z] = 0;\n"),
        ("a[(y > 0 ? (size_t)y - 1 : 0) * z] = 0;", "a[(y > 0 ? y - 1 : 0) * z] = 0;\n"),
        ("int t = (size_t)y - 1;", "int t = y - 1;\n"),
        ("a[2 * (size_t)y] = 0;", "a[2 * (unsigned long)y] = 0;\n"),  # no int holds it
        ("if ((size_t)y < 7ul) a[y] = 1;", "if (y < 7)\n  a[y] = 1;\n"),
        ("if ((size_t)y < z) a[y] = 1;", "if (y < z)\n  a[y] = 1;\n"),
        ("if ((size_t)y - 1 < z) a[y] = 1;", "if (y - 1 < z)\n  a[y] = 1;\n"),
        ("if ((size_t)y < i) a[y] = 1;", "if (i < 0 || y < i)\n  a[y] = 1;\n"),  # -1 is large there
        ("a[y] = (float)(size_t)y * 3;", "a[y] = (float)y * 3;\n"),
        ("a[y] = (size_t)y * z;", "a[y] = y * z;\n"),
        ("a[y] += (size_t)y;", "a[y] += y;\n"),
        ("int t = 1; t += (size_t)y;", "int t = 1;\nt += (unsigned long)y;\n"),  # in 64 bits, and cut off
    ],
)
def test_what_is_computed_in_int(written: str, expected: str) -> None:
    nest = nest_of(
        f"meta_for (int v = 0; v < 9; v++) meta_for (int w = 0; w < 9; w++) {{ int y = v * 9 + w; {written} }}".replace(
            "size_t", "unsigned long"
        ),
        "float *a, unsigned long z, int i",
    )
    (_, *body) = nest.bands[0].body
    if "y - 1 < z" in expected:  # wraps around for y = 0, so that it stays
        expected = expected.replace("y - 1", "(unsigned long)y - 1")
    types = {**TYPES, "a": ScalarType.FLOAT, "t": INT}
    assert print_stmts(in_int(tuple(body), types, RANGES)) == expected


SCALARS = (
    Scalar("i", INT, Role.SCALAR),
    Scalar("n", INT, Role.PROGRAM),
    Scalar("u", UNSIGNED, Role.SCALAR),
    Scalar("z", SIZE, Role.DATA),
    Scalar("y", INT, Role.HOST),
)
BOUND_TYPES = {s.name: s.type for s in SCALARS}
SIDES = [
    *(
        "y",
        "(size_t)y",
        "(unsigned)y",
        "(long)y",
        "(size_t)y + 1",
        "y - 2",
        "(unsigned)y + 2u",
        "(size_t)y - 1",
    ),
    *("y + n", "2 * y", "(size_t)y + z", "y * (size_t)n", "-y"),
]
LARGE = ["i", "n", "u", "z", "z - 1", "u - 2", "n - 1", "z - u", "(int)z", "y + 3"]


NUMBERS = [
    {"i": i, "n": n, "u": u, "z": z}
    for i, n, u, z in product((-3, 4), (1, 3), (0, 7, 2**32 - 1), (0, 1, 5, 2**40))
]


@pytest.mark.parametrize("side", SIDES)
def test_an_upper_bound_holds_where_the_condition_does(side: str) -> None:
    nest = nest_of("meta_for (int v = 0; v < 9; v++) meta_for (int w = 0; w < 9; w++) a[v] = 0;")
    nest = Nest(nest.name, SCALARS, nest.arrays, (), nest.grid, nest.body)
    for relation, large in product(("<", "<="), LARGE):
        condition = parsed(f"{side} {relation} {large}")
        bound = upper_bound(nest, condition, ("y",))
        for numbers, y in product(NUMBERS, (0, 1, 3, LARGEST_COUNT - 1)) if bound else ():
            assert bound is not None
            point = {**numbers, "y": y}
            try:
                expected = bool(c_value(condition, point, BOUND_TYPES))
                limit = on_the_host(bound.limit, point)
            except UndefinedBehaviour:
                continue
            if abs(limit) <= LARGEST_COUNT:  # or no tile is launched
                assert expected is (y < limit), (print_expr(bound.limit), point)


def on_the_host(expr: Expr, point: dict[str, int]) -> int:
    """The value that the launcher computes, which refuses what no ``long`` holds."""
    for part in subexpressions(expr):
        if c_value(part, point, BOUND_TYPES) > LONG.highest:
            raise UndefinedBehaviour("no long holds it")
    return int(c_value(expr, point, BOUND_TYPES))


def parsed(text: str) -> Expr:
    """An expression over the scalars of this file."""
    nest = nest_of(
        f"meta_for (int v = 0; v < 9; v++) meta_for (int w = 0; w < 9; w++) a[v] = {text};".replace(
            "size_t", "unsigned long"
        ),
        "int i, int n, unsigned u, unsigned long z, int y, int *a",
    )
    (statement,) = nest.bands[0].body
    assert isinstance(statement, Assign)
    return statement.value


@pytest.mark.parametrize(
    ("header", "counted", "conditions"),
    [
        ("size_t k = 0; k < z; k++", "for (int k = 0; k < z; k++)", [f"z <= {LARGEST_COUNT}"]),
        ("long k = 0; k < l; k++", "for (int k = 0; k < l; k++)", [f"l <= {LARGEST_COUNT}"]),
        ("unsigned k = 0; k < w; k++", "for (int k = 0; k < w; k++)", [f"w <= {LARGEST_COUNT}"]),
        ("unsigned char k = 0; k < m; k++", "for (int k = 0; k < m; k++)", ["m <= 255"]),
        (
            "size_t k = 0; k < m; k++",  # a negative one is a large number
            "for (int k = 0; k < m; k++)",
            ["0 <= m"],
        ),
        (
            "size_t k = 0; k < a[0]; k++",
            "for (unsigned long k = 0; k < a[0]; k++)",
            [],
        ),  # a launch cannot tell
        ("int k = 0; k < l; k++", "for (int k = 0; k < l; k++)", [f"l <= {LARGEST_COUNT}"]),
    ],
)
def test_serial_loops_count_in_int_where_a_launch_can_tell(
    header: str, counted: str, conditions: list[str]
) -> None:
    nest = body_of(
        f"for ({header}) b[k] = k;".replace("size_t", "unsigned long"),
        "int n, int B, int m, unsigned w, long l, unsigned long z, unsigned long *a, float *b",
    )
    found, demanded = counted_in_int(nest)
    assert print_stmts(found.bands[0].body).startswith(counted)
    assert [print_expr(condition) for condition in demanded] == conditions
