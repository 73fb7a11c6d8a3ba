"""The files that the benchmarks of shuffles prepare, and their reports; the driver is one of cardboard."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import shuffles as counted
from benchmarks.gpu import shuffles
from benchmarks.gpu.ptx_passes_prepare import ARCH, HERE
from benchmarks.gpu.shuffles import (
    CHOSEN,
    CORNERS,
    CORNERS_NO_WRAP,
    NO_CORNER,
    NO_LOAD,
    RINGS,
    RINGS_NO_WRAP,
    WRONG,
    report,
)
from benchmarks.gpu.shuffles_prepare import ODD, VARIANTS, checks, source_of, texts_of, written_by
from benchmarks.gpu.variants import UNCHANGED, Assembled, Found, Measured, bytes_of
from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import parse
from comprehensive.records import replace
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.ptx.corpus import sources
from tests.ptx.launched import launched
from tests.unit.benchmarks.cardboard import installed

KERNELS = {kernel.name: kernel for kernel in sources("shuffles")}
QUICK = ("jacobi", "row5_float4")
MOST_BYTES = 20_000_000_000


@pytest.mark.toolchain
@pytest.mark.parametrize("name", QUICK)
def test_variants_compute_the_same(name: str, nvcc: Tool, tmp_path: Path) -> None:
    texts = texts_of(source_of(KERNELS[name], nvcc))
    assert texts[CORNERS][1] == texts[RINGS][1] > 0
    # The last block is the odd one, where there is one; fewer rows are enough.
    run = [*checks(KERNELS[name])][-1]
    run = replace(run, grid=(run.grid[0], min(run.grid[1], 3), min(run.grid[2], 3)))

    def results(variant: str) -> tuple[bytes, ...]:
        path = tmp_path / "a.ptx"
        path.write_text(texts[variant][0], encoding="utf-8")
        return tuple(launched(run, path))

    wanted = results(UNCHANGED)
    for variant in (CORNERS, RINGS, CHOSEN, CORNERS_NO_WRAP, RINGS_NO_WRAP):
        if texts[variant][0] != texts[UNCHANGED][0]:
            assert results(variant) == wanted, variant
    assert all(results(variant) != wanted for variant in WRONG)


@pytest.mark.toolchain
def test_nothing_is_left_to_contract(nvcc: Tool) -> None:
    text = source_of(KERNELS["gaussblur"], nvcc).ptx
    assert "add.rn.f32" in text
    assert "add.f32" not in text


@pytest.mark.slow
@pytest.mark.toolchain
def test_what_is_timed_is_large_and_fits(nvcc: Tool, tmp_path: Path) -> None:
    about = written_by([KERNELS["uxx1"], KERNELS["hypterm"]], nvcc, tmp_path)
    for launch in about["launches"]:
        size = sum(bytes_of(a) for a in launch["arguments"] if "type" in a)
        # The results of the unchanged PTX lie beside them.
        assert 1e9 < size < MOST_BYTES / 2
        assert launch["block"][0] % 32 == 0
        assert set(launch["ptx"]) == set(VARIANTS)
    blocks = {tuple(check["block"]) for check in about["checks"]}
    assert ODD in blocks
    assert any(x % 32 for x, _, _ in blocks)


def prepared(nvcc: Tool, output: Path) -> None:
    output.mkdir(exist_ok=True)
    (output / "helpers.ptx").write_bytes(compile_ptx(nvcc, HERE / "ptx_helpers.cu", ARCH).output)
    launches = written_by([KERNELS["jacobi"], KERNELS["vecadd"]], nvcc, output)
    about = {"commit": "abc", "nvcc": nvcc.version, "variants": dict(VARIANTS), **launches}
    (output / "launches.json").write_text(json.dumps(about), encoding="utf-8")


@pytest.mark.toolchain
@pytest.mark.parametrize("different", [0, 3])
@pytest.mark.parametrize("check", [False, True])
def test_what_is_prepared_is_run_checked_and_told(
    different: int, check: bool, nvcc: Tool, ptxas: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cardboard = installed(monkeypatch, different)
    prepared(nvcc, tmp_path)
    target = tmp_path / "report.md"
    options = ["--check"] if check else ["--runs", "2"]
    monkeypatch.setattr(sys, "argv", ["x", str(tmp_path), *options, "--write", str(target)])
    assert shuffles.main() == int(different > 0)
    text = target.read_text(encoding="utf-8")
    assert f"Cardboard (sm_90), ptxas {ptxas.version}" in text
    assert ("FAIL: jacobi" in text) == (different > 0)
    # What is wrong by design is never compared.
    assert not any(f", {name}:" in text for name in WRONG)
    assert cardboard.calls.count("cuMemAlloc_v2") == cardboard.calls.count("cuMemFree_v2") > 0
    assert ("cuEventCreate" in cardboard.calls) != check
    if check:
        # jacobi in four blocks and vecadd in three, in eight variants, of which five are compared.
        assert "56 launches ran, 35 compared" in text
    else:
        assert "| jacobi | 2.000 |" in text
        assert "| vecadd | 64x4 | 0, 0, 0 | 12, 8, 64 |" in text
        assert ("bit for bit" in text) == (different == 0)


def test_the_report_says_what_the_choice_is_worth() -> None:
    launch: dict[str, Any] = {
        "applied": {CORNERS: 4, RINGS: 4, CHOSEN: 4},
        "block": (64, 4, 1),
        "smem_bytes": 0,
        "arguments": [{"direction": "in", "type": "f32", "count": 100}],
    }
    plain, other = Assembled(b"u" * 16, 32, 0), Assembled(b"s" * 16, 72, 8)

    def row(name: str, *, is_changed: bool, ms: float) -> Measured:
        made: dict[str, Assembled] = {
            each: other if is_changed else plain for each in (CORNERS, RINGS, CHOSEN, NO_LOAD, NO_CORNER)
        }
        times = {UNCHANGED: [2.0], **{each: [ms] for each in made}}
        return Measured({**launch, "name": name}, {UNCHANGED: plain, **made}, times, {CORNERS: 0, CHOSEN: 0})

    variants: dict[str, str] = {name: "" for name in (UNCHANGED, CORNERS, RINGS, CHOSEN, NO_LOAD, NO_CORNER)}
    rows = [row("a", is_changed=True, ms=1.0), row("b", is_changed=False, ms=2.1)]
    text = report(Found(rows, variants, "Some GPU.", "sm_90", 1e9), 3)
    assert (
        "geometric mean 1.414 over all 2 kernels, 2.000, least 2.000 (`a`) over the 1 that it changes" in text
    )
    assert "| a | 2.000 | 0 | 0.00 | 2.00 | 2.00 | 2.00 | 2.00 | 2.00 |" in text
    assert "| a | 64x4 | 4, 4, 4 | 32, 8, 64 | 72 (8), 3, 24 |" in text
    assert "bit for bit" in text
    text = report(Found(rows[1:], variants, "Some GPU.", "sm_90", 1e9), 3)
    assert "1.000 over all 1 kernels, none of which it changes" in text


@pytest.mark.parametrize("name", counted.GENERATED)
def test_generated_kernels_are_of_their_size(name: str) -> None:
    module = parse(SourceFile("kernel.ptx", counted.GENERATED[name](200)))
    assert 190 <= len(Analyses(module.functions["kernel"], module).flow.steps) <= 230


@pytest.mark.slow
def test_counts_and_reasons_are_those_of_the_remarks() -> None:
    module = parse(SourceFile("kernel.ptx", counted.unrolled(100)))
    found = counted.found(module, counted.SOUND)
    # Nine rows of five, of which the last is cut.
    assert found.told == f"{len(found.deltas)}, 1.50"
    assert sorted(set(found.deltas)) == [-2, -1, 1, 2]
    assert sum(found.reasons.values()) == 9
    text = "'ld.f32 %f1, [%rd1+4];' stays a load: delta -2 would not pay: it takes 1.0 cycles"
    assert counted.reason(text) == "delta N would not pay: it takes N cycles"
