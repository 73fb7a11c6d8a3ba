"""The protocols that a counter and a strategy follow for the algorithm (comprehensive, sections 3.3 and 3.4).

The algorithm never looks into the code that it optimizes: a *fragment* is any hashable value.  Counters evaluate
it, strategies map it to another one.  Example: a counter that returns ``Polynomial`` ``2*s*B + 2`` for a nest with
a cached array and limits the machine parameter ``Z_B``.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial, Quotient, RationalFunction

Fragment = TypeVar("Fragment", bound=Hashable)
FragmentIn = TypeVar("FragmentIn", bound=Hashable, contravariant=True)
FragmentOut = TypeVar("FragmentOut", bound=Hashable, covariant=True)

Value: TypeAlias = Polynomial | RationalFunction


class Kind(Enum):
    RESOURCE = "resource"
    """Less is better; the accept branch adds ``0 <= value <= limit``."""
    PERFORMANCE = "performance"
    """More is better, a ratio in [0, 1]; the accept branch adds ``limit <= value``."""


class Evaluation(Struct, frozen=True):
    """The value of a counter on a fragment and where it comes from (``"estimate"``, ``"exact"``, ``"ptxas sm_90"``)."""

    value: Value
    source: str
    facts: tuple[Atom, ...] = ()
    """The facts that hold wherever the value means something: ``32 <= W_SM``. It becomes an assumption of both
    branches."""
    quotients: tuple[Quotient, ...] = ()
    """The symbols of the value that are no parameters, each after those that it is made of."""

    @property
    def assumed(self) -> tuple[Atom, ...]:
        """The facts, and what defines the quotients: one solution for them at every point, so nothing is lost."""
        return (*self.facts, *(atom for quotient in self.quotients for atom in quotient.definition))


class CounterError(Exception):
    """A counter returned what the algorithm cannot compare with a limit; `help` says what it may return."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


class Counter(Protocol[FragmentIn]):
    """A resource or performance evaluation function: f_i or g_i."""

    @property
    def name(self) -> str:
        """Stable, with its unit: ``shared_words_per_block``."""
        ...

    @property
    def limit(self) -> str:
        """The machine parameter R_i or P_i that bounds it."""
        ...

    @property
    def kind(self) -> Kind: ...

    def evaluate(self, fragment: FragmentIn) -> Evaluation:
        """The same for equal fragments. Denominators are never 0 where the assumptions hold."""
        ...


class NotApplicable(Struct, frozen=True):
    """The reason why a strategy changes nothing here, which the tree shows."""

    reason: str


class Applied(Struct, Generic[FragmentOut], frozen=True):
    """A rewritten fragment with one line that says what changed."""

    fragment: FragmentOut
    note: str


class Strategy(Protocol[Fragment]):
    """An optimization procedure O_j; one instance per level (``cse`` level 1, ``cse`` level 2)."""

    @property
    def name(self) -> str:
        """The name, such as ``granularity`` or ``cse-2``, unique among the strategies of a run."""
        ...

    @property
    def improves(self) -> tuple[str, ...]:
        """The names of the counters c with this strategy in sigma(c)."""
        ...

    @property
    def on_ir(self) -> bool:
        """Whether it maps IR to IR: then it is recorded in lambda and leaves G_C as it is."""
        ...

    @property
    def decision(self) -> tuple[str, str]:
        """Return the words of a leaf's decisions where the strategy stands, and where it does not.

        Strategies with the same second word are levels of one: it is said where none of them stands.
        """
        ...

    def stands(self, fragment: Fragment, taken: bool) -> bool:
        """Whether a leaf with this fragment has what the strategy brings about, whoever did it.

        Most strategies answer ``taken``, which says whether a refuse edge on the way to the leaf took them.
        """
        ...

    def apply(self, fragment: Fragment) -> Applied[Fragment] | NotApplicable: ...
