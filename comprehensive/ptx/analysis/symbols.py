"""The symbols of affine forms: what each is, between which bounds, and in which loops it changes.

In: descriptions.  Out: numbers; equal descriptions get one number::

    table = Symbols()
    tid = table.number(Symbol("special", ("%tid.x",), 0, 1023))
    table.bounds(form(32, {tid: 4}, 8))      # (8, 4100): of the sum as an integer, before it wraps
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from comprehensive.ptx.analysis.forms import Form

UNBOUNDED = 1 << 200
"""Greater than what any sum of values reaches."""


class Symbol(NamedTuple):
    """An integer between ``low`` and ``high``, of a kind with what identifies it:

    - ``parameter``: (name, offset, bits) of a kernel's parameter, unsigned
    - ``special``: (name,) of a special register that does not change
    - ``address``: (name,) of a variable, in its memory
    - ``window``: (memory,) what a generic address has more than one in that memory
    - ``value``: (value,) of SSA, unsigned
    - ``product``: (symbol, symbol, ...)
    - ``signed``, ``unsigned``: (form,) the value of a form as such a number, where it could wrap
    - ``operation``: (opcode, operands) an integer operation on forms that is not affine, unsigned
    - ``load``: (address, type, bits, memory, epoch) what is loaded from there, in one epoch of what was written
    - ``count``: (loop,) how often the loop has gone back to its header since it was entered

    ``loops`` are numbers of loops in which it may change; ``value`` is one of SSA that it is the value of, or -1.
    """

    kind: str
    key: tuple[Hashable, ...]
    low: int
    high: int
    loops: frozenset[int] = frozenset()
    value: int = -1


class Symbols:
    """A table that only grows."""

    def __init__(self, known: Iterable[Symbol] = ()) -> None:
        self.all: list[Symbol] = list(known)
        self._numbers: dict[tuple[str, tuple[Hashable, ...]], int] = {
            (symbol.kind, symbol.key): number for number, symbol in enumerate(self.all)
        }

    def number(self, symbol: Symbol) -> int:
        key = (symbol.kind, symbol.key)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.all)
            self.all.append(symbol)
        return found

    def find(self, kind: str, key: tuple[Hashable, ...]) -> int | None:
        return self._numbers.get((kind, key))

    def bounds(self, form: Form) -> tuple[int, int]:
        """Return the least and the greatest value of the sum as an integer."""
        return bounds(self.all, form)

    def loops(self, form: Form) -> frozenset[int]:
        """Return the numbers of the loops in which the form may change."""
        found = frozenset[int]()
        for symbol, _ in form.terms:
            found |= self.all[symbol].loops
        return found


def bounds(symbols: Sequence[Symbol], form: Form) -> tuple[int, int]:
    """Least and greatest of the sum as an integer, before it wraps."""
    low = high = form.constant
    for number, coefficient in form.terms:
        symbol = symbols[number]
        if coefficient > 0:
            low += coefficient * symbol.low
            high += coefficient * symbol.high
        else:
            low += coefficient * symbol.high
            high += coefficient * symbol.low
    return low, high
