"""What is prepared of leaves with and without shuffles, and how it is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu import shuffled_leaves
from benchmarks.gpu.ptx_passes_prepare import ARCH, HERE
from benchmarks.gpu.shuffled_leaves import STRATEGY
from benchmarks.gpu.shuffled_leaves_prepare import LEAVES, VARIANTS, texts_of, written_by
from benchmarks.gpu.variants import UNCHANGED
from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import parse
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.unit.benchmarks.cardboard import installed

pytestmark = pytest.mark.toolchain


def test_both_leaves_compute_the_same_and_one_has_shuffles(nvcc: Tool) -> None:
    texts = texts_of("blur5x5", nvcc)
    assert "shfl.sync" in texts[STRATEGY]
    assert "shfl.sync" not in texts[UNCHANGED]
    height, width, rows, along = 11, 80, 2, 48
    found: list[bytes] = []
    for text in texts.values():
        image = np.random.default_rng(5).random((height, width), dtype=np.float32)
        blurred = np.zeros_like(image)
        blocks = -(-(width - 4) // along), -(-(height - 4) // rows)
        arguments = [image, blurred, height, width, rows, along, blocks[1]]
        run(parse(SourceFile("k.ptx", text)), LEAVES["blur5x5"].plain, blocks, (along, rows), arguments)
        found.append(blurred.tobytes())
    assert found[0] == found[1]
    assert any(found[0])


@pytest.mark.parametrize("different", [0, 3])
def test_what_is_prepared_is_run_and_told(
    different: int,
    nvcc: Tool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    installed(monkeypatch, different)
    (tmp_path / "helpers.ptx").write_bytes(compile_ptx(nvcc, HERE / "ptx_helpers.cu", ARCH).output)
    about = {"commit": "abc", "nvcc": nvcc.version, "variants": dict(VARIANTS)}
    about |= written_by(["jacobi2d"], nvcc, tmp_path)
    (tmp_path / "launches.json").write_text(json.dumps(about), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["shuffled_leaves", str(tmp_path), "--runs", "2"])
    assert shuffled_leaves.main() == (different > 0)
    text = capsys.readouterr().out
    assert "| jacobi2d 64x4 | 2.000 |" in text
    assert ("FAIL: jacobi2d" in text) == (different > 0)
    assert ("bit for bit" in text) == (different == 0)
