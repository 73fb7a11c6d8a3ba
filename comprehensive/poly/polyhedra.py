"""The polyhedra of a nest as one value: what is read and written where, what meets, what a block touches.

In: a nest.  Out: :class:`Polyhedra`, plain values over polynomials: the references with their domains and access maps,
pairs of references that may touch one element, verdicts on the parallel loops, and the footprints of every array in
every band at every level.  ``report.polyhedra`` prints it in the notation of isl, and as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import Nest
from comprehensive.poly.conflicts import conflicting_pairs
from comprehensive.poly.domains import Axis, Reference, domain, references, term_text
from comprehensive.poly.footprint import footprint
from comprehensive.poly.indices import Conjunction
from comprehensive.poly.legality import verdicts
from comprehensive.poly.model import Constraint, Footprint, Legality, Level, Opaque


class Described(Struct, frozen=True):
    """A reference: ``bounds`` of its counters, and the ``guards`` around it as a union of conjunctions.

    ``opaque`` are conditions that are no polynomials, and counted as possibly true; ``subscripts`` is None where one is
    no polynomial, and ``obstacle`` then says which.
    """

    number: int
    array: str
    mode: str
    text: str
    band: int
    axes: tuple[Axis, ...]
    bounds: tuple[Constraint, ...]
    guards: tuple[Conjunction, ...]
    opaque: tuple[str, ...]
    subscripts: tuple[Polynomial, ...] | None
    obstacle: str | None


class Touched(Struct, frozen=True):
    """The footprint of one block, or thread, in an array, for a band."""

    band: int
    array: str
    level: Level
    footprint: Footprint | Opaque


class Polyhedra(Struct, frozen=True):
    """The polyhedra of a nest.

    ``dependences`` are pairs of numbers of references to one array of which one writes; ``parallel`` are verdicts on
    loops with the number of their band, None for the grid.
    """

    name: str
    references: tuple[Described, ...]
    dependences: tuple[tuple[int, int], ...]
    parallel: tuple[tuple[int | None, str, Legality], ...]
    footprints: tuple[Touched, ...]


def polyhedra(nest: Nest) -> Polyhedra:
    """All of a nest; a band is counted from 0 in the order of the program."""
    found = tuple(_described(reference) for reference in references(nest))
    pairs = tuple((first.access.ordinal, second.access.ordinal) for first, second in conflicting_pairs(nest))
    return Polyhedra(nest.name, found, pairs, verdicts(nest), tuple(_touched(nest)))


def _described(reference: Reference) -> Described:
    access, guard = reference.access, reference.guard
    obstacle = reference.obstacle
    return Described(
        access.ordinal,
        access.array,
        access.mode.value,
        " ".join(access.span.text.split()) or access.array,
        access.context.band,
        reference.axes,
        domain(reference),
        guard.pieces,
        tuple(term_text(expr) for expr in guard.opaque),
        reference.subscripts,
        None if obstacle is None else f"{term_text(obstacle.term)} {obstacle.reason}",
    )


def _touched(nest: Nest) -> Iterator[Touched]:
    for band in range(len(nest.bands)):
        used = {r.access.array for r in references(nest) if r.access.context.band == band}
        for array in nest.arrays:
            if array.name in used:
                for level in Level:
                    yield Touched(band, array.name, level, footprint(nest, band, array.name, level))
