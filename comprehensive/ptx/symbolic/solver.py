"""Equality of terms by z3, for what sums cannot say: divisions, remainders, masks and shifts of the lane.

In: two addresses and the lanes between.  Out: whether they are so many bytes apart for all inputs::

    solver = Solver(arithmetic, lanes)
    solver.nearest(a, b, 8, 31)      # 2: the nearest lane for which drawn inputs give b - a(2 lanes further) == 8
    solver.proves(a, b, 2, 8)        # True; False where there is an input for which it is not so, None for neither

Terms are bit-vectors of 64 bits, with the wrap-around and the extensions of the forms.  What is the same in all lanes,
products included, is a variable between its bounds.  Lanes are those of a block whose rows are whole warps, or which is
a line: ``%tid.x`` modulo 32 is the lane, and both lanes are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.facts import Facts
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.symbolic.lanes import Lanes, Wrap
from comprehensive.ptx.symbolic.terms import LANES, Terms
from comprehensive.ptx.symbolic.words import Word, Words

MOST_QUERIES = 10
MOST_UNDECIDED = 2
"""Addresses of one function are alike: where z3 could not decide so many queries, it will not decide the others."""
RESOURCES = 400_000
"""z3's rlimit of a query, the same answer everywhere: with a quarter of it vectors of row5_float4 stay undecided."""
_DRAWN_LANES = (0, 13, 18, LANES - 1)
"""The lanes for which numbers are drawn: from the middle of a warp there are lanes to both sides."""


@dataclass
class Solver:
    """Proves that terms are equal with z3, by at most ``queries`` queries.

    Behind these, and behind ``undecided`` that z3 has not decided, nothing is proved.
    """

    arithmetic: Arithmetic
    lanes: Lanes
    queries: int = MOST_QUERIES
    undecided: int = MOST_UNDECIDED

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing is proved any more."""
        return self.queries <= 0 or self.undecided <= 0

    def nearest(self, source: Form, one: Form, bytes_: int, most: int) -> int | None:
        """The nearest lane, up to ``most`` away, for which nothing is drawn that shows otherwise."""
        tid, none = Word(0, 64), Word(0, 64)
        terms = Terms(self.arithmetic, self.lanes, Words, tid, none)
        if terms.apart(source, one) is None:
            return None
        random = Random(0)
        inputs = [{each: Word(random.getrandbits(64), 64) for each in terms.variables} for _ in _DRAWN_LANES]
        tids = [Word(32 * random.randrange(8) + lane, 64) for lane in _DRAWN_LANES]
        drawn = [
            (lane, tid, given, Terms(self.arithmetic, self.lanes, Words, tid, none, given).form(one, False))
            for lane, tid, given in zip(_DRAWN_LANES, tids, inputs, strict=True)
        ]
        for by in sorted(range(-most, most + 1), key=lambda n: (abs(n), n)):
            further = Words.BitVecVal(by, 64)
            apart = (
                here - Terms(self.arithmetic, self.lanes, Words, tid, further, given).form(source, True)
                for lane, tid, given, here in drawn
                if 0 <= lane + by < LANES
            )
            if all(each.value == bytes_ % 2**64 for each in apart):
                return by
        return None

    def proves(
        self,
        source: Form,
        one: Form,
        by: int,
        bytes_: int,
        wraps: Iterable[Wrap] = (),
        facts: Facts | None = None,
    ) -> bool | None:
        """Return whether ``bytes_`` lie between two addresses where no wrap happens and facts hold.

        ``wraps`` are what does not wrap, ``facts`` hold in both lanes. None where it is not decided.
        """
        if self.is_exhausted:
            return None
        self.queries -= 1
        z3 = _loaded()
        terms = Terms(self.arithmetic, self.lanes, z3, z3.BitVec("tid", 64), z3.BitVecVal(by, 64))
        moved = self.lanes.shifted(source, by)
        if moved is None:
            apart = terms.apart(source, one)
        else:
            terms.group(moved, one)
            apart = terms.form(one, False) - terms.form(moved, False)
        if apart is None:
            return None
        solver = z3.Solver()
        for wrap in wraps:
            terms.demand_no_wrap(wrap)
        if facts is not None:
            terms.demand_facts(facts)
        lane = z3.URem(terms.tid, 32)
        solver.add(z3.ULT(terms.tid, 1024), lane + by >= 0, lane + by < LANES)
        solver.add(*terms.constraints, apart != bytes_)
        has_input = _has_model(solver.sexpr())
        if has_input is None:
            self.undecided -= 1
            return None
        return not has_input


@lru_cache(maxsize=4096)
def _has_model(constraints: str) -> bool | None:
    """Return whether something fulfils the constraints; None where z3 does not decide it.

    Kernels of one file ask alike.  A context of its own leaves nothing of earlier questions in the answer.
    """
    z3 = _loaded()
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", RESOURCES)
    solver.from_string(constraints)
    answer = solver.check()
    return None if answer == z3.unknown else answer == z3.sat


def _loaded() -> Any:
    import z3  # pyright: ignore[reportMissingTypeStubs]  # z3 has no types; it stays within this module

    found: Any = z3
    return found
