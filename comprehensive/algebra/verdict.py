"""The verdict of a solver on a system: a point, a core, or that it does not know.

>>> match solver.check(system):  # doctest: +SKIP
...     case Consistent(point): ...
...     case Inconsistent(core): ...
...     case Unknown(reason): ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.certificate import Certificate
from comprehensive.algebra.fourier import Fact
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.proof import certificate


class Consistent(Struct, frozen=True):
    """The system holds at `point`, which gives every symbol.

    Integers, unless the search for whole numbers was given up: then it holds over the reals at least.
    """

    point: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Inconsistent:
    """No point satisfies `core`, a subset of the assumptions and atoms of the system, with integers for integers.

    `derivation` is the way to the contradiction, where it was found without an SMT solver.
    """

    core: tuple[Atom, ...]
    derivation: Fact | None = field(default=None, compare=False, repr=False)
    is_minimal: bool = field(default=False, compare=False, repr=False)
    """Whether what the contradiction can do without has been left out."""

    @property
    def certificate(self) -> Certificate | None:
        """A proof for `certificate.proves_contradiction`."""
        return None if self.derivation is None else certificate(self.derivation)


class Unknown(Struct, frozen=True):
    """The verdict of a solver that reached its limits; a branch whose system is unknown is kept."""

    reason: str


Verdict = Consistent | Inconsistent | Unknown
