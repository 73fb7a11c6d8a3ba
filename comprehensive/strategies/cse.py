"""Common subexpression elimination, two levels: a variant in, one that computes every value once out.

1. Integer arithmetic of indices and bounds, compared as polynomials::

       c[i*N + j] = a[i*N + j];      -->      const int t0 = i*N + j;  c[t0] = a[t0];

2. Level 1, and equal trees of pure reads, every bit kept::

       c[k] = a[k]*x; d[k] = a[k]*x + 1;      -->      const float t1 = a[k]*x;  c[k] = t1; d[k] = t1 + 1;

Source: comprehensive, section 5, strategy (iii), decision (2); ``t15`` and ``t16`` of figure 7.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.traverse import all_names, map_bands
from comprehensive.loops.types import environment_of
from comprehensive.loops.widths import computes_in_long
from comprehensive.metafork.ast import Stmt
from comprehensive.metafork.fresh import FreshNames
from comprehensive.metafork.walk import assigned_scalars
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.records import replace
from comprehensive.strategies.cse_integers import share_integers
from comprehensive.strategies.cse_values import share_values
from comprehensive.strategies.hoist import written_arrays

MAX_ROUNDS = 8
"""Sharing can make new expressions equal; it shrinks the code every time, and a few rounds reach the end."""


class CommonSubexpressions(Struct, frozen=True):
    """The strategy that shares common subexpressions, at one of its two levels."""

    level: int
    improves: tuple[str, ...] = ("registers_per_thread",)
    on_ir: bool = False
    decision: tuple[str, str] = ("2", "")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    @property
    def name(self) -> str:
        return f"cse-{self.level}"

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        nest = fragment.nest
        if computes_in_long(nest):
            # A product regrouped by the algebra could be computed in int where the source has long.
            return NotApplicable("positions are computed in long")
        for _ in range(MAX_ROUNDS):
            shared = self._round(nest)
            if shared == nest:
                break
            nest = shared
        if nest == fragment.nest:
            return NotApplicable("no subexpression occurs twice")
        return Applied(replace(fragment, nest=nest), "common subexpressions are computed once")

    def _round(self, nest: Nest) -> Nest:
        fresh = FreshNames(all_names(nest))
        constants = frozenset(a.name for a in nest.arrays) - written_arrays(nest)

        def one(number: int, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            types = environment_of(nest, number)
            shared = share_integers(body, types, fresh, assigned_scalars(body))
            return share_values(shared, types, fresh, constants) if self.level >= 2 else shared

        return map_bands(nest, one)
