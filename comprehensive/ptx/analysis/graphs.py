"""Directed graphs whose nodes are 0, 1, ...: orders and dominator trees, without recursion.

In: successors of every node.  Out: numbers of nodes::

    reverse_postorder(((1, 2), (3,), (3,), ()), 0)         # (0, 2, 1, 3)
    immediate_dominators(((1, 2), (3,), (3,), ()), 0)      # (0, 0, 0, 0)

Graphs of control flow, of PTX or of machine code, are :class:`Graph`: what dominators and loops need of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

UNREACHED = -1

Adjacency = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block, the steps or instructions from ``start`` to ``end``; ``leaves`` says that the function may be left
    at its end."""

    number: int
    start: int
    end: int
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]
    leaves: bool

    @property
    def steps(self) -> range:
        return range(self.start, self.end)

    @property
    def is_fork(self) -> bool:
        """Whether there is more than one way on."""
        return len(self.successors) + self.leaves > 1


class Graph(Protocol):
    """Basic blocks, of which block 0 is the entry.

    ``order`` is the reverse post-order of those that can be reached.
    """

    @property
    def blocks(self) -> Sequence[Block]: ...
    @property
    def order(self) -> tuple[int, ...]: ...


def reverse_postorder(successors: Adjacency, root: int) -> tuple[int, ...]:
    """The nodes that can be reached, each before its successors except along back edges."""
    seen = bytearray(len(successors))
    return tuple(reversed(postorder(successors, root, seen)))


def postorder(successors: Adjacency, root: int, seen: bytearray) -> list[int]:
    """Return what can be reached over nodes that are not ``seen``, in postorder, and mark it as seen."""
    order: list[int] = []
    seen[root] = 1
    stack = [(root, iter(successors[root]))]
    while stack:
        node, rest = stack[-1]
        for successor in rest:
            if not seen[successor]:
                seen[successor] = 1
                stack.append((successor, iter(successors[successor])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def reversed_edges(successors: Adjacency) -> list[list[int]]:
    """The predecessors of every node, in order."""
    found: list[list[int]] = [[] for _ in successors]
    for node, targets in enumerate(successors):
        for target in targets:
            found[target].append(node)
    return found


def immediate_dominators(successors: Adjacency, root: int) -> tuple[int, ...]:
    """Return the immediate dominator of every node; :data:`UNREACHED` for the root and for nodes not reached.

    Semidominators, then nearest common ancestors (Georgiadis, Linear-time algorithms for dominators, 2005, 2.3).
    """
    order, parent = _preorder(successors, root)
    number = [UNREACHED] * len(successors)
    for index, node in enumerate(order):
        number[node] = index
    count = len(order)
    ancestor = [UNREACHED] * count
    label = list(range(count))
    semi = list(range(count))
    into: list[list[int]] = [[] for _ in order]
    for index, node in enumerate(order):
        for target in successors[node]:
            into[number[target]].append(index)
    for index in range(count - 1, 0, -1):
        for source in into[index]:
            least = _evaluated(source, ancestor, label, semi)
            semi[index] = min(semi[index], semi[least])
        label[index] = index
        ancestor[index] = parent[index]
    above = list(parent)
    for index in range(1, count):
        up = above[index]
        while up > semi[index]:
            up = above[up]
        above[index] = up
    found = [UNREACHED] * len(successors)
    found[root] = root
    for index in range(1, count):
        found[order[index]] = order[above[index]]
    return tuple(found)


def _preorder(successors: Adjacency, root: int) -> tuple[list[int], list[int]]:
    """Nodes as a depth-first search meets them, and of each the index of its parent (the root: 0)."""
    order = [root]
    parent = [0]
    seen = bytearray(len(successors))
    seen[root] = 1
    stack = [(0, iter(successors[root]))]
    while stack:
        index, rest = stack[-1]
        for successor in rest:
            if not seen[successor]:
                seen[successor] = 1
                parent.append(index)
                order.append(successor)
                stack.append((len(order) - 1, iter(successors[successor])))
                break
        else:
            stack.pop()
    return order, parent


def _evaluated(node: int, ancestor: list[int], label: list[int], semi: list[int]) -> int:
    """Return the node of least semidominator on the way up through linked nodes, and shorten that way."""
    if ancestor[node] == UNREACHED:
        return node
    path: list[int] = []
    while ancestor[ancestor[node]] != UNREACHED:
        path.append(node)
        node = ancestor[node]
    top = ancestor[node]
    best = label[node]
    for each in reversed(path):
        if semi[label[each]] > semi[best]:
            label[each] = best
        best = label[each]
        ancestor[each] = top
    return best
