"""The emitted CUDA assumes of an architecture what its description says."""

from __future__ import annotations

import re

import pytest

from comprehensive.codegen.runtime_files import DEVICE, plain_files
from comprehensive.machine.device import device_names, load_device

CONDITION = re.compile(r"#(?:el)?if (.*)\n#define CF_RESIDENT_THREADS (\d+)\n")
OTHERWISE = re.compile(r"#else\n#define CF_RESIDENT_THREADS (\d+)\n")


@pytest.mark.parametrize("name", device_names())
def test_resident_threads_are_those_of_the_architecture(name: str) -> None:
    device = load_device(name)
    assert _resident_threads(10 * device.compute_capability) == device.max_threads_per_sm


def _resident_threads(arch: int) -> int:
    """Return the number that the preprocessor makes of it for `__CUDA_ARCH__`."""
    text = plain_files()[DEVICE].replace("\\\n", " ")
    for condition, threads in CONDITION.findall(text):
        known = condition.replace("defined(__CUDA_ARCH__)", "1").replace("__CUDA_ARCH__", str(arch))
        if eval(known.replace("&&", " and ").replace("||", " or ")):
            return int(threads)
    (otherwise,) = OTHERWISE.findall(text)
    return int(otherwise)
