"""The second opinion on integer formulas proves only what is true."""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.poly.conflicts import has_no_integer_point
from comprehensive.poly.model import Constraint

BI, BJ, B = (Polynomial.symbol(name) for name in "ijB")


def test_two_blocks_of_the_same_size_never_share_an_element() -> None:
    u, v = Polynomial.symbol("u"), Polynomial.symbol("v")
    same = Constraint(BI * B + u - BJ * B - v, equality=True)
    inside = [Constraint(u), Constraint(B - 1 - u), Constraint(v), Constraint(B - 1 - v)]
    apart = Constraint(BI - BJ - 1)
    assert has_no_integer_point([same, *inside, apart], {"B": 1})


def test_an_integer_point_is_never_denied() -> None:
    assert not has_no_integer_point([Constraint(BI * BJ - 6, equality=True)], {"i": 2, "j": 2})


def test_a_gap_between_integers_is_found() -> None:
    assert has_no_integer_point([Constraint(2 * BI - 1, equality=True)], {})
