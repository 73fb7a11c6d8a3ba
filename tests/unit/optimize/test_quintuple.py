"""The five stacks of section 3.6, in the order of Remark 2."""

from __future__ import annotations

import pytest

from comprehensive.optimize.quintuple import push, push_counters
from tests.unit.optimize.bits import BitCounter, BitStrategy, problem_of, zeros

FIRST, SECOND, THIRD = (BitCounter(f"r{i}", f"R_{i}", i, (1,), (0,)) for i in (1, 2, 3))
STRATEGY = BitStrategy("set", ("r1",), 0)
IR_STRATEGY = BitStrategy("ir", ("r1",), 0, on_ir=True)


def test_pushing_a_sequence_reverses_it_on_top_of_the_stack() -> None:
    assert push(("s1", "s2"), ("t1", "t2", "t3")) == ("t3", "t2", "t1", "s1", "s2")


def test_popping_takes_what_stands_first() -> None:
    counter, rest = problem_of([FIRST, SECOND], [STRATEGY]).initial(zeros(1)).pop_counter()
    assert counter == FIRST
    assert rest.counters == (SECOND,)


def test_a_processed_quintuple_has_nothing_to_pop() -> None:
    quintuple = problem_of([], [STRATEGY]).initial(zeros(1))
    assert quintuple.is_processed
    with pytest.raises(ValueError, match="processed"):
        quintuple.pop_counter()


def test_a_counter_never_waits_twice() -> None:
    assert push_counters((SECOND, FIRST, THIRD), (FIRST, SECOND)) == (SECOND, FIRST, THIRD)
    assert push_counters((FIRST, THIRD), (FIRST, SECOND)) == (SECOND, FIRST, THIRD)


def test_a_strategy_on_the_ir_is_recorded_in_lambda_and_one_on_the_source_is_not() -> None:
    start = problem_of([FIRST], [STRATEGY, IR_STRATEGY]).initial(zeros(1))
    after_both = start.transformed((True,), STRATEGY, ()).transformed((True,), IR_STRATEGY, (FIRST,))
    assert after_both.applied == (IR_STRATEGY,)
    assert after_both.remaining == ()
    assert start.remaining == (STRATEGY, IR_STRATEGY)
