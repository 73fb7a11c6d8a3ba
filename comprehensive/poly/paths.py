"""The states in which one thread may be at a place, each with the answers under which it gets there.

In: states.  Out: as few as say the same: two that one answer tells apart are one where the same variables have values::

    {x > 0: yes} s = 1    {x > 0: no} s = 2    -->    {} s = ?
    {x > 0: yes} s = 1    {x > 0: no} s        -->    both: whether s has a value depends on x
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from comprehensive.poly.unknowns import Answer, Unknown, Unknowns, Unset, Value

Cell: TypeAlias = str | tuple[str, tuple[int, ...]]
"""A local scalar, or an element of a local array."""
Condition: TypeAlias = frozenset[Answer]
"""Answers that all have to be so."""


class State(Struct, eq=False):
    """The variables of a thread at a place; mutable while one path goes on."""

    cells: dict[Cell, Value] = field(default_factory=dict[Cell, Value])
    extents: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """The extents of the local arrays."""
    blurred: set[str] = field(default_factory=set[str])
    """Local arrays of which it is not known which elements have a value."""
    versions: dict[str, int] = field(default_factory=dict[str, int])
    """A number for each state of data that was written."""
    answers: dict[Unknown, bool] = field(default_factory=dict[Unknown, bool])
    jump: str = ""
    """``break`` or ``continue`` on the way to the end of a loop."""
    is_doubtful: bool = False
    """Whether the answers may exclude the turn of a loop that it is in."""

    def copy(self) -> State:
        return State(
            dict(self.cells),
            dict(self.extents),
            set(self.blurred),
            dict(self.versions),
            dict(self.answers),
            self.jump,
            self.is_doubtful,
        )

    def given(self, answer: Answer) -> State:
        """The same variables where a question has this answer, too."""
        return State(
            self.cells,
            self.extents,
            self.blurred,
            self.versions,
            {**self.answers, answer[0]: answer[1]},
            self.jump,
            self.is_doubtful,
        )

    def forget(self, array: str) -> None:
        """All elements of a local array are without value, as where it is declared."""
        for cell in [c for c in self.cells if isinstance(c, tuple) and c[0] == array]:
            del self.cells[cell]
        self.blurred.discard(array)

    @property
    def condition(self) -> Condition:
        return frozenset(self.answers.items())


def merged(states: list[State], unknowns: Unknowns) -> list[State]:
    """Return states that say the same, any two that can be said as one made one."""
    kept: list[State] = []
    for state in states:
        number = 0
        while number < len(kept):
            both = _as_one(kept[number], state, unknowns)
            if both is None:
                number += 1
                continue
            del kept[number]
            state, number = both, 0
        kept.append(state)
    return kept


def _as_one(first: State, second: State, unknowns: Unknowns) -> State | None:
    """One state that says all that two say, which one answer tells apart."""
    if first.jump != second.jump or first.is_doubtful != second.is_doubtful:
        return None
    if first.answers.keys() != second.answers.keys() or first.extents != second.extents:
        return None
    apart = [asked for asked, answer in first.answers.items() if second.answers[asked] != answer]
    if len(apart) != 1:
        return None
    blurred = first.blurred | second.blurred
    cells = {c for c in (*first.cells, *second.cells) if isinstance(c, str) or c[0] not in blurred}
    values: dict[Cell, Value] = {}
    for cell in cells:
        one, other = _in(first, cell), _in(second, cell)
        if isinstance(one, Unset) != isinstance(other, Unset):
            return None
        values[cell] = one if one is other or one == other else unknowns.fresh((one, other, apart[0]))
    versions = {
        name: first.versions[name]
        if first.versions.get(name) == second.versions.get(name)
        else unknowns.fresh().number
        for name in first.versions.keys() | second.versions.keys()
    }
    answers = {asked: answer for asked, answer in first.answers.items() if asked is not apart[0]}
    return State(values, first.extents, blurred, versions, answers, first.jump, first.is_doubtful)


def _in(state: State, cell: Cell) -> Value:
    return state.cells.get(cell, Unset(""))


def resolved(conditions: frozenset[Condition]) -> frozenset[Condition]:
    """The conditions and what follows from several: one of them holds whatever the answer to a question is."""
    known = conditions
    while True:
        found = set(known)
        for first in known:
            for asked, answer in first:
                rest = first - {(asked, answer)}
                if rest | {(asked, not answer)} in known:
                    found.add(rest)
        if len(found) == len(known):
            return known
        known = frozenset(found)


def free_answer(condition: Condition) -> Answer | None:
    """The one answer that a condition asks for, where data may give it whatever else there is."""
    match [*condition]:
        case [(asked, answer)] if asked.roots and not asked.mixed:
            return asked, answer
        case _:
            return None


def shares_roots(state: State, value: Unknown) -> bool:
    """Whether the answers that led here say something of what a value depends on."""
    return any(asked.roots & value.roots for asked in state.answers)
