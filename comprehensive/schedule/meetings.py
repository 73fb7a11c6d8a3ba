"""Barriers where they are needed: what threads use of shared places in, the statements where they meet out.

::

    each lane: row[j] = ...;   one lane: sum += row[j]      -->  ...;  barrier;  ...
    each lane: row[j] = ...;   each lane: y[j] = row[j]     -->  no barrier: an element is one lane's in both
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Await, Barrier, KernelStmt
from comprehensive.schedule.context import ZERO


class Use(Struct, frozen=True):
    """A use of a resource; steps of lanes ``by`` the same place of it are one thread's. None: any thread may do it."""

    resource: object
    by: object
    writes: bool

    def conflicts(self, other: Use) -> bool:
        """Whether another thread may use what this one does, and one of them changes it."""
        return (
            self.resource == other.resource
            and (self.writes or other.writes)
            and (self.by is None or self.by != other.by)
        )


@dataclass
class Meetings:
    """Adds barriers to a ``body`` that grows."""

    body: list[KernelStmt]
    _since: list[Use] = field(init=False, default_factory=list[Use])
    _is_copying: bool = field(init=False, default=False)

    def copies(self, uses: Iterable[Use]) -> None:
        """Note copies that have begun, for which the next meeting waits."""
        self._since += uses
        self._is_copying = True

    def since(self, uses: Iterable[Use]) -> None:
        """Note uses for which nobody has to have met."""
        self._since += uses

    def use(self, uses: Sequence[Use]) -> None:
        """Let the threads meet if some of these uses conflict with what has been used since they last met."""
        if any(use.conflicts(other) for use in uses for other in self._since):
            self.meet()
        self._since += uses

    def meet(self) -> None:
        if self._is_copying:
            self.body.append(Await(ZERO))
            self._is_copying = False
        self.body.append(Barrier())
        self._since.clear()
