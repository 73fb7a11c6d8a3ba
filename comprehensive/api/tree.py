"""The decision tree of a region as a value: nodes to walk through, and the whole as text, JSON, HTML and a picture.

match region.tree.root:
    case Branch() as branch:
        branch.counter, branch.value, branch.accept_if, branch.refuse_if, branch.accept, branch.refuse
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, assert_never

from msgspec import Struct

from comprehensive import algebra
from comprehensive.algebra import Atom
from comprehensive.api.leaf import Leaf, notation_of
from comprehensive.api.system import System
from comprehensive.descriptions import describe
from comprehensive.generate import fragment_to_json
from comprehensive.loops.ir import Variant
from comprehensive.optimize import tree as optimize
from comprehensive.optimize.tree import TriedStrategy
from comprehensive.report.system_latex import Mathematics
from comprehensive.report.tree_html import tree_html
from comprehensive.report.tree_json import tree_to_json
from comprehensive.report.tree_outline import outline
from comprehensive.report.tree_svg import trees_svg
from comprehensive.report.tree_text import render_tree


class Pruned(Struct, frozen=True):
    """A branch that no point reaches: the conditions of ``core`` contradict each other.

    ``edge`` is the one that leads here: ``accept``, ``refuse``, or ``root`` where the assumptions are contradictory.
    """

    edge: str
    core: System
    is_proved: bool
    """Whether there is a proof that needs no solver."""

    def __str__(self) -> str:
        return f"pruned, since nothing satisfies {' and '.join(self.core.conditions)}"


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A part of the space in which nothing runs: the ``counter`` is refused and no strategy is left that could help."""

    index: int
    system: System
    counter: str
    value: str
    reasons: tuple[TriedStrategy, ...] = field(repr=False)
    """The outcome of each strategy that improves the counter."""

    def __str__(self) -> str:
        return f"dead end {self.index} where {self.system}\n  {self.counter} = {self.value} and no strategy is left"


class Branch(Struct, frozen=True, eq=False):
    """A counter's value against its limit: where ``accept_if`` holds, ``accept`` goes on, and else ``refuse``."""

    tree: Tree
    grown: optimize.Branch[Variant]

    @property
    def counter(self) -> str:
        return self.grown.counter

    @property
    def value(self) -> str:
        """The value of the counter here, in the parameters."""
        return self.grown.evaluation.value.format(self.tree.grown.order)

    @property
    def source(self) -> str:
        """The source of the value, as in ``exact`` or ``estimate``."""
        return self.grown.evaluation.source

    @property
    def limit(self) -> str:
        """The symbol of the limit."""
        return self.grown.limit

    @property
    def accept_if(self) -> System:
        return self.tree.system(self.grown.accept_atoms)

    @property
    def refuse_if(self) -> System:
        return self.tree.system(self.grown.refuse_atoms)

    @property
    def tried(self) -> tuple[TriedStrategy, ...]:
        """The strategies that the refuse edge came to, the one that it takes last."""
        return self.grown.tried

    @property
    def strategy(self) -> str | None:
        """The strategy that the refuse edge takes; None where none is left."""
        return self.grown.strategy

    @property
    def accept(self) -> Node:
        return self.tree.node(self.grown.accept)

    @property
    def refuse(self) -> Node:
        return self.tree.node(self.grown.refuse)

    def __str__(self) -> str:
        return f"{self.counter} = {self.value} [{self.source}]"

    def __repr__(self) -> str:
        return f"<branch {self}: accept {self.accept_if}, refuse {self.refuse_if}>"


Node: TypeAlias = "Branch | Leaf | DeadEnd | Pruned"


class Tree(Struct, frozen=True, eq=False, dict=True):
    """The decision tree of a region; ``str`` is what ``comprehensive tree`` prints below the heading.

    ``leaves`` are the cases in which something runs, by their numbers.
    """

    name: str
    grown: optimize.Tree[Variant]
    leaves: tuple[Leaf, ...]

    @property
    def root(self) -> Node:
        """The first node; where the region has alternatives, that of the tree of the region as written."""
        return self.node(self.grown.root)

    @cached_property
    def dead_ends(self) -> tuple[DeadEnd, ...]:
        return tuple(map(self._dead_end, self.grown.dead_ends))

    @cached_property
    def pruned(self) -> tuple[Pruned, ...]:
        """The branches that no point reaches, in preorder."""
        return tuple(map(self._pruned, self.grown.pruned))

    @property
    def assumptions(self) -> System:
        """Return what holds everywhere in the tree."""
        return self.system(self.grown.assumptions)

    def walk(self) -> Iterator[Node]:
        """Every node in preorder, accept edges first."""
        return (self.node(node) for node, _ in optimize.walk(self.grown.root))

    def text(self, *, pruned: bool = False) -> str:
        """The tree in characters; with ``pruned`` also what no point reaches, and why strategies were passed over."""
        return render_tree(self.grown, pruned, describe)

    def html(self, *, pruned: bool = False) -> str:
        """The tree in HTML that a reader opens and closes."""
        return tree_html(outline(self.grown, self.name, pruned=pruned, describe=describe))

    def svg(self, *, pruned: bool = False) -> str:
        """The tree as a picture that needs nothing else, as ``comprehensive tree --format svg`` draws it."""
        return trees_svg((outline(self.grown, self.name, pruned=pruned, describe=describe),), self.name)

    def to_json(self) -> dict[str, Any]:
        """The tree as plain data, in the form of `specs/schema/tree.json`."""
        return tree_to_json(self.grown, fragment_to_json)

    def system(self, atoms: Sequence[Atom]) -> System:
        """The system of conditions of this tree."""
        return System(algebra.System((), tuple(atoms)), self._notation)

    def node(self, node: optimize.Node[Variant]) -> Node:
        """The value for a node of the tree as it was grown."""
        match node:
            case optimize.Leaf():
                return self.leaves[node.index]
            case optimize.DeadEnd():
                return self.dead_ends[node.index]
            case optimize.Open():
                raise AssertionError("nothing limits the time of a compilation here")
            case optimize.Pruned():
                return self._pruned(node)
            case optimize.Branch():
                return Branch(self, node)
            case _:
                assert_never(node)

    def _dead_end(self, end: optimize.DeadEnd) -> DeadEnd:
        value = end.evaluation.value.format(self.grown.order)
        return DeadEnd(end.index, System(end.simplified, self._notation), end.counter, value, end.reasons)

    def _pruned(self, node: optimize.Pruned) -> Pruned:
        return Pruned(node.edge, self.system(node.core), node.proof is not None)

    @property
    def _notation(self) -> Mathematics:
        return notation_of(self.grown)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<tree of {self.name}: {len(self.leaves)} leaves, {len(self.dead_ends)} dead ends>"

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_svg_(self) -> str:
        return self.svg()
