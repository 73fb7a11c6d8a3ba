"""The emitted code run on the CPU against the serial C, leaf by leaf.

In: a compilation.  Out: for each leaf of each region how many points were run on it, and the failures.  The `.cu` is
compiled as it is against the shim of ``templates/host``: a block's threads are fibers, barriers are real, shared
memory is poisoned, and the last thread can be made to run first.  Arrays are exactly as large as the serial program
needs them and lie between pages that nothing may touch: a kernel that leaves one is wrong, whatever it computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

from msgspec import Struct

from comprehensive.codegen.runtime_files import RUNTIME_FILES
from comprehensive.driver import Compilation
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Nest
from comprehensive.loops.types import environment_of, with_declarations
from comprehensive.machine.device import load_device
from comprehensive.metafork.ast import Binary, IntLiteral, Name, ScalarType
from comprehensive.metafork.walk import statements_in
from comprehensive.model.choice import size_obstacle
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, TilePlan
from comprehensive.poly.report import values_text
from comprehensive.runtime.cpu import CpuFaultError, CpuLibrary, Outcome
from comprehensive.runtime.cpu import build as build_kernels
from comprehensive.runtime.guarded import Edge, GuardedProcess, Outside
from comprehensive.runtime.guarded import build as build_guards
from comprehensive.runtime.serial import SerialLibrary
from comprehensive.runtime.serial import build as build_serial
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.exact_sizes import sized
from comprehensive.soundness.interpreted import result
from comprehensive.soundness.machines import machine_for, serves_all
from comprehensive.soundness.refusals import TILE_REFUSED, refused_turn
from comprehensive.soundness.sampling import (
    TURNS,
    NotSampledError,
    Sample,
    all_scalars,
    samples,
)
from comprehensive.soundness.signs import any_sign
from comprehensive.soundness.state import State
from comprehensive.toolchain.host import Compiler
from comprehensive.values import Rational
from comprehensive.watch import UNWATCHED, Watch

TIME_IS_OVER = "there was no time left for it"
MAX_DRAWS = 400
"""Samples tried for the leaves of a function; a leaf that needs rare parameters may get fewer points."""
GUESS = 64
"""Elements of a buffer whose size depends on data, before the serial program has run."""
MAX_MEANINGLESS = 40
"""Samples in a row at which the serial program has no meaning; after so many there is no other one."""
MAX_REFUSED = 3
"""Times as many points as are asked for may be refused by a tile, which is not tried at more of them."""
MAX_LOST = 3
"""Samples in a row at which it crashes or does not end."""

ROUNDING = {"bfloat16": 5e-2, "float16": 1e-2, "float32": 1e-4, "float64": 1e-12}
"""The most that results may differ where sums are added up in another order, as a share of the largest element."""


def rounding(nests: Iterable[Nest]) -> Mapping[str, float]:
    """The same where a region may add up in single precision what it stores in double precision."""
    single = any(
        type is ScalarType.FLOAT
        for nest in nests
        for number, band in enumerate(nest.bands)
        for type in with_declarations(environment_of(nest, number), statements_in(band.body)).values()
    )
    return {**ROUNDING, "float64": ROUNDING["float32"]} if single else ROUNDING


MAX_BLOCK_THREADS = 1024

STATUS_OK = 0


class LeafRuns(Struct, frozen=True):
    """Points run on one leaf or tile: ``failures`` has a line for each that differs from the serial C.

    ``reason`` says why there are none, and is empty where there are some.  ``tile`` is 0 for a leaf, ``kind`` "leaf",
    "register tile" or "time tile".
    """

    region: str
    leaf: int
    runs: int
    failures: tuple[str, ...]
    reason: str = ""
    tile: int = 0
    kind: str = "leaf"
    rounded: bool = False
    """Whether results may differ by rounding, since sums are added up in another order."""
    refused: tuple[str, ...] = ()
    """A line for each point at which a tile was not run, since a turn of host code is not for it."""

    @property
    def name(self) -> str:
        """The name of a run: ``matmul leaf 3`` or ``matmul register tile 1``."""
        return f"{self.region} {self.kind} {self.tile or self.leaf}"

    @property
    def state(self) -> State:
        if self.failures:
            return State.FAILS
        return State.HOLDS if self.runs else State.NOT_CHECKED


class Executables(Struct, frozen=True):
    """The generated functions and the serial ones, built from the same file, and what guards their arrays."""

    kernels: CpuLibrary
    serial: SerialLibrary
    guards: Path


def build(
    compilation: Compilation,
    texts: Mapping[str, str],
    work: Path,
    *,
    c: Compiler,
    cxx: Compiler,
    sanitize: bool = False,
) -> Executables:
    """Compiles ``texts`` (header and kernels, as they are written) and the serial C below ``work``.

    The serial C first: SerialBuildError where the source is no C, which is nothing wrong with what was generated.
    """
    work.mkdir(parents=True, exist_ok=True)
    serial = build_serial(compilation.program, work, compiler=c)
    stem = compilation.plan.stem
    for name in (f"{stem}.h", f"{stem}.cu", *(name for name in RUNTIME_FILES if name in texts)):
        (work / name).write_text(texts[name], encoding="utf-8")
    interfaces = [interface(plan) for plan in compilation.plan.functions]
    kernels = build_kernels(
        work / f"{stem}.cu",
        work,
        interfaces,
        sanitize=sanitize,
        compiler=cxx,
        include_flags=compilation.program.include_flags,
    )
    return Executables(kernels, serial, build_guards(work, compiler=c))


def run_leaves(
    compilation: Compilation,
    executables: Executables,
    points: int,
    seed: int = 1,
    *,
    endless: Mapping[str, str] | None = None,
    duplicates: bool = False,
    levels: Mapping[str, Rational] | None = None,
    watch: Watch = UNWATCHED,
) -> tuple[LeafRuns, ...]:
    """Runs every leaf at up to ``points`` random points that a machine can bring to it.

    A function whose buffers cannot be sized is not run, nor are those in ``endless`` (names with a reason); the
    others are.  ``levels`` are the values of limits with which the header was made.  With ``duplicates`` indices of
    plain stores occur twice, and every point is run in both orders.  Where the watch says that the time is over, the
    functions that are left are not run.
    """
    found: list[LeafRuns] = []
    first = 0
    with GuardedProcess(executables.guards) as process:
        for number, plan in enumerate(compilation.plan.functions):
            watch.tell("functions run on the CPU", number, len(compilation.plan.functions))
            reason = TIME_IS_OVER if watch.is_over() else (endless or {}).get(plan.function.name)
            try:
                if reason is None:
                    runs = _Runs(executables, process, plan)
                    found += _run_function(
                        compilation, runs, plan, first, points, seed, duplicates, levels or {}
                    )
            except NotSampledError as error:
                reason = str(error)
            if reason is not None:
                found += _not_run(plan, reason)
            first += len(plan.regions)
    return tuple(found)


def not_run(compilation: Compilation, reason: str) -> tuple[LeafRuns, ...]:
    """Return the runs of every leaf where none is run: each says why."""
    return tuple(each for plan in compilation.plan.functions for each in _not_run(plan, reason))


def _not_run(plan: FunctionPlan, reason: str) -> list[LeafRuns]:
    return [
        LeafRuns(region.name, number, 0, (), reason, region.tile_of(number), region.kind_of(number))
        for region in plan.regions
        for number in region.numbers
    ]


def _run_function(
    compilation: Compilation,
    function: _Runs,
    plan: FunctionPlan,
    first: int,
    points: int,
    seed: int,
    duplicates: bool,
    levels: Mapping[str, Rational],
) -> list[LeafRuns]:
    nests = tuple(region.nest for region in plan.regions)
    numbers = [(r, number) for r, region in enumerate(plan.regions) for number in region.numbers]
    cases = [(r, number) for r, number in numbers if _fits(plan, plan.regions[r].tile_of(number))]
    runs = dict.fromkeys(cases, 0)
    failures: dict[tuple[int, int], list[str]] = {case: [] for case in cases}
    free = any_sign(plan)
    refused: dict[tuple[int, int], list[str]] = {case: [] for case in cases}
    meaningless = 0
    drawn = samples(
        plan.function, nests, seed, None, free, GUESS, duplicates=duplicates, also=_sizes_of_kernels(plan)
    )
    for number, sample in enumerate(islice(drawn, MAX_DRAWS)):
        left = [c for c in cases if runs[c] < points and len(refused[c]) < MAX_REFUSED * points]
        if not left:
            break
        try:
            reference = function.reference(nests, sample, number, duplicates=duplicates)
        except CpuFaultError as error:
            reference = f"the serial program does not come to its end: {error}"
            meaningless += MAX_MEANINGLESS // MAX_LOST
        if isinstance(reference, str):
            meaningless += 1
            if meaningless >= MAX_MEANINGLESS:
                raise NotSampledError(f"at several points in a row {reference}")
            continue
        meaningless = 0
        # Systems assume that every integer is non-negative, also one that the launcher takes at any sign, or host code.
        integers = [
            {n: v for n, v in all_scalars(nest, sample.arguments).items() if isinstance(v, int)}
            for nest in nests
        ]
        every: list[dict[str, Rational]] = [
            {name: max(0, value) for name, value in values.items()} | dict(levels) for values in integers
        ]
        for r, leaf in left:
            tree = compilation.trees[first + r]
            values = every[r]
            tile = plan.regions[r].tile_of(leaf)
            if any(size_obstacle(*tiling, integers[n]) for n, tiling in _tilings(plan, tile)):
                continue  # a condition on sizes that a launch of this or of another region looks at
            # A tile runs on every machine that it fits, whatever the parameters; the fake device has room.
            machine = {} if tile else machine_for(tree, leaf, values)
            if machine is None or (not tile and _threads(plan, r, values) > MAX_BLOCK_THREADS):
                continue
            if not tile and not serves_all(compilation.trees[first : first + len(nests)], every, machine):
                continue  # another region refuses such a machine
            tolerances = rounding(nests) if _is_rounded(plan, tile) else None
            ran, failure = False, None
            # An order may be that of the serial C by chance: where the order is in question, both are run.
            for backwards in (False, True) if duplicates else (reference.backwards,):
                if failure is None:
                    did, failure = function.compare(
                        reference, machine, tile, backwards=backwards, tolerances=tolerances
                    )
                    ran = ran or did
            if failure == TILE_REFUSED:
                tilings = ((nests[n], *tiling) for n, tiling in _tilings(plan, tile))
                given = {name: v for name, v in sample.arguments.items() if isinstance(v, int)}
                reason = refused_turn(tilings, given)
                if reason:
                    refused[r, leaf].append(f"{reason}, at {_shown(sample, {})}")
                    continue
                failure = "the launcher does not run this tile, although all of its conditions hold"
            # A loop may be over before there is work for a time tile: what did the work then is no case of it.
            runs[r, leaf] += ran or failure is not None
            if failure is not None:
                failures[r, leaf].append(f"{failure} at {_shown(sample, machine)}")
    unreached = f"no machine brings one of {MAX_DRAWS} random points to it where the source is defined"
    reasons = {case: "it does not fit the device on which it is run" for case in numbers if case not in cases}
    for case in cases:
        if not runs[case]:
            told = "no point lets it run at every turn of host code: "
            reasons[case] = told + refused[case][0] if refused[case] else unreached
    return [
        LeafRuns(
            plan.regions[r].name,
            leaf,
            runs.get((r, leaf), 0),
            tuple(failures.get((r, leaf), ())),
            reasons.get((r, leaf), ""),
            plan.regions[r].tile_of(leaf),
            plan.regions[r].kind_of(leaf),
            _is_rounded(plan, plan.regions[r].tile_of(leaf)),
            tuple(refused.get((r, leaf), ())),
        )
        for r, leaf in numbers
    ]


def _sizes_of_kernels(plan: FunctionPlan) -> dict[str, tuple[int, ...]]:
    """The values of scalars for which there are kernels over tiles that are for these alone."""
    found: dict[str, tuple[int, ...]] = {}
    for condition in (
        c for region in plan.regions for tiling in region.tilings for c in tiling.tile.conditions
    ):
        match condition:
            case Binary("==", Name(name), IntLiteral(value)):
                found[name] = (*found.get(name, ()), value)
            case _:
                pass
    return found


def _is_rounded(plan: FunctionPlan, tile: int) -> bool:
    """Whether results of a leaf (``tile`` 0) or of a tile may differ by rounding."""
    in_any_order = any(region.rounds_everywhere for region in plan.regions)
    return in_any_order or (tile > 0 and plan.reassociated)


def _fits(plan: FunctionPlan, tile: int) -> bool:
    """Return whether a tile can run on the fake device, which has compute capability 9.0, in all regions.

    For each leaf, tile 0, a machine is found.
    """
    device = load_device("sm_90").parameters()
    return all(
        atom.holds({**device, **sizes})
        for _, (tiling, sizes) in _tilings(plan, tile)
        for atom in tiling.system.atoms
    )


def _threads(plan: FunctionPlan, region: int, values: Mapping[str, Rational]) -> int:
    known = {name: int(value) for name, value in values.items()}
    return prod(int(c_value(loop.extent, known)) for loop in plan.regions[region].nest.thread_loops)


class _Reference(Struct, frozen=True):
    """A sample with its data, and what the serial program makes of it. ``number`` is that of the sample."""

    sample: Sample
    number: int
    data: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def backwards(self) -> bool:
        # Forwards and backwards in turn: an order that hides a missing barrier does not hide it both ways.
        return self.number % 2 == 1

    @property
    def edge(self) -> Edge:
        # Each end of the arrays with each order within four samples.
        return Edge.END if self.number % 4 in (0, 3) else Edge.BEGIN


def _tilings(plan: FunctionPlan, tile: int) -> Iterator[tuple[int, tuple[TilePlan, Mapping[str, int]]]]:
    """The kernels over tiles, with their sizes, that regions run where callers ask for a tile, by region."""
    for number, region in enumerate(plan.regions):
        tiling = region.tiling_of(tile - 1 + len(region.leaves)) if tile else None
        if tiling is not None:
            yield number, tiling


class _Runs(Struct, frozen=True):
    """Runs one function of the program, serial and generated."""

    executables: Executables
    process: GuardedProcess
    plan: FunctionPlan

    def reference(
        self, nests: tuple[Nest, ...], sample: Sample, number: int, *, duplicates: bool
    ) -> _Reference | str:
        """Return the arrays to expect of the kernels, or why nothing can be expected of them.

        CpuFaultError where the serial program fails.
        """
        serial, function = self.executables.serial, self.plan.function
        data = sized(self.process, serial, function, nests, sample, number, duplicates=duplicates)
        if isinstance(data, str):
            return data
        if any(result(nest, sample.arguments, data.drawn, number % TURNS) is None for nest in nests):
            return "the source has undefined behaviour"
        run = self.process.serial(serial, function.name, {**sample.arguments, **data.exact})
        return _Reference(sample, number, data.exact, run.arrays)

    def compare(
        self,
        reference: _Reference,
        machine: Mapping[str, int],
        tile: int,
        *,
        backwards: bool,
        tolerances: Mapping[str, float] | None,
    ) -> tuple[bool, str | None]:
        """Whether the tile ran where a time tile was asked for, and what is wrong."""
        host = interface(self.plan)
        sample = reference.sample
        program = {a.name: int(sample.arguments[a.name]) for a in host.program}
        if host.tile is not None:
            program[host.tile] = tile
        others = {a.name: sample.arguments[a.name] for a in host.arguments if not a.pointer}
        kernels = self.executables.kernels
        try:
            if kernels.sanitize:
                actual = {n: None if v is None else v.copy() for n, v in reference.data.items()}
                outcome = kernels.call(
                    host.name,
                    {**others, **actual},
                    program,
                    machine=machine or None,
                    backwards=backwards,
                )
                faults: tuple[Outside, ...] = ()
            else:
                run = self.process.kernels(
                    kernels,
                    host.name,
                    {**others, **reference.data},
                    program,
                    machine=machine or None,
                    backwards=backwards,
                    edge=reference.edge,
                )
                actual, outcome, faults = run.arrays, run.outcome, run.faults
        except CpuFaultError as error:
            return True, f"the kernel crashed: {error}"
        if faults:
            return True, f"the kernel {'; '.join(map(str, faults))}"
        if outcome.status != STATUS_OK:
            return True, _refusal(outcome)
        asked = [
            region
            for region in self.plan.regions
            if any(tile >= region.tile_of(plan.first) for plan in region.several)
        ]
        ran = not asked or any(region.tile_of(outcome.leaf) == tile for region in asked)
        bits = {p.name for p in self.plan.function.parameters if p.type is ScalarType.BFLOAT16}
        return ran, first_difference(reference.expected, actual, tolerances, bits)


def _refusal(outcome: Outcome) -> str:
    """Return why a launch is refused: ``TILE_REFUSED`` where the tile that was asked for cannot run."""
    if outcome.constraint == TILE_REFUSED:
        return TILE_REFUSED
    if outcome.message:
        return f"the launch fails: {outcome.message}"
    numbers = f"where {outcome.needed} is needed and {outcome.available} is there"
    return f"the launcher refuses to run, since this does not hold: {outcome.constraint}, {numbers}"


def _shown(sample: Sample, machine: Mapping[str, int]) -> str:
    return values_text({**sample.arguments, **machine})
