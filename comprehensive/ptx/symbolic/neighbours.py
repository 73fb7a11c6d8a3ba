"""The lanes that have loaded before what a load is about to load.

Matsumura, De Gonzalo, Peña: A symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023, section 5.1.  In:
an emulation.  Out: for a load the lanes, as near as can be, that have it in a register already::

    Neighbours(emulation).of(17)    # (Neighbour(lanes=1, elements=(Element(12, 0),), wraps=()),)

``lanes`` is N with ``A(lane + N) == B(lane)`` for the addresses A of the earlier load and B of this one, in all flows,
whatever the parameters and the block, with ``-31 <= N <= 31``; 0 is the thread itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.facts import Facts
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.symbolic.emulator import Emulation, Sighting
from comprehensive.ptx.symbolic.lanes import Distance, Wrap
from comprehensive.ptx.symbolic.meetings import Meetings
from comprehensive.ptx.symbolic.solver import Solver

MOST_LANES = 31
_MOST_BYTES = 32
"""The most bytes of a vector."""
_MOST_WRITERS = 100
"""The most accesses that are compared with a load; with more it is taken to be written."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the vector that a step loads; the index is 0 where it loads one element."""

    step: int
    index: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A lane that has loaded what another is about to load.

    ``elements`` are those of the load, in order; ``wraps`` must not wrap in the lane that loads.
    """

    lanes: int
    elements: tuple[Element, ...]
    wraps: tuple[Wrap, ...]


@dataclass(frozen=True)
class Neighbours:
    """Finds neighbours.

    ``most`` is the greatest distance; ``assume_no_wrap`` says that no index of fewer bits than an address
    wraps.

    Sums are told apart without a solver; z3 is asked for a few addresses whose lanes are divided, masked or shifted.
    """

    emulation: Emulation
    most: int = MOST_LANES
    assume_no_wrap: bool = False
    _shapes: dict[int, tuple[int, int]] = field(
        default_factory=dict[int, tuple[int, int]], init=False, repr=False, compare=False
    )
    _different: dict[tuple[object, object], bool] = field(
        default_factory=dict[tuple[object, object], bool], init=False, repr=False, compare=False
    )

    @cached_property
    def _solver(self) -> Solver:
        return Solver(self.emulation.arithmetic, self.emulation.lanes)

    def of(self, step: int, may_be: Callable[[int], bool] = lambda _: True) -> tuple[Neighbour, ...]:
        """The nearest first; ``may_be`` tells which steps may be sources."""
        sightings = self.emulation.sightings.get(step, ())
        if not sightings or any(each.address is None for each in sightings):
            return ()
        found = (self._proved(step, sightings, each) for each in self._guesses(step, sightings[0], may_be))
        return tuple(each for each in found if each is not None)

    def apart(self, step: int, other: int, by: int) -> Distance | None:
        """Return the distance from the address of another load, ``by`` lanes further, to that of ``step``.

        Both are in one block, and the distance is the same in all flows.

        None where it is no number. The forms of what must not wrap are of the lane that is at ``step``.
        """
        lanes, bytes_ = self.emulation.lanes, None
        wraps: dict[Wrap, None] = {}
        for here in self.emulation.sightings.get(step, ()):
            for there in self.emulation.sightings.get(other, ()):
                if here.address is None or there.address is None:
                    return None
                self.emulation.arithmetic.facts = _of_both(here, there)
                found = lanes.between(there.address, here.address, by)
                if found is None or bytes_ not in (None, found.bytes):
                    return None
                bytes_ = found.bytes
                wraps.update(dict.fromkeys(found.wraps))
        return None if bytes_ is None else Distance(bytes_, () if self.assume_no_wrap else tuple(wraps))

    def slope(self, step: int) -> int:
        """Bytes from the address of a lane to that of the next one, if nothing wraps; 0 where that is not known."""
        address = self.emulation.sightings[step][0].address
        return 0 if address is None else self.emulation.lanes.slope(address)

    def knows_more(self, step: int) -> bool:
        """Whether a lane may have to see, where it loads, what a load of another lane need not see.

        It sees what it has written itself, and what it has waited for; lanes see the same only from where all threads
        of a warp have met, see :mod:`.meetings`.
        """
        analyses, meetings = self.emulation.analyses, self._meetings
        load = analyses.accesses[step]
        if meetings.waits_before(step):
            return True
        if load.is_constant:
            return False
        asked = 0
        for addresses, writers in self._writers.items():
            if addresses is not None and load.address is not None:
                pair = addresses.terms, load.address.terms
                if pair not in self._different:
                    self._different[pair] = analyses.alias.are_different(addresses, load.address)
                if self._different[pair]:
                    continue
            for number in writers:
                relation = meetings.since_met(number, step)
                asked += relation is not None
                if asked > _MOST_WRITERS:
                    return True
                if relation and analyses.alias.may_alias(analyses.accesses[number], load, relation):
                    return True
        return False

    @cached_property
    def _meetings(self) -> Meetings:
        return Meetings(self.emulation.analyses)

    def _guesses(
        self, step: int, sighting: Sighting, may_be: Callable[[int], bool]
    ) -> Iterator[tuple[int, tuple[Element, ...]]]:
        """Yield the latest source of each element, by what addresses would be if nothing wrapped."""
        lanes = self.emulation.lanes
        address = sighting.address
        assert address is not None
        size, count = self.shape(step)
        own, slope = lanes.ideal(address).constant, lanes.slope(address)
        reach = self.most * abs(slope) + _MOST_BYTES
        at: dict[int, dict[int, Element]] = defaultdict(dict)
        for earlier in sighting.earlier:
            apart = own - lanes.ideal(earlier.address).constant
            if abs(apart) > reach:
                continue
            found = [
                (by, place, index)
                for index in range(self.shape(earlier.step)[1])
                for place in range(count)
                if (by := _lanes(apart + (place - index) * size, slope)) is not None and abs(by) <= self.most
            ]
            if found and may_be(earlier.step) and fits(self.emulation.analyses, earlier.step, step):
                for by, place, index in found:
                    at[by][place] = Element(earlier.step, index)
        for by in sorted(at, key=lambda each: (abs(each), each)):
            if len(at[by]) == count:
                yield by, tuple(at[by][place] for place in range(count))
        if count == 1 and not at and lanes.shifted(address, 1) is None:
            yield from self._drawn(step, sighting, address, may_be)

    def _drawn(
        self, step: int, sighting: Sighting, address: Form, may_be: Callable[[int], bool]
    ) -> Iterator[tuple[int, tuple[Element, ...]]]:
        """Yield sources of the element by trying random numbers for everything that is not known."""
        for earlier in reversed(sighting.earlier):
            if self._solver.is_exhausted:
                return
            is_one = self.shape(earlier.step)[1] == 1
            if is_one and may_be(earlier.step) and fits(self.emulation.analyses, earlier.step, step):
                by = self._solver.nearest(earlier.address, address, 0, self.most)
                if by is not None:
                    yield by, (Element(earlier.step, 0),)

    def shape(self, step: int) -> tuple[int, int]:
        """Bytes of an element of what a step loads, and how many there are."""
        found = self._shapes.get(step)
        if found is None:
            code = self.emulation.analyses.flow.steps[step].instruction.opcode
            found = self._shapes[step] = bytes_of(code.types[-1]), code.vector
        return found

    def _proved(
        self, step: int, sightings: Sequence[Sighting], guess: tuple[int, tuple[Element, ...]]
    ) -> Neighbour | None:
        by, elements = guess
        size = self.shape(step)[0]
        wraps: dict[Wrap, None] = {}
        for here in sightings:
            for there in sightings:
                # The other lane may have come by another flow.
                for place, element in enumerate(elements):
                    found = self._wraps(here, there, element, by, (element.index - place) * size)
                    if found is None:
                        return None
                    wraps.update(dict.fromkeys(found))
        return Neighbour(by, elements, tuple(wraps))

    @cached_property
    def _writers(self) -> Mapping[Form | None, Sequence[int]]:
        """The steps that write, grouped by the terms of their addresses, by one address of each group."""
        alike: dict[object, tuple[Form | None, list[int]]] = {}
        for number, access in self.emulation.analyses.accesses.items():
            if access.writes:
                address = access.address
                terms = None if address is None else (address.bits, address.terms)
                alike.setdefault(terms, (address, []))[1].append(number)
        return dict(alike.values())

    def _wraps(
        self, here: Sighting, there: Sighting, element: Element, by: int, bytes_: int
    ) -> tuple[Wrap, ...] | None:
        """Return what must not wrap so that the addresses are so many bytes apart; None where they are not."""
        source = next((e for e in there.earlier if e.step == element.step), None)
        if source is None or here.address is None or all(e.step != element.step for e in here.earlier):
            return None
        self.emulation.arithmetic.facts = both = _of_both(here, there)
        found = self.emulation.lanes.between(source.address, here.address, by)
        if found is None and self.emulation.lanes.shifted(source.address, by) is None:
            proved = self._solver.proves(source.address, here.address, by, bytes_, (), both)
            return () if proved else None
        if found is None or found.bytes != bytes_:
            return None
        return () if self.assume_no_wrap else found.wraps


def fits(analyses: Analyses, source: int, step: int) -> bool:
    """Return whether registers of the source would hold what the step loads, in the same visit."""
    one, other = (analyses.flow.steps[n].instruction.opcode for n in (source, step))
    around = {loop.number for loop in analyses.loops.around(analyses.cfg.block_of[step])}
    inside = {loop.number for loop in analyses.loops.around(analyses.cfg.block_of[source])}
    same = one.types[-1] == other.types[-1] or bytes_of(one.types[-1]) == bytes_of(other.types[-1]) >= 4
    return same and inside <= around and analyses.accesses[source].space is analyses.accesses[step].space


def _of_both(here: Sighting, there: Sighting) -> Facts:
    """Return the facts that hold in both lanes.

    What one lane knows the other knows only where both came by the same flow.
    """
    return here.facts if here is there else Facts.of(set(here.facts.known()) & set(there.facts.known()))


def _lanes(bytes_: int, slope: int) -> int | None:
    """Return how many lanes make so many bytes; None where no number does."""
    if bytes_ == 0:
        return 0
    return None if slope == 0 or bytes_ % slope else bytes_ // slope
