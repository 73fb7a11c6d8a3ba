"""A decision tree for a terminal: a tree in, indented text out.

    shared_words = 2*s*B + 2
    ├─ accept 2*s*B + 2 <= Z_B
    │  leaf 0 where 2*s*B + 2 <= Z_B
    │    granularity: kept
    └─ refuse Z_B < 2*s*B + 2, so granularity (s = 1)
       ...

Alternatives at the root stand before it, each with its own case discussion or the reason why there is none:

    one of, by what it costs
    ├─ product
    │  leaf 0 where ...
    ├─ rows, not applied: the extent of the loop over 'k' is not the same for all points
    └─ as written
       shared_words = 2*s*B + 2
       ...

Without `pruned`, a counter that cannot be refused any more is left out, and one that cannot be accepted is a
line; with it, every edge is shown, the pruned ones with the contradictory part of their system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, assert_never

from msgspec import Struct

from comprehensive.optimize.protocols import Fragment, NotApplicable
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Node, Open, Pruned, Tree
from comprehensive.report.tree_words import (
    NOT_DECIDED,
    atoms,
    conjunction,
    consequence,
    contradiction,
    decision_words,
    doubt,
    notes,
    passed_over,
    reason,
    summary,
    value,
)


class Strokes(Struct, frozen=True):
    """The strokes with which edges are drawn; each is three columns wide."""

    middle: str
    last: str
    down: str
    blank: str = "   "


UNICODE = Strokes("├─ ", "└─ ", "│  ")
ASCII = Strokes("|- ", "`- ", "|  ")


def render_tree(
    tree: Tree[Fragment],
    pruned: bool = False,
    describe: Callable[[Fragment], str] | None = None,
    strokes: Strokes = UNICODE,
    decisions: Callable[[Leaf[Fragment]], Iterable[str]] | None = None,
) -> str:
    """The tree as text without a trailing newline; `describe` adds one line on the code of each leaf.

    `decisions` has the words for those of a leaf; without it each word of its strategies is there once, in their order.
    """
    lines = tuple(_Renderer(tree, pruned, describe, strokes, decisions).lines())
    if tree.alternatives:
        lines = tuple(_alternatives(tree, lines, pruned, describe, strokes))
    return "\n".join((*summary(tree), *lines))


def _alternatives(
    tree: Tree[Fragment],
    as_written: Iterable[str],
    pruned: bool,
    describe: Callable[[Fragment], str] | None,
    strokes: Strokes,
) -> Iterable[str]:
    yield "one of, by what it costs"
    for each in tree.alternatives:
        if isinstance(each.tree, NotApplicable):
            yield f"{strokes.middle}{each.recipe}, not applied: {each.tree.reason}"
            continue
        yield f"{strokes.middle}{each.recipe}"
        for line in _Renderer(each.tree, pruned, describe, strokes).lines():
            yield (strokes.down + line).rstrip()
    yield f"{strokes.last}as written"
    for line in as_written:
        yield (strokes.blank + line).rstrip()


class _Renderer(Generic[Fragment]):
    """Expands nodes to lines with a stack of its own, so that a tree of any height can be printed."""

    def __init__(
        self,
        tree: Tree[Fragment],
        pruned: bool,
        describe: Callable[[Fragment], str] | None,
        strokes: Strokes,
        decisions: Callable[[Leaf[Fragment]], Iterable[str]] | None = None,
    ) -> None:
        self._tree = tree
        self._pruned = pruned
        self._describe = describe
        self._strokes = strokes
        self._decisions = decision_words if decisions is None else decisions

    def lines(self) -> Iterable[str]:
        waiting: list[str | tuple[Node[Fragment], str]] = [(self._tree.root, "")]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                yield item.rstrip()
            else:
                waiting.extend(reversed(self._expanded(*item)))

    def _expanded(self, node: Node[Fragment], indent: str) -> list[str | tuple[Node[Fragment], str]]:
        match node:
            case Leaf():
                return [indent + line for line in self._leaf(node)]
            case DeadEnd():
                return [indent + line for line in self._dead_end(node)]
            case Open():
                return [indent + line for line in self._open(node)]
            case Pruned():
                return [f"{indent}pruned: {contradiction(self._tree, node)}"]
            case Branch():
                return self._branch(node, indent)
            case _:
                assert_never(node)

    def _branch(self, node: Branch[Fragment], indent: str) -> list[str | tuple[Node[Fragment], str]]:
        found = value(self._tree, node)
        if not self._pruned and isinstance(node.refuse, Pruned):
            return [(node.accept, indent)]
        if not self._pruned and isinstance(node.accept, Pruned):
            return [
                f"{indent}{found}, refused in any case{consequence(node)}{doubt(node)}",
                (node.refuse, indent),
            ]
        strokes = self._strokes
        accept, refuse = (
            ", ".join(atoms(self._tree, of_edge)) for of_edge in (node.accept_atoms, node.refuse_atoms)
        )
        below: list[str | tuple[Node[Fragment], str]] = [
            f"{indent}{found} [{node.evaluation.source}]{doubt(node)}",
            f"{indent}{strokes.middle}accept {accept}",
            (node.accept, indent + strokes.down),
            f"{indent}{strokes.last}refuse {refuse}{consequence(node)}",
        ]
        if self._pruned:
            below += [indent + strokes.blank + line for line in passed_over(node)]
        return [*below, (node.refuse, indent + strokes.blank)]

    def _leaf(self, leaf: Leaf[Fragment]) -> list[str]:
        lines = [f"leaf {leaf.index} where {conjunction(self._tree, leaf.simplified)}{doubt(leaf)}"]
        if self._describe is not None:
            lines.append(f"  {self._describe(leaf.fragment)}")
        codes = " ".join(f"({word})" for word in self._decisions(leaf))
        if codes:
            lines.append(f"  decisions: {codes}")
        return [*lines, *(f"  {note}" for note in notes(leaf, pruned=self._pruned))]

    def _open(self, node: Open) -> list[str]:
        return [
            f"{NOT_DECIDED}, where {conjunction(self._tree, node.simplified)}{doubt(node)}",
            f"  counters that wait: {', '.join(node.waiting) or 'none'}",
        ]

    def _dead_end(self, end: DeadEnd) -> list[str]:
        return [
            f"dead end {end.index} where {conjunction(self._tree, end.simplified)}{doubt(end)}",
            f"  {value(self._tree, end)} and no strategy is left",
            *(f"  {reason(tried)}" for tried in end.reasons if self._pruned),
        ]
