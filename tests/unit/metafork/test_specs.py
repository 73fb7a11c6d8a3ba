"""The examples in specs/ are valid MetaFork, valid C once their keywords are dropped, and survive printing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from comprehensive.data import spec_directory
from comprehensive.diagnostics import SourceFile
from comprehensive.metafork.ast import HostAssert, MetaSchedule, Program
from comprehensive.metafork.printer import print_program, print_region
from comprehensive.metafork.read import read_source
from comprehensive.metafork.structure import split_nest
from tests.unit.metafork.trees import parse_clean

SPECS = sorted(spec_directory().glob("*.mf"))
NAMES = [
    "blur5x5",
    "gemm",
    "heat3d",
    "jacobi1d",
    "jacobi2d",
    "matadd",
    "matmul",
    "matvec",
    "reverse",
    "transpose",
]


def test_the_published_examples_are_there() -> None:
    assert {path.stem for path in SPECS} >= set(NAMES)


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_an_example_has_no_errors(path: Path) -> None:
    program = parse_clean(read_source(path).text)
    assert [function.name for function in program.functions] == [path.stem]


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_an_example_survives_printing(path: Path) -> None:
    program = parse_clean(read_source(path).text)
    regions = [region for function in program.functions for region in function.regions]
    printed = print_program(program, {k: print_region(r.cache, r.body, 1) for k, r in enumerate(regions)})
    again = parse_clean(printed)
    assert [r for f in again.functions for r in f.regions] == regions
    assert [f.parameters for f in again.functions] == [f.parameters for f in program.functions]


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_parts_of_a_body_are_its_text(path: Path) -> None:
    program = parse_clean(read_source(path).text)
    assert _text_from_parts(program) == program.file.text


def _text_from_parts(program: Program) -> str:
    text, position = "", 0
    for function in program.functions:
        text += program.file.text[position : function.body_span.start]
        for part in function.parts:
            match part:
                case HostAssert() | MetaSchedule():
                    text += part.span.text
                case _:
                    text += part.text
        position = function.body_span.end
    return text + program.file.text[position:]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the PATH")
@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_serial_elision_of_an_example_is_c(path: Path) -> None:
    elision = ["-Dmeta_schedule=", "-Dmeta_for=for", "-Dcache(...)=", "-Dblock(...)="]
    command = [
        "gcc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        # The parameters of a block clause are the tool's to read.
        "-Wno-unused-parameter",
        "-Werror",
        "-fsyntax-only",
        "-x",
        "c",
        *elision,
        str(path),
    ]
    subprocess.run(command, check=True, timeout=60)


def test_matmul_is_figure_3_of_the_paper() -> None:
    (function,) = parse_clean(read_source(spec_directory() / "matmul.mf").text).functions
    (region,) = function.regions
    grid, body = split_nest(region.body[0])  # type: ignore[arg-type]
    assert [loop.iterator for loop in grid] == ["i", "j"]
    assert [s.name for s in region.scalars] == ["dim0", "dim1"]
    assert [type(part).__name__ for part in function.parts] == [
        "Span",
        "HostAssert",
        "Span",
        "MetaSchedule",
        "Span",
    ]
    assert len(region.preconditions) == 1
    assert len(body) == 1


def test_ends_of_line_make_no_difference_to_the_tree() -> None:
    text = read_source(spec_directory() / "jacobi1d.mf").text
    assert SourceFile("t.mf", text.replace("\n", "\r\n")).text != text
    plain, windows = parse_clean(text), parse_clean(text.replace("\n", "\r\n"))
    assert plain.functions[0].regions == windows.functions[0].regions
