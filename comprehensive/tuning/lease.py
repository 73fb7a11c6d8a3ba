"""One measuring process a device: which of the devices a process has to itself.

In: names of devices and a directory for their lock files.  Out: the :class:`Lease` of the first one that is free; the
process waits for it.  The kernel gives a lock back when its process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease of devices that lasts as long as the descriptor is open."""

    device: str
    descriptor: int


def lease(devices: Sequence[str], directory: Path) -> Lease:
    """The first device that nobody else has. OSError where the directory cannot be written."""
    places = [(device, _lock_file(directory, device)) for device in devices]
    while True:
        for device, place in places:
            descriptor = _opened(place)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            return Lease(device, descriptor)
        time.sleep(PAUSE_S)


def _opened(place: Path) -> int:
    """Open the lock file for reading, and make it where it is missing.

    A lock needs no more: the file may be another user's, who must not be asked to make it anew.
    """
    try:
        return os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(place, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o644)


def _lock_file(directory: Path, device: str) -> Path:
    return directory / f"comprehensive-device-{re.sub('[^A-Za-z0-9_-]', '_', device)}.lock"
