"""Elements whose places loops remember: which are held in scalars, and which might not be there."""

from __future__ import annotations

from comprehensive.loops.normalize.carried_reads import with_carried_reads_held
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Declare,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer

INT = ScalarType.INT
ZERO, ONE = IntLiteral(0), IntLiteral(1)
J, P, BEST = Name("j"), Name("p"), Name("best")


def of_loop(*body: Stmt) -> tuple[Stmt, ...]:
    """The statements around a loop with this body, after the pass."""
    loop = For(INT, "j", ZERO, "<", Name("n"), ONE, body)
    types = {"j": INT, "p": INT, "best": INT, "n": INT}
    before = (Declare(INT, "best", initial=ZERO), loop)
    return with_carried_reads_held(before, {"a": ScalarType.FLOAT}, types, Namer({*types, "a"}))


def larger(place: Name) -> Binary:
    return Binary(">", Index("a", (place,)), Index("a", (BEST,)))


def test_the_element_at_a_place_that_was_read_is_held() -> None:
    _, held, loop = of_loop(If(larger(J), (Assign(BEST, "=", J),)))
    assert isinstance(held, Declare)
    assert held.type is ScalarType.FLOAT
    assert isinstance(loop, For)
    (choice,) = loop.body
    assert isinstance(choice, If)
    assert choice.condition == Binary(">", Index("a", (J,)), Name(held.name))
    assert choice.then == (Assign(BEST, "=", J), Assign(Name(held.name), "=", Index("a", (J,))))


def test_a_place_that_has_changed_since_it_was_read_has_not_been_read() -> None:
    moved = (Assign(P, "=", Binary("+", P, ONE)), Assign(BEST, "=", P))
    body = (Declare(INT, "p", initial=J), If(larger(P), moved))
    assert len(of_loop(If(larger(J), (Assign(BEST, "=", J),)), *body)) == 2
    assert len(of_loop(*body)) == 2
