"""Builds through the mini toolkit, by the real nvcc: the same code without passes, other code with them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from comprehensive.ptx.dropin.install import install, real_toolkit
from comprehensive.toolchain.find import Found
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.ptx.dropin import passes

pytestmark = pytest.mark.toolchain

# A kernel of more than 32 registers, and one that calls into the other file.
MAIN = """\
__device__ float weight(float value);
extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    float sum[8] = {}, row[8], column[8];
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < 8; ++i) row[i] = a[i * n + k], column[i] = b[i + k * n + threadIdx.x];
        for (int i = 0; i < 8; ++i) sum[i] += row[i] * column[(i * 3 + k) & 7] + row[7 - i];
    }
    for (int i = 0; i < 8; ++i) c[i * n + threadIdx.x] = sum[i] * sum[7 - i];
}
#ifdef SEPARATE
extern "C" __global__ void weighted(float *a) { a[threadIdx.x] = weight(a[threadIdx.x]); }
#endif
int main() { product<<<1, 32>>>(nullptr, nullptr, nullptr, 0); return 0; }
"""
OTHER = "__device__ float weight(float value) { return value * 2.0f + 1.0f; }\n"


class Builds:
    def __init__(self, nvcc: Tool, directory: Path) -> None:
        self._real: dict[tuple[str, ...], dict[str, str]] = {}
        self.toolkit = real_toolkit(Found("nvcc", nvcc.path, ()))
        self.mini = directory / "mini toolkit"
        self.remarks = directory / "remarks"
        self.directory = directory
        install(self.mini, self.toolkit, "", script=Path(passes.__file__))

    def nvcc(self, name: str | None, *arguments: str) -> str:
        """The log of the real nvcc where ``name`` is None, else of that of the mini toolkit with the pass."""
        root = self.toolkit.root if name is None else self.mini
        answer = subprocess.run(
            [root / "bin/nvcc", *arguments],
            cwd=self.directory,
            env=self.environment(name or ""),
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout + answer.stderr

    def environment(self, name: str) -> dict[str, str]:
        return {
            **os.environ,
            "COMPREHENSIVE_PTXAS_PASSES": name,
            "COMPREHENSIVE_PTXAS_REMARKS": str(self.remarks),
        }

    def kept(self, name: str | None, *arguments: str) -> dict[str, str]:
        """Hashes of the cubins that a build makes on its way, by name."""
        kept = self.directory / "kept"
        kept.mkdir()
        self.nvcc(name, *arguments, "--keep", "--keep-dir", str(kept))
        hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept.glob("*.cubin")}
        shutil.rmtree(kept)
        return hashes

    def real(self, *arguments: str) -> dict[str, str]:
        """The same of the real nvcc, which makes the same each time."""
        if arguments not in self._real:
            self._real[arguments] = self.kept(None, *arguments)
        return self._real[arguments]

    @property
    def said(self) -> str:
        return self.remarks.read_text() if self.remarks.exists() else ""


@pytest.fixture(scope="module")
def toolkits(nvcc: Tool, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    directory = tmp_path_factory.mktemp("builds")
    (directory / "main.cu").write_text(MAIN)
    (directory / "other.cu").write_text(OTHER)
    return Builds(nvcc, directory)


@pytest.fixture
def builds(toolkits: Builds) -> Builds:
    """Builds of which nothing was said and made yet."""
    toolkits.remarks.unlink(missing_ok=True)
    for name in ("main", "main.o"):
        (toolkits.directory / name).unlink(missing_ok=True)
    return toolkits


def registers(log: str) -> list[int]:
    return [int(number) for number in re.findall(r"Used (\d+) registers", log)]


PLAIN = ("-arch=sm_90", "-c", "main.cu", "-o", "main.o")
SEVERAL = (
    "-gencode=arch=compute_80,code=[sm_80,sm_86,compute_80]",
    "-gencode=arch=compute_90,code=[sm_90,compute_90]",
)
SEPARATE = ("-DSEPARATE", "-arch=sm_90", "-rdc=true")


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        pytest.param(PLAIN, ("", "comment"), id="plain"),
        pytest.param(PLAIN, ("identity",), id="identity", marks=SLOW),
        pytest.param(
            (*PLAIN, "-lineinfo", "-maxrregcount=32", "-Xptxas=-v,-O1"),
            ("identity", "comment"),
            id="options",
            marks=SLOW,
        ),
        pytest.param((*PLAIN, "-G"), ("comment",), id="debug", marks=SLOW),
        pytest.param(
            ("-t", "2", *SEVERAL, "-c", "main.cu", "-o", "main.o"), ("identity",), id="several", marks=SLOW
        ),
        pytest.param(
            ("-DSEPARATE", "-arch=sm_90", "-dc", "main.cu", "-o", "main.o"), ("comment",), id="dc", marks=SLOW
        ),
        pytest.param(
            (*SEPARATE, "main.cu", "other.cu", "-o", "main"), ("", "identity"), id="rdc", marks=SLOW
        ),
    ],
)
def test_cubins_are_those_of_the_real_toolkit_to_the_byte(
    builds: Builds, arguments: tuple[str, ...], names: tuple[str, ...]
) -> None:
    real = builds.real(*arguments)
    assert real
    for name in names:
        assert builds.kept(name, *arguments) == real, name
    assert "failed" not in builds.said


@pytest.mark.parametrize(
    "extra", [pytest.param((), id="plain"), pytest.param(("-rdc=true",), id="rdc", marks=SLOW)]
)
def test_rewritten_code_is_what_is_assembled(builds: Builds, extra: tuple[str, ...]) -> None:
    arguments = (*PLAIN, "-Xptxas=-v", *extra)
    (before,) = registers(builds.nvcc("", *arguments))
    (after,) = registers(builds.nvcc("maxnreg", *arguments))
    assert before >= 32
    assert after == 24
    assert builds.said.startswith("applied: .maxnreg 24 in ")


@pytest.mark.slow
def test_separate_objects_are_linked_after_rewriting(builds: Builds) -> None:
    log = builds.nvcc("maxnreg", *SEPARATE, "main.cu", "other.cu", "-Xptxas=-v", "-o", "main")
    assert 24 in registers(log)
    assert max(registers(log)) == 24
    assert (builds.directory / "main").exists()


def test_every_architecture_is_rewritten_where_several_run_at_once(builds: Builds) -> None:
    log = builds.nvcc("maxnreg", "-t", "3", *SEVERAL, "-Xptxas=-v", "-c", "main.cu", "-o", "main.o")
    assert registers(log) == [24, 24, 24]
    assert builds.said.count("applied: .maxnreg 24") == 3


def test_a_debug_build_is_not_rewritten_and_says_so(builds: Builds) -> None:
    assert registers(builds.nvcc("maxnreg", *PLAIN, "-G", "-Xptxas=-v")) != [24]
    assert "a debug build (--device-debug) is not rewritten" in builds.said


@pytest.mark.parametrize(
    ("name", "why"),
    quick_of(
        [("fail", "ValueError: as asked"), ("spoil", "ptxas rejects what passes 'spoil' made")],
        {("spoil", "ptxas rejects what passes 'spoil' made")},
    ),
)
def test_a_build_whose_passes_fail_makes_what_it_makes_without(builds: Builds, name: str, why: str) -> None:
    assert builds.kept(name, *PLAIN) == builds.real(*PLAIN)
    assert why in builds.said


def test_embedded_ptx_is_rewritten_in_place_only_where_asked(
    builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds.nvcc("maxnreg", *PLAIN, "--no-compress")
    assert b".maxnreg 24" not in (builds.directory / "main.o").read_bytes()
    monkeypatch.setenv("COMPREHENSIVE_PTXAS_IN_PLACE", "1")
    builds.nvcc("maxnreg", *PLAIN, "--no-compress")
    assert b".maxnreg 24" in (builds.directory / "main.o").read_bytes()


def test_source_that_ptxas_rejects_is_rejected_in_the_same_words(builds: Builds) -> None:
    (builds.directory / "bad.cu").write_text('__global__ void k() { asm("nonsense;"); }\n')
    logs: list[str] = []
    for root in (builds.toolkit.root, builds.mini):
        answer = subprocess.run(
            [root / "bin/nvcc", "-arch=sm_90", "-c", "bad.cu", "--keep"],
            cwd=builds.directory,
            env=builds.environment("comment"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode != 0
        logs.append(answer.stderr)
    assert "nonsense" in logs[0]
    assert logs[1] == logs[0]


PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(dropin LANGUAGES CXX CUDA)
add_executable(main main.cu other.cu)
target_compile_definitions(main PRIVATE SEPARATE)
target_compile_options(main PRIVATE -Xptxas=-v)
set_target_properties(main PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES 90)
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_cmake_builds_with_the_nvcc_of_a_mini_toolkit(builds: Builds) -> None:
    (builds.directory / "CMakeLists.txt").write_text(PROJECT)

    def cmake(*arguments: str) -> str:
        answer = subprocess.run(
            ["cmake", *arguments],
            cwd=builds.directory,
            env=builds.environment("maxnreg"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout + answer.stderr

    cmake("-S", ".", "-B", "built", f"-DCMAKE_CUDA_COMPILER={builds.mini}/bin/nvcc")
    log = cmake("--build", "built")
    assert (builds.directory / "built/main").exists()
    assert 24 in registers(log)
    assert max(registers(log)) == 24
