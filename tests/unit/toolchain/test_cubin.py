"""Cubins: what is in them, and what is none."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from comprehensive.toolchain.cubin import CubinError, architecture_of, code_of, sections
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import compile_cubin, load_tool

SOURCE = """
extern "C" __global__ void add(float *a, int n) { __shared__ float s[64]; s[threadIdx.x] = a[n]; __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x] * %s; }
extern "C" __global__ void nothing() {}
"""


def built(directory: Path, factor: str, arch: str = "sm_90") -> bytes:
    found = find_tool("nvcc")
    if isinstance(found, Missing):
        pytest.skip("nvcc is not found")
    source = directory / "a.cu"
    source.write_text(SOURCE % factor)
    return compile_cubin(load_tool(found), source, arch).output


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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"other" + bytes(200), "no ELF file"),
        (b"//\n.version 9.0\n.target sm_90\n", "PTX"),
        (b"\x50\xed\x55\xba" + bytes(60), "a fat binary"),
        (b"!<arch>\n" + bytes(60), "an archive"),
        (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e" + bytes(60), "an object or library of the host"),
    ],
)
def test_what_is_no_cubin_is_refused_with_what_it_is(content: bytes, said: str) -> None:
    for reader in (sections, code_of, architecture_of):
        with pytest.raises(CubinError, match=said):
            reader(content)


def header(abi: int, flags: int) -> bytes:
    start = b"\x7fELF\x02\x01\x01" + bytes((65 if abi == 8 else 51, abi)) + bytes(7)
    return start + struct.pack("<HHIQQQI", 2, 190, 1, 0, 0, 0, flags) + bytes(12)


@pytest.mark.parametrize(
    ("abi", "flags", "architecture"),
    # Of CUDA 12.9 and 13.0.
    [(7, 0x460546, 70), (7, 0x5A055A, 90), (8, 0x6004B04, 75), (8, 0x6005A04, 90), (8, 0x6007902, 121)],
)
def test_the_architecture_is_read_as_each_cuda_writes_it(abi: int, flags: int, architecture: int) -> None:
    assert architecture_of(header(abi, flags)) == architecture


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", [75, 80, 90, 100])
def test_the_architecture_of_what_nvcc_makes(tmp_path: Path, arch: int) -> None:
    assert architecture_of(built(tmp_path, "2.0f", f"sm_{arch}")) == arch
