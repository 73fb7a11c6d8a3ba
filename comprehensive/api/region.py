"""A region of a program: its parameters, its decision tree, and the other forms that recipes make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct

from comprehensive.api.leaf import Leaf, notation_of
from comprehensive.api.system import System
from comprehensive.api.tree import DeadEnd, Tree
from comprehensive.codegen.cuda import print_kernel
from comprehensive.driver import Compilation
from comprehensive.loops.ir import Role
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.plan.plan import RegionPlan


@dataclass(frozen=True, slots=True)
class Tiling:
    """A kernel over tiles whose sizes are constants, beside the leaves; ``instances`` are the sizes that there are.

    Numbers of instances go on behind those of the leaves, from ``first`` on.
    """

    recipe: str
    system: System
    """The conditions on a size of the tile and on limits of the machine."""
    first: int
    instances: tuple[Mapping[str, int], ...]
    kernel: str = field(repr=False)
    """The kernel in CUDA C++, a template in the sizes."""


class Missed(Struct, frozen=True):
    """A recipe that makes no tiles of a region, and the reason."""

    recipe: str
    because: str

    def __str__(self) -> str:
        return f"{self.recipe}, not applied: {self.because}"


class Region(Struct, frozen=True, eq=False, dict=True):
    """A ``meta_schedule`` of a program, or a loop with a directive."""

    compilation: Compilation
    number: int
    """Its place in the program, from 0."""
    plan: RegionPlan

    @property
    def name(self) -> str:
        """The name of the function, with a number behind it where a function has several regions."""
        return self.plan.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The program parameters, of which blocks are made: the launcher chooses them, or its caller."""
        return tuple(scalar.name for scalar in self.plan.nest.with_role(Role.PROGRAM))

    @cached_property
    def tree(self) -> Tree:
        grown = self.compilation.trees[self.number]
        pairs = zip(grown.leaves, self.plan.leaves, strict=True)
        leaves = tuple(Leaf(self.compilation, self.number, leaf, plan) for leaf, plan in pairs)
        return Tree(self.name, grown, leaves)

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return self.tree.leaves

    @property
    def dead_ends(self) -> tuple[DeadEnd, ...]:
        return self.tree.dead_ends

    @cached_property
    def tilings(self) -> tuple[Tiling, ...]:
        """The kernels over tiles, in the order of their numbers."""
        grown = [each.tree for each in self.tree.grown.alternatives]
        trees = [tree for tree in grown if not isinstance(tree, NotApplicable)]
        return tuple(
            Tiling(
                plan.recipe,
                System(plan.system, notation_of(tree)),
                plan.first,
                tuple(MappingProxyType(plan.sizes(instance)) for instance in plan.instances),
                print_kernel(plan.kernel),
            )
            for plan, tree in zip(self.plan.tilings, trees, strict=True)
        )

    @property
    def missed(self) -> tuple[Missed, ...]:
        """The recipes that make no tiles of the region."""
        return tuple(
            Missed(each.recipe, each.tree.reason)
            for each in self.tree.grown.alternatives
            if isinstance(each.tree, NotApplicable)
        )

    def __str__(self) -> str:
        return f"{self.name}\n{self.tree}"

    def __repr__(self) -> str:
        return f"<region {self.name} in {', '.join(self.parameters) or 'no parameter'}>"

    def _repr_html_(self) -> str:
        return self.tree.html()

    def _repr_svg_(self) -> str:
        return self.tree.svg()
