"""The benchmark compiles for every architecture, finds what the pretended device has, and may end in any way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from comprehensive.calibration.measured import measured
from comprehensive.calibration.program import SOURCE, answer_of, compiled
from comprehensive.calibration.samples import read_samples
from comprehensive.data import template_directory
from comprehensive.diagnostics import CompileError
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.devices import Target, find_devices
from tests.examples import quick_of

ROOT = Path(__file__).resolve().parents[3]
CPU = find_devices("cpu")[0]
H200 = Target("NVIDIA H200", "9.0", "580.1", ("0",))
needs_compiler = pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")


def script(folder: Path, text: str) -> Path:
    path = folder / "calibrate"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@needs_compiler
def test_the_benchmark_finds_what_the_pretended_device_has(tmp_path: Path) -> None:
    program = compiled(CPU, tmp_path)
    first, second = (answer_of(program, CPU, 120.0) for _ in range(2))
    assert first == second
    found = {speed.name: speed.value for speed in measured(read_samples(first))}
    # See `calibrate_on_cpu.h`. The last thread of each warp comes after the last clock that is read.
    assert found["multiprocessors"] == 1
    assert found["issued_per_cycle"] == 4
    assert found["wide_lanes"] == pytest.approx(64, rel=0.05)
    assert found["wide_tensor_lanes"] == pytest.approx(128, rel=0.05)
    assert found["half_tensor_lanes"] == pytest.approx(1024, rel=0.05)
    assert found["l2_bytes_per_kilocycle"] == pytest.approx(0.7 * 24000, rel=0.05)
    assert found["dram_bytes_per_kilocycle"] == pytest.approx(6200, rel=0.05)
    assert found["kept_bytes"] == pytest.approx(3 << 18, rel=0.1)
    assert found["global_latency_cycles"] == pytest.approx(500, rel=0.05)
    assert found["shared_latency_cycles"] == 30
    assert found["barrier_cycles"] == 32
    assert found["warp_start_cycles"] == 40
    assert found["block_cycles"] == pytest.approx(7 * 40, rel=0.05)
    assert found["turn_cycles"] == pytest.approx(40, rel=0.1)
    assert found["launch_cycles"] == pytest.approx(2000, rel=0.05)


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", quick_of(["sm_75", "sm_80", "sm_100", "sm_120"], {"sm_75"}))
def test_nvcc_compiles_the_kernels_without_a_warning(nvcc: Tool, arch: str) -> None:
    source = template_directory() / "host" / SOURCE
    answer = compile_cubin(nvcc, source, arch, ("-std=c++17",))
    assert answer.warnings == ()
    spilled = [name for name, usage in answer.usage.items() if usage.spill_store_bytes]
    assert spilled == []


@pytest.mark.slow
@pytest.mark.toolchain
def test_nvcc_makes_a_program_that_says_that_there_is_no_device(tmp_path: Path, nvcc: Tool) -> None:
    program = compiled(H200, tmp_path)
    with pytest.raises(CompileError, match=r"the device fails the benchmark: the device: .*CF0954"):
        answer_of(program, Target("NVIDIA H200", "9.0", "-", ("",)), 60.0)


def test_a_source_that_is_rejected_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = script(tmp_path, "echo 'calibrate.cu:1: error: no' >&2; exit 1")
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(CompileError, match=r"does not compile: calibrate.cu:1: error: no \[CF0952\]"):
        compiled(CPU, tmp_path)


def test_without_a_compiler_one_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    with pytest.raises(ToolError, match="set CXX"):
        compiled(CPU, tmp_path)
    with pytest.raises(ToolError, match="calibrating a GPU needs nvcc"):
        compiled(H200, tmp_path, str(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sleep 600", r"the benchmark did not end within 0.5 s \[CF0953\]"),
        ("echo 'calibration 2'; kill -SEGV $$", r"ended by SIGSEGV \[CF0953\]"),
        ("echo 'no such library' >&2; exit 127", r"ended by status 127: no such library \[CF0953\]"),
        ("echo 'calibration 2'; echo 'error copying: too hot'; exit 1", r"copying: too hot \[CF0954\]"),
    ],
)
def test_a_benchmark_that_does_not_end_well_is_told(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CompileError, match=words) as told:
        answer_of(script(tmp_path, text), CPU, 0.5 if "sleep" in text else 60.0)
    assert str(tmp_path) not in str(told.value)


def test_calibration_imports_nothing_but_the_standard_library() -> None:
    program = (
        "import comprehensive.calibration.command\n"
        "third = {m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)\n"
        "print(sorted(n for n in third if not n.startswith('_')))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}\n{program}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['comprehensive']"
