"""The explanation of ``explain --occupancy``: the levels of the kernels that run, and why one of them is kept.

In: a compilation and what was explained of it.  Out: a :class:`Told` for each kernel that the launcher takes::

    told = occupancy_of(compilation, machine, explained, values, Sources(measured=Path("levels.json")))
    to_text(told)     # levels with times, those within 2 % of the fastest, and the one of them that takes the least

Times are those that ``occupancy --measure --json`` has written, where it has measured the kernel, else predictions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Compilation
from comprehensive.embedding.automatic import Choice
from comprehensive.explanation import RegionExplanation, kernels_that_run
from comprehensive.kernel_levels import automatic_choices, of_kernels
from comprehensive.machine.device import Device, device_of
from comprehensive.occupancy_tuning.level import Timed
from comprehensive.plan.versions import KernelKey
from comprehensive.records import replace
from comprehensive.report.levels_text import Shown
from comprehensive.report.plateau_text import to_document, to_lines
from comprehensive.tuning.candidates import shown as shown_parameters
from comprehensive.tuning.winners import Winner, read_winners
from comprehensive.values import Rational

_Place: TypeAlias = tuple[str, str, int, int]


class Sources(Struct, frozen=True):
    """Files with measured times: of levels, and the winners of `tune`; None where there are none."""

    measured: Path | None = None
    tuned: Path | None = None


class Told(Struct, frozen=True):
    """A kernel that runs, for people ``of`` a leaf or tile: its levels, None where none are known."""

    of: str
    kernel: KernelKey
    shown: Shown | None
    winners: tuple[Winner, ...]
    """The winners of tuning at the given sizes, on any device."""
    choice: Choice | None
    """The choice of ``--passes auto`` for it, where passes are chosen."""


def occupancy_of(
    compilation: Compilation,
    device: Device,
    explained: Sequence[RegionExplanation],
    values: Mapping[str, Rational],
    sources: Sources,
    cuda_path: str | None = None,
    *,
    automatic: bool = False,
) -> tuple[Told, ...]:
    """Return the levels of the kernels that run; nothing where values are missing that decide which do.

    ToolError where nvcc or the assembler is missing, CommandLineError for a file that is not what it should be (CF0731,
    CF0916).
    """
    running = kernels_that_run(compilation, explained)
    measured: Mapping[_Place, Timed] = {} if sources.measured is None else _read(sources.measured)
    winners = () if sources.tuned is None else read_winners(sources.tuned, compilation.plan.source_digest)
    # Sizes of which no region knows have no value here.
    fitting = tuple(w for w in winners if all(values.get(name, value) == value for name, value in w.sizes))
    if not running:
        return ()
    # Predictions need speeds, which the limits of an architecture alone do not have.
    fast = device if device.speeds else device_of(device.arch) or device
    levels = of_kernels(compilation, fast, [kernel for _, kernel in running], cuda_path)
    chosen: Mapping[KernelKey, Choice] = {}
    if automatic:
        chosen = automatic_choices(compilation, fast.arch, cuda_path)
    owners = {
        kernel.name: function.function.name
        for function in compilation.plan.functions
        for region in function.regions
        for kernel in region.kernels
    }
    return tuple(
        Told(
            of,
            kernel,
            _with_times(levels[kernel], measured) if kernel in levels else None,
            tuple(w for w in fitting if w.function == owners[kernel[0]]),
            chosen.get(kernel),
        )
        for of, kernel in running
    )


def _read(path: Path) -> Mapping[_Place, Timed]:
    """Return the times of a file by kernel, passes, threads of a block and blocks at a time."""
    try:
        return {
            (str(kernel["kernel"]), *_setting(level)): Timed(
                level["measured_us"], level["not_measured"] or ""
            )
            for kernel in json.loads(path.read_text(encoding="utf-8"))
            for level in kernel["levels"]
        }
    except (OSError, ValueError, TypeError, KeyError) as error:
        # What Python says of a document of another form, of keys and types, is of no use to who wrote the file.
        is_of_form = isinstance(error, TypeError | KeyError)
        words = "it has another form" if is_of_form else getattr(error, "strerror", None) or str(error)
        message = f"cannot read measured levels from {path}: {words}"
        help = "give what `comprehensive occupancy --measure --json` has printed"
        raise CommandLineError.of("CF0731", message, help=help) from error


def _setting(level: Mapping[str, Any]) -> tuple[str, int, int]:
    return str(level["passes"]), int(level["threads_per_block"]), int(level["blocks_per_multiprocessor"])


def _with_times(shown: Shown, measured: Mapping[_Place, Timed]) -> Shown:
    """Return the levels with the times that a file has of them, where it has some of this kernel."""
    if not any(place[0] == shown.symbol for place in measured):
        return shown
    places = [
        (shown.symbol, level.setting.pipeline, level.setting.threads, level.resident)
        for level in shown.levels
    ]
    return replace(shown, measured=tuple(measured.get(place, Timed(None, "")) for place in places))


def to_text(told: Sequence[Told]) -> str:
    """A paragraph for each kernel, ending in a newline."""
    if not told:
        return "occupancy: give all sizes a value, so that it is known which kernels run\n"
    return "".join(f"{line}\n" for each in told for line in _lines(each))


def _lines(told: Told) -> Iterator[str]:
    if told.shown is None:
        yield f"  occupancy of {told.of} ({told.kernel[0]}): it runs in blocks of no size that is looked at"
    else:
        yield from to_lines(told.shown, told.of)
    if told.choice is not None:
        yield f"    --passes auto: {told.choice.pipeline or 'none'}; {told.choice.reason}"
    for winner in told.winners:
        how = shown_parameters(winner.parameters, winner.pipeline)
        yield f"    tuned on {winner.device}: {how}, {winner.median_us:.2f} us, of {winner.candidates} candidates"


def to_json(told: Sequence[Told]) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [
        {
            **({"of": each.of} if each.shown is None else to_document(each.shown, each.of)),
            "passes_auto": None
            if each.choice is None
            else {"passes": each.choice.pipeline, "reason": each.choice.reason},
            "tuned": [
                {
                    "device": winner.device,
                    "parameters": dict(winner.parameters),
                    "passes": winner.pipeline,
                    "median_us": winner.median_us,
                    "candidates": winner.candidates,
                }
                for winner in each.winners
            ],
        }
        for each in told
    ]
