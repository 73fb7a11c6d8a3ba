"""Times of a kernel's occupancy levels: settings of kernels in, microseconds of the whole function out.

    times_of(session, {"n": 4096}, {"heat_leaf0": (Setting("", 256), Setting("register-cap{registers=64}", 256))})
    # {"heat_leaf0": (Timed(93.1), Timed(88.4))}

A level is a candidate of tuning: the program parameters with which the kernel runs in blocks of that many threads, and
a version of the kernels behind its passes.  So it is compiled, compared with the serial C, and timed as others are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Compilation, Options
from comprehensive.generate import source_texts
from comprehensive.machine.device import Device
from comprehensive.model.choice import candidates as expected_of
from comprehensive.model.choice import sweeps_left
from comprehensive.occupancy_tuning.level import Setting, Timed
from comprehensive.plan.plan import FunctionPlan, RegionPlan
from comprehensive.plan.versions import KernelKey, key_of
from comprehensive.records import replace
from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.candidates import Candidate, threads_of, tile_of, values_at
from comprehensive.tuning.case import Case
from comprehensive.tuning.choices import Choices
from comprehensive.tuning.devices import Target, find_devices
from comprehensive.tuning.expected_order import region_values
from comprehensive.tuning.pools import Pool
from comprehensive.tuning.problems import size_names
from comprehensive.tuning.requests import Request, request
from comprehensive.tuning.session import Session
from comprehensive.tuning.store import Result, Store
from comprehensive.values import Rational

_NO_GPU = "CF0931"


def target_of(device: Device | None) -> Target:
    """Return the GPU on which levels are measured.

    ToolError where there is none (CF0931), CommandLineError where it does not run what is compiled for ``device``
    (CF0932).
    """
    try:
        target = find_devices("gpu")[0]
    except ToolError as error:
        words = str(error).partition("\n")[0]
        help = "measure where nvidia-smi lists a GPU that CUDA_VISIBLE_DEVICES names, or leave --measure out"
        raise ToolError(f"{words} [{_NO_GPU}]\nhelp: {help}") from error
    if device is not None and device.arch != target.arch:
        message = f"levels of {device.arch} cannot be measured on {target.name}, which is {target.arch}"
        raise CommandLineError.of(
            "CF0932", message, help="leave --device out: then levels are those of the GPU that is there"
        )
    return target


def at_one_size(compilation: Compilation, definitions: Sequence[tuple[str, Rational]]) -> Request:
    """Return what is asked for. CommandLineError as of :func:`request`, and CF0906 for several sizes."""
    wanted = request(compilation, definitions, [])
    if len(wanted.sizes) > 1:
        raise CommandLineError.of(
            "CF0906", "a size has several values", help="levels are measured at one size: give each size once"
        )
    return wanted


def measured_levels(
    compilation: Compilation,
    options: Options,
    target: Target,
    wanted: Request,
    levels: Mapping[str, Sequence[Setting]],
    *,
    measure_pool: Pool | None = None,
    tell: Callable[[str], object] = lambda line: None,
) -> Mapping[str, tuple[Timed, ...]]:
    """Measure the levels of kernels, by symbol, at the first of the sizes that are wanted.

    Nothing is kept but the times.  Errors are those of :func:`comprehensive.tuning.tune.tune`.
    """
    choices = Choices(domains=wanted.domains, scalars=wanted.scalars)
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        directory = Path(scratch)
        with (
            Store.open(directory / "levels.sqlite") as store,
            closing(
                Session(
                    compilation,
                    options,
                    target,
                    store,
                    directory,
                    choices,
                    source_texts,
                    tell,
                    measure_pool=measure_pool,
                )
            ) as session,
        ):
            return times_of(session, compilation.plan.functions, wanted.sizes[0], levels)


def times_of(
    session: Session,
    functions: Iterable[FunctionPlan],
    sizes: Mapping[str, int],
    levels: Mapping[str, Sequence[Setting]],
) -> Mapping[str, tuple[Timed, ...]]:
    """Measure the levels of kernels, by symbol; errors as of :func:`comprehensive.tuning.tune.tune`."""
    found: dict[str, tuple[Timed, ...]] = {}
    for plan in functions:
        names = {kernel.name for region in plan.regions for kernel in region.kernels}
        own = {symbol: settings for symbol, settings in levels.items() if key_of(symbol)[0] in names}
        if own:
            with closing(Case(session, plan, {name: sizes[name] for name in size_names(plan)})) as case:
                found |= _of_function(case, plan, session.target.limits.machine(), own)
    return found


def _of_function(
    case: Case, plan: FunctionPlan, machine: Mapping[str, int], levels: Mapping[str, Sequence[Setting]]
) -> Mapping[str, tuple[Timed, ...]]:
    wanted: dict[str, list[Candidate | str]] = {}
    for symbol, settings in levels.items():
        blocks = dict.fromkeys(each.threads for each in settings)
        at = {threads: _launching(case, plan, machine, symbol, threads) for threads in blocks}
        wanted[symbol] = [
            launch if isinstance(launch := at[each.threads], str) else replace(launch, pipeline=each.pipeline)
            for each in settings
        ]
    asked = [each for several in wanted.values() for each in several if not isinstance(each, str)]
    results = {result.candidate: result for result in case.measure(tuple(dict.fromkeys(asked)))}
    return {
        symbol: tuple(
            Timed(None, each) if isinstance(each, str) else _timed(results[each]) for each in several
        )
        for symbol, several in wanted.items()
    }


def _timed(result: Result) -> Timed:
    if result.status in ("ok", "hopeless"):
        return Timed(result.median_us)
    return Timed(None, f"{result.status}: {result.reason}" if result.reason else result.status)


def _launching(
    case: Case, plan: FunctionPlan, machine: Mapping[str, int], symbol: str, threads: int
) -> Candidate | str:
    """Return the best candidate with which a kernel runs in blocks of so many threads, or why there is none."""
    key = key_of(symbol)
    region = next(r for r in plan.regions if key[0] in {kernel.name for kernel in r.kernels})
    tile = next((each for each in range(region.tiles + 1) if key in region.kernels_of(each)), None)
    if tile is None:
        return "its leaf is compiled through passes of its own"
    every = [candidate for candidate in case.candidates if tile_of(plan, candidate) == tile]
    if tile == 0:
        every = [
            each for each in every if threads_of(region, dict((*each.sizes, *each.parameters))) == threads
        ]
    for candidate in case.ordered(every):
        if _runs(plan, region, machine, candidate, key):
            return candidate
    return "no program parameters make it run at these sizes" + (
        f" in blocks of {threads}" if tile == 0 else ""
    )


def _runs(
    plan: FunctionPlan,
    region: RegionPlan,
    machine: Mapping[str, int],
    candidate: Candidate,
    key: KernelKey,
) -> bool:
    """Return whether a region launches a kernel with the parameters of a candidate."""
    values = region_values(region, values_at(plan, dict(candidate.sizes), dict(candidate.parameters)))
    tile = tile_of(plan, candidate)
    every = expected_of(region, machine, values, addresses={}, sweeps_left=sweeps_left(region, values))
    for found in every:
        if tile == 0 and found.kind == "leaf":
            names = [leaf.kernel.name for leaf in region.leaves if leaf.index == found.number]
            return names == [key[0]]
        if tile != 0 and found.kind != "leaf" and found.number == tile:
            last = key[1][-1:] if found.together else ()
            return last == ((found.together,) if found.together else ())
    return False
