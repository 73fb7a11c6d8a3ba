"""A program with the strategies that have been taken on the way to it, on which given values depend.

The file of values says what a strategy does to counters.  The code follows as far as the strategy finds something to
do: published trees say "CSE is applied" also where a program has no common subexpression, and so does this::

    TakenStrategy(cse, improves=("registers_per_thread",), words=Words("2", "2")).apply(fragment)
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, NotApplicable, Strategy


class Given(Struct, frozen=True):
    """A variant of a nest, and the names of the strategies taken."""

    variant: Variant
    taken: frozenset[str] = frozenset()


class TakenStrategy(Struct, frozen=True):
    """A strategy of the tool that counts as taken wherever a refuse edge asks for it."""

    strategy: Strategy[Variant]
    improves: tuple[str, ...]
    decision: tuple[str, str]

    @property
    def name(self) -> str:
        return self.strategy.name

    @property
    def on_ir(self) -> bool:
        return self.strategy.on_ir

    def stands(self, fragment: Given, taken: bool) -> bool:
        return self.name in fragment.taken

    def apply(self, fragment: Given) -> Applied[Given] | NotApplicable:
        if self.name in fragment.taken:
            return NotApplicable("already taken")
        taken = fragment.taken | {self.name}
        found = self.strategy.apply(fragment.variant)
        if isinstance(found, NotApplicable):
            return Applied(Given(fragment.variant, taken), f"no change of this code: {found.reason}")
        return Applied(Given(found.fragment, taken), found.note)
