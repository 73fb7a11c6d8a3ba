"""Control flow, dominance, loops and liveness of random graphs beside definitions written out."""

from __future__ import annotations

from random import Random

import pytest

from comprehensive.ptx.analysis.cfg import Cfg
from comprehensive.ptx.analysis.graphs import UNREACHED
from comprehensive.ptx.analysis.liveness import numbers_in
from tests.ptx.random_programs import analysed, random_graph

SEEDS = range(60)


def reached(successors: list[list[int]], root: int, without: int | None = None) -> set[int]:
    seen: set[int] = set()
    work = [] if root == without else [root]
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += [s for s in successors[node] if s != without]
    return seen


def forward(cfg: Cfg) -> list[list[int]]:
    return [list(block.successors) for block in cfg.blocks]


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_hold_every_step_once_and_are_entered_only_at_their_beginning(seed: int) -> None:
    cfg = analysed(random_graph(Random(seed), 8)).cfg
    assert [step for block in cfg.blocks for step in block.steps] == list(range(len(cfg.flow.steps)))
    starts = {block.start for block in cfg.blocks}
    for step in cfg.flow.steps:
        assert {t for t in step.targets if t < len(cfg.flow.steps)} <= starts
    for block in cfg.blocks:
        for successor in block.successors:
            assert block.number in cfg.blocks[successor].predecessors


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_dominates_what_cannot_be_reached_without_it(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 8))
    cfg, tree = analyses.cfg, analyses.dominators
    everything = reached(forward(cfg), 0)
    for above in everything:
        lost = everything - reached(forward(cfg), 0, above)
        assert {b for b in everything if tree.dominates(above, b)} == lost
    assert set(cfg.order) == everything
    assert all(tree.parent[block] == UNREACHED for block in cfg.unreachable)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_postdominates_what_cannot_leave_without_it(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 8))
    cfg, post = analyses.cfg, analyses.postdominators
    backward: list[list[int]] = [list(b.predecessors) for b in cfg.blocks]
    backward.append([b.number for b in cfg.blocks if b.leaves or b.number in post.given])
    everything = reached(backward, post.exit)
    assert everything == set(range(len(cfg.blocks) + 1)), "every block has a way out, or was given one"
    for above in everything:
        lost = everything - reached(backward, post.exit, above)
        assert {b for b in everything if post.dominates(above, b)} == lost


@pytest.mark.parametrize("seed", SEEDS)
def test_ways_out_are_given_only_to_cycles_that_are_never_left(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 8))
    cfg = analyses.cfg
    for block in analyses.postdominators.given:
        onward = reached(forward(cfg), block)
        assert not any(cfg.blocks[b].leaves for b in onward)
        assert all(block in reached(forward(cfg), b) for b in onward)


@pytest.mark.parametrize("seed", SEEDS)
def test_control_dependence_is_postdominance_of_one_way_on_but_not_of_the_fork(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 8))
    cfg, post = analyses.cfg, analyses.postdominators
    for block in cfg.blocks:
        expected = {
            fork.number
            for fork in cfg.blocks
            if len(fork.successors) + fork.leaves + (fork.number in post.given) > 1
            and any(post.dominates(block.number, s) for s in fork.successors)
            and not (post.dominates(block.number, fork.number) and block.number != fork.number)
        }
        assert set(analyses.control_dependence[block.number]) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_frontiers_are_where_dominance_ends(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 8))
    cfg, tree = analyses.cfg, analyses.dominators
    for block in cfg.order:
        expected = {
            join
            for join in cfg.order
            if any(p in cfg.reachable and tree.dominates(block, p) for p in cfg.blocks[join].predecessors)
            and not (tree.dominates(block, join) and block != join)
        }
        assert set(analyses.frontiers[block]) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_register_is_live_where_a_way_leads_to_a_reader_before_a_definition(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 6))
    steps = analyses.flow.steps
    onward: list[list[int]] = []
    for number in range(len(steps)):
        block = analyses.cfg.blocks[analyses.cfg.block_of[number]]
        last = number == block.end - 1
        onward.append([analyses.cfg.blocks[s].start for s in block.successors] if last else [number + 1])
    for register in range(len(analyses.flow.registers)):
        live = {n for n, step in enumerate(steps) if register in step.reads}
        while True:
            more = {
                n
                for n, step in enumerate(steps)
                if any(s in live for s in onward[n])
                and (register not in step.defines or step.guard is not None)
            }
            if more <= live:
                break
            live |= more
        assert {n for n in range(len(steps)) if analyses.liveness.before[n] >> register & 1} == live
        ranges = analyses.liveness.ranges[register]
        assert {n for first, last in ranges for n in range(first, last)} == live


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_are_what_reaches_a_latch_without_its_header(seed: int) -> None:
    analyses = analysed(random_graph(Random(seed), 9))
    cfg, tree, loops = analyses.cfg, analyses.dominators, analyses.loops
    back = {(b, t) for b in cfg.order for t in cfg.blocks[b].successors if tree.dominates(t, b)}
    assert {loop.header for loop in loops.loops} == {header for _, header in back}
    backward: list[list[int]] = [[p for p in b.predecessors if p in cfg.reachable] for b in cfg.blocks]
    for loop in loops.loops:
        assert set(loop.latches) == {b for b, t in back if t == loop.header}
        body = {loop.header}.union(*(reached(backward, latch, loop.header) for latch in loop.latches))
        assert loop.blocks == body
    for block in cfg.order:
        around = sorted((loop for loop in loops.loops if block in loop.blocks), key=lambda x: len(x.blocks))
        assert list(loops.around(block)) == around
        assert loops.depth(block) == len(around)
    rest = [[t for t in cfg.blocks[b].successors if (b, t) not in back] for b in range(len(cfg.blocks))]
    has_cycle = any(b in reached(rest, s) for b in cfg.order for s in rest[b])
    assert bool(loops.irregular) == has_cycle


def test_the_numbers_of_a_mask_are_its_bits() -> None:
    assert list(numbers_in(0b1000_0000_0010_0001)) == [0, 5, 15]
