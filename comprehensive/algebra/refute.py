"""Contradictions that need no solver: atoms in, a core or None out.

    Z_B >= 2*s*B + 2,  Z_B < 2*B + 2,  s >= 1,  B >= 1    -->   contradiction: 2*B - 2*s*B > 0 is never true

First single atoms and pairs of bounds on one symbol, judged by sign; then elimination, symbol after symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.fourier import (
    Bounds,
    Bracket,
    Fact,
    bracket,
    combine,
    eliminate,
    joined,
    originals,
)
from comprehensive.algebra.signs import lower_bounds, refutes

# Elimination multiplies facts; past this many the caller's next step is cheaper.
_MOST_FACTS = 120
_HIGHEST_DEGREE = 6


def refute_by_sign(atoms: Sequence[Atom]) -> tuple[Atom, ...] | None:
    """The core of a contradiction of one atom, or of two bounds on a symbol, with the assumed bounds used."""
    bounds = lower_bounds(atoms)
    facts = originals(atoms)
    for fact in facts:
        core = _core(fact, bounds)
        if core is not None:
            return core
    for name in _symbols(facts):
        core = _crossing(bracket(facts, name, {}), bounds)
        if core is not None:
            return core
    return None


def contradicts_by_sign(atom: Atom, atoms: Sequence[Atom]) -> bool:
    """Whether the atom, alone or with a bound of one of the others on the same symbol, is a contradiction.

    The part of `refute_by_sign` that is new when the atom joins atoms that have been looked at before.
    """
    bounds = lower_bounds((*atoms, atom))
    if refutes(atom, bounds):
        return True
    for name in atom.symbols:
        mine = bracket(originals([atom]), name, {})
        if mine.unclear:
            continue
        others = bracket(originals(other for other in atoms if name in other.symbols), name, {})
        crossed = [(low, high) for low in mine.below for high in others.above]
        crossed += [(low, high) for low in others.below for high in mine.above]
        if any(refutes(combine(low, high).atom, bounds) for low, high in crossed):
            return True
    return False


def refute_by_elimination(atoms: Sequence[Atom]) -> tuple[Atom, ...] | None:
    """The core of a contradiction found by eliminating symbols that occur linearly, fewest new facts first.

    Complete for systems that are linear, as long as their size stays within limits.
    """
    facts = originals(atoms)
    sources: dict[Atom, tuple[Atom, ...]] = {fact.atom: fact.sources for fact in facts}
    while True:
        bounds = lower_bounds(fact.atom for fact in facts)
        for fact in facts:
            core = _core(fact, bounds)
            if core is not None:
                return _traced(core, sources)
        brackets: list[tuple[int, str, Bracket]] = []
        for name in _symbols(facts):
            found = bracket(facts, name, bounds)
            if not found.unclear:
                core = _crossing(found, bounds)
                if core is not None:
                    return _traced(core, sources)
                pairs = len(found.below) * len(found.above)
                brackets.append((pairs - len(found.below) - len(found.above), name, found))
        if not brackets:
            return None
        growth, _, chosen = min(brackets, key=lambda item: item[:2])
        if growth + len(facts) > _MOST_FACTS:
            return None
        facts = tuple(Fact(fact.atom, _traced(fact.sources, sources)) for fact in eliminate(chosen))
        if any(fact.atom.polynomial.total_degree > _HIGHEST_DEGREE for fact in facts):
            return None
        for fact in facts:
            sources.setdefault(fact.atom, fact.sources)


def _core(fact: Fact, bounds: Bounds) -> tuple[Atom, ...] | None:
    if not refutes(fact.atom, bounds):
        return None
    return joined(fact.sources, (bounds[name][1] for name in fact.atom.symbols))


def _crossing(found: Bracket, bounds: Bounds) -> tuple[Atom, ...] | None:
    """The core of the first pair of bounds that leaves no room between them."""
    for low in found.below:
        for high in found.above:
            core = _core(combine(low, high), bounds)
            if core is not None:
                return core
    return None


def _traced(core: Iterable[Atom], sources: dict[Atom, tuple[Atom, ...]]) -> tuple[Atom, ...]:
    """The core with derived atoms (they serve as bounds) replaced by the original atoms behind them."""
    return joined(*(sources.get(atom, (atom,)) for atom in core))


def _symbols(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(sorted({name for fact in facts for name in fact.atom.symbols}))
