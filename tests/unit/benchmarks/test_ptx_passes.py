"""The files that the benchmark of the PTX passes prepares, and its report; the driver is one of cardboard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu import ptx_passes
from benchmarks.gpu.ptx_passes import ALL, report
from benchmarks.gpu.ptx_passes_prepare import (
    ARCH,
    HERE,
    PASSES,
    VARIANTS,
    Source,
    Timed,
    Variant,
    only,
    other_sources,
    own_sources,
    timed_of,
    variant,
    written,
)
from benchmarks.gpu.variants import UNCHANGED, Assembled, Found, Measured, assembled, traffic
from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import parse
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.ptx.runs import DTYPES, Buffer, Run, drawn
from tests.unit.benchmarks.cardboard import installed

ROOT = Path(__file__).resolve().parents[3]

COMMENTS = """// Elsewhere.
int x;
// Words of
// two lines.
// run: k(in f32[8], f32=0.5) grid=(1) block=(8)
// time: k(in f32[800], f32=0.5) grid=(100) block=(8)
void k();
// run: not_timed(f32=0.5) grid=(1) block=(8)
void not_timed();
"""
LAUNCH = {
    "name": "k",
    "about": "Words.",
    "kernel": "k",
    "ptx": {},
    "applied": {"dce": 2, "pre": 0},
    "missed": ["pre: a", "pre: b", "dce: c"],
    "arguments": [
        {"direction": "in", "type": "f32", "count": 100},
        {"direction": "inout", "type": "u8", "count": 10},
        {"value": "00"},
    ],
}


def test_comments_say_what_is_timed() -> None:
    (found,) = timed_of(COMMENTS)
    assert found.about == "Words of two lines."
    assert found.small.grid == (1, 1, 1)
    assert found.large.grid == (100, 1, 1)
    assert found.small.block == found.large.block


def test_other_kernels_go() -> None:
    text = ".version 8.0\n\n\t// .globl\tf\n.visible .entry f(\n)\n{\n\tret;\n}\n.visible .entry g(\n)\n{\n\tret;\n}\n"
    assert ".entry f(" not in only(text, {"g"})
    assert only(text, {"g"}).endswith(".visible .entry g(\n)\n{\n\tret;\n}\n")
    assert only(text, {"f", "g"}) == text


def test_all_one_off_each_alone() -> None:
    assert len(VARIANTS) == 4 + 2 * len(PASSES)
    assert VARIANTS["without pre"].count("{") == 2
    assert VARIANTS["only pre"] == "pre"


def launched(text: str, each: Run) -> list[bytes]:
    """The arrays behind the small launch."""
    args: list[Any] = [
        np.frombuffer(contents, DTYPES[argument.type]).copy() if isinstance(argument, Buffer) else contents
        for argument, contents in zip(each.arguments, drawn(each), strict=True)
    ]
    module = parse(SourceFile("a.ptx", text))
    run(module, each.kernel, each.grid, each.block, args, shared_bytes=each.smem_bytes)
    return [array.tobytes() for array in args if isinstance(array, np.ndarray)]


def check_all_variants(sources: Iterable[Source]) -> dict[str, Variant]:
    """Check the variants of each kernel that a pass has changed; return what all passes give, by source."""
    found: dict[str, Variant] = {}
    for source in sources:
        variants = {name: variant(source, pipeline) for name, pipeline in VARIANTS.items()}
        found[source.name] = variants[ALL]
        for each in source.timed:
            kernel = each.small.kernel
            changed = {v.text for v in variants.values() if any(v.applied.get((kernel, p)) for p in PASSES)}
            if changed:
                wanted = launched(source.ptx, each.small)
                assert all(launched(text, each.small) == wanted for text in changed), kernel
    return found


@pytest.mark.slow
@pytest.mark.toolchain
def test_variants_compute_the_same_and_each_pass_has_its_kernels(nvcc: Tool) -> None:
    found = check_all_variants(own_sources(nvcc))
    kernels = {
        name: {kernel for each in found.values() for kernel, by in each.applied if by == name}
        for name in PASSES
    }
    assert kernels["memory-space"] >= {"aligned_shared", "plain_select", "plain_shared"}
    vectors = {"points_norm", "points_move", "points_scale", "colours_grey", "copy_by_four_restrict"}
    assert kernels["vectorize-accesses"] == vectors
    partial = {"plain_partial", "partial_quotient_rolled", "partial_quotient_else_rolled"}
    assert kernels["pre"] >= {"invariant_even", "plain_invariant", *partial}
    assert kernels["dce"] == {"plain_dead"}
    (own,) = (source for source in own_sources(nvcc) if source.name == "own")
    told = variant(own, VARIANTS["all, also no alias assumed"])
    assert told.applied["invariant_may_alias", "pre"] > found["own"].applied["invariant_may_alias", "pre"]
    assert told.applied["copy_by_four", "vectorize-accesses"] > 0


@pytest.mark.slow
@pytest.mark.toolchain
def test_variants_of_other_sources_compute_the_same(nvcc: Tool) -> None:
    check_all_variants(other_sources(nvcc))


def plain(output: Path, nvcc: Tool) -> dict[str, Any]:
    """A prepared folder with two kernels that need no compilation."""
    text = (HERE / "ptx_passes_plain.ptx").read_text(encoding="utf-8")
    chosen: Sequence[Timed] = [each for each in timed_of(text) if each.name in ("plain_dead", "plain_select")]
    source = Source("plain", only(text, {each.name for each in chosen}), chosen)
    output.mkdir(exist_ok=True)
    (output / "helpers.ptx").write_bytes(compile_ptx(nvcc, HERE / "ptx_helpers.cu", ARCH).output)
    about = {
        "commit": "abc",
        "nvcc": nvcc.version,
        "variants": dict(VARIANTS),
        "launches": written(source, output),
    }
    (output / "launches.json").write_text(json.dumps(about), encoding="utf-8")
    return about


@pytest.mark.toolchain
def test_machine_code_is_found_in_a_cubin(ptxas: Tool) -> None:
    _, kernels = assembled(ptxas, HERE / "ptx_passes_plain.ptx", ARCH)
    names = {"plain_select", "plain_shared", "plain_invariant", "plain_partial", "plain_dead"}
    assert set(kernels) == names
    assert all(len(each.code) > 100 and len(each.code) % 16 == 0 for each in kernels.values())
    assert all(0 < each.registers < 100 and each.spilled == 0 for each in kernels.values())


@pytest.mark.toolchain
@pytest.mark.parametrize("different", [0, 3])
def test_what_is_prepared_is_run_checked_and_told(
    different: int, nvcc: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cardboard = installed(monkeypatch, different)
    plain(tmp_path / "in", nvcc)
    target = tmp_path / "report.md"
    monkeypatch.setattr(sys, "argv", ["x", str(tmp_path / "in"), "--runs", "2", "--write", str(target)])
    assert ptx_passes.main() == int(different > 0)
    text = target.read_text(encoding="utf-8")
    assert "Cardboard (sm_90), ptxas" in text
    assert "commit abc." in text
    assert f"{2 * (1 << 30) / 2e-3 / 1e9:.0f} GB/s" in text
    assert "| plain_select | 2.000 |" in text
    assert ("FAIL: plain_dead, all: 3 words differ" in text) == (different > 0)
    assert ("bit for bit" in text) == (different == 0)
    # All that is taken is given back.
    assert cardboard.calls.count("cuMemAlloc_v2") == cardboard.calls.count("cuMemFree_v2") > 0
    assert cardboard.calls.count("cuEventCreate") == cardboard.calls.count("cuEventDestroy_v2") > 0


def row(**times: float) -> Measured:
    """Return a row of variants with machine code of their own, but for ``same``."""
    variants = {
        name: Assembled(b"u" if name == "same" else name[:1].encode() * 16, 8, 4 * (name == ALL))
        for name in times
    }
    variants["same"] = variants[UNCHANGED]
    return Measured(LAUNCH, variants, {name: [ms, ms, 10 * ms] for name, ms in times.items()}, {ALL: 0})


def test_the_report_has_speedups_and_noise() -> None:
    found = row(unchanged=2.0, all=1.0, same=2.1)
    variants = {UNCHANGED: "", ALL: "dce", "same": "pre"}
    text = report(Found([found], variants, "Some GPU.", "sm_90", 1e9), 3)
    assert traffic(LAUNCH) == 420
    assert "| k | 2.000 | 0 | 0.00 | 2.00 | = |" in text
    assert "| geometric mean |  |  |  | 2.00 | 1.00 |" in text
    assert "4.8 % apart at most, 1 pairs" in text
    assert "| k | dce 2 | other code | 16 → 16 | 8 | 8 (4) | 8 |" in text
    assert "- `k`, pre: a, and 1 more\n- `k`, dce: c" in text
    assert "bit for bit" in text


def test_what_fails_is_told_and_counts_nowhere() -> None:
    failed = Measured(LAUNCH, {}, failed="DriverError: no")
    text = report(Found([failed], {UNCHANGED: ""}, "Some GPU.", "sm_90", 1e9), 3)
    assert "FAIL: k: DriverError: no" in text
    assert "geometric mean" not in text


@pytest.mark.toolchain
def test_a_plain_python_assembles_where_no_gpu_is(nvcc: Tool, tmp_path: Path) -> None:
    plain(tmp_path, nvcc)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # -S: no site packages.
    command = [sys.executable, "-S", "-m", "benchmarks.gpu.ptx_passes", str(tmp_path), "--only", "plain_d"]
    done = subprocess.run(
        [*command, "--arch", "sm_90"], env=environment, capture_output=True, text=True, check=False
    )
    if "skipped" in done.stdout:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stderr
    assert "| plain_dead | pre 1, dce 8 |" in done.stdout
    assert "plain_select" not in done.stdout


@pytest.mark.toolchain
def test_the_helpers_fill_compare_and_copy(nvcc: Tool) -> None:
    text = compile_ptx(nvcc, HERE / "ptx_helpers.cu", ARCH).output.decode()
    module = parse(SourceFile("helpers.ptx", text))
    floats, words = np.zeros(1000, np.float32), np.zeros(1000, np.uint32)
    run(module, "fill_floats", 2, 64, [floats, 1000, 7])
    assert -4 <= floats.min() < -3.9 < 3.9 < floats.max() < 4
    assert abs(floats.mean()) < 0.3
    run(module, "fill_bits", 2, 64, [words, 1000, 7])
    assert len(set(words.tolist())) == 1000
    other, counter = words.copy(), np.zeros(1, np.uint32)
    other[[0, 500, 999]] ^= 1 << 31
    run(module, "compare", 2, 64, [words, other, 1000, counter])
    assert counter[0] == 3
    target = np.zeros(1024, np.float32)
    run(module, "copy", 2, 128, [np.resize(floats, 1024), target])
    assert target.tobytes() == np.resize(floats, 1024).tobytes()
