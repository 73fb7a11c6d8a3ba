"""Names for what the tool adds: a wish and the names taken in, the first name that is free out."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import count

from comprehensive.metafork.reserved import why_reserved


def fresh(base: str, taken: Set[str]) -> str:
    """``base``, or ``base_1``, ``base_2``...: the first that is not taken.

    A wish that joins names of the user's may be reserved, as ``cf_block`` is: it gets a letter in front.
    """
    if why_reserved(base) is not None:
        base = f"x_{base}"
    if base not in taken:
        return base
    return next(name for n in count(1) if (name := f"{base}_{n}") not in taken)


class Namer:
    """Called with a wish, gives a name that is free, and takes it."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __call__(self, base: str) -> str:
        name = fresh(base, self._taken)
        self._taken.add(name)
        return name


class FreshNames:
    """A source of names: called, it gives the next free one, in the same sequence for the same nest."""

    def __init__(self, taken: frozenset[str], base: str = "t") -> None:
        self._names = (name for number in count() if (name := f"{base}{number}") not in taken)

    def __call__(self) -> str:
        return next(self._names)
