"""The harness is CUDA that nvcc takes, and the measuring process needs numpy and the standard library alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from comprehensive.generate import source_texts
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.shared_objects import build
from comprehensive.tuning.devices import Target
from comprehensive.tuning.libraries import build_of, gpu_command
from tests.unit.tuning.programs import compiled

ROOT = Path(__file__).resolve().parents[3]
H200 = Target("NVIDIA H200", "9.0", "580.1", ("0",))


@pytest.mark.toolchain
def test_nvcc_compiles_the_harness_and_says_what_leaves_take(tmp_path: Path, nvcc: Tool) -> None:
    plan = compiled().plan
    job = build_of(plan, source_texts(plan), "pairs.cu", gpu_command(nvcc, H200), tmp_path, on_gpu=True)
    library = build(job)
    assert library.path is not None, library.log
    usage = library.usage("pairs_leaf0")
    assert usage is not None
    assert 0 < usage.registers_per_thread <= 64
    assert build(job) == library, "what was compiled before is taken from the disk"


@pytest.mark.parametrize("module", ["worker", "reference", "measuring"])
def test_measuring_processes_import_nothing_but_numpy(module: str) -> None:
    program = (
        f"import comprehensive.tuning.{module}\n"
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
    assert done.stdout.strip() in ("['comprehensive', 'numpy']", "['comprehensive']")
