"""What a solver says about a system: a point, a core, or that it does not know.

>>> match solver.check(system):  # doctest: +SKIP
...     case Consistent(point): ...
...     case Inconsistent(core): ...
...     case Unknown(reason): ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from comprehensive.algebra.atom import Atom


@dataclass(frozen=True, slots=True)
class Consistent:
    """The system holds at `point`, which gives every symbol; integers whenever they were found."""

    point: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Inconsistent:
    """No real point satisfies `core`, a subset of the assumptions and atoms of the system."""

    core: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not decided within the limits; a branch whose system is unknown is kept."""

    reason: str


Verdict = Consistent | Inconsistent | Unknown
