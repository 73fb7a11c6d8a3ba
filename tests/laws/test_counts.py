"""The work of a kernel is counted in three ways, which are to agree: in symbols, by a walk, and by a leaf's tables.

`counters/work.py` counts in symbols for trees, `model/block.py` goes through a block with the addresses of all threads
to rank tiles, and `model/leaf_sites.py` makes the tables from which a launch ranks leaves.  All three are given the
same kernel here, at random sizes, small ones and such as blocks do not divide, with all of its conditions true, since
that is what counters count; once with the first and once with the other case of each condition that has two.

They count the same accesses of each array, the same barriers and the same instructions of arithmetic. By design

- counters divide exactly, so that they are compared where what bounds a loop divides;
- of kernels over tiles `tile_counts.py` counts in symbols what blocks copy piece by piece, and all pieces are whole;
- counters have None where the number of steps is not the same for all blocks and threads;
- a table has every thread take part in the last turn of a loop whose turns threads share: it may count more;
- a table counts what a region of code reads twice once, as a compiler does: it may count less;
- a table takes an integer that a loop changes for data, on which it counts arithmetic, and a walk computes it;
- counters count operations, of which a multiply-add is two, and the model instructions, of which it is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import lcm, prod
from pathlib import Path
from random import Random

import numpy as np
import pytest

from comprehensive.counters.work import UncountableError, Work, total, work_of_kernel
from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.driver import Compilation, compile_file, compile_text
from comprehensive.kernel_ir.kernel import WIDTH, Box, Feed, Kernel, KernelStmt, SharedTile, StageBox
from comprehensive.loops.access import names_read
from comprehensive.loops.interpreter import UndefinedBehaviour, scalar_values
from comprehensive.loops.ir import Nest, Role
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.machine.sites import UNKNOWN, Access, Sites
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
)
from comprehensive.metafork.c_integers import OPERATORS, remainder
from comprehensive.metafork.rewrite import map_expression, map_expressions, replace_statements
from comprehensive.metafork.walk import all_statements_in, subexpressions
from comprehensive.model.block import Touch, Walk
from comprehensive.model.launched import Launched, launched
from comprehensive.model.leaf_cost import numbers
from comprehensive.model.leaf_sites import leaf_profile
from comprehensive.model.moved_bytes import Copied
from comprehensive.plan.plan import LeafPlan
from comprehensive.records import replace
from tests.compiled_specs import OPTIONS, SPECS, compiled
from tests.examples import quick_of
from tests.fuzz.grammar.program import generate
from tests.laws.inputs import arguments_for
from tests.laws.nests import CORNERS
from tests.laws.tile_counts import work_of_tiles

POINTS = 4
"""The points at which each kernel is looked at."""
MOST_THREADS = 1024
GOLDEN = Path(__file__).parents[1] / "golden" / "programs"
PROGRAMS = ("any_window", "convolution", "tensor_cores")
"""Golden programs whose kernels copy boxes and matrices.  Those over rows are not here: what bounds their loops does
not divide at any size, so that nothing of them would be compared."""
OF_PIECES = ("gemm", "matmul", "matvec")
TILE_SIZE = 7
"""The value for the sizes of a tile in a nest, whose kernel has other ones."""

ENOUGH = IntLiteral(1 << 30)
"""Rows and columns that are more than all that a block copies."""

Accesses = Counter[tuple[str, bool, bool]]
"""The number of times that the threads of a block access an array, by its name, shared memory, and writing."""


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel whose conditions are all true, and a launch of it; ``leaf`` is the leaf that it is of, if any."""

    kernel: Kernel
    nest: Nest
    launch: Launched
    leaf: LeafPlan | None

    @property
    def work(self) -> Work | None:
        """The work as counters count it; None where they say nothing."""
        try:
            count = work_of_tiles if self.leaf is None else work_of_kernel
            (found,) = count(self.kernel, self.nest)
        except UncountableError:
            return None
        return found

    @property
    def shares_loops(self) -> bool:
        """Whether there may be loops whose turns the threads of a block share: those that fill shared memory."""
        return any(isinstance(s, SharedTile) for s in all_statements_in(self.kernel.body))

    @property
    def changes_integers(self) -> bool:
        """Whether there are integers that statements change, those that loops count with apart."""
        statements = list(all_statements_in(self.kernel.body))
        integers = {s.name for s in statements if isinstance(s, Declare) and s.type.is_integer}
        return any(
            isinstance(s, Assign) and isinstance(s.target, Name) and s.target.identifier in integers
            for s in statements
        )


