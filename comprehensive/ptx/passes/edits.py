"""Changes to a body, gathered and then made at once.

    edits = Edits(flow)
    edits.replace(7, [other])          # what stands in the place of step 7; nothing removes it
    edits.before(3, [instruction])     # behind labels and directives, before step 3
    edits.made()                       # the new body

Several insertions at one place stand in the order in which they came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from comprehensive.ptx.flow import Flow
from comprehensive.ptx.passes.pragmas import is_about_next
from comprehensive.ptx.statements import Statement


class Edits:
    """Positions are those of the statements of the flow's function."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._body = flow.function.body
        self._before: dict[int, list[Statement]] = defaultdict(list)
        self._after: dict[int, list[Statement]] = defaultdict(list)
        self._instead: dict[int, list[Statement]] = {}

    @property
    def is_empty(self) -> bool:
        return not (self._before or self._after or self._instead)

    def replace(self, step: int, statements: Iterable[Statement]) -> None:
        """A pragma that speaks of the step goes with it."""
        position = self._flow.steps[step].position
        self._instead[position] = list(statements)
        for about in range(self.position(step), position):
            self._instead[about] = []

    def before(self, step: int, statements: Iterable[Statement]) -> None:
        self._before[self.position(step)] += statements

    def after(self, step: int, statements: Iterable[Statement]) -> None:
        self._after[self._flow.steps[step].position] += statements

    def made(self, begin: int = 0, end: int | None = None) -> list[Statement]:
        """Return the changed statements, from one position of the body to another, by default all."""
        found: list[Statement] = []
        for position in range(begin, len(self._body) if end is None else end):
            found += self._before.get(position, ())
            found += self._instead.get(position, (self._body[position],))
            found += self._after.get(position, ())
        return found

    def copy(self) -> Edits:
        """The same changes, to which others may come."""
        found = Edits(self._flow)
        for ours, theirs in ((self._before, found._before), (self._after, found._after)):
            theirs.update({position: list(each) for position, each in ours.items()})
        found._instead.update(self._instead)
        return found

    def positions(self) -> list[int | None]:
        """Return where each statement of :meth:`made` stood in the body; None for what is new."""
        found: list[int | None] = []
        for position in range(len(self._body)):
            found += [None] * len(self._before.get(position, ()))
            found += [None] * len(self._instead[position]) if position in self._instead else [position]
            found += [None] * len(self._after.get(position, ()))
        return found

    def position(self, step: int) -> int:
        """Return the position where the step begins, with the pragmas that speak of it."""
        position = self._flow.steps[step].position
        while position > 0 and is_about_next(self._body[position - 1]):
            position -= 1
        return position
