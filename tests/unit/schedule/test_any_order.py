"""Updates that have the same result in any order of the steps, also where conditions leave some out."""

from __future__ import annotations

from comprehensive.metafork.ast import Assign, Binary, Conditional, Expr, Index, IntLiteral, Name, ScalarType
from comprehensive.schedule.any_order import any_order_of

TYPES = {"k": ScalarType.INT, "j": ScalarType.INT, "i": ScalarType.INT, "m": ScalarType.FLOAT}
TYPES |= {"s": ScalarType.FLOAT, "a": ScalarType.FLOAT}
ELEMENT = Index("a", (Name("j"),))
PART = Binary("<=", Name("j"), Name("i"))


def chosen(name: str, condition: Expr, value: Expr) -> Assign:
    return Assign(Name(name), "=", Conditional(condition, value, Name(name)))


def test_conditions_that_do_not_read_the_target_decide_which_steps_there_are() -> None:
    count = chosen("k", Binary(">", ELEMENT, IntLiteral(0)), Binary("+", Name("k"), IntLiteral(1)))
    greatest = chosen("m", Binary("&&", PART, Binary(">", ELEMENT, Name("m"))), ELEMENT)
    flag = chosen("k", Binary(">", ELEMENT, IntLiteral(0)), IntLiteral(1))
    for statement, symbol in ((count, "+"), (greatest, "max"), (flag, "= 1")):
        found = any_order_of(statement, TYPES)
        assert found is not None
        assert found.operator.symbol == symbol


def test_the_order_counts_where_a_condition_reads_the_target_or_sums_are_rounded() -> None:
    until = chosen("k", Binary("<", Name("k"), IntLiteral(9)), Binary("+", Name("k"), IntLiteral(1)))
    rounded = chosen("s", PART, Binary("+", Name("s"), ELEMENT))
    every = chosen("k", PART, Binary("&&", Name("k"), ELEMENT))
    assert [any_order_of(s, TYPES) for s in (until, rounded, every)] == [None] * 3
    assert any_order_of(rounded, TYPES, sums_round=True) is not None
