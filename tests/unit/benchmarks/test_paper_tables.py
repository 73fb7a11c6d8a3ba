"""The paper's tables: the kernel of figure 4 computes what the serial C does; the report tells made-up times right."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu.paper.__main__ import arguments
from benchmarks.gpu.paper.prepare import COPIED, HERE, SPECS, figure4, points, prepare
from benchmarks.gpu.paper.report import parsed, registers_of, report
from comprehensive.toolchain.host import cuda_on_cpu, find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.unit import compile_unit, write_binary

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED: Any = json.loads((HERE / "published.json").read_text(encoding="utf-8"))
POINTS = [
    (row["ub1"], row["B0"], s)
    for row in PUBLISHED["table1"]["rows"]
    for s in PUBLISHED["table1"]["granularities"]
]
KERNELS = """
ptxas info    : Compiling entry function '_Z13kernel0_8_8_4PiS_S_iiiiii' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 1280 bytes smem
ptxas info    : Compiling entry function '_Z14kernel0_16_4_4PiS_S_iiiiii' for 'sm_90'
ptxas info    : Used 36 registers, used 1 barriers, 768 bytes smem
"""


@pytest.fixture(scope="module", name="figure4_library")
def _figure4_library(tmp_path_factory: pytest.TempPathFactory) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """The kernels of figure 4 for the CPU, with their asserts, and the serial C."""
    folder = tmp_path_factory.mktemp("figure4")
    for name in COPIED:
        (folder / name).write_bytes((HERE / name).read_bytes())
    (folder / "figure4.cu").write_text(figure4(PUBLISHED), encoding="utf-8")
    cxx, c = find_cxx_compiler(), find_c_compiler()
    assert cxx is not None
    assert c is not None
    shared = ("-shared", "-fPIC", "-O1")
    command = (*cxx.command, "-std=c++17", *shared, "-Wno-unknown-pragmas", *cuda_on_cpu(), "-x", "c++")
    libraries: list[ctypes.CDLL] = []
    for source, words in (("figure4.cu", command), ("serial.c", (*c.command, *shared))):
        target = folder / f"{source}.so"
        write_binary(compile_unit(words, folder / source, timeout_s=300), target)
        libraries.append(ctypes.CDLL(str(target)))
    return libraries[0], libraries[1]


def _called(function: Callable[..., Any], *arguments: int | np.ndarray[Any, Any]) -> Any:
    passed = (
        a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_int(a) for a in arguments
    )
    return function(*passed)


@pytest.mark.parametrize(("n", "backwards"), [(64, False), (64, True), (130, True)])
def test_kernel_of_figure_4_computes_what_its_serial_c_does(
    figure4_library: tuple[ctypes.CDLL, ctypes.CDLL], n: int, backwards: bool
) -> None:
    kernels, serial = figure4_library
    kernels.cf_cpu_set_order(int(backwards))
    a, b, c = (np.random.default_rng(k).integers(-99, 99, (n, n), dtype=np.int32) for k in range(3))
    ran = 0
    for ub1, depth, s in POINTS:
        if ub1 * s > n:
            continue
        found, expected = c.copy(), c.copy()
        _called(serial.serial_figure3, n, a, b, expected, depth, ub1, s)
        assert _called(kernels.figure4_launch, n, a, b, found, depth, ub1, s) == 0
        assert (found == expected).all(), (ub1, depth, s)
        if n % depth == 0 and n % (ub1 * s) == 0:
            assert (expected == c + a @ b).all()
        ran += 1
    assert ran > len(POINTS) // 2


def test_figure_4_has_no_kernel_for_other_points(
    figure4_library: tuple[ctypes.CDLL, ctypes.CDLL],
) -> None:
    a = np.zeros((16, 16), dtype=np.int32)
    assert _called(figure4_library[0].figure4_launch, 16, a, a, a, 2, 8, 2) == -1


def test_fast_serial_c_computes_the_same(figure4_library: tuple[ctypes.CDLL, ctypes.CDLL]) -> None:
    _, serial = figure4_library
    n = 64
    a, b = (np.random.default_rng(k).integers(-99, 99, (n, n), dtype=np.int32) for k in range(2))
    c = np.zeros((n, n), dtype=np.int32)
    _called(serial.serial_product, n, a, b, c, 16, 32)
    assert (c == a @ b).all()
    x, y = np.arange(n * n, dtype=np.float32).reshape(n, n), np.zeros((n, n), dtype=np.float32)
    for function, blocks in ((serial.serial_transpose, ()), (serial.serial_transpose_blocked, (8, 16))):
        y[:] = 0
        _called(function, n, x, y, *blocks)
        assert (y == x.T).all()


def test_figure_4_is_the_papers_kernel() -> None:
    text = (HERE / "kernel0.h").read_text(encoding="utf-8")
    for printed in (
        "int private_c[1][S];",
        "__shared__ int shared_b[B_0][B_1];",
        "c0 += 256",
        "if (t1 < B0 &&",
    ):
        assert printed in text


def test_points_are_those_of_the_tables() -> None:
    text = points(PUBLISHED)
    assert text.count("{ 64, 8, 4 },") == 1
    assert "static const struct { int ub1, B0, s; } table1[]" in text
    assert "static const struct { int B, s; } table2[]" in text
    assert "{ 32, 32, 8 }," in text
    assert arguments(PUBLISHED, 20) == ["1024", "2048", "-", "4", "32770", "-", "16384", "-", "20"]


def line(table: int, size: int, **values: Any) -> str:
    return json.dumps({"table": table, "size": size, **values})


def kernel(
    table: int, size: int, name: str, ms: float, *, status: int = 0, right: bool = True, **at: int
) -> str:
    return line(table, size, kernel=name, **at, status=status, leaf=0, ms=ms, right=right)


MADE_UP = (
    line(1, 1024, serial="as in the figure", how="ub1 = 16", ms=1000.0),
    line(1, 1024, serial="fast", how="blocks of 8 x 128", ms=100.0),
    kernel(1, 1024, "figure 4", 2.0, ub1=16, B0=4, s=2),
    kernel(1, 1024, "figure 4", 4.0, ub1=16, B0=4, s=4),
    kernel(1, 1024, "generated", 5.0, ub1=16, B0=4, s=2, right=False),
    kernel(1, 1024, "generated", 0.0, ub1=16, B0=4, s=4, status=2),
    kernel(1, 1024, "chosen", 0.5, s=0),
    line(2, 32770, serial="fast", how="plain loops", ms=0.05),
    kernel(2, 32770, "generated", 0.01, B=128, s=2),
    line(3, 16384, serial="fast", how="blocks of 8 x 8", ms=300.0),
    kernel(3, 16384, "generated", 3.0, B0=8, B1=32, s=2),
)  # fmt: skip


def row_of(text: str, heading: str, *cells: str) -> list[str]:
    section = text.split(f"## {heading}")[1].split("##")[0]
    (found,) = [words for words in section.splitlines() if words.startswith(f"| {' | '.join(cells)} |")]
    return [cell.strip() for cell in found.strip("|").split("|")][len(cells) :]


def test_report_puts_measured_speed_ups_beside_the_published_ones() -> None:
    text = report(PUBLISHED, parsed(MADE_UP), registers_of(KERNELS), "A device, today.")
    product = "Table 1: matrix product, n = 1024"
    assert row_of(text, product, "(16, 4)", "2") == ["95", "**500.0**", "**50.0**", "wrong", "wrong"]
    assert row_of(text, product, "(16, 4)", "4") == ["128", "250.0", "25.0", "refused (2)", "refused (2)"]
    assert row_of(text, product, "(16, 8)", "4") == ["**194**", *["not run"] * 4]
    assert "own choice is 200.0 times" in text
    assert row_of(text, "Table 2", "128", "2") == ["**10.4**", "**5.0**"]
    assert row_of(text, "Table 2", "256", "8") == ["-", "not run"]
    assert row_of(text, "Table 3", "8, 32", "2") == ["**112.0**", "**100.0**"]
    assert row_of(text, "Table 1: registers", "4") == ["38", "36"]
    assert row_of(text, "Table 1: registers", "8") == ["34", "40"]


def test_what_failed_on_the_device_is_told_with_what_was_measured() -> None:
    measured = parsed((*MADE_UP[:3], '{"failed": "kernel: an illegal access"}'))
    text = report(PUBLISHED, measured, {}, "")
    assert "**Failed:** kernel: an illegal access" in text
    assert "not known" in text


def test_a_line_that_is_no_measurement_is_an_error() -> None:
    with pytest.raises(ValueError, match="no measurement"):
        parsed(['{"table": 1}'])


def test_without_a_device_the_command_says_what_is_missing(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu.paper", str(tmp_path)],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (3, "paper-tables: no nvcc on the PATH\n")


@pytest.mark.slow
def test_the_whole_program_runs_on_the_cpu(tmp_path: Path) -> None:
    prepare(tmp_path)
    cxx, c = find_cxx_compiler(), find_c_compiler()
    assert cxx is not None
    assert c is not None
    objects: list[str] = []
    sources = [*(Path(spec).stem + ".cu" for spec in SPECS), "figure4.cu", "tables.cu", "serial.c"]
    for source in sources:
        words = (
            (*c.command, "-O1", "-c")
            if source.endswith(".c")
            else (
                *cxx.command,
                "-std=c++17",
                "-O1",
                "-Wno-unknown-pragmas",
                *cuda_on_cpu(),
                "-x",
                "c++",
                "-c",
            )
        )
        target = tmp_path / f"{source}.o"
        write_binary(compile_unit(words, tmp_path / source, timeout_s=300), target)
        objects.append(str(target))
    program = tmp_path / "tables"
    subprocess.run([*cxx.command, *objects, "-o", str(program)], check=True)
    small = ["64", "-", "4", "1026", "-", "64", "-", "0"]
    answer = subprocess.run([str(program), *small], capture_output=True, text=True, check=True)
    measured = parsed(answer.stdout.splitlines())
    assert measured.failed == []
    assert len(measured.kernels) > 30
    assert all(found.right and found.status == 0 for found in measured.kernels.values())
    leaves = {found.leaf for (_, _, name, _), found in measured.kernels.items() if name == "generated"}
    assert leaves == {0}, "the points of the tables run the first case of each figure"
    usage = subprocess.run([str(program), "64"], capture_output=True, text=True, check=False)
    assert (usage.returncode, "usage" in usage.stderr) == (2, True)
