"""Natural loops: header, body, nesting, where they are entered and left.

In: a :class:`Graph` and its dominators.  Out: :class:`Loops`, outer loops before inner ones::

    loops = loops_of(cfg, dominators_of(cfg))
    loops.loops[0].header, loops.loops[0].blocks    # 2, frozenset({2, 3})
    loops.innermost[3]                              # 0: block 3 stands in loop 0; -1 in none

Back edges to one header are one loop.  A cycle that can be entered at two places is no natural loop: ``irregular``
are the edges that show it.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property

from comprehensive.ptx.analysis.dominators import Tree
from comprehensive.ptx.analysis.graphs import Graph

NO_LOOP = -1


@dataclass(frozen=True)
class Loop:
    """A natural loop.

    ``latches`` branch back to the header; ``entering`` are the predecessors of the header outside; ``exits``
    are edges out, ``leaves`` blocks where the function may be left; ``parent`` is the next loop around it, -1
    for none.
    """

    number: int
    header: int
    latches: tuple[int, ...]
    blocks: frozenset[int]
    entering: tuple[int, ...]
    exits: tuple[tuple[int, int], ...]
    leaves: tuple[int, ...]
    parent: int
    depth: int


@dataclass(frozen=True)
class Loops:
    """The natural loops of a function; ``innermost`` has the number of every block's loop, or -1."""

    cfg: Graph
    loops: tuple[Loop, ...]
    innermost: tuple[int, ...]
    irregular: tuple[tuple[int, int], ...]

    @cached_property
    def headers(self) -> dict[int, Loop]:
        """The loops by their header."""
        return {loop.header: loop for loop in self.loops}

    def depth(self, block: int) -> int:
        """Return the number of loops that the block stands in."""
        inside = self.innermost[block]
        return 0 if inside == NO_LOOP else self.loops[inside].depth

    def around(self, block: int) -> tuple[Loop, ...]:
        """The loops that it stands in, inner ones first."""
        found: list[Loop] = []
        number = self.innermost[block]
        while number != NO_LOOP:
            found.append(self.loops[number])
            number = self.loops[number].parent
        return tuple(found)


def loops_of(cfg: Graph, tree: Tree) -> Loops:
    """Return all natural loops.

    >>> [loop.header for loop in loops_of(cfg, dominators_of(cfg)).loops]    # doctest: +SKIP
    [2]
    """
    place = {block: index for index, block in enumerate(cfg.order)}
    latches: dict[int, list[int]] = {}
    irregular: list[tuple[int, int]] = []
    for block in cfg.order:
        for target in cfg.blocks[block].successors:
            if place[target] <= place[block]:
                if tree.dominates(target, block):
                    latches.setdefault(target, []).append(block)
                else:
                    irregular.append((block, target))
    headers = sorted(latches, key=place.__getitem__)
    number_of = {header: number for number, header in enumerate(headers)}
    innermost = [NO_LOOP] * len(cfg.blocks)
    parent = [NO_LOOP] * len(headers)
    own: list[list[int]] = [[] for _ in headers]
    # Inner loops first: each block is met once, whole inner loops are stepped over.
    for number in range(len(headers) - 1, -1, -1):
        _collect(cfg, place.keys(), headers, latches[headers[number]], number, innermost, parent, own)
    members: list[set[int]] = [set(blocks) for blocks in own]
    for number in range(len(headers) - 1, -1, -1):
        if parent[number] != NO_LOOP:
            members[parent[number]] |= members[number]
    found: list[Loop] = []
    for header, number in number_of.items():
        inside = members[number]
        found.append(
            Loop(
                number,
                header,
                tuple(latches[header]),
                frozenset(inside),
                tuple(p for p in cfg.blocks[header].predecessors if p not in inside and p in place),
                tuple((b, t) for b in sorted(inside) for t in cfg.blocks[b].successors if t not in inside),
                tuple(b for b in sorted(inside) if cfg.blocks[b].leaves),
                parent[number],
                1 if parent[number] == NO_LOOP else found[parent[number]].depth + 1,
            )
        )
    return Loops(cfg, tuple(found), tuple(innermost), tuple(irregular))


def _collect(
    cfg: Graph,
    reached: Container[int],
    headers: list[int],
    latches: list[int],
    number: int,
    innermost: list[int],
    parent: list[int],
    own: list[list[int]],
) -> None:
    """Blocks of a loop that stand in no inner one, and its inner loops."""
    header = headers[number]
    innermost[header] = number
    own[number].append(header)
    work = list(latches)
    while work:
        block = work.pop()
        inside = innermost[block]
        if inside == NO_LOOP:
            if block not in reached:
                continue
            innermost[block] = number
            own[number].append(block)
            work += cfg.blocks[block].predecessors
            continue
        outermost = inside
        while outermost != number and parent[outermost] != NO_LOOP:
            outermost = parent[outermost]
        if outermost != number:
            parent[outermost] = number
            work += cfg.blocks[headers[outermost]].predecessors
