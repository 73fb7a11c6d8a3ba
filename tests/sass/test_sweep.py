"""The reader on more than a hundred thousand instructions of nvcc."""

from __future__ import annotations

import pytest

from comprehensive.machine.device import load_device
from comprehensive.toolchain.nvcc import Tool
from tests.sass.sweep import ARCHITECTURES, swept


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_control_bits_life_ranges_and_blocks_agree_on_much_code(
    nvcc: Tool, nvdisasm: Tool, architecture: str
) -> None:
    found = swept(nvcc, architecture)
    assert found.broken == []
    assert found.instructions > 40_000
    limits = load_device(architecture).issue_distance_cycles
    reached = [pair for pair, least in found.closest.items() if least == limits[pair]]
    assert len(reached) * 2 >= len(found.closest), "stall counts are not read too large"
