"""The command ``comprehensive calibrate``: a device in, a machine file with its speeds and a report out.

    calibrate("gpu", Path("h200.toml")).text

Needs the standard library alone, so that a machine with nvcc and a plain python3 will do:
``python3 -m comprehensive.calibration.command [DEVICE [FILE]]``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from comprehensive.calibration import report
from comprehensive.calibration.machine_file import file_name, machine_text
from comprehensive.calibration.measured import Measured, measured
from comprehensive.calibration.program import answer_of, compiled
from comprehensive.calibration.samples import Samples, read_samples
from comprehensive.codegen.emit import write_outputs
from comprehensive.diagnostics import CommandLineError, CompileError
from comprehensive.machine.device import Device, load_device
from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.devices import Target, find_devices

LIMIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A calibration of a device.

    ``file`` has been written; ``known`` is what the tool had for the device before.
    """

    samples: Samples
    speeds: tuple[Measured, ...]
    known: Device
    file: Path

    @property
    def text(self) -> str:
        return report.to_text(self.samples, self.speeds, self.known)

    @property
    def json(self) -> dict[str, Any]:
        return report.to_json(self.samples, self.speeds, self.known, str(self.file))


def calibrate(
    device: str,
    output: Path | None = None,
    *,
    cuda_path: str | None = None,
    limit_s: float = LIMIT_S,
    tell: Callable[[str], object] = lambda line: None,
) -> Calibrated:
    """Measures one device and writes its machine file, by default beside where the tool runs.

    Raises CommandLineError for what is no device (CF0901), several (CF0951) or of an unknown architecture (CF0801),
    ToolError where a GPU or a compiler is missing, and CompileError (CF0952 to CF0956, CF0620 for a file that cannot be
    written) otherwise. Nothing is written then.
    """
    target = one_device(device)
    load_device(target.arch)
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        tell(f"compiling the benchmark for {target.arch}")
        program = compiled(target, Path(scratch), cuda_path)
        tell(f"measuring {target.name}")
        samples = read_samples(answer_of(program, target, limit_s))
    _demand_same(samples, target)
    speeds = measured(samples)
    file = output or Path(file_name(samples.device))
    write_outputs(file.parent, {file.name: machine_text(samples, speeds, target)})
    return Calibrated(samples, speeds, target.limits, file)


def one_device(text: str) -> Target:
    """The first of all visible GPUs for ``gpu``; CommandLineError (CF0951) for a text that names several."""
    targets = find_devices(text)
    if text != "gpu" and sum(len(target.identifiers) for target in targets) > 1:
        message = f"'{text}' names several devices, and one is calibrated at a time"
        help = "give gpu for the first one that is visible, gpu:1 for another one, or cpu"
        raise CommandLineError.of("CF0951", message, help=help)
    return replace(targets[0], identifiers=targets[0].identifiers[:1])


def _demand_same(samples: Samples, target: Target) -> None:
    """The name of a part of a GPU says which part."""
    found = (samples.device.startswith(target.name), f"sm_{samples.facts['compute_capability']}")
    if found != (True, target.arch):
        raise CompileError.of(
            "CF0954",
            f"the device fails the benchmark: it is {samples.device} ({found[1]}), not {target.name} ({target.arch})",
            help="name the device by its identifier in CUDA_VISIBLE_DEVICES (`nvidia-smi -L`)",
        )


def main(words: list[str]) -> int:
    """Run the command with the standard library alone, without the command line of the tool."""
    try:
        found = calibrate(
            words[0] if words else "gpu",
            Path(words[1]) if words[1:] else None,
            tell=lambda line: print(line, file=sys.stderr),
        )
    except (CompileError, ToolError) as problem:
        print(problem, file=sys.stderr)
        return 1
    print(found.text, end="")
    print(f"machine file: {found.file}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
