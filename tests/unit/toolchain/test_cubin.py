"""Cubins: what is in them, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.toolchain.cubin import CubinError, code_of, sections
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import compile_cubin, load_tool

SOURCE = """
extern "C" __global__ void add(float *a, int n) { __shared__ float s[64]; s[threadIdx.x] = a[n]; __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x] * %s; }
extern "C" __global__ void nothing() {}
"""


def built(directory: Path, factor: str) -> bytes:
    found = find_tool("nvcc")
    if isinstance(found, Missing):
        pytest.skip("nvcc is not found")
    source = directory / "a.cu"
    source.write_text(SOURCE % factor)
    return compile_cubin(load_tool(found), source, "sm_90").output


@pytest.mark.toolchain
def test_the_code_of_kernels(tmp_path: Path) -> None:
    code = code_of(built(tmp_path, "2.0f"))
    assert list(code) == ["add", "nothing"]
    assert code["add"].shared_bytes == 256 + 1024  # of the system
    assert 8 <= code["add"].registers <= 40
    assert len(code["add"].instructions) % 128 == 0
    assert len(code["add"].constants) >= 12
    assert ".nv.info" in sections(built(tmp_path, "2.0f"))


@pytest.mark.toolchain
def test_equal_code_is_equal_and_other_code_is_not(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert code_of(built(tmp_path, "2.0f")) == code_of(built(tmp_path / "other", "2.0f"))
    one, other = code_of(built(tmp_path, "2.0f")), code_of(built(tmp_path, "3.0f"))
    assert one["nothing"] == other["nothing"]
    assert one["add"] != other["add"]


@pytest.mark.toolchain
def test_a_cubin_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    cubin = built(tmp_path, "2.0f")
    for length in (0, 10, 64, 200, len(cubin) // 2):
        with pytest.raises(CubinError):
            code_of(cubin[:length])


def test_what_is_no_cubin_is_refused() -> None:
    with pytest.raises(CubinError, match="no ELF file"):
        sections(b"PTX" + bytes(200))
