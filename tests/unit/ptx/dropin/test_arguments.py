"""Command lines of ptxas, as nvcc, clang and Triton write them, and those that are not understood."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from comprehensive.ptx.dropin.arguments import Assembly, Untouched, understand
from comprehensive.ptx.dropin.options import OPTIONS
from comprehensive.toolchain.nvcc import Tool


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("-arch=sm_90 -m64 k.ptx -o k.cubin", ["k.ptx"]),
        ("-w -arch=sm_90 -m64 -v k.ptx -o k.cubin", ["k.ptx"]),
        ("-arch=sm_90 -m64 -maxrregcount=32 k.ptx -o k.cubin", ["k.ptx"]),
        ("-arch=sm_90 -m64 --generate-line-info k.ptx -o k.cubin", ["k.ptx"]),
        ("-arch=sm_90 -m64 --compile-only k.ptx -o k.cubin", ["k.ptx"]),
        ("-arch=sm_90 -m64 -ewp -split-compile=2 k.ptx -o k.cubin", ["k.ptx"]),
        ("-m64 -O3 --gpu-name sm_90 --output-file k.o k.s", ["k.s"]),
        ("-lineinfo -v --regAllocOptLevel=2 --gpu-name=sm_90a k.ptx -o k.cubin", ["k.ptx"]),
        ("-arch sm_90 k.ptx", ["k.ptx"]),
        ("a.ptx -arch=sm_90 b.ptx -o k.cubin c.ptx", ["a.ptx", "b.ptx", "c.ptx"]),
        ("-m 64 --opt-level 2 -e k.ptx k.ptx -O2", ["k.ptx"]),
        ("k.ptx -o", ["k.ptx"]),
        ("--no-such-flag -arch=sm_90 k.ptx", ["k.ptx"]),
        ("--no-such-option=3 k.ptx", ["k.ptx"]),
        ("k.ptx --no-such-flag", ["k.ptx"]),
    ],
)
def test_inputs_are_told_from_options_and_their_values(line: str, inputs: list[str]) -> None:
    call = understand(line.split())
    assert isinstance(call, Assembly)
    assert list(call.paths) == inputs
    assert call.words == tuple(line.split())


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--version",
        "-V -arch=sm_90 k.ptx",
        "-h k.ptx",
        "--list-version",
        "-arch=sm_90 -v",
        "-arch=compute_90 -m64 k.ptx",
        "--gpu-name lto_90 k.ptx -o k.cubin",
    ],
)
def test_there_is_nothing_to_say_where_nothing_is_assembled(line: str) -> None:
    assert understand(line.split()) == Untouched(None)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("-arch=sm_90 - -o k.cubin", "standard input"),
        ("-arch=sm_90 --input-as-string text -o k.cubin", "command line"),
        ("-arch=sm_90 -g --dont-merge-basicblocks --return-at-end k.ptx -o k.cubin", "debug build"),
        ("-arch=sm_90 --no-such-option k.ptx -o k.cubin", "--no-such-option is not known"),
        ("-arch=sm_90 -O 2 k.ptx --no-such-option 3", "--no-such-option is not known"),
        ("-arch=sm_90 -optf no-such-file k.ptx", "no-such-file"),
    ],
)
def test_what_is_not_understood_is_left_alone_and_said(line: str, why: str) -> None:
    call = understand(line.split())
    assert isinstance(call, Untouched)
    assert why in str(call.reason)


def test_inputs_are_replaced_where_they_stand() -> None:
    call = understand(["a.ptx", "-o", "a.ptx", "-e", "a.ptx", "b.ptx", "-arch=sm_90"])
    assert isinstance(call, Assembly)
    assert call.with_inputs(("x", "y")) == tuple(["x", "-o", "a.ptx", "-e", "a.ptx", "y", "-arch=sm_90"])


def test_option_files_are_read_as_ptxas_reads_them(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text('-o "out put" -v\n')
    outer.write_text(f"-arch=sm_90\t-optf={inner}\nin\\ put.ptx it's.ptx # c\n")
    call = understand(("--options-file", f"{outer},{inner}", "k.ptx"))
    assert isinstance(call, Assembly)
    assert call.paths == ("in put.ptx", "it's.ptx", "#", "c", "k.ptx")
    assert call.words[:4] == ("-arch=sm_90", "-o", "out put", "-v")


def test_an_option_file_that_names_itself_is_not_followed_for_ever(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text(f"-optf={own}")
    call = understand((f"-optf={own}", "k.ptx"))
    assert isinstance(call, Untouched)
    assert "name each other" in str(call.reason)


@pytest.mark.toolchain
def test_all_options_that_ptxas_lists_are_known_with_their_values(ptxas: Tool) -> None:
    said = subprocess.run([ptxas.path, "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^--(\S+)( <[^>]*>)?(?:,\.\.\.)?\s+\(-(\S+)\)", said, re.MULTILINE)
    assert len(listed) > 40
    # For these the text gives no <value>.
    silent = {"def-load-cache", "def-store-cache", "force-load-cache", "force-store-cache"}
    for name, value, short in listed:
        assert OPTIONS[f"--{name}"].name == OPTIONS[f"-{short}"].name == name
        assert OPTIONS[f"--{name}"].takes_value == (bool(value) or name in silent)
