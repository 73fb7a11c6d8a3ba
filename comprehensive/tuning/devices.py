"""The devices on which to measure: a text such as ``gpu`` in, the devices that are there out.

    find_devices("gpu")      # Target("NVIDIA H200", "9.0", "580.159", ("GPU-7f...", "GPU-91...")): two of them
    find_devices("cpu:2")    # two stand-ins: the generated code as C++, on this machine's processor

Devices of one name are one target, and measure together; a name has at most one driver on a machine.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from comprehensive.diagnostics import CommandLineError
from comprehensive.machine.device import Device, devices, load_device
from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.gpus import NoGpuError, visible

HELP = (
    "set CUDA_VISIBLE_DEVICES to a device that `nvidia-smi -L` lists, or try everything without: --device cpu"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Devices of one kind: ``identifiers`` is what CUDA_VISIBLE_DEVICES takes, one a device.

    Without identifiers measuring processes find their devices themselves, wherever they run.
    """

    name: str
    compute_capability: str
    driver: str
    identifiers: tuple[str, ...]
    on_gpu: bool = True

    @property
    def arch(self) -> str:
        """The architecture as nvcc takes it, such as ``sm_90``."""
        return "sm_" + self.compute_capability.replace(".", "")

    @property
    def limits(self) -> Device:
        """The limits of the device, as far as they are known, or those of its architecture."""
        named = [device.name for device in devices() if device.name.lower() == self.name.lower()]
        return load_device(named[0] if named else self.arch)


def find_devices(text: str) -> tuple[Target, ...]:
    """Return the devices of ``gpu`` (all that are visible), ``gpu:0,1``, ``cpu`` or ``cpu:2``, by kind.

    CommandLineError (CF0901) for anything else and for a number that no device has, ToolError without a device.
    """
    kind, _, rest = text.partition(":")
    if kind == "cpu" and re.fullmatch(r"[1-9]\d?|", rest):
        return (Target("cpu", "9.0", "-", tuple(f"cpu:{n}" for n in range(int(rest or 1))), on_gpu=False),)
    if text != "gpu" and not re.fullmatch(r"gpu:\d{1,3}(,\d{1,3})*", text):
        raise _unknown(f"device '{text}' is not known")
    try:
        gpus = visible(os.environ)
    except NoGpuError as error:
        raise ToolError(f"there is no GPU to measure on: {error}\nhelp: {HELP}") from error
    if rest:
        numbers = [int(number) for number in rest.split(",")]
        missing = [number for number in numbers if number >= len(gpus)]
        if missing:
            raise _unknown(f"there is no GPU {missing[0]}: {len(gpus)} are visible")
        gpus = [gpus[number] for number in dict.fromkeys(numbers)]
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for gpu in gpus:
        kinds.setdefault((gpu.name, gpu.compute_capability, gpu.driver), []).append(gpu.identifier)
    return tuple(Target(*kind, tuple(identifiers)) for kind, identifiers in kinds.items())


def _unknown(message: str) -> CommandLineError:
    help = "give gpu, gpu:0,1 for some of the visible ones, or cpu"
    return CommandLineError.of("CF0901", message, help=help)
