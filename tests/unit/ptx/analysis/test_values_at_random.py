"""SSA, variance, affine forms and aliases of random programs, beside threads that run them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import Random

import pytest

from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.destruction import destructed
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.flow import flow_of
from tests.ptx.random_programs import analysed, random_graph, random_program
from tests.ptx.threads import Thread, mask, operation, signed

DEFINED = "\n".join(
    [f"mov.u32 %r{i}, {i * i};" for i in (*range(10), *range(20, 24), *range(30, 34))]
    + [f"mov.u64 %rd{i}, {i + 1000};" for i in range(4)]
    + [f"setp.eq.u32 %p{i}, %r{i}, 9;" for i in range(8)]
    + ["cvt.u16.u32 %h1, %r3;", "cvt.u16.u32 %h2, %r4;", ""]
)
SEEDS = range(50)
THREADS = 256


@dataclass
class Visit:
    """A step, with the iterations of the loops around it, outer ones first."""

    step: int
    iterations: tuple[int, ...]


def visits(analyses: Analyses, thread: Thread, counts: dict[int, int]) -> Iterator[Visit]:
    """``counts`` are the iterations of loops, as symbols of affine forms have them."""
    block_of, blocks, loops = analyses.cfg.block_of, analyses.cfg.blocks, analyses.loops
    before = 0
    times: dict[int, int] = {}
    for step in thread.run():
        block = block_of[step]
        loop = loops.headers.get(block)
        if loop is not None and step == blocks[block].start:
            counts[loop.number] = counts[loop.number] + 1 if before in loop.blocks else 0
        before = block
        times[step] = times.get(step, -1) + 1
        if loops.irregular:
            # No loop says which visit it is; where branches are uniform, it is the same one in all threads.
            yield Visit(step, (times[step],))
        else:
            yield Visit(step, tuple(counts[loop.number] for loop in reversed(loops.around(block))))


def thread_of(analyses: Analyses, tid: int, block: int, n: int, seed: int = 0) -> Thread:
    special = {"%tid.x": tid, "%ctaid.x": block, "%ntid.x": THREADS}
    return Thread(analyses.flow, special, {"a": 1 << 40, "n": n}, seed=seed + tid + THREADS * block)


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


@dataclass
class Symbols:
    """What symbols are worth while a thread runs."""

    analyses: Analyses
    thread: Thread
    counts: dict[int, int]
    values: dict[int, int]

    def form(self, form: Form) -> int:
        total = form.constant + sum(c * self.symbol(s) for s, c in form.terms)
        return total % (1 << form.bits)

    def symbol(self, number: int) -> int:
        symbol = self.analyses.affine.symbols[number]
        found = self._symbol(symbol.kind, symbol.key)
        assert symbol.low <= found <= symbol.high, symbol
        return found

    def _symbol(self, kind: str, key: tuple[object, ...]) -> int:
        match kind, key:
            case "parameter", (str(name), *_):
                return self.thread.parameters[name]
            case "special", (str(name),):
                return self.thread.special[name]
            case "value", (int(value),):
                return self.values[value]
            case "count", (int(loop),):
                return self.counts[loop]
            case "product", numbers:
                total = 1
                for each in numbers:
                    assert isinstance(each, int)
                    total *= self.symbol(each)
                return total
            case "signed", (Form() as inner,):
                return signed(self.form(inner), inner.bits)
            case "unsigned", (Form() as inner,):
                return self.form(inner)
            case "operation", (str(text), *operands):
                numbers = [self.form(o) if isinstance(o, Form) else self._value(o) for o in operands]
                return self._operation(text, numbers)
            case _:
                raise NotImplementedError(kind)

    def _value(self, value: object) -> int:
        assert isinstance(value, int)
        return self.values[value]

    def _operation(self, text: str, numbers: list[int]) -> int:
        width = int(text.split(".")[-1][1:]) if not text.startswith("cvt") else int(text.split(".")[1][1:])
        narrow = int(text.split(".")[-1][1:])
        width = 2 * width if ".wide." in text else width
        return operation(text, [n & mask(narrow if i < 2 else 64) for i, n in enumerate(numbers)]) & mask(
            width
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tuning", ["", "\n.reqntid 256\n", "\n.maxntid 256, 1, 1\n"])
def test_an_affine_form_is_worth_what_the_register_holds(seed: int, tuning: str) -> None:
    random = Random(seed)
    program = random_graph(random, 6) if seed % 5 == 0 else random_program(random, 14)
    analyses = analysed(program, tuning)
    for n in (0, 2**31 - 1, random.choice([7, 100, 2**31, 2**32 - 3])):
        block = random.choice([0, 1, 2**23, 2**31 - 2])
        demand_affine(analyses, thread_of(analyses, random.randrange(THREADS), block, n))


@pytest.mark.parametrize("seed", range(150))
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
    symbols = Symbols(analyses, thread, counts, dict(enumerate(thread.registers)))
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


def follow_phis(analyses: Analyses, symbols: Symbols, source: int, block: int) -> None:
    if block == 0:
        return
    # An empty entry leaves no visit.
    into = analyses.cfg.blocks[block].predecessors
    place = into.index(source) if source in into else 0
    now = [(phi.value, symbols.values[phi.arguments[place]]) for phi in analyses.ssa.phis[block]]
    for value, held in now:
        symbols.values[value] = held
    for value, held in now:
        form = analyses.affine.values[value]
        if form is not None:
            assert symbols.form(form) == held, analyses.affine.show(form)


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


@pytest.mark.parametrize("seed", range(60))
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


@pytest.mark.parametrize("seed", range(50))
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


@pytest.mark.parametrize("seed", range(100))
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
