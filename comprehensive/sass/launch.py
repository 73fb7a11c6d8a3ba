"""The launch of a kernel, as far as its time depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from comprehensive.machine.device import Device
from comprehensive.sass.errors import SassError

LOOP_FACTOR = 10
"""The trip count of an unknown loop: RegDem, section 3.4.3 and the factor of its figure in section 4."""

MANY_BLOCKS = 1000
"""Blocks a multiprocessor of a launch of unknown size: so many that the last round does not count."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of a kernel.

    ``trips`` says how often loops run, by their names (``L0``); others run :data:`LOOP_FACTOR` times.
    """

    threads_per_block: int
    blocks: int | None = None
    """None: :data:`MANY_BLOCKS` for every multiprocessor."""
    shared_bytes: int = 0
    """Dynamic shared memory of a block."""
    trips: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    global_bytes: int | None = None
    """The bytes that the launch moves between the device and its memory; None where they are not known."""


def multiprocessors_of(device: Device) -> int:
    """Return the number of multiprocessors of a device, or of one of the products of an architecture."""
    return device.machine()["multiprocessors"]


def blocks_of(launch: Launch, device: Device) -> int:
    return MANY_BLOCKS * multiprocessors_of(device) if launch.blocks is None else launch.blocks


def demand_launch(launch: Launch) -> None:
    """Raise SassError (CF1206) for a launch that there cannot be."""
    for what, value, least in (
        ("threads in a block", launch.threads_per_block, 1),
        ("blocks", launch.blocks, 1),
        ("bytes of shared memory", launch.shared_bytes, 0),
        ("bytes of global memory", launch.global_bytes, 0),
        *((f"rounds of loop {name}", trips, 0) for name, trips in launch.trips.items()),
    ):
        if value is not None and value < least:
            raise SassError("CF1206", f"a launch with {value} {what} is none", f"give at least {least}")
