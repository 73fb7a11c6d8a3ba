"""The watcher of long work: told what is done, and asked whether there is time for more.

    watch.tell("growing the tree of matmul", 40)         # 40 nodes so far; a third argument says of how many
    if watch.is_over(): ...                              # stop cleanly, and say what is missing

The stages are given a watch and print nothing themselves: the command line has one that draws a line on a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Watch(Protocol):
    """Watches one command from its begin to its end."""

    def tell(self, doing: str, done: int, of: int | None = None) -> None:
        """Take note of what is being done, and how much of it is."""
        ...

    def is_over(self) -> bool:
        """Whether the time for the work is over; once it is, it stays so."""
        ...


@dataclass(frozen=True, slots=True)
class Unwatched:
    """There is nobody to tell, and no limit."""

    def tell(self, doing: str, done: int, of: int | None = None) -> None:
        """Do nothing."""

    def is_over(self) -> bool:
        """Return False: there is always time."""
        return False


UNWATCHED = Unwatched()
