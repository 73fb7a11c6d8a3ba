"""SSA, variance, affine forms and aliases of random programs, beside threads that run them."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.flow import flow_of
from tests.examples import seeds
from tests.ptx.destruction import destructed
from tests.ptx.random_programs import analysed, random_graph, random_program
from tests.ptx.threads import Thread
from tests.ptx.worth import THREADS, Symbols, follow_phis, thread_of, visits

DEFINED = "\n".join(
    [f"mov.u32 %r{i}, {i * i};" for i in (*range(10), *range(20, 24), *range(30, 34))]
    + [f"mov.u64 %rd{i}, {i + 1000};" for i in range(4)]
    + [f"setp.eq.u32 %p{i}, %r{i}, 9;" for i in range(8)]
    + ["cvt.u16.u32 %h1, %r3;", "cvt.u16.u32 %h2, %r4;", ""]
)
SEEDS = seeds(50)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_uniform_is_equal_in_all_threads_at_each_visit(seed: int) -> None:
    random = Random(seed)
    text = random_graph(random, 7, False) if seed % 3 == 0 else random_program(random, 12)
    analyses = analysed(text)
    seen: dict[tuple[int, tuple[int, ...], Level, int], tuple[int, ...]] = {}
    for block in (0, 3):
        for tid in (0, 1, 4, 5, 17, 31, 40, 63):
            thread = thread_of(analyses, tid, block, n=20)
            group = {Level.GRID: 0, Level.BLOCK: block, Level.WARP: block * 100 + tid // 32}
            for visit in visits(analyses, thread, {}):
                for place, value in enumerate(analyses.ssa.defines[visit.step]):
                    level = analyses.variance.values[value]
                    if level is Level.LANE:
                        continue
                    register = analyses.flow.steps[visit.step].defines[place]
                    key = (visit.step, visit.iterations, level, group[level])
                    now = (thread.registers[register],)
                    assert seen.setdefault(key, now) == now


def test_random_programs_have_uniform_and_variant_values_and_branches() -> None:
    levels = [
        level
        for seed in range(20)
        for analyses in [analysed(random_program(Random(seed), 12))]
        for level in (*analyses.variance.values, *analyses.variance.branches)
    ]
    assert min(levels.count(level) for level in (Level.GRID, Level.BLOCK, Level.WARP, Level.LANE)) > 20


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tuning", ["", "\n.reqntid 256\n", "\n.maxntid 256, 1, 1\n"])
def test_an_affine_form_is_worth_what_the_register_holds(seed: int, tuning: str) -> None:
    random = Random(seed)
    program = random_graph(random, 6) if seed % 5 == 0 else random_program(random, 14)
    analyses = analysed(program, tuning)
    for n in (0, 2**31 - 1, random.choice([7, 100, 2**31, 2**32 - 3])):
        block = random.choice([0, 1, 2**23, 2**31 - 2])
        demand_affine(analyses, thread_of(analyses, random.randrange(THREADS), block, n))


@pytest.mark.parametrize("seed", seeds(150))
def test_sums_behind_comparisons_are_worth_what_registers_hold_also_at_the_ends(seed: int) -> None:
    random = Random(seed)
    near = (0, 1, 2, 5, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1)
    lines = ["ld.param.u32 %r1, [n];", "mov.u32 %r2, %ctaid.x;", "mul.lo.u32 %r2, %r2, 3;"]
    for place in range(3):
        other = random.choice(["%r2", str(random.choice((0, 1, 2, 2**31 - 1, -1, -2)))])
        relation, type_ = random.choice(["lt", "le", "gt", "ge", "eq", "ne"]), random.choice(["s32", "u32"])
        lines += [
            f"add.s32 %r3, %r1, {random.choice([0, 0, 1, -1])};",
            f"setp.{relation}.{type_} %p{place}, {', '.join(random.sample(['%r3', other], 2))};",
        ]
    lines += ["and.pred %p3, %p0, %p1;", "or.pred %p4, %p0, %p2;", "not.pred %p5, %p3;"]
    lines += [f"@{random.choice(['', '!'])}%p{random.randrange(6)} bra E;" for _ in range(2)]
    for place in range(4):
        lines += [
            f"add.s32 %r{5 + place}, %r{random.choice([1, 1, 1, 2])}, {random.choice([0, 1, 2, -1, -2])};",
            f"cvt.{random.choice(['s64.s32', 'u64.u32'])} %rd{place}, %r{5 + place};",
        ]
    analyses = analysed("\n".join([*lines, "E: ret;"]))
    for n in near:
        for block in (0, 1, 715827882, 715827883, 1431655765):
            demand_affine(analyses, thread_of(analyses, 1, block, n))


def demand_affine(analyses: Analyses, thread: Thread) -> None:
    """Forms are worth what registers and addresses are while the thread runs."""
    affine, ssa = analyses.affine, analyses.ssa
    counts: dict[int, int] = {}
    symbols = Symbols(analyses, affine.symbols, thread, counts, dict(enumerate(thread.registers)))
    previous = 0
    for visit in visits(analyses, thread, counts):
        step = analyses.flow.steps[visit.step]
        block = analyses.cfg.blocks[analyses.cfg.block_of[visit.step]]
        if visit.step == block.start:
            follow_phis(analyses, symbols, previous, block.number)
        previous = block.number
        address, guard = affine.addresses[visit.step], str(step.instruction.guard)
        runs = step.guard is None or bool(thread.registers[step.guard]) != guard.startswith("!")
        if address is not None and step.instruction.opcode.space != "param" and runs:
            assert symbols.form(address) == thread.address, affine.show(address)
        for register, value in zip(step.defines, ssa.defines[visit.step], strict=True):
            symbols.values[value] = thread.registers[register]
            form = affine.values[value]
            if form is not None:
                assert symbols.form(form) == thread.registers[register], affine.show(form)


def test_random_programs_have_counters_wide_sums_and_guarded_ones() -> None:
    kinds: dict[str, int] = {}
    counters = trips = 0
    for seed in range(40):
        affine = analysed(random_program(Random(seed), 14)).affine
        counters += len(affine.inductions)
        trips += sum(t.constant is not None for t in affine.trips.values())
        for symbol in affine.symbols:
            kinds[symbol.kind] = kinds.get(symbol.kind, 0) + 1
    assert counters > 40
    assert trips > 10
    assert min(kinds[k] for k in ("signed", "unsigned", "product", "operation", "count", "value")) > 10


@pytest.mark.parametrize("seed", seeds(60))
def test_the_trips_of_a_loop_are_as_many_as_it_goes_back(seed: int) -> None:
    analyses = analysed(random_program(Random(seed), 14))
    thread = thread_of(analyses, 3, 1, 20)
    counts: dict[int, int] = {}
    most: dict[int, int] = {}
    for _ in visits(analyses, thread, counts):
        for loop, count in counts.items():
            most[loop] = max(most.get(loop, 0), count)
    for loop, count in most.items():
        trips = analyses.affine.trips.get(loop)
        if trips is not None and trips.constant is not None:
            assert count <= trips.constant
            if trips.is_only and len(thread.stores) and thread.most_steps > 400:
                assert count == trips.constant


@pytest.mark.parametrize("seed", seeds(50))
def test_accesses_that_are_said_not_to_alias_touch_different_bytes(seed: int) -> None:
    analyses = analysed(random_program(Random(seed), 14), parameters_are_global=True)
    found: list[tuple[int, int, int, tuple[int, ...]]] = []
    for tid in (0, 1, 2):
        thread = thread_of(analyses, tid, 0, 9)
        for visit in visits(analyses, thread, {}):
            access = analyses.accesses.get(visit.step)
            guard = analyses.flow.steps[visit.step].guard
            if access is not None and access.address is not None and not access.is_constant and guard is None:
                found.append((tid, visit.step, thread.address, visit.iterations))
    for one, other in combinations(found[:150], 2):
        first, second = analyses.accesses[one[1]], analyses.accesses[other[1]]
        overlap = one[2] < other[2] + second.bytes and other[2] < one[2] + first.bytes
        if not overlap:
            continue
        assert analyses.alias.may_alias(first, second, Relation.ANY_THREAD)
        if one[0] == other[0]:
            assert analyses.alias.may_alias(first, second, Relation.ANY_VISIT)
            block_of, loops = analyses.cfg.block_of, analyses.loops
            if (
                one[3] == other[3]
                and loops.innermost[block_of[one[1]]] == loops.innermost[block_of[other[1]]]
            ):
                assert analyses.alias.may_alias(first, second)


@pytest.mark.parametrize("seed", seeds(100))
def test_out_of_ssa_a_program_stores_the_same(seed: int) -> None:
    random = Random(seed)
    program = random_graph(random, 7) if seed % 2 else random_program(random, 12)
    analyses = analysed(DEFINED + program)
    changed = flow_of(destructed(analyses.ssa))
    for tid in (0, 5, 40):
        before = thread_of(analyses, tid, 2, 20)
        after = Thread(changed, before.special, before.parameters, most_steps=10 * before.most_steps)
        ends = len(list(before.run())) < before.most_steps
        list(after.run())
        assert after.stores[: len(before.stores)] == before.stores
        assert not ends or len(after.stores) == len(before.stores)


def test_every_register_is_defined_once_out_of_ssa() -> None:
    for seed in range(20):
        analyses = analysed(DEFINED + random_program(Random(seed), 12))
        steps = flow_of(destructed(analyses.ssa)).steps
        again = [r for step in steps if step.instruction.opcode.base != "mov" for r in step.defines]
        assert len(again) == len(set(again))
