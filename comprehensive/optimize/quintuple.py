"""The state of the algorithm: a fragment with what was done to it, what is left to do, and where that is valid.

In: a fragment, counters, strategies, assumptions.  Out: a `Quintuple` that only grows new ones::

    start = Quintuple(nest, (), strategies, counters, System(assumptions))
    counter, rest = start.pop_counter()

The five sequences are stacks in the order of Remark 2: the first element is the top, and pushing ``t1, ..., tM``
leaves ``tM, ..., t1`` on top.  Nothing is copied deeply, because nothing is ever changed (comprehensive, 3.6).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from msgspec import Struct

from comprehensive.algebra import Atom, System
from comprehensive.optimize.protocols import Counter, Fragment, Strategy
from comprehensive.records import replace

Item = TypeVar("Item")


class Quintuple(Struct, Generic[Fragment], frozen=True):
    """Q(S) = (G_C(S), lambda(S), omega(S), gamma(S), C(S)) of section 3.6."""

    fragment: Fragment
    """G_C: the code, together with what strategies on the IR left in it."""
    applied: tuple[Strategy[Fragment], ...]
    """lambda: the strategies applied to the IR, the last one first."""
    remaining: tuple[Strategy[Fragment], ...]
    """omega: the strategies that were not used so far."""
    counters: tuple[Counter[Fragment], ...]
    """gamma: the counters still to be evaluated, the next one first."""
    system: System
    """C: what the parameters satisfy wherever this fragment is considered."""

    @property
    def is_processed(self) -> bool:
        """Whether no counter waits: then the fragment and the system are a case of the discussion."""
        return not self.counters

    def pop_counter(self) -> tuple[Counter[Fragment], Quintuple[Fragment]]:
        """The next counter and the state without it. ValueError on a processed quintuple."""
        if not self.counters:
            raise ValueError("a processed quintuple has no counter left to evaluate")
        return self.counters[0], replace(self, counters=self.counters[1:])

    def constrain(self, *atoms: Atom) -> Quintuple[Fragment]:
        """This state where `atoms` hold too."""
        return replace(self, system=self.system.add(*atoms))

    def assuming(self, *atoms: Atom) -> Quintuple[Fragment]:
        """This state with `atoms` among its assumptions."""
        return replace(self, system=self.system.assume(*atoms))

    def without(self, strategy: Strategy[Fragment]) -> Quintuple[Fragment]:
        """This state where `strategy` is used up."""
        return replace(self, remaining=tuple(o for o in self.remaining if o.name != strategy.name))

    def transformed(
        self, fragment: Fragment, strategy: Strategy[Fragment], again: Iterable[Counter[Fragment]]
    ) -> Quintuple[Fragment]:
        """This state after `strategy` made `fragment` of its code; `again` are the counters to push back."""
        return replace(
            self.without(strategy),
            fragment=fragment,
            applied=push(self.applied, (strategy,)) if strategy.on_ir else self.applied,
            counters=push_counters(self.counters, again),
        )


def push(stack: tuple[Item, ...], items: Iterable[Item]) -> tuple[Item, ...]:
    """Push items: ``push((s1, ..., sN), (t1, ..., tM))  -->  (tM, ..., t1, s1, ..., sN)`` (Remark 2)."""
    return tuple(reversed(tuple(items))) + stack


def push_counters(
    stack: tuple[Counter[Fragment], ...], items: Iterable[Counter[Fragment]]
) -> tuple[Counter[Fragment], ...]:
    """Remark 2's push; a counter that was waiting already moves to the top instead of waiting twice.

    Lemma 1 relies on it: "the length of every sequence of consecutive accept edges is at most s + t".
    """
    fresh = tuple(items)
    pushed = {counter.name for counter in fresh}
    return push(tuple(counter for counter in stack if counter.name not in pushed), fresh)