# --- kernels and points


@cache
def compilation(name: str) -> Compilation | None:
    """An example, a program of the golden tests, a corner, or the random program of a number; None for one that is
    refused."""
    if name in SPECS:
        return compiled(name)
    if name in PROGRAMS:
        return compile_file(GOLDEN / f"{name}.mf", OPTIONS)
    text = CORNERS[name] if name in CORNERS else generate(f"counts:{name}").text
    try:
        return compile_text(SourceFile(f"{name}.mf", text), OPTIONS)
    except CompileError:
        return None


def cases(name: str) -> Iterator[Case]:
    found = compilation(name)
    for region in (r for f in found.plan.functions for r in f.regions) if found else ():
        leaves = {leaf.kernel: leaf for leaf in region.leaves}
        for seed in range(POINTS):
            for kernel, leaf in leaves.items():
                if (values := integers(leaf.nest, region.nest, seed)) is not None:
                    yield from at(kernel, leaf.nest, values, {}, leaf)
            for plan in region.tilings:
                sizes = plan.sizes(Random(seed).choice(plan.instances))
                if (values := integers(plan.nest, region.nest, seed, unit=lcm(*sizes.values()))) is not None:
                    yield from at(plan.kernel, plan.nest, values, sizes, None)


def integers(nest: Nest, of_region: Nest, seed: int, unit: int = 1) -> dict[str, int] | None:
    """Values of all integer scalars; None where host code cannot compute them.

    Arguments are multiples of a unit, which ``n / D`` divides, or one more, which ``(n + D - 1) / D`` divides.
    """
    others = {s.name: TILE_SIZE if s.role is Role.TILE else 1 for s in nest.scalars if s.value is None}
    more = 0 if unit == 1 else seed % 2
    arguments = {name: n * unit + more if n > 1 else n for name, n in arguments_for(of_region, seed).items()}
    try:
        values = scalar_values(nest, {**others, **arguments})
    except UndefinedBehaviour:
        return None
    return {s.name: int(values[s.name]) for s in nest.scalars if s.type.is_integer}


def at(
    kernel: Kernel,
    nest: Nest,
    values: Mapping[str, int],
    sizes: Mapping[str, int],
    leaf: LeafPlan | None,
) -> Iterator[Case]:
    """A point, with the first and with the other cases of conditions; none where nothing is launched."""
    try:
        launch = launched(kernel, nest, values, sizes)
    except UndefinedBehaviour:
        return
    if min(*launch.grid, *launch.block) >= 1 and launch.threads <= MOST_THREADS:
        for first in (True, False):
            yield Case(replace(kernel, body=certain(kernel.body, first=first)), nest, launch, leaf)


def certain(body: tuple[KernelStmt, ...], *, first: bool) -> tuple[KernelStmt, ...]:
    """Statements under conditions that hold; where there are two cases, the first or the other one."""

    boxes = {s.name: s for s in body if isinstance(s, Box)}

    def held(statement: KernelStmt) -> tuple[KernelStmt, ...]:
        if isinstance(statement, Feed):
            return (replace(statement, valid_rows=ENOUGH, valid_columns=ENOUGH),)
        if isinstance(statement, StageBox):
            return (replace(statement, valid=boxes[statement.feed].extents),)
        if not isinstance(statement, If):
            return (statement,)
        taken = statement.then if first or not statement.otherwise else statement.otherwise
        condition = Binary("||", statement.condition, IntLiteral(1))
        return (replace(statement, condition=condition, then=taken, otherwise=()),)

    read = map_expressions(body, lambda whole: map_expression(whole, both_read))
    return replace_statements(read, held)


