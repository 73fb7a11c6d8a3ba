"""Rows that stay in shared memory while a point goes through its loops: the phases of a point in, their rows out.

::

    phases: most = max a[j];  y[j] = expf(a[j] - most);  sum += y[j];  y[j] /= sum
        -->  row a: staged, in the first place;  row y: in the same place, since a is no longer read
             of the stores to y, those of the second phase stay in the row: the last phase stores all of them again

A row is what references with the same subscripts before the last one come to, up to the same end.  It is resident where
one lane reads it in order, where several phases read it, and where a phase reads what another one has stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Expr, For, Index, ScalarType
from comprehensive.records import replace
from comprehensive.schedule.distribute import Distribution
from comprehensive.schedule.meetings import Use
from comprehensive.schedule.phases import Ordered, Parallel, in_order
from comprehensive.schedule.row_references import Access, Along, Place, RowReferences, accesses

Key: TypeAlias = tuple[str, tuple[Polynomial | Along, ...], Polynomial]
LAST = 1 << 30
"""A time in a phase behind all of its statements."""


class Step(Struct, frozen=True):
    """An access of a row: in which phase, and when in it."""

    access: Access
    place: Place
    phase: int
    time: int


class Row(Struct, frozen=True):
    """A row in shared memory: ``count`` elements from ``first`` on, which is where the least subscript begins."""

    name: str
    type: ScalarType
    first: Index
    """The element of the array where it begins; of a temporary row one without an array."""
    begin: Polynomial
    count: Expr
    """The number of its elements: the bound of the loop that goes through all of them."""
    is_staged: bool
    """Whether it is copied from memory before the first phase."""
    slot: int
    """The number of its place in shared memory, which several rows may have, one after the other."""
    of_block: bool
    """Whether it is one row for all points of a block, which their threads stage together."""


@dataclass
class ResidentRows:
    """The rows that are resident, and the place of each reference in them."""

    nest: Nest
    tile: RegisterTile
    distribution: Distribution
    rows: dict[Key, Row] = field(init=False, default_factory=dict[Key, Row])
    steps: dict[Key, list[Step]] = field(init=False, default_factory=dict[Key, list[Step]])
    others: list[tuple[int, Access]] = field(init=False, default_factory=list[tuple[int, Access]])
    """The accesses beside loops, and those of steps that may come to any elements, with their phases."""

    def __post_init__(self) -> None:
        for number, phase in enumerate(self.distribution.phases):
            for time, statement, loop in in_order(phase):
                for access in accesses(statement, loop):
                    place = self.references.place(access.reference, loop)
                    if place is None:
                        self.others.append((number, access))
                    else:
                        self.steps.setdefault(place.row, []).append(Step(access, place, number, time))
        for key, steps in self.steps.items():
            if self._is_wanted(key, steps):
                self.rows[key] = self._row(key, steps)
        self._share_places()

    @property
    def references(self) -> RowReferences:
        return self.distribution.references

    # --- where references go

    def row_of(self, reference: Index, loop: For | None) -> tuple[Row, int] | None:
        """The resident row of a reference, and how far behind its iterator the element lies."""
        place = self.references.place(reference, loop)
        if place is None or place.row not in self.rows:
            return None
        row = self.rows[place.row]
        return row, int((place.offset - row.begin).constant_value())

    def is_stored(self, reference: Index, loop: For, phase: int) -> bool:
        """Whether elements that a phase assigns go to memory: not those of a temporary row, or stored again later."""
        place = self.references.place(reference, loop)
        if place is None or place.row not in self.rows:
            return True
        if place.storage in self.distribution.temporaries:
            return False
        steps = self.steps[place.row]
        return not any(
            s.access.writes and s.access.always and s.phase > phase and s.place == place for s in steps
        )

    def is_kept(self, reference: Index, loop: For, phase: int, time: int) -> bool:
        """Whether something reads the elements that a statement assigns from the row."""
        place = self.references.place(reference, loop)
        if place is None or place.row not in self.rows:
            return False
        if isinstance(self.distribution.phases[phase], Ordered):
            return True
        steps = self.steps[place.row]
        # What is under a condition, or in a loop of a step, may come later within one statement.
        return any(
            not s.access.writes
            and (
                (s.phase, s.time) > (phase, time) or (s.access.nested and (s.phase, s.time) == (phase, time))
            )
            for s in steps
        )

    def is_assigned(self, row: Row, loop: For) -> bool:
        """Whether a loop assigns elements of a row."""
        written = (
            self.row_of(access.reference, loop)
            for statement in loop.body
            for access in accesses(statement, loop)
            if access.writes
        )
        return any(found is not None and found[0] == row for found in written)

    def uses(self, number: int) -> list[Use]:
        """Return the uses of rows by a phase; in steps that lanes share, the same place of a row is one thread's."""
        written = {key[0] for key, steps in self.steps.items() if any(s.access.writes for s in steps)}
        written |= {self._storage(access) for _, access in self.others if access.writes}
        is_parallel = isinstance(self.distribution.phases[number], Parallel)
        found: list[Use] = []
        for key, steps in self.steps.items():
            for step in (s for s in steps if s.phase == number):
                place, writes = step.place, step.access.writes
                if key in self.rows:
                    behind = place.offset - self.rows[key].begin
                    found.append(Use(self.rows[key].slot, behind if is_parallel else None, writes))
                if place.storage in written:
                    by = (place.prefix, place.offset) if is_parallel else None
                    found.append(Use(place.storage, by, writes))
        for _, access in (each for each in self.others if each[0] == number):
            if (storage := self._storage(access)) in written:
                found.append(Use(storage, None, access.writes))
        return found

    def _storage(self, access: Access) -> str:
        return self.references.storage(access.reference.array)

    @property
    def slots(self) -> tuple[Row, ...]:
        """A row of each place in shared memory: the others there have elements of the same size."""
        found = {row.slot: row for row in self.rows.values()}
        return tuple(found[slot] for slot in sorted(found))

    # --- which rows there are

    def _is_wanted(self, key: Key, steps: Sequence[Step]) -> bool:
        storage = key[0]
        if storage in self.distribution.temporaries:
            return True
        if self.distribution.in_pieces or not all(s.place.is_row for s in steps):
            return False
        sure = [s.place.offset for s in self._of_whole_rows(steps)]
        if not sure or any(not (s.place.offset - sure[0]).is_constant for s in steps):
            return False
        begin = min(sure, key=lambda offset: (offset - sure[0]).constant_value())
        if any((s.place.offset - begin).constant_value() < 0 for s in steps):
            return False
        writes = {s.phase for s in steps if s.access.writes}
        if self._is_used_otherwise(key):
            return False
        read = {s.phase for s in steps if not s.access.writes}
        if self._points() & self.references.names(begin):
            return False  # rows of neighbouring points overlap
        if any(isinstance(self.distribution.phases[phase], Ordered) for phase in read | writes):
            return True
        if writes:
            return bool(read) and len(read | writes) > 1
        return len(read) > 1 and self._is_of_points(key)

    def _of_whole_rows(self, steps: Sequence[Step]) -> list[Step]:
        """Return the steps that come to elements which are there in all of them: since the program comes to them, or
        within the declared extents."""
        always = [s for s in steps if s.access.always]
        return always or [s for s in steps if self._is_there(s.access)]

    def _is_there(self, access: Access) -> bool:
        is_data = self.references.is_data(access.reference.array)
        return is_data and access.loop is not None and self.references.is_there(access.reference, access.loop)

    def _is_used_otherwise(self, key: Key) -> bool:
        """Whether a part of a row that is assigned is used in another way, as x[j] where x[j - 1] is read.

        What is read before anything is assigned is the same in memory and in the row.
        """
        of_storage = {other: steps for other, steps in self.steps.items() if other[0] == key[0]}
        others = [(phase, access) for phase, access in self.others if self._storage(access) == key[0]]
        written = [s.phase for steps in of_storage.values() for s in steps if s.access.writes]
        written += [phase for phase, access in others if access.writes]
        if not written:
            return False
        return len(of_storage) > 1 or any(a.writes or phase >= min(written) for phase, a in others)

    def _is_of_points(self, key: Key) -> bool:
        """Whether points have rows of their own."""
        values = (value for value in key[1] if isinstance(value, Polynomial))
        return any(self._points() & self.references.names(value) for value in values)

    def _points(self) -> set[str]:
        return {c.name for c in self.tile.coordinates}

    def _row(self, key: Key, steps: Sequence[Step]) -> Row:
        sure = self._of_whole_rows(steps)
        least = min(sure, key=lambda s: (s.place.offset - sure[0].place.offset).constant_value())
        loop = least.access.loop
        assert loop is not None
        reference = least.access.reference
        begin = self.references.written(least.place.offset)
        first = Index(reference.array, (*reference.subscripts[:-1], begin))
        earliest = min(steps, key=lambda s: (s.phase, s.time, s.access.writes))
        is_filled = earliest.access.writes and earliest.access.always and earliest.place == least.place
        is_data = self.references.is_data(reference.array)
        type = (
            self.nest.array(reference.array).type
            if is_data
            else self.distribution.temporaries[reference.array]
        )
        is_staged = is_data and not is_filled
        of_block = is_staged and not self._is_of_points(key) and not any(s.access.writes for s in steps)
        return Row(reference.array, type, first, least.place.offset, loop.bound, is_staged, -1, of_block)

    def _share_places(self) -> None:
        """Give every row a place: that of a row that is no longer read, if there is one."""
        last: dict[int, Key] = {}
        order = sorted(self.rows, key=lambda key: (not self.rows[key].is_staged, self._begins(key)))
        for key in order:
            row = self.rows[key]
            free = (
                slot
                for slot, before in last.items()
                if self.rows[before].type.size_bytes == row.type.size_bytes and self._follows(before, key)
            )
            slot = next(free, len(last))
            last[slot] = key
            self.rows[key] = replace(row, slot=slot)

    def _follows(self, before: Key, key: Key) -> bool:
        """Whether a row may have the place of another one from its first element on.

        In the phase in which the one ends and the other begins every step has to go to the same element of both.
        """
        if self.rows[key].is_staged or self.rows[before].of_block:
            return False
        ends = max((s.phase, self._time(s)) for s in self.steps[before])
        begins = self._begins(key)
        if ends[0] != begins[0] or ends[1] > begins[1]:
            return ends < begins and ends[0] != begins[0]
        phase = self.distribution.phases[ends[0]]
        loops = {id(s.access.loop) for row in (before, key) for s in self.steps[row] if s.phase == ends[0]}
        if len(loops) > 1 or (isinstance(phase, Parallel) and any(m.zeros for m in phase.merged)):
            return False
        places = {
            (s.place.offset - self.rows[row].begin).constant_value()
            for row in (before, key)
            for s in self.steps[row]
            if s.phase == ends[0]
        }
        return len(places) == 1

    def _begins(self, key: Key) -> tuple[int, int]:
        return min((s.phase, s.time) for s in self.steps[key])

    def _time(self, step: Step) -> int:
        """Return the time when an access is over; what one lane stores in order is copied to memory behind the
        phase."""
        is_ordered = isinstance(self.distribution.phases[step.phase], Ordered)
        return LAST if step.access.writes and is_ordered else step.time
