"""Arithmetic on counts, in which the rules of this package are written once.

In: a rule, a function over an arithmetic.  Out: what the rule is in that arithmetic::

    by_registers(Saturating(machine), taken)         # 4: the blocks of a multiprocessor
    by_registers(InC(), taken)                       # the same as text of C (`tests/printed_cost.py`)
    by_registers(Residency(...), taken)              # and as a polynomial (`counters/residency.py`)

A count is an integer that is never negative, and saturates: :data:`SATURATED` stands for itself and for all above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Protocol, TypeAlias, TypeVar

N = TypeVar("N")
Count: TypeAlias = int
Integer: TypeAlias = int
"""An integer of 64 bits with a sign, or what overflowed; a :data:`Count` has no sign."""

SATURATED = (1 << 64) - 1
"""Stands for itself and everything above, as ``cf_count`` has it."""


def plus(first: Count, second: Count) -> Count:
    return min(SATURATED, first + second)


def times(first: Count, second: Count) -> Count:
    return min(SATURATED, first * second)


def total(values: Iterable[Count]) -> Count:
    return min(SATURATED, sum(values))


def product(values: Iterable[Count]) -> Count:
    return min(SATURATED, prod(values))


def rounded_up(above: Count, below: Count) -> Count:
    """Return the quotient, rounded up; what is below is at least 1."""
    return -(-above // below)


def number_of(value: Integer) -> Count:
    """Return the count that an integer stands for; what is less than 0 stands for nothing."""
    return min(SATURATED, max(0, value))


class Quotients(Protocol[N]):
    """Sums, products and quotients of counts: what it takes to say how many blocks fit."""

    def count(self, value: int, /) -> N:
        """Return a number."""
        ...

    def of_machine(self, name: str, /) -> N:
        """Return a machine parameter by its symbol, or a speed by its name."""
        ...

    def plus(self, first: N, second: N, /) -> N: ...

    def times(self, first: N, second: N, /) -> N: ...

    def down(self, above: N, below: N, /) -> N:
        """Return the quotient, rounded down; what is below is at least 1."""
        ...

    def up(self, above: N, below: N, /) -> N:
        """Return the quotient, rounded up; what is below is at least 1."""
        ...

    def named(self, name: str, value: N, /) -> N:
        """Return a value that is called so where it is printed."""
        ...


class Counts(Quotients[N], Protocol[N]):
    """All that it takes to say how long a launch takes: comparisons, too."""

    def most(self, first: N, second: N, /) -> N: ...

    def least(self, first: N, second: N, /) -> N: ...

    def minus(self, first: N, second: N, /) -> N:
        """Return the difference; the second count is no more than the first one."""
        ...

    def where_more(self, first: N, second: N, then: N, otherwise: N, /) -> N:
        """Return ``then`` where the first count is more than the second one."""
        ...


@dataclass(frozen=True, slots=True)
class Saturating:
    """Counts as integers, on one machine."""

    machine: Mapping[str, int]

    def count(self, value: int) -> int:
        return value

    def of_machine(self, name: str) -> int:
        return self.machine[name]

    def plus(self, first: int, second: int) -> int:
        return plus(first, second)

    def times(self, first: int, second: int) -> int:
        return times(first, second)

    def down(self, above: int, below: int) -> int:
        return above // below

    def up(self, above: int, below: int) -> int:
        return rounded_up(above, below)

    def most(self, first: int, second: int) -> int:
        return max(first, second)

    def least(self, first: int, second: int) -> int:
        return min(first, second)

    def minus(self, first: int, second: int) -> int:
        return first - second

    def where_more(self, first: int, second: int, then: int, otherwise: int) -> int:
        return then if first > second else otherwise

    def named(self, name: str, value: int) -> int:
        del name
        return value
