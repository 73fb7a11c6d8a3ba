"""Contradictions that rest on the order of quotients: quotients and a system in, a false fact with its proof out.

    P*W <= w*floor(R/(U*ceil(2*r/U))),  w*floor(R/(U*ceil(r/U))) < P*W    contradict each other, since
        ceil(r/U) <= ceil(2*r/U)    and so    floor(R/(U*ceil(2*r/U))) <= floor(R/(U*ceil(r/U)))

What is counted of two variants of the code is rounded alike, so that decisions about both meet in such pairs.  Each
order is proved from the definitions of its quotients first, by the contradiction of its opposite.  A contradiction that
is found with it is then one of two cases, of which the other one is that proof: it needs atoms of the system alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Atom, Inconsistent, Quotient, System
from comprehensive.algebra.fourier import Fact
from comprehensive.algebra.quotients import monotone
from comprehensive.algebra.refute import refute_by_elimination
from comprehensive.algebra.splitting import complement, joined_cases
from comprehensive.closure import reached


class Order(Struct, frozen=True):
    """An atom that says which of two quotients is the smaller one, and the contradiction of its opposite."""

    atom: Atom
    opposite: Atom
    refuted: Fact


class Orders:
    """The orders of quotients that follow from what systems assume; each is proved once."""

    def __init__(self) -> None:
        self._proved: dict[Atom, Order] = {}
        self._known: dict[tuple[tuple[Quotient, ...], tuple[Atom, ...]], tuple[Order, ...]] = {}

    def refuted(self, system: System, quotients: tuple[Quotient, ...]) -> Inconsistent | None:
        """A contradiction of the system, with as few atoms as can be; None where orders do not help.

        The definitions of quotients are left aside, since elimination would spend its effort on them.
        """
        orders = self._of(quotients, system.assumptions)
        if not orders:
            return None
        definitions = {atom for quotient in quotients for atom in quotient.definition}
        atoms = [atom for atom in system.all_atoms if len(atom.symbols) == 1 or atom not in definitions]
        found = refute_by_elimination([*(order.atom for order in orders), *atoms])
        if found is None:
            return None
        for atom in found.sources:
            if atom in found.sources:
                found = refute_by_elimination([other for other in found.sources if other != atom]) or found
        found = _proved_by(found, orders)
        if not set(found.sources) <= set(system.all_atoms):
            return None
        return Inconsistent(found.sources, found, is_minimal=True)

    def _of(self, quotients: tuple[Quotient, ...], assumptions: tuple[Atom, ...]) -> tuple[Order, ...]:
        """The orders of these quotients that have a proof, each after those that its proof rests on."""
        key = quotients, assumptions
        if key not in self._known:
            found: list[Order] = []
            for atom in monotone(quotients, assumptions):
                order = self._proved.get(atom) or _proof_of(atom, quotients, assumptions, found)
                if order is not None:
                    self._proved[atom] = order
                    found.append(order)
            self._known[key] = tuple(found)
        return self._known[key]


def _proof_of(
    atom: Atom, quotients: Sequence[Quotient], assumptions: Sequence[Atom], earlier: Sequence[Order]
) -> Order | None:
    """The order with its proof; elimination is given what speaks of its quotients, and their parts, alone."""
    names = set(_parts(atom.symbols, {quotient.symbol: quotient for quotient in quotients}))
    facts = [each for each in assumptions if names.issuperset(each.symbols)]
    orders = [order.atom for order in earlier if names.issuperset(order.atom.symbols)]
    opposite = complement(atom)
    found = refute_by_elimination([opposite, *orders, *facts])
    return None if found is None else Order(atom, opposite, _proved_by(found, earlier))


def _parts(symbols: Iterable[str], made: Mapping[str, Quotient]) -> tuple[str, ...]:
    """The symbols and all that quotients among them are made of."""

    def parts(name: str) -> tuple[str, ...]:
        quotient = made.get(name)
        return () if quotient is None else (*quotient.above.symbols, *quotient.below.symbols)

    return tuple(reached(symbols, parts))


def _proved_by(found: Fact, orders: Iterable[Order]) -> Fact:
    """The contradiction without orders among its atoms, the last one first: earlier ones may be in their proofs."""
    for order in reversed(tuple(orders)):
        found = joined_cases(order.atom, order.opposite, found, order.refuted)
    return found
