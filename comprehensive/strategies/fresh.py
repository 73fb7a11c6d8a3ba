"""Names for new scalars: the names taken in, ``t0``, ``t1``, ... out, each once and free in the whole nest."""

from __future__ import annotations

from itertools import count


class FreshNames:
    """A source of names: called, it gives the next free one, in the same sequence for the same nest."""

    def __init__(self, taken: frozenset[str], base: str = "t") -> None:
        self._names = (name for number in count() if (name := f"{base}{number}") not in taken)

    def __call__(self) -> str:
        return next(self._names)
