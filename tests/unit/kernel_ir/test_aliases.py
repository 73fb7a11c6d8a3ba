"""A constant has one name in a kernel."""

from __future__ import annotations

import pytest

from comprehensive.kernel_ir.idle import without_aliases
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.metafork.ast import Assign, Declare, Index, IntLiteral, Name, ScalarType, Stmt

BLOCK = constant("block", Name("blockIdx.x"))


def store(place: str, value: str) -> Assign:
    return Assign(Index("a", (Name(place),)), "=", Name(value))


STEP = Assign(Name("k"), "+=", IntLiteral(1))


def test_a_second_name_of_a_constant_is_left_out() -> None:
    body = (BLOCK, constant("i0", Name("block")), store("i0", "block"))
    assert without_aliases(body) == (BLOCK, store("block", "block"))


def test_a_second_name_of_an_iterator_is_left_out() -> None:
    inside = (constant("e0", Name("x0")), store("e0", "x0"))
    assert without_aliases((counting("x0", Name("n"), inside),)) == (
        counting("x0", Name("n"), (store("x0", "x0"),)),
    )


@pytest.mark.parametrize(
    "body",
    [
        # What is read of a launch has no sign.
        (BLOCK, store("block", "block")),
        # What changes has a name for what it was.
        (Declare(ScalarType.INT, "k"), constant("was", Name("k")), STEP, store("k", "was")),
        (counting("k", Name("n"), (constant("was", Name("k")), STEP, store("was", "k"))),),
        # Another type is another value.
        (BLOCK, Declare(ScalarType.LONG, "wide", initial=Name("block"), const=True), store("wide", "block")),
        # The name means another variable further down.
        (BLOCK, constant("i0", Name("block")), counting("block", Name("n"), (store("block", "i0"),))),
    ],
)
def test_other_names_stay(body: tuple[Stmt, ...]) -> None:
    assert without_aliases(body) == body


def test_a_name_that_is_known_elsewhere_stays() -> None:
    body = (BLOCK, constant("i0", Name("block")), store("i0", "block"))
    assert without_aliases(body, frozenset({"i0"})) == body