def both_read(expression: Expr) -> Expr:
    """A choice between data as a function, so that both are read."""
    if isinstance(expression, Conditional) and any(isinstance(e, Index) for e in subexpressions(expression)):
        return Call("either", (expression.condition, expression.then, expression.otherwise))
    return expression


# --- three ways to count


def counted(work: Work, values: Mapping[str, int]) -> tuple[Accesses, frozenset[tuple[str, bool, bool]]]:
    """The accesses that counters know, and those of which they do not know how many there are."""
    found: Accesses = Counter()
    for access in work.accesses:
        if access.count is not None:
            found[access.array, access.is_shared, access.writes] += access.count.evaluate(values)
    return found, frozenset((a.array, a.is_shared, a.writes) for a in work.accesses if a.count is None)


def walked(case: Case) -> tuple[Accesses, Walk]:
    """The accesses of the block in the middle, by all its threads."""
    found: Accesses = Counter()

    def watch(touch: Touch) -> None:
        active = case.launch.threads if touch.active is None else int(np.count_nonzero(touch.active))
        elements = touch.width // types[touch.reference.array].size_bytes
        found[touch.reference.array, touch.is_shared, touch.writes] += active * touch.times * elements

    def copied(piece: Copied) -> None:
        (array,) = names_read(piece.place) & types.keys() if piece.writes else (piece.place.array,)
        found[array, piece.writes, piece.writes] += piece.elements * piece.times

    values = {**case.launch.values, WIDTH: max(case.kernel.together, default=0)}
    types = {p.name: p.type for p in case.kernel.parameters if p.pointer}
    types |= {s.name: s.type for s in all_statements_in(case.kernel.body) if isinstance(s, SharedTile)}
    walk = Walk(case.kernel, values, case.launch.block, [n // 2 for n in case.launch.grid], watch, copied)
    walk.statements(case.kernel.body, 1)
    return found, walk


@dataclass(frozen=True, slots=True)
class Table:
    """The tables of a leaf with their numbers, and how often its contexts are done."""

    sites: Sites
    numbers: Sequence[int]
    runs: Sequence[int]

    @staticmethod
    def of(case: Case) -> Table:
        assert case.leaf is not None
        profile = leaf_profile(case.kernel, case.nest)
        leaf = replace(case.leaf, kernel=case.kernel, profile=profile)
        found = [max(0, n) for n in numbers(leaf, case.launch.values)]
        runs: list[int] = []
        for context in profile.sites.contexts:
            runs.append(found[context.turns] * (1 if context.parent < 0 else runs[context.parent]))
        return Table(profile.sites, found, runs)

    def accesses(self, case: Case) -> Accesses:
        tiles = [s.name for s in all_statements_in(case.kernel.body) if isinstance(s, SharedTile)]
        names = [*(p.name for p in case.kernel.parameters if p.pointer), *tiles]
        block = tuple(reversed(case.launch.block))
        found: Accesses = Counter()
        for access in of_memory(self.sites):
            threads = prod(
                max(1, min(n, self.numbers[e])) for n, e in zip(block, access.extents, strict=True)
            )
            often = self.runs[access.context] * len(access.origins)
            found[names[access.array], access.is_shared, access.stores] += often * threads
        return found

    @property
    def barriers(self) -> int:
        return sum(self.runs[region.context] * region.barriers for region in self.sites.regions)

    @property
    def instructions(self) -> int:
        """The instructions of a thread that compute doubles."""
        return sum(runs * c.wide for runs, c in zip(self.runs, self.sites.contexts, strict=True))


def of_memory(sites: Sites) -> list[Access]:
    """The accesses of global and shared memory, without those of arrays that threads have for themselves."""
    return [access for access in sites.accesses if access.array != UNKNOWN]


def in_doubles(case: Case) -> Case:
    """The same on arrays of doubles, whose arithmetic the model counts on its own."""
    parameters = tuple(replace(p, type=ScalarType.DOUBLE) if p.pointer else p for p in case.kernel.parameters)
    return replace(case, kernel=replace(case.kernel, parameters=parameters))


class DoesNotDivideError(Exception):
    pass


def divides(case: Case) -> bool:
    """Whether extents and numbers of turns that are computed from scalars leave no remainder."""
    statements = list(all_statements_in(case.kernel.body))
    headers = [s for s in statements if isinstance(s, For)]
    bounds = {name for h in headers for e in (h.start, h.bound, h.step) for name in names_read(e)}
    values = dict(case.launch.values)
    try:
        for statement in statements:
            if isinstance(statement, Declare) and statement.name in bounds and statement.initial is not None:
                whole = number(statement.initial, values)
                values |= {} if whole is None else {statement.name: whole}
        for header in headers:
            start, bound, step = (number(e, values) for e in (header.start, header.bound, header.step))
            if (
                start is not None
                and bound is not None
                and step
                and (bound < start or remainder(bound - start, step))
            ):
                return False
        return all(number(extent, case.launch.values) is not None for extent in case.kernel.block)
    except DoesNotDivideError:
        return False


def number(expression: Expr, values: Mapping[str, int]) -> int | None:
    """The value of an expression over scalars, None for any other one. DoesNotDivideError where a quotient is none."""
    match expression:
        case IntLiteral():
            return expression.value
        case Name():
            return values.get(expression.identifier)
        case Cast():
            return number(expression.operand, values)
        case Binary():
            left, right = number(expression.left, values), number(expression.right, values)
            if left is None or right is None:
                return None
            if expression.operator in ("/", "%") and (right == 0 or remainder(left, right)):
                raise DoesNotDivideError
            return OPERATORS[expression.operator](left, right)
        case _:
            return None


# --- the law


def agree(name: str) -> Counter[str]:
    """Compares all that is counted of a program; returns how often what was compared."""
    seen: Counter[str] = Counter()
    for case in cases(name):
        where = f"{case.kernel.name} at {dict(case.launch.values)}"
        work = case.work
        if work is None and case.leaf is None:
            continue
        in_walk, walk = walked(case)
        if work is not None and divides(case):
            in_symbols, unknown = counted(work, case.launch.values)
            known = (in_symbols.keys() | in_walk.keys()) - unknown
            for key in known:
                assert in_symbols[key] == in_walk[key], (where, key)
            seen["counters"] += not unknown
            seen["pieces"] += case.kernel.has_copies and any(shared and writes for _, shared, writes in known)
        if case.leaf is None:
            continue
        table = Table.of(case)
        assert table.barriers == walk.tally.barriers, where
        if work is None or any(access.count is None for access in work.accesses):
            continue
        repeats = sum(len(a.origins) for a in of_memory(table.sites)) < len(work.accesses)
        in_table = table.accesses(case)
        for key, count in in_walk.items():
            assert repeats or in_table[key] >= count, (where, key)
            assert case.shares_loops or in_table[key] <= count, (where, key)
        seen["tables"] += not repeats and not case.shares_loops
        operations = total(work.operations)
        if operations is None:
            continue
        wide, warps = in_doubles(case), -(-case.launch.threads // WARP_THREADS)
        instructions = walked(wide)[1].tally.wide
        in_table_too = Table.of(wide).instructions * warps
        assert in_table_too >= instructions, where
        assert case.changes_integers or in_table_too <= instructions, where
        seen["instructions"] += instructions > 0
        if divides(case):
            done = operations.evaluate(case.launch.values)
            assert done * warps <= 2 * instructions * case.launch.threads, where
            seen["operations"] += done > 0
    return seen


@pytest.mark.parametrize("name", quick_of([*SPECS, *CORNERS], {"jacobi1d", *CORNERS} - {"partly"}))
def test_all_counts_of_an_example_agree(name: str) -> None:
    seen = agree(name)
    assert seen["counters"] > 0


@pytest.mark.parametrize("name", quick_of([*OF_PIECES, *PROGRAMS], {"gemm"}))
def test_counts_of_kernels_that_copy_pieces_agree(name: str) -> None:
    """Counters say nothing of loops whose turns data or threads decide; all else is compared."""
    assert agree(name)["pieces"] > 0


# The others take minutes.
@pytest.mark.parametrize("seed", quick_of(range(40), {0, 1, 2, 4, 5}))
def test_all_counts_of_a_random_program_agree(seed: int) -> None:
    agree(str(seed))
