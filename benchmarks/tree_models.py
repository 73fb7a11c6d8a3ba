"""Synthetic decision trees, grown on demand: a seed and a number of variables in, decisions out.

A `Model` gives the root's system and state, and for a state the two atoms of its decision with the states behind them.
What a state decides depends on the seed and the state only, so that every walk meets the same tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from random import Random
from typing import Generic, Protocol, TypeVar

from comprehensive.algebra import Atom, Polynomial, System, at_least, at_most, less, product_of, sum_of
from comprehensive.algebra.notation import Term

State = TypeVar("State")
_HIGHEST_DEGREE = 4


@dataclass(frozen=True, slots=True)
class Decision(Generic[State]):
    """Two atoms that divide the space; a state is None where nothing is left to decide."""

    accept: Atom
    refuse: Atom
    accepted: State | None
    refused: State | None


class Model(Protocol[State]):
    """A tree."""

    @property
    def root(self) -> tuple[System, State]: ...

    def decide(self, state: State) -> Decision[State]: ...


# --- trees as the optimizer meets them


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel on which `levels` strategies were taken for each counter; `waiting` counters are not judged."""

    kernel: int
    levels: tuple[int, ...]
    waiting: tuple[int, ...]


@dataclass(frozen=True)
class GpuLike:
    """Each decision compares a machine parameter with a polynomial that grows with program parameters >= 1.

    Accept says `v <= R`.  Refuse says `R < v`, and the next strategy lowers v; it may raise the values of other
    counters a little, and all of them are judged again.  Kernels of one program follow each other: they have the same
    parameters and the same products of them in their counts, as the sweeps of a solver have, with other coefficients.
    """

    seed: int
    variables: int

    @cached_property
    def machine(self) -> tuple[Polynomial, ...]:
        names = ("Z_B", "R_B", "T_B", "L_B")[: max(1, self.variables // 3)]
        return tuple(Polynomial.symbol(name) for name in names)

    @cached_property
    def program(self) -> tuple[Polynomial, ...]:
        return tuple(Polynomial.symbol(f"b{i}") for i in range(self.variables - len(self.machine)))

    @property
    def root(self) -> tuple[System, Code]:
        assumed = [at_least(name, 1) for name in self.program] + [at_least(name, 0) for name in self.machine]
        return System(tuple(assumed)), self._start(0)

    def _start(self, kernel: int) -> Code:
        counters = range(len(self.machine))
        return Code(kernel, (0,) * len(counters), tuple(counters))

    def decide(self, state: Code) -> Decision[Code]:
        counter, *later = state.waiting
        limit, value = self.machine[counter], self.value(state, counter)
        accepted = Code(state.kernel, state.levels, tuple(later)) if later else self._start(state.kernel + 1)
        taken = state.levels[counter]
        refused = None
        if taken + 1 < len(_chain(self.seed, state.kernel, counter, self.program)):
            levels = tuple(taken + (i == counter) for i, taken in enumerate(state.levels))
            refused = Code(state.kernel, levels, tuple(range(len(self.machine))))
        return Decision(at_most(value, limit), less(limit, value), accepted, refused)

    def value(self, state: Code, counter: int) -> Polynomial:
        """Return the value of the counter in the code of the state."""
        own = _chain(self.seed, state.kernel, counter, self.program)[state.levels[counter]]
        raised = [
            self._side_effect(state.kernel, other, taken, counter)
            for other, level in enumerate(state.levels)
            for taken in range(level)
            if other != counter
        ]
        return sum_of([own, *raised])

    def _side_effect(self, kernel: int, other: int, taken: int, counter: int) -> Polynomial:
        """Mostly nothing; else a few registers or words, seldom as many as a program parameter says."""
        random = Random(f"{self.seed} side effect {kernel} {other} {taken} {counter}")
        share = random.random()
        if share < 0.1:
            return random.choice(self.program)
        return Polynomial(random.randint(1, 4) if share < 0.4 else 0)


@lru_cache(maxsize=1 << 12)
def _chain(seed: int, kernel: int, counter: int, program: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """The values of a counter on one kernel, each at most the one before where the parameters are at least 1."""
    random = Random(f"{seed} products {counter}")
    products = [
        (random.choice((1, 2, 4, 8, 32)), random.choices(program, k=random.randint(1, _HIGHEST_DEGREE)))
        for _ in range(random.randint(2, 4))
    ]
    random = Random(f"{seed} chain {kernel} {counter}")
    products = [(coefficient * random.choice((1, 1, 2)), factors) for coefficient, factors in products]
    constant = random.randint(1, 16)
    chain = [_sum(products, constant)]
    while len(chain) < 12 and len(products) + sum(len(factors) for _, factors in products) > 2:
        place = random.randrange(len(products))
        coefficient, factors = products[place]
        if coefficient > 1 and random.random() < 0.5:
            products[place] = (coefficient // 2, factors)
        elif len(factors) > 1:
            products[place] = (coefficient, factors[1:])
        elif len(products) > 1:
            del products[place]
        else:
            products[place] = (max(1, coefficient // 2), factors)
            if coefficient == 1:
                break
        chain.append(_sum(products, constant))
    return tuple(chain)


def _sum(products: Sequence[tuple[int, Sequence[Polynomial]]], constant: int) -> Polynomial:
    return sum_of(coefficient * product_of(factors) for coefficient, factors in products) + constant


# --- trees that no optimizer has made yet


@dataclass(frozen=True)
class Adversarial:
    """Each decision is the sign of a polynomial of mixed signs in several program parameters; the state is the path."""

    seed: int
    variables: int

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        return tuple(f"b{i}" for i in range(self.variables))

    @property
    def root(self) -> tuple[System, str]:
        return System(tuple(at_least(Polynomial.symbol(name), 1) for name in self.symbols)), ""

    def decide(self, state: str) -> Decision[str]:
        random = Random(f"{self.seed} {state}")
        value = Polynomial.from_terms(
            [
                *(self._term(random, 1 if i % 2 else -1) for i in range(random.randint(2, 4))),
                Term(_fraction(random, -40, 40), ()),
            ]
        )
        return Decision(at_least(value, 0), less(value, 0), state + "a", state + "r")

    def _term(self, random: Random, sign: int) -> Term:
        powers: dict[str, int] = {}
        for name in random.choices(self.symbols, k=random.randint(1, _HIGHEST_DEGREE)):
            powers[name] = powers.get(name, 0) + 1
        return Term(sign * _fraction(random, 1, 6), tuple(sorted(powers.items())))


def _fraction(random: Random, low: int, high: int) -> Fraction:
    return Fraction(random.randint(low, high))
