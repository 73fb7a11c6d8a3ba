"""Contradictions that need no solver: atoms in, a false fact with its derivation or None out.

    Z_B >= 2*s*B + 2,  Z_B < 2*B + 2,  s >= 1,  B >= 1    -->   contradiction: 2*B - 2*s*B > 0 is never true

First single atoms and pairs of bounds on one symbol, judged by sign; then elimination, symbol after symbol.  All
facts are rounded to what they say of integers.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.fourier import (
    Bounds,
    Bracket,
    Fact,
    bracket,
    combine,
    eliminate,
    least,
    originals,
    rounded_facts,
)
from comprehensive.algebra.pairs import compared, contradiction, crossing
from comprehensive.algebra.signs import lower_bounds, refutes

# Elimination multiplies facts; past this many the caller's next step is cheaper.
_MOST_FACTS = 120
_HIGHEST_DEGREE = 6


def refute_by_sign(atoms: Sequence[Atom]) -> Fact | None:
    """A contradiction of one atom, or of two bounds on a symbol, with the assumed bounds used."""
    found = compared(atoms)
    return found if isinstance(found, Fact) else None


def contradicts_by_sign(atom: Atom, atoms: Sequence[Atom]) -> bool:
    """Whether the atom, alone or with a bound of one of the others on the same symbol, is a contradiction.

    The part of `refute_by_sign` that is new when the atom joins atoms that have been looked at before; over the reals.
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


def refute_by_elimination(atoms: Sequence[Atom]) -> Fact | None:
    """A contradiction found by eliminating symbols that occur linearly, fewest new facts first.

    Complete for systems that are linear, over the reals, as long as their size stays within limits.
    """
    return refute_facts(originals(atoms))


def refute_facts(facts: Sequence[Fact]) -> Fact | None:
    """Do as `refute_by_elimination` with facts that were derived before.

    Each round looks again only at what the last one changed: new facts, those with a symbol whose bound is another
    one now, and the symbols in them.
    """
    facts = rounded_facts(facts)
    bounds: Bounds = {}
    seen: dict[str, Bracket] = {}
    stirred = set(facts)
    names = {name for fact in facts for name in fact.atom.symbols}
    while True:
        before, bounds = bounds, least(facts)
        moved = {name for name in before.keys() | bounds.keys() if before.get(name) != bounds.get(name)}
        if moved:
            stirred.update(fact for fact in facts if not moved.isdisjoint(fact.atom.symbols))
        for fact in facts:
            found = contradiction(fact, bounds) if fact in stirred else None
            if found is not None:
                return found
        names.update(name for fact in stirred for name in fact.atom.symbols)
        about: dict[str, list[Fact]] = {}
        for fact in facts:
            for name in fact.atom.symbols:
                about.setdefault(name, []).append(fact)
        left = sorted(about)
        for name in left:
            if name in names:
                seen[name] = bracket(about[name], name, bounds)
                found = None if seen[name].unclear else _crossing(seen[name], bounds)
                if found is not None:
                    return found
        clear = [(_growth(seen[name]), name) for name in left if not seen[name].unclear]
        if not clear:
            return None
        growth, chosen = min(clear)
        if growth + len(facts) > _MOST_FACTS:
            return None
        # A bracket was made of the facts with its symbol alone.
        after = rounded_facts(eliminate(bracket(facts, chosen, bounds)))
        if any(fact.atom.polynomial.total_degree > _HIGHEST_DEGREE for fact in after):
            return None
        names = {name for fact in set(facts).difference(after) for name in fact.atom.symbols}
        stirred = set(after).difference(facts)
        facts = after


def _growth(found: Bracket) -> int:
    """Return the number of facts by which elimination of the symbol makes the system grow."""
    return len(found.below) * len(found.above) - len(found.below) - len(found.above)


def _crossing(found: Bracket, bounds: Bounds) -> Fact | None:
    """The contradiction of the first pair of bounds that leaves no room between them."""
    pairs = (crossing(low, high, bounds) for low in found.below for high in found.above)
    return next((fact for fact in pairs if fact is not None), None)
