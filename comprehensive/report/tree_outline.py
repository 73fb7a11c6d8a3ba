"""The outline of a decision tree that every picture of it shows: a tree in, boxes and arrows with their words out.

    Item(kind="branch", words=("words = 2*s*B + 2", "exact"))
    Item(kind="leaf", words=("leaf 0", "cached: a"), above=Arrow(0, "accept", ("2*s*B + 2 <= Z_B",)))

Without ``pruned``, what is decided in any case is no box: a counter that cannot be refused any more is left out, and
of one that cannot be accepted the arrow that led to it says what is tried next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from comprehensive.optimize.protocols import Fragment, NotApplicable
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Node, Open, Pruned, Tree
from comprehensive.records import replace
from comprehensive.report.tree_words import (
    NOT_DECIDED,
    atoms,
    conjunction,
    contradiction,
    decisions,
    doubt,
    notes,
    passed_over,
    reason,
    summary,
    value,
)

Kind: TypeAlias = Literal["root", "recipe", "not applied", "branch", "leaf", "dead end", "pruned"]


class Arrow(Struct, frozen=True):
    """An arrow from the item at position ``start``: conditions, and the strategies that are taken on the way."""

    start: int
    kind: Literal["accept", "refuse", "alternative"]
    words: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    """The change by each strategy, or why it was passed over."""

    @property
    def consequence(self) -> str:
        """The strategies in a line: ``so cse-1, then granularity``; empty where there are none."""
        return f"so {', then '.join(self.strategies)}" if self.strategies else ""


class Item(Struct, frozen=True):
    """A box of the picture: its words, one a line, the first one its title; ``more`` is what a reader may ask for."""

    kind: Kind
    words: tuple[str, ...]
    above: Arrow | None = None
    """The arrow that leads here; None at the root."""
    more: tuple[str, ...] = ()


def outline(
    tree: Tree[Fragment], name: str, *, pruned: bool, describe: Callable[[Fragment], str]
) -> tuple[Item, ...]:
    """The items of a region called ``name`` in preorder, the alternatives at the root before the tree itself."""
    head, *assumed = summary(tree)
    items = [Item("root", (name, head), more=tuple(assumed))]
    for each in tree.alternatives:
        arrow = Arrow(0, "alternative")
        if isinstance(each.tree, NotApplicable):
            items.append(Item("not applied", (each.recipe, "not applied"), arrow, (each.tree.reason,)))
            continue
        items.append(Item("recipe", (each.recipe,), arrow))
        _grow(items, each.tree, Arrow(len(items) - 1, "alternative"), pruned, describe)
    if tree.alternatives:
        items.append(Item("recipe", ("as written",), Arrow(0, "alternative")))
    _grow(items, tree, Arrow(len(items) - 1 if tree.alternatives else 0, "alternative"), pruned, describe)
    return tuple(items)


def _grow(
    items: list[Item],
    tree: Tree[Fragment],
    arrow: Arrow,
    pruned: bool,
    describe: Callable[[Fragment], str],
) -> None:
    """Append the items of a case discussion, with a stack of its own: a tree may be of any height."""
    waiting: list[tuple[Node[Fragment], Arrow]] = [(tree.root, arrow)]
    while waiting:
        node, arrow = waiting.pop()
        match node:
            case Leaf():
                items.append(replace(_leaf(tree, node, pruned, describe), above=arrow))
            case DeadEnd():
                items.append(replace(_dead_end(tree, node, pruned), above=arrow))
            case Open():
                where = conjunction(tree, node.simplified)
                items.append(Item("pruned", (NOT_DECIDED, where), arrow))
            case Pruned():
                items.append(Item("pruned", ("pruned", contradiction(tree, node)), arrow))
            case Branch() if not pruned and isinstance(node.refuse, Pruned):
                waiting.append((node.accept, arrow))
            case Branch() if not pruned and isinstance(node.accept, Pruned):
                waiting.append((node.refuse, _going_on(arrow, node)))
            case Branch():
                below = list(_arrows(tree, node, len(items), pruned=pruned))
                items.append(Item("branch", (value(tree, node), node.evaluation.source + doubt(node)), arrow))
                waiting.extend(reversed(below))
            case _:
                assert_never(node)


def _arrows(
    tree: Tree[Fragment], node: Branch[Fragment], position: int, *, pruned: bool
) -> Iterator[tuple[Node[Fragment], Arrow]]:
    yield node.accept, Arrow(position, "accept", atoms(tree, node.accept_atoms))
    others = passed_over(node) if pruned else ()
    refuse = Arrow(position, "refuse", (*atoms(tree, node.refuse_atoms), *others))
    yield node.refuse, _going_on(refuse, node)


def _going_on(arrow: Arrow, refused: Branch[Fragment]) -> Arrow:
    """The arrow led on by the strategy that a counter's refuse edge takes, if there is one."""
    taken = tuple(tried for tried in refused.tried if tried.taken)
    return replace(
        arrow,
        strategies=arrow.strategies + tuple(tried.strategy for tried in taken),
        more=arrow.more + tuple(f"{tried.strategy}: {tried.note}" for tried in taken),
    )


def _leaf(
    tree: Tree[Fragment], leaf: Leaf[Fragment], pruned: bool, describe: Callable[[Fragment], str]
) -> Item:
    words = (f"leaf {leaf.index}{doubt(leaf)}", describe(leaf.fragment), decisions(leaf))
    where = f"where {conjunction(tree, leaf.simplified)}"
    return Item(
        "leaf",
        tuple(filter(None, words)) + (notes(leaf, pruned=True) if pruned else ()),
        more=(where, *notes(leaf, pruned=True)),
    )


def _dead_end(tree: Tree[Fragment], end: DeadEnd, pruned: bool) -> Item:
    reasons = tuple(map(reason, end.reasons))
    words = (f"dead end {end.index}{doubt(end)}", "no strategy is left")
    where = f"where {conjunction(tree, end.simplified)}"
    return Item("dead end", (*words, *(reasons if pruned else ())), more=(where, value(tree, end), *reasons))
