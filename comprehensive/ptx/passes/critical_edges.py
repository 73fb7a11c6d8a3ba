"""Blocks on critical edges, those between a branch and a join: first only in the graph, then in the text.

    split = split_critical_edges(cfg)
    split.cfg                                # with an empty block behind the others for every edge that can be split
    split.edges[12]                          # (3, 7): block 12 is between these
    split.write({12: [i]}, edits, fresh)     # block 12 becomes text, the others nothing

        @%p1 bra JOIN;         -->          @%p1 bra $pre_edge_0;
        ...                                 ...
    JOIN:                                   bra.uni JOIN;           // where what stands before falls through
                                        $pre_edge_0:
                                            i
                                        JOIN:

Where the branch is not taken the block needs neither label nor jump.  Edges of branches by a table are not split, nor
those in a scope of inline assembly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from comprehensive.ptx.analysis.cfg import BRANCHES, LEAVING, Block, Cfg
from comprehensive.ptx.analysis.graphs import reverse_postorder
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Name
from comprehensive.ptx.passes.edits import Edits
from comprehensive.ptx.passes.expressions import scope_depths
from comprehensive.ptx.passes.fresh import Fresh
from comprehensive.ptx.statements import Instruction, Label, Statement


@dataclass(frozen=True)
class Split:
    """A graph with blocks on critical edges.

    ``edges`` of ``original`` by the number of their block in ``cfg``; other blocks have the same numbers in
    both.
    """

    original: Cfg
    cfg: Cfg
    edges: Mapping[int, tuple[int, int]]

    def jumps(self, number: int) -> int | None:
        """The block that has to jump over the one on an edge; None where none has to."""
        source, target = self.edges[number]
        is_passed = target != source + 1 and _falls_through(self.original, target - 1)
        return target - 1 if is_passed else None

    def before(self, number: int) -> int:
        """The step behind which the block stands in the text."""
        source, target = self.edges[number]
        if target == source + 1:
            return self.original.blocks[source].end - 1
        return self.original.blocks[target].start - 1

    def write(self, contents: Mapping[int, Sequence[Statement]], edits: Edits, fresh: Fresh) -> None:
        """Write the contents of new blocks into the text, behind all other changes.

        A block stands behind what comes to the end of the one before it.
        """
        by_target: dict[int, list[int]] = defaultdict(list)
        for number in sorted(contents):
            source, target = self.edges[number]
            if target == source + 1:
                edits.after(self.before(number), contents[number])
            else:
                by_target[target].append(number)
        for target, numbers in by_target.items():
            is_passed = _falls_through(self.original, target - 1)
            for number in numbers:
                branch = self.original.blocks[self.edges[number][0]].end - 1
                instruction = self.original.flow.steps[branch].instruction
                own = fresh.label("edge")
                over = [Instruction(opcode("bra.uni"), instruction.operands)] if is_passed else []
                edits.after(self.before(number), (*over, Label(own), *contents[number]))
                edits.replace(branch, (Instruction(instruction.opcode, (Name(own),), instruction.guard),))
                is_passed = True


def split_critical_edges(cfg: Cfg) -> Split:
    """Return the graph with a block on every critical edge between blocks that can be reached.

    >>> split_critical_edges(cfg).edges    # doctest: +SKIP
    {4: (0, 3)}
    """
    found = dict(enumerate(_splittable(cfg), len(cfg.blocks)))
    if not found:
        return Split(cfg, cfg, {})
    between = {edge: number for number, edge in found.items()}
    blocks = [
        replace(
            block,
            successors=tuple(between.get((block.number, to), to) for to in block.successors),
            predecessors=tuple(between.get((of, block.number), of) for of in block.predecessors),
        )
        for block in cfg.blocks
    ]
    for number, (source, target) in found.items():
        start = cfg.blocks[target].start
        blocks.append(Block(number, start, start, (target,), (source,), False))
    order = reverse_postorder([block.successors for block in blocks], 0)
    return Split(cfg, Cfg(cfg.flow, tuple(blocks), cfg.block_of, order), found)


def is_critical(cfg: Cfg, source: int, target: int) -> bool:
    return cfg.blocks[source].is_fork and len(cfg.blocks[target].predecessors) > 1


def _splittable(cfg: Cfg) -> Iterator[tuple[int, int]]:
    steps = cfg.flow.steps
    depths = scope_depths(cfg.flow.function.body)
    for source in sorted(cfg.reachable):
        block = cfg.blocks[source]
        last = cfg.terminator(block)
        if last is None or last.instruction.opcode.base == "brx" or depths[last.position]:
            continue
        for target in block.successors:
            start = cfg.blocks[target].start
            if is_critical(cfg, source, target) and start > 0 and depths[steps[start - 1].position] == 0:
                yield source, target


def _falls_through(cfg: Cfg, block: int) -> bool:
    last = cfg.terminator(cfg.blocks[block])
    return last is None or last.guard is not None or last.instruction.opcode.base not in BRANCHES | LEAVING
