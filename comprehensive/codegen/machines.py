"""Speeds of measured devices put into a plan: the launcher takes them on a device of the same name.

In: a plan and devices of machine files.  Out: the plan with a :class:`MeasuredMachine` for each of them::

    with_machines(plan, [load_device("mine.toml")]).machines[0].speeds      # (("issued_per_cycle", 4), ...)
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.diagnostics import CommandLineError
from comprehensive.machine.device import Device, load_device
from comprehensive.machine.speeds import SPEEDS
from comprehensive.plan.plan import MeasuredMachine, ProgramPlan
from comprehensive.records import replace


def with_machines(plan: ProgramPlan, devices: Sequence[Device]) -> ProgramPlan:
    """Put the speeds of devices into a plan.

    CommandLineError (CF0621) for an architecture, which is no device, and for two devices of one name.
    """
    for number, device in enumerate(devices):
        if device.name == device.arch:
            raise _refused(
                f"'{device.name}' is an architecture, and no device has its name",
                "give the machine file of a device, such as `comprehensive calibrate` writes",
            )
        if any(device.name == other.name for other in devices[:number]):
            raise _refused(f"there are two machines of the name '{device.name}'", "give one of them")
    return replace(plan, machines=tuple(map(_machine, devices)))


def _machine(device: Device) -> MeasuredMachine:
    """Return the speeds of a device that differ from its architecture's.

    A device tells its number of multiprocessors itself.
    """
    common = load_device(device.arch).speeds
    known = [name for name in SPEEDS if device.speeds.get(name, common.get(name)) != common.get(name)]
    measured = tuple((name, device.speeds[name]) for name in known if name != "multiprocessors")
    return MeasuredMachine(device.name, measured)


def _refused(message: str, help: str) -> CommandLineError:
    return CommandLineError.of("CF0621", f"--machine: {message}", help=help)
