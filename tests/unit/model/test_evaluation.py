"""Expressions as functions: for one number and for each thread they are what C computes, operator by operator."""

from __future__ import annotations

import random

import numpy as np
import pytest

from comprehensive.algebra.polynomial import Polynomial
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.metafork.ast import Binary, Conditional, Declare, Expr, IntLiteral, Name, ScalarType
from comprehensive.model.block import Walk
from comprehensive.model.evaluation import expressions_of
from comprehensive.model.integers import calculate

NUMBERS = {"a": 7, "b": -3, "n": 2**62 + 5, "zero": 0}
THREADS = 8
WORD = ScalarType.UNSIGNED_LONG
KERNEL = Kernel(
    name="k",
    parameters=(),
    grid=(),
    block=(),
    shared_words=Polynomial.constant(0),
    order=(),
    body=(Declare(WORD, "wide", (), Name("n")),),
)
OPERATORS = ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||")


def walk() -> Walk:
    return Walk(KERNEL, {**NUMBERS, "wide": -1}, (THREADS,), (0,))


def expression(rng: random.Random, depth: int) -> Expr:
    if depth == 0:
        return rng.choice((*map(Name, NUMBERS), Name("threadIdx.x"), IntLiteral(rng.randrange(-9, 10))))
    if rng.random() < 0.15:
        parts = (expression(rng, depth - 1) for _ in range(3))
        return Conditional(*parts)
    return Binary(rng.choice(OPERATORS), expression(rng, depth - 1), expression(rng, depth - 1))


def of_thread(written: Expr, thread: int) -> int:
    """The value for one thread, computed by going through the expression."""
    match written:
        case Name(identifier=name):
            return thread if name == "threadIdx.x" else NUMBERS[name]
        case IntLiteral(value=value):
            return value
        case Binary(operator=symbol, left=left, right=right):
            return calculate(symbol, of_thread(left, thread), of_thread(right, thread))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return of_thread(then if of_thread(condition, thread) else otherwise, thread)
        case _:
            raise AssertionError(written)


@pytest.mark.parametrize("seed", range(60))
def test_a_function_computes_what_each_thread_has(seed: int) -> None:
    written = expression(random.Random(seed), 4)
    found = np.broadcast_to(expressions_of(KERNEL).of(written)(walk(), 1), THREADS)
    assert [int(value) for value in found] == [of_thread(written, thread) for thread in range(THREADS)]


def test_signs_are_not_looked_at_where_a_type_has_none() -> None:
    """-1 has the bits of the greatest number of an unsigned type of 64 bits."""
    of = expressions_of(KERNEL).of
    assert of(Binary("<", Name("wide"), Name("a")))(walk(), 1) == 0
    assert of(Binary("<", Name("b"), Name("a")))(walk(), 1) == 1
    assert of(Binary(">>", Name("wide"), IntLiteral(63)))(walk(), 1) == 1


def test_functions_are_made_once() -> None:
    written = Binary("+", Name("a"), Name("b"))
    assert expressions_of(KERNEL).of(written) is expressions_of(KERNEL).of(written)


def test_what_does_not_change_while_a_block_is_gone_through_is_computed_once() -> None:
    """Nothing is known of variables, since a loop may count in them, as one counts in ``a`` here."""
    of, threads = expressions_of(KERNEL).of, walk()
    fixed, changing = (Binary("*", Name("threadIdx.x"), other) for other in (Name("wide"), Name("a")))
    assert of(fixed)(threads, 1) is of(fixed)(threads, 1)
    assert list(threads.fixed) == [id(fixed)]
    before = list(of(changing)(threads, 1))
    threads.values["a"] = NUMBERS["a"] + 1
    assert list(of(changing)(threads, 1)) == [value + thread for thread, value in enumerate(before)]
