"""Passes that are chosen for kernels by what they are predicted to gain."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.codegen.cuda import program_unit
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.embedding.automatic import CANDIDATES, NOISE, Candidate, choices, launches_of
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import embedded
from comprehensive.embedding.targets import AUTO, targets_of
from comprehensive.sass.launch import Launch

pytestmark = pytest.mark.usefixtures("nvcc", "nvdisasm")

# Eight blocks leave 32 registers, so that ptxas spills in the loop; what it spills fits shared memory.
SPILLING = """
extern "C" __global__ void __launch_bounds__(256, 8) sums(const float *a, float *c, int n) {
  float s[36];
  for (int r = 0; r < 36; r++) s[r] = r + threadIdx.x;
  for (int k = 0; k < n; k++) {
    const float x = a[k];
    for (int r = 0; r < 36; r++) s[r] = s[r] * x + s[(r + 5) % 36];
  }
  float sum = 0;
  for (int r = 0; r < 36; r++) sum += s[r] * r;
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void copy(const float *a, float *c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i];
}
"""


def test_a_pass_is_taken_where_it_gains_more_than_the_noise() -> None:
    compiler = KernelCompiler.find("", None)
    compiled = compiler.compile(SPILLING, "sm_90")
    assert compiled.usages["sums"].spill_bytes > 0
    launches = {"sums": Launch(256), "copy": Launch(256)}
    found = choices(compiler, SPILLING, compiled, launches)
    assert found["sums"].pipeline == "demote-registers"
    gain = float(found["sums"].reason.split()[1])
    assert gain > 1 + NOISE
    assert found["copy"].pipeline == ""
    assert found["copy"].reason == "bound by memory, and no pass gains more than 8%"
    after = compiler.compile(SPILLING, "sm_90", {"sums": found["sums"].pipeline})
    assert after.usages["sums"].spill_bytes == 0
    assert after.usages["copy"] == compiled.usages["copy"]


def test_passes_that_can_gain_nothing_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = KernelCompiler.find("", None)
    compiled = compiler.compile(SPILLING, "sm_90", {"sums": "demote-registers"})
    monkeypatch.setattr(KernelCompiler, "compile", lambda *_: pytest.fail("tried"))  # pyright: ignore
    # Nothing is spilled now, and accesses bind: fewer registers gain nothing.
    fewer = [each for each in CANDIDATES if not each.lowers_accesses]
    found = choices(compiler, SPILLING, compiled, {"sums": Launch(256)}, fewer)
    assert found["sums"].pipeline == ""
    assert found["sums"].reason.startswith("bound by issue")


def test_what_cannot_be_predicted_is_a_reason() -> None:
    compiler = KernelCompiler.find("", None)
    compiled = compiler.compile(SPILLING, "sm_90")
    found = choices(compiler, SPILLING, compiled, {"copy": Launch(4096)}, (Candidate("pre", False),))
    assert found["copy"].pipeline == ""
    assert "no block of 4096 threads" in found["copy"].reason


def test_launches_have_the_blocks_of_instances(tmp_path: Path) -> None:
    plan = compile_file(spec_directory() / "transpose.mf", Options(registers="estimate")).plan
    usages = KernelCompiler.find("", None).compile(program_unit(plan), "sm_90").usages
    launches = launches_of(plan, usages)
    assert set(launches) == set(usages)
    kernels = {kernel.name for f in plan.functions for region in f.regions for kernel in region.kernels}
    assert all(launches[name].threads_per_block == 256 for name in kernels if name in launches)


def test_the_manifest_names_what_was_chosen_and_why() -> None:
    plan = compile_file(spec_directory() / "matadd.mf", Options(registers="estimate")).plan
    compiler = KernelCompiler.find("", None)
    plain = embedded(plan, targets_of("sm_90"), compiler, "0")
    made = embedded(plan, targets_of("sm_90"), compiler, "0", automatic=True)
    document = made.document()
    assert document["passes"] == AUTO
    assert plain.document()["passes"] == ""
    assert all("chosen" not in kernel for kernel in plain.document()["kernels"])
    for kernel in document["kernels"]:
        assert set(kernel["chosen"]) == {"pipeline", "reason"}
        assert kernel["chosen"]["reason"]
    if not any(kernel["chosen"]["pipeline"] for kernel in document["kernels"]):
        assert made.text == plain.text
