"""Fragments that are tuples of bits, strategies that each set one, counters that are tables of polynomials.

Small enough to be drawn at random, rich enough for every rule of the algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.algebra import Polynomial, PortfolioSolver, RationalFunction, Solver, at_least
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import Applied, Evaluation, Kind, NotApplicable
from comprehensive.optimize.tree import Performance

Bits = tuple[bool, ...]
Terms = tuple[Polynomial | int, ...]


@dataclass(frozen=True, slots=True)
class BitCounter:
    """``base`` plus, for each bit, what it costs while it is 0 (``unset``) and once it is 1 (``set``).

    The value of a performance counter is ``8 / (8 + that)``, a ratio in [0, 1].
    """

    name: str
    limit: str
    base: Polynomial | int
    unset: Terms
    set: Terms
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Bits) -> Evaluation:
        cost = Polynomial(0) + self.base
        for bit, without, within in zip(fragment, self.unset, self.set, strict=True):
            cost = cost + (within if bit else without)
        value = cost if self.kind is Kind.RESOURCE else RationalFunction(8, cost + 8)
        return Evaluation(value, "table")


@dataclass(frozen=True, slots=True)
class BitStrategy:
    """``b_j = 0  -->  b_j = 1``; a `refusal` makes it inapplicable."""

    name: str
    improves: tuple[str, ...]
    bit: int
    on_ir: bool = False
    refusal: str | None = None
    clears: int | None = None
    """A bit that it clears, to undo another strategy."""

    @property
    def decision(self) -> tuple[str, str]:
        return f"{self.name} taken", f"{self.name} not taken"

    def stands(self, fragment: Bits, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Bits) -> Applied[Bits] | NotApplicable:
        if self.refusal is not None:
            return NotApplicable(self.refusal)
        bits = list(fragment)
        bits[self.bit] = True
        if self.clears is not None:
            bits[self.clears] = False
        return Applied(tuple(bits), f"bit {self.bit} set")


def problem_of(
    counters: Sequence[BitCounter],
    strategies: Sequence[BitStrategy],
    *,
    symbols: Sequence[str] = ("B", "s"),
    solver: Solver | None = None,
    performance: Performance = "demanded",
) -> Problem[Bits]:
    assumptions = [at_least(Polynomial.symbol(name), 1) for name in symbols]
    return Problem(
        counters,
        strategies,
        assumptions,
        solver or PortfolioSolver(),
        performance=performance,
        order=("s", "B"),
    )


def zeros(count: int) -> Bits:
    return (False,) * count
