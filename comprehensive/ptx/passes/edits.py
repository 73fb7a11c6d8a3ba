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
        for about in range(self._first(position), position):
            self._instead[about] = []

    def before(self, step: int, statements: Iterable[Statement]) -> None:
        self._before[self._first(self._flow.steps[step].position)] += statements

    def after(self, step: int, statements: Iterable[Statement]) -> None:
        self._after[self._flow.steps[step].position] += statements

    def made(self) -> list[Statement]:
        found: list[Statement] = []
        for position, statement in enumerate(self._body):
            found += self._before.get(position, ())
            found += self._instead.get(position, (statement,))
            found += self._after.get(position, ())
        return found

    def positions(self) -> list[int | None]:
        """Where each statement of :meth:`made` stood; None for what is new."""
        found: list[int | None] = []
        for position in range(len(self._body)):
            found += [None] * len(self._before.get(position, ()))
            found += [None] * len(self._instead[position]) if position in self._instead else [position]
            found += [None] * len(self._after.get(position, ()))
        return found

    def _first(self, position: int) -> int:
        """Where the step begins, with the pragmas that speak of it."""
        while position > 0 and is_about_next(self._body[position - 1]):
            position -= 1
        return position
