"""A leaf of the case discussion: where it runs, what was decided, what it takes, and its code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from types import MappingProxyType

from msgspec import Struct

from comprehensive.algebra.polynomial import Scalar
from comprehensive.api.system import System
from comprehensive.codegen.cuda import print_kernel
from comprehensive.descriptions import describe, describe_leaf
from comprehensive.driver import Compilation
from comprehensive.generate import leaf_program
from comprehensive.loops.ir import Variant
from comprehensive.optimize import tree as optimize
from comprehensive.optimize.protocols import Value
from comprehensive.optimize.tree import Decision
from comprehensive.plan.plan import LeafPlan
from comprehensive.report.system_latex import Mathematics


@dataclass(frozen=True, slots=True)
class Count:
    """The value of a counter: ``exact`` is a polynomial or a quotient of two in the parameters, ``value`` its text.

    ``limit`` is the symbol that bounds it; ``source`` says where the value comes from, as in ``exact``, ``estimate``,
    ``ptxas sm_90``.
    """

    name: str
    value: str
    limit: str
    source: str
    exact: Value = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name} = {self.value} [{self.source}], limit {self.limit}"


class Leaf(Struct, frozen=True, eq=False, dict=True):
    """A leaf of the tree of a region; ``source`` and ``kernel`` are its code in MetaFork and in CUDA."""

    compilation: Compilation
    region: int
    """The number of the region, in program order from 0."""
    grown: optimize.Leaf[Variant]
    plan: LeafPlan

    @property
    def index(self) -> int:
        return self.grown.index

    @cached_property
    def system(self) -> System:
        """The simplified system: the leaf runs where it holds."""
        return System(self.grown.simplified, self._notation)

    @property
    def sample(self) -> Mapping[str, Scalar] | None:
        """A point at which the leaf runs; None where the solver could not decide whether there is one."""
        return self.grown.sample

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return what was decided about each strategy, in the order of the run."""
        return self.grown.decisions

    @property
    def strategies(self) -> tuple[str, ...]:
        """The names of the strategies that were taken, in the order of the run."""
        return tuple(decision.strategy for decision in self.grown.decisions if decision.taken)

    @property
    def cached(self) -> tuple[str, ...]:
        """The arrays that lie in shared memory."""
        return self.grown.fragment.nest.cached

    @cached_property
    def counters(self) -> Mapping[str, Count]:
        """Return what the code takes or reaches, by the names of the counters."""
        tree = self.compilation.trees[self.region]
        found = ((counter, counter.evaluate(self.grown.fragment)) for counter in tree.counters)
        return MappingProxyType(
            {
                counter.name: Count(
                    counter.name, each.value.format(tree.order), counter.limit, each.source, each.value
                )
                for counter, each in found
            }
        )

    @cached_property
    def source(self) -> str:
        """The whole program in MetaFork, with the region as this leaf has it."""
        return leaf_program(self.compilation, self.region, self.plan)

    @cached_property
    def kernel(self) -> str:
        """The kernel in CUDA C++."""
        return print_kernel(self.plan.kernel)

    @property
    def _notation(self) -> Mathematics:
        return notation_of(self.compilation.trees[self.region])

    def __str__(self) -> str:
        return f"leaf {self.index} where {self.system}\n  {describe_leaf(self.grown)}"

    def __repr__(self) -> str:
        return f"<leaf {self.index} of {self.compilation.nests[self.region].name}: {describe(self.grown.fragment)}>"

    def _repr_html_(self) -> str:
        head = f"<p><b>leaf {self.index}</b>, {escape(describe_leaf(self.grown))}</p>"
        counts = "".join(f"<li><code>{escape(str(each))}</code></li>" for each in self.counters.values())
        return f"{head}\n{self.system._repr_html_()}\n<ul>{counts}</ul>"  # pyright: ignore[reportPrivateUsage]


def notation_of(tree: optimize.Tree[Variant]) -> Mathematics:
    """Return the notation in which a tree prints symbols."""
    return Mathematics(tree.order, tree.limits, tree.quotients)
