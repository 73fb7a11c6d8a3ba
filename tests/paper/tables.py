"""Abstract fragments with tables of counter values: what the algorithm needs to be tested without any compiler.

A `State` says which transformations a fragment went through; a `TableCounter` maps it to a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from comprehensive.algebra import Atom, Polynomial, at_least
from comprehensive.optimize.protocols import Applied, Evaluation, Kind, NotApplicable, Value


@dataclass(frozen=True, slots=True)
class State:
    """The code of the paper's examples, as far as a counter can tell."""

    cached: bool = True
    reduced: bool = False
    cse_levels: int = 0
    pressure_level: int = 0


@dataclass(frozen=True, slots=True)
class TableCounter:
    """A counter whose values are fed in."""

    name: str
    limit: str
    value: Callable[[State], Value] = field(compare=False)
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: State) -> Evaluation:
        return Evaluation(self.value(fragment), "table")


@dataclass(frozen=True, slots=True)
class TableStrategy:
    """A strategy that sets one field of the state."""

    name: str
    improves: tuple[str, ...]
    decision: tuple[str, str]
    change: Callable[[State], State] = field(compare=False)
    note: str
    on_ir: bool = False

    def stands(self, fragment: State, taken: bool) -> bool:
        return taken

    def apply(self, fragment: State) -> Applied[State] | NotApplicable:
        return Applied(self.change(fragment), self.note)


def polynomial(text: str) -> Polynomial:
    """Sums of products such as ``2*s*B0*B1 + 2``, all that the published values need."""
    total = Polynomial(0)
    for term in text.split("+"):
        product = Polynomial(1)
        for factor in term.strip().split("*"):
            product = product * (int(factor) if factor.isdigit() else Polynomial.symbol(factor))
        total = total + product
    return total


def at_least_one(*names: str) -> tuple[Atom, ...]:
    return tuple(at_least(Polynomial.symbol(name), 1) for name in names)


def granularity(*improves: str) -> TableStrategy:
    return TableStrategy(
        "granularity", improves, ("3b", "3a"), lambda state: replace(state, reduced=True), "s = 1"
    )


def cse(level: int, *improves: str) -> TableStrategy:
    # The figures print (2), "CSE is applied", twice on every leaf, whether or not a refuse edge asked for it.
    return TableStrategy(
        f"cse-{level}",
        improves,
        ("2", "2"),
        lambda state: replace(state, cse_levels=state.cse_levels + 1),
        "common subexpressions",
    )


def no_caching(*improves: str) -> TableStrategy:
    return TableStrategy(
        "no-caching", improves, ("4b", "4a"), lambda state: replace(state, cached=False), "nothing is cached"
    )


def register_pressure(*improves: str) -> TableStrategy:
    return TableStrategy(
        "register-pressure",
        improves,
        ("0", "1"),
        lambda state: replace(state, pressure_level=1),
        "registers are spilled",
        on_ir=True,
    )
