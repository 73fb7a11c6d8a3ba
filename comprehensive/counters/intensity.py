"""Arithmetic intensity, P_intensity: a variant in, operations for each word of global memory over machine balance out.

    matrix product, tiles of B0 x B0 and B0 x s*B1   -->   2*B0^2*B1*s / (words of both tiles, and of c) / O_W

A device does O_W operations while it moves one word. A kernel with as many for each of its words is bound by
arithmetic, and more of them make it no faster: so performance is demanded as a share of that, and what is above 1
counts as 1, since P_intensity is not above 1. Operations are those on data; words are asked for by each thread, those
of tiles once.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial, RationalFunction, at_least
from comprehensive.counters.assumptions import assumptions
from comprehensive.counters.shares import least_of_cases, quotient
from comprehensive.counters.work import UncountableError, Work, total, work_of
from comprehensive.loops.ir import Variant
from comprehensive.machine.parameters import MACHINE_PARAMETERS, WORD_BYTES
from comprehensive.optimize.protocols import Evaluation, Kind

_BALANCE = Polynomial.symbol("O_W")


class Intensity(Struct, frozen=True):
    """Operations of a block over the words of global memory that it asks for, over the balance of the machine."""

    name: str = "intensity"
    limit: str = "P_intensity"
    kind: Kind = Kind.PERFORMANCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        known = at_least(_BALANCE, MACHINE_PARAMETERS["O_W"].minimum)
        scalars = (*assumptions(fragment.nest), known)
        try:
            cases = work_of(fragment)
        except UncountableError as reason:
            return Evaluation(Polynomial(0), f"bound: {reason} is not counted")
        found = least_of_cases([_of(work, scalars) for work in cases], scalars)
        return Evaluation(found.value, found.source, (known,) if "O_W" in found.value.symbols else ())


def _of(work: Work, scalars: Sequence[Atom]) -> Evaluation:
    operations = total(work.operations)
    words = total(
        None if a.count is None else a.count * RationalFunction(a.size_bytes, WORD_BYTES)
        for a in work.accesses
        if not a.is_shared
    )
    if words == RationalFunction(0):
        return Evaluation(Polynomial(1), "exact")
    found = None
    if operations is not None and words is not None:
        found = quotient(operations, words * _BALANCE, scalars)
    if found is None:
        return Evaluation(Polynomial(0), "bound: counts that are not known")
    return Evaluation(found, "exact")
