"""The blocks that are passed on every way: dominators, post-dominators, frontiers, control dependence.

In: a graph of control flow, such as a :class:`Cfg`.  Out: trees over its blocks, and for every block the branches
that decide whether it runs::

    tree = dominators_of(cfg)
    tree.dominates(0, 3)                 # True
    post = postdominators_of(cfg)        # has one node more: post.exit
    control_dependence_of(cfg, post)[1]  # (0,): block 1 runs as block 0 branches

Blocks from which no way leads out (infinite loops) are given one: from a block of the last cycles on their ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.analysis.cfg import Cfg
from comprehensive.ptx.analysis.graphs import (
    UNREACHED,
    Adjacency,
    Graph,
    immediate_dominators,
    postorder,
    reverse_postorder,
    reversed_edges,
)


@dataclass(frozen=True)
class Tree:
    """A tree of dominators: ``parent`` is the immediate dominator of every node.

    The root's is itself; for nodes that are not reached it is -1.
    """

    root: int
    parent: tuple[int, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.parent]
        for node, parent in enumerate(self.parent):
            if parent != UNREACHED and node != self.root:
                found[parent].append(node)
        return tuple(map(tuple, found))

    @cached_property
    def preorder(self) -> tuple[int, ...]:
        """Every node before its children."""
        return reverse_postorder(self.children, self.root)

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """The place of every node in :attr:`preorder`, and where its subtree ends there."""
        enter = [UNREACHED] * len(self.parent)
        leave = [UNREACHED] * len(self.parent)
        for index, node in enumerate(self.preorder):
            enter[node] = index
            leave[node] = index + 1
        for node in reversed(self.preorder):
            up = self.parent[node]
            leave[up] = max(leave[up], leave[node])
        return enter, leave

    def dominates(self, above: int, below: int) -> bool:
        """Whether every way between the root and ``below`` passes ``above``; each does itself."""
        enter, leave = self._spans
        return enter[above] != UNREACHED and enter[above] <= enter[below] < leave[above]

    def above(self, node: int) -> Iterator[int]:
        """Yield a node that is reached, and what dominates it, up to the root."""
        yield node
        while node != self.root:
            node = self.parent[node]
            yield node


@dataclass(frozen=True)
class PostTree(Tree):
    """The tree of post-dominators: over the blocks and one node more, ``exit``, behind all ends.

    ``given`` are blocks that got a way out since no way leads from them to an end.
    """

    given: tuple[int, ...] = ()

    @property
    def exit(self) -> int:
        return self.root


def dominators_of(cfg: Graph) -> Tree:
    """The dominators of blocks.

    >>> dominators_of(cfg).parent    # doctest: +SKIP
    (0, 0, 0, 0)
    """
    return Tree(0, immediate_dominators([block.successors for block in cfg.blocks], 0))


def postdominators_of(cfg: Cfg) -> PostTree:
    """The post-dominators of blocks, with a virtual exit.

    >>> postdominators_of(cfg).parent    # doctest: +SKIP
    (3, 3, 3, 4, 4)
    """
    exit = len(cfg.blocks)
    forward = [(*block.successors, exit) if block.leaves else block.successors for block in cfg.blocks]
    backward = reversed_edges([*forward, ()])
    seen = bytearray(exit + 1)
    postorder(backward, exit, seen)
    given: list[int] = []
    for block in _last_first(backward, seen):
        if not seen[block]:
            given.append(block)
            postorder(backward, block, seen)
    backward[exit] += given
    return PostTree(exit, immediate_dominators(backward, exit), tuple(given))


def _last_first(backward: Adjacency, seen: bytearray) -> list[int]:
    """Order the nodes that are not ``seen`` so that the first left always stands in a cycle never left.

    That is the order in which a search against the edges finishes, reversed (Sharir 1981; Kosaraju).
    """
    done = bytearray(seen)
    order: list[int] = []
    for node in range(len(done)):
        if not done[node]:
            order += postorder(backward, node, done)
    return order[::-1]


def frontiers_of(cfg: Cfg, tree: Tree) -> tuple[tuple[int, ...], ...]:
    """Return the dominance frontier of every block.

    It holds the blocks that the block does not dominate strictly although it dominates a predecessor of
    theirs.

    >>> frontiers_of(cfg, dominators_of(cfg))    # doctest: +SKIP
    ((), (3,), (3,), ())
    """
    found: list[dict[int, None]] = [{} for _ in cfg.blocks]
    for block in cfg.order:
        into = [p for p in cfg.blocks[block].predecessors if tree.parent[p] != UNREACHED]
        # The entry is reached from outside, too, but nothing branches to it.
        if len(into) < 2:
            continue
        for node in into:
            while node != tree.parent[block] and block not in found[node]:
                found[node][block] = None
                node = tree.parent[node]
    return tuple(map(tuple, found))


def control_dependence_of(cfg: Cfg, post: PostTree) -> tuple[tuple[int, ...], ...]:
    """Return for every block those whose branch directly decides whether it runs (Ferrante et al. 1987).

    >>> control_dependence_of(cfg, postdominators_of(cfg))    # doctest: +SKIP
    ((), (0,), (0,), ())
    """
    found: list[list[int]] = [[] for _ in cfg.blocks]
    given = set(post.given)
    for block in cfg.blocks:
        outward: Sequence[int] = block.successors
        if len(outward) + block.leaves + (block.number in given) < 2:
            continue
        stop = post.parent[block.number]
        marked: set[int] = set()
        for node in outward:
            while node != stop and node not in marked:
                marked.add(node)
                found[node].append(block.number)
                node = post.parent[node]
    return tuple(map(tuple, found))
