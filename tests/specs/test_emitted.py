"""The files that `gen` writes: every compiler that will see them accepts them, and they are the same byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.gpu.cases import CASES, Launch
from benchmarks.gpu.header import launcher
from comprehensive.codegen.host import header_text
from comprehensive.codegen.levels import with_levels
from comprehensive.data import spec_directory
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.driver import Options, compile_file
from comprehensive.loops.build import build
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
from comprehensive.records import replace
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from tests.compiled_specs import LITTLE_OPTIMIZATION, OPTIONS, SPECS, texts

STRICT = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"),
    *("-Werror", "-fsyntax-only"),
)


@pytest.fixture(scope="module", params=SPECS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the outputs of one spec, and that spec's name as its own."""
    directory = tmp_path_factory.mktemp("out") / request.param
    directory.mkdir()
    for name, text in texts(request.param).items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


LANGUAGES = ("c99", "c11", "c++11", "c++20")


def demand_silence(headers: Sequence[Path], language: str) -> None:
    """A unit that includes the headers compiles, and the compiler says nothing."""
    is_cpp = "++" in language
    compiler = find_cxx_compiler() if is_cpp else find_c_compiler()
    if compiler is None:
        pytest.skip(f"no compiler for {language} on this machine")
    unit = headers[0].with_name("include.cpp" if is_cpp else "include.c")
    lines = [f'#include "{header}"' for header in headers]
    unit.write_text("\n".join((*lines, "int main(void) { return 0; }", "")), encoding="utf-8")
    command = [*compiler.command, f"-std={language}", *STRICT, str(unit)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_header_compiles_without_a_warning(written: Path, language: str) -> None:
    demand_silence([written / f"{written.name}.h"], language)


SCALARS = """
void scalars(int n, unsigned u, long l, unsigned char k, float f, double d, const double *a, double *b, long p)
{
  assert(u < 100u && l >= 0);
  int h = n + 2;
  long w = l + h;
  unsigned v = u * 2u;
  for (int t = 0; t < n; t++)
    meta_schedule cache(a) {
      meta_for (int i = 0; i < (h + p - 1) / p; i++)
        meta_for (int j = 0; j < p; j++) {
          int q = i*p + j;
          if (q < h) b[q] = a[q + v]*f + d*w + k + t;
        }
    }
}
"""


@pytest.fixture(scope="module")
def more_headers(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Headers of a program with every type of scalar, and with levels of performance."""
    folder = tmp_path_factory.mktemp("headers")
    source = folder / "scalars.mf"
    source.write_text(SCALARS, encoding="utf-8")
    levels = Options(registers="estimate", counters=("occupancy",))
    plans = [
        compile_file(source, OPTIONS).plan,
        with_levels(
            compile_file(spec_directory() / "reverse.mf", levels).plan, {"P_occupancy": Fraction(1, 2)}
        ),
    ]
    for plan in plans:
        (folder / f"{plan.stem}.h").write_text(
            header_text(replace(plan, single_file=True), "0"), encoding="utf-8"
        )
    return [folder / f"{plan.stem}.h" for plan in plans]


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_headers_go_together_without_a_warning(more_headers: Sequence[Path], language: str) -> None:
    demand_silence(more_headers, language)


# A reduction for the oldest architecture, sweeps for the newest one, and a product for that of an H200.
QUICK = {("matvec", "sm_75"), ("jacobi1d", "sm_120"), ("matmul", "sm_90")}


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("written", "arch", "optimization"),
    [
        pytest.param(
            spec,
            arch,
            optimization,
            id=f"{spec}-{arch}{', little optimization' * bool(optimization)}",
            marks=() if optimization and (spec, arch) in QUICK else pytest.mark.slow,
        )
        for spec in SPECS
        for arch in ("sm_75", "sm_90", "sm_120")
        for optimization in ((), LITTLE_OPTIMIZATION)
    ],
    indirect=["written"],
)
def test_nvcc_compiles_the_kernels_without_a_warning(
    written: Path, arch: str, optimization: tuple[str, ...], nvcc: Tool
) -> None:
    flags = ("-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", *optimization)
    compiled = compile_cubin(nvcc, written / f"{written.name}.cu", arch, flags)
    assert compiled.warnings == ()
    manifest = json.loads((written / f"{written.name}.json").read_text(encoding="utf-8"))
    regions = [region for function in manifest["functions"] for region in function["regions"]]
    kernels = {leaf["kernel"]["name"] for region in regions for leaf in region["leaves"]}
    tiles = [each if each["because"] is None else None for region in regions for each in region["tiles"]]
    kernels |= {tile["kernel"]["name"] for tile in tiles if tile is not None}
    assert kernels == {usage.name for usage in compiled.usage.values()}


def test_every_leaf_is_a_program_of_the_language(written: Path) -> None:
    leaves = sorted(written.glob("*.leaf*.mf"))
    assert leaves
    for leaf in leaves:
        sink = DiagnosticSink()
        program = parse(read_source(leaf), sink)
        assert not sink.has_errors, sink.diagnostics
        assert build(program, sink)


def test_the_gpu_benchmark_gives_every_scalar_and_its_points_every_parameter(written: Path) -> None:
    read = launcher((written / f"{written.name}.h").read_text(encoding="utf-8"), written.name)
    for ours in (case.ours for case in CASES if isinstance(case.ours, Launch)):
        if ours.spec == written.name:
            assert {argument.name for argument in read.arguments if argument.type != "*"} == set(ours.scalars)
            assert {member.name for member in read.parameters} == {
                name for point in ours.points for name in point
            }


def test_outputs_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    """Compare with the outputs of this process, whose seed is another one."""
    command = [sys.executable, "-m", "comprehensive", "gen", "--registers", "estimate", "--no-verify"]
    subprocess.run(
        [*command, str(spec_directory() / "matvec.mf"), "-o", str(tmp_path)],
        env={**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") == "77" else "77"},
        check=True,
        capture_output=True,
    )
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == texts("matvec")
