"""The reader on more than a hundred thousand instructions of nvcc."""

from __future__ import annotations

import pytest

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
