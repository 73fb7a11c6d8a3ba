"""A decision tree for a page: a tree in, nested nodes with their quintuples out.

    node = nodes_of(tree, describe, code)      # NodeView(edge="", title="threads_per_block = B", children=(...))
    node.children[0].quintuple                 # G_C, lambda, omega, gamma and C, as they arrived there

Dead branches are nodes as well, with the contradiction for which they were pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Generic, Literal, assert_never

from msgspec import Struct

from comprehensive.algebra import Atom, System
from comprehensive.optimize.protocols import Fragment
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Node, Open, Point, Pruned, Tree, TriedStrategy
from comprehensive.report.tree_words import NOT_DECIDED, contradiction, reason

NodeKind = Literal["branch", "leaf", "dead end", "open", "pruned"]


class QuintupleView(Struct, frozen=True):
    """The quintuple of a node as text; ``code`` is a position in the list of codes."""

    code: int
    applied: tuple[str, ...]
    remaining: tuple[str, ...]
    waiting: tuple[str, ...]
    system: tuple[str, ...]


class NodeView(Struct, frozen=True):
    """A node with the edge that leads to it; ``number`` counts nodes in preorder, over several trees of a page."""

    number: int
    kind: NodeKind
    index: int
    edge: Literal["root", "accept", "refuse"]
    condition: str
    """The atoms that the edge adds."""
    change: str
    """The change by the strategy on a refuse edge."""
    title: str
    source: str
    """The source of the value of a counter."""
    notes: tuple[str, ...]
    """The other words about the node: strategies that were passed over, a point, a doubt."""
    quintuple: QuintupleView
    children: tuple[NodeView, ...]

    @property
    def all(self) -> Iterator[NodeView]:
        """The nodes below, this one first, in preorder."""
        yield self
        for child in self.children:
            yield from child.all


class TreeViews(Generic[Fragment]):
    """Makes nodes of trees, one after the other; codes that occur again are kept once."""

    def __init__(self, describe: Callable[[Fragment], str], print_code: Callable[[Fragment], str]) -> None:
        self._describe, self._print = describe, print_code
        self._codes: dict[tuple[str, str], int] = {}
        self._count = 0

    @property
    def codes(self) -> tuple[tuple[str, str], ...]:
        """The codes that quintuples refer to: a description, and MetaFork text."""
        return tuple(self._codes)

    def of(self, tree: Tree[Fragment]) -> NodeView:
        """The root of a tree."""
        start = QuintupleView(
            self._code(tree.source),
            (),
            tuple(strategy.name for strategy in tree.strategies),
            tuple(counter.name for counter in tree.counters),
            (),
        )
        return self._node(tree, tree.root, start, "root", "", "")

    def _node(
        self,
        tree: Tree[Fragment],
        node: Node[Fragment],
        above: QuintupleView,
        edge: Literal["root", "accept", "refuse"],
        condition: str,
        change: str,
    ) -> NodeView:
        number, self._count = self._count, self._count + 1
        match node:
            case Leaf():
                quintuple = QuintupleView(
                    self._code(node.fragment), node.applied, above.remaining, (), _system(tree, node.system)
                )
                title, source, kind, index = (
                    f"leaf {node.index}",
                    self._describe(node.fragment),
                    "leaf",
                    node.index,
                )
                notes = (*_sample(node.sample), *_doubt(node.undecided))
                children: tuple[NodeView, ...] = ()
            case DeadEnd():
                value = node.evaluation.value.format(tree.order)
                quintuple = QuintupleView(
                    above.code, above.applied, above.remaining, above.waiting, _system(tree, node.system)
                )
                title, source = f"dead end {node.index}", f"{node.counter} = {value} and no strategy is left"
                kind, index, children = "dead end", node.index, ()
                notes = (*map(reason, node.reasons), *_sample(node.sample), *_doubt(node.undecided))
            case Open():
                quintuple = QuintupleView(
                    above.code, above.applied, above.remaining, node.waiting, _system(tree, node.system)
                )
                title, source = NOT_DECIDED, f"counters that wait: {', '.join(node.waiting)}"
                kind, index, children = "open", node.index, ()
                notes = (*_sample(node.sample), *_doubt(node.undecided))
            case Pruned():
                quintuple = QuintupleView(
                    above.code, above.applied, above.remaining, above.waiting, _system(tree, node.system)
                )
                kind, index, children = "pruned", 0, ()
                title, source = "dead branch", contradiction(tree, node)
                proved = (
                    "a certificate proves it"
                    if node.proof
                    else "found by the SMT solver, without a certificate"
                )
                notes = (proved,)
            case Branch():
                quintuple = QuintupleView(
                    self._code(node.fragment),
                    node.applied,
                    node.remaining,
                    node.waiting,
                    _system(tree, node.system),
                )
                kind, index = "branch", node.id
                title = f"{node.counter} = {node.evaluation.value.format(tree.order)}"
                source = node.evaluation.source
                notes = (*(reason(t) for t in node.tried if not t.taken), *_doubt(node.undecided))
                children = self._children(tree, node, quintuple)
            case _:
                assert_never(node)
        return NodeView(
            number, kind, index, edge, condition, change, title, source, notes, quintuple, children
        )

    def _children(
        self, tree: Tree[Fragment], node: Branch[Fragment], here: QuintupleView
    ) -> tuple[NodeView, ...]:
        after = QuintupleView(here.code, here.applied, here.remaining, here.waiting[1:], here.system)
        taken = next((tried for tried in node.tried if tried.taken), None)
        change = "" if taken is None else f"{taken.strategy}: {taken.note}"
        return (
            self._node(tree, node.accept, after, "accept", _atoms(tree, node.accept_atoms), ""),
            self._node(tree, node.refuse, after, "refuse", _atoms(tree, node.refuse_atoms), change),
        )

    def _code(self, fragment: Fragment) -> int:
        return self._codes.setdefault((self._describe(fragment), self._print(fragment)), len(self._codes))


def path_to(tree: Tree[Fragment], leaf: Leaf[Fragment]) -> tuple[tuple[Branch[Fragment], bool], ...]:
    """The branches from the root to a leaf, each with whether its accept edge was taken."""
    waiting: list[tuple[Node[Fragment], tuple[tuple[Branch[Fragment], bool], ...]]] = [(tree.root, ())]
    while waiting:
        node, path = waiting.pop()
        if node is leaf:
            return path
        if isinstance(node, Branch):
            waiting += [(node.refuse, (*path, (node, False))), (node.accept, (*path, (node, True)))]
    raise ValueError(f"leaf {leaf.index} is in another tree")


def parent_of(tree: Tree[Fragment], leaf: Leaf[Fragment]) -> tuple[Leaf[Fragment], TriedStrategy] | None:
    """The leaf that a strategy has made this one of, and that strategy: the last one that was taken on the way.

    The parent is the first leaf where that counter was accepted instead.  None where no strategy was taken, or where
    no leaf is left on the other side.
    """
    for branch, accepted in reversed(path_to(tree, leaf)):
        taken = next((tried for tried in branch.tried if tried.taken), None)
        if accepted or taken is None:
            continue
        first = _first_leaf(branch.accept)
        if first is not None:
            return first, taken
    return None


def _first_leaf(node: Node[Fragment]) -> Leaf[Fragment] | None:
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Leaf):
            return found
        if isinstance(found, Branch):
            waiting += [found.refuse, found.accept]
    return None


def _system(tree: Tree[Fragment], system: System) -> tuple[str, ...]:
    return system.format(tree.order, tree.limits)


def _atoms(tree: Tree[Fragment], atoms: Iterable[Atom]) -> str:
    return ", ".join(atom.format(tree.order, tree.limits) for atom in atoms)


def _sample(point: Point | None) -> tuple[str, ...]:
    if point is None:
        return ()
    return (
        "reached at " + ", ".join(f"{name} = {Fraction(value)}" for name, value in sorted(point.items())),
    )


def _doubt(undecided: str | None) -> tuple[str, ...]:
    return () if undecided is None else (f"undecided: {undecided}",)
