"""The conditions that hold where a branch was taken, or not.

In: forms of values.  Out: comparisons, and the bounds that they give::

    branches.holding(2, 3)     # (Comparison(form, form, "lt", True),): from block 2 to block 3
    branches.learn(2, 3)       # into the facts with which forms are made from here on
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.cfg import BRANCHES
from comprehensive.ptx.analysis.facts import limits
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.analysis.predicates import SWAPPED, Comparison, comparisons
from comprehensive.ptx.analysis.ssa import Ssa
from comprehensive.ptx.operands import Not


class Branches:
    """The branches of a function; ``arithmetic`` has the forms that are compared."""

    def __init__(self, ssa: Ssa, operand_values: Sequence[Sequence[int]], arithmetic: Arithmetic) -> None:
        self._ssa = ssa
        self._operand_values = operand_values
        self._arithmetic = arithmetic

    def condition(self, block: int, successor: int) -> tuple[int, bool] | None:
        """The predicate that decides at the end of a block, and what it is where control goes to the successor; None
        where there is no such predicate, or both ways lead there."""
        cfg = self._ssa.cfg
        end = cfg.blocks[block].end
        last = cfg.terminator(cfg.blocks[block])
        if last is None or last.instruction.guard is None:
            return None
        outward = cfg.blocks[block].successors
        falls = end < len(cfg.block_of) and cfg.block_of[end] == successor
        if len(outward) + cfg.blocks[block].leaves != 2:
            return None
        if last.instruction.opcode.base in BRANCHES and not falls:
            taken = True
        elif falls:
            taken = False
        else:
            return None
        return self._ssa.guards[end - 1], taken != isinstance(last.instruction.guard, Not)

    def holding(self, block: int, successor: int) -> Iterator[Comparison]:
        """Yield the comparisons that hold where control goes from a block to its successor."""
        found = self.condition(block, successor)
        if found is not None:
            yield from self.compared(*found)

    def compared(self, predicate: int, truth: bool) -> Iterator[Comparison]:
        """Yield the comparisons that hold where a predicate is true, or false."""
        return comparisons(self._ssa, self._operand_values, self._arithmetic.operand, predicate, truth)

    def learn(self, block: int, successor: int) -> None:
        for compared in self.holding(block, successor):
            self._bound(compared)
            self._bound(
                Comparison(compared.right, compared.left, SWAPPED[compared.relation], compared.signed)
            )

    def _bound(self, compared: Comparison) -> None:
        facts = self._arithmetic.facts
        low, high = self._arithmetic.number_bounds(compared.right, compared.signed)
        least, most = limits(compared.left.bits, compared.signed)
        match compared.relation:
            case "lt":
                known = least, high - 1
            case "le":
                known = least, high
            case "gt":
                known = low + 1, most
            case "ge":
                known = low, most
            case "eq":
                known = low, high
            case _:
                return
        facts.learn(compared.left, compared.signed, *known)
        self._bound_narrow(compared.left, compared.signed, *known)

    def _bound_narrow(self, wide: Form, signed: bool, low: int, high: int) -> None:
        """Learn of a narrow number the bounds that are known of it after it was made wider and moved by a constant."""
        symbols = self._arithmetic.symbols
        least, most = limits(wide.bits, signed)
        below, above = symbols.bounds(wide)
        if len(wide.terms) != 1 or wide.terms[0][1] != 1 or below < least or above > most:
            return
        symbol = symbols.all[wide.terms[0][0]]
        if symbol.kind not in ("signed", "unsigned"):
            return
        (narrow,) = symbol.key
        assert isinstance(narrow, Form)
        self._arithmetic.facts.learn(
            narrow,
            symbol.kind == "signed",
            max(low - wide.constant, symbol.low),
            min(high - wide.constant, symbol.high),
        )
