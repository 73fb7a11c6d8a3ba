"""The tree of a kernel that needs more registers than there are: limits, shared memory and spills beside each other.

The compiler is asked anew: what the tree says of registers and shared memory is what the compiled kernels take.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.demoted import own_passes
from comprehensive.embedding.embedded import Embedded, embedded
from comprehensive.embedding.targets import targets_of
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.soundness.rewritten import rewritten
from comprehensive.soundness.state import State
from tests.examples import quick_of

ARCH = "sm_90"
TEXT = """
#define M %d
void sums(int n, int m, float a[m], float b[m][M], float c[M][n], int B0) {
  int dim = (n + B0 - 1) / B0;
  meta_schedule cache(b) {
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B0; u++) {
        int i = v * B0 + u;
        if (i < n) {
          float s[M];
          for (int r = 0; r < M; r++) s[r] = 0.0f;
          for (int k = 0; k < m; k++)
            for (int r = 0; r < M; r++) s[r] += (a[k] + (float)i) * b[k][r];
          for (int r = 0; r < M; r++) c[r][i] = s[r];
        }
      }
  }
}
"""


@dataclass(frozen=True)
class Made:
    """A program, compiled, and embedded."""

    compilation: Compilation
    image: Embedded


@pytest.fixture(scope="module", params=quick_of([28, 48, 264], {28}))
def made(request: pytest.FixtureRequest, nvcc: object, tmp_path_factory: pytest.TempPathFactory) -> Made:
    source = tmp_path_factory.mktemp("sums") / "sums.mf"
    source.write_text(TEXT % request.param)
    compilation = compile_file(source, Options(registers="ptxas", arch=ARCH, targets=targets_of(ARCH)))
    image = embedded(compilation.plan, targets_of(ARCH), KernelCompiler.find("", None), "0")
    return Made(compilation, image)


def _kernels(made: Made) -> dict[int, Kernel]:
    return {
        leaf.index: leaf.kernel
        for f in made.compilation.plan.functions
        for region in f.regions
        for leaf in region.leaves
    }


def test_refused_registers_lie_in_shared_memory_which_is_evaluated_again(made: Made) -> None:
    (tree,) = made.compilation.trees
    demoted = [leaf for leaf in tree.leaves if leaf.fragment.demoted]
    assert demoted
    for leaf in demoted:
        told = leaf.simplified.format(tree.order, tree.limits)
        assert f"{leaf.fragment.register_cap} <= R_B" in told
        counted = {int(found[1]) for atom in told if (found := re.search(r"(\d+)\*B0 \+ \d+ <= Z_B", atom))}
        # A strategy that comes later may leave so few values that all fit.
        assert max(counted, default=0) == _kernels(made)[leaf.index].slots
    assert any(_kernels(made)[leaf.index].slots for leaf in demoted)
    spilled = [leaf for leaf in tree.leaves if "local-spills" in leaf.applied]
    assert spilled
    assert not any(leaf.fragment.demoted for leaf in spilled)


def test_the_compiled_kernels_take_what_the_leaves_say(made: Made) -> None:
    plan, (compiled,) = made.compilation.plan, made.image.kernels
    demoted = own_passes(plan)
    for kernel in _kernels(made).values():
        usage = compiled.usages[kernel.name]
        bytes_of_a_warp = compiled.bytes_of_a_warp(kernel.name)
        assert (kernel.name in demoted) == kernel.demoted
        assert bytes_of_a_warp == 128 * kernel.slots
        if kernel.demoted:
            assert kernel.register_cap is not None
            assert usage.registers_per_thread <= kernel.register_cap
            assert usage.spill_bytes == 0
            assert (f".bytes_of_a_warp = {bytes_of_a_warp} " in made.image.text) == (bytes_of_a_warp > 0)
    assert demoted


def test_what_no_thread_may_have_is_refused_on_every_device(made: Made) -> None:
    (tree,) = made.compilation.trees
    first = tree.leaves[0]
    (needed,) = {
        int(found[1])
        for atom in first.simplified.format(tree.order, tree.limits)
        if (found := re.fullmatch(r"(\d+) <= R_B", atom))
    }
    caps = {leaf.fragment.register_cap for leaf in tree.leaves if leaf.fragment.demoted}
    assert (needed > 255) == (caps == {255})


@pytest.mark.slow
def test_demoted_kernels_compute_what_they_did_in_the_interpreter(made: Made) -> None:
    plan = made.compilation.plan
    found = rewritten(plan, KernelCompiler.find("", None), ARCH)
    assert found.state is State.HOLDS, found
    assert set(found.tried) == {kernel.name for kernel in _kernels(made).values() if kernel.slots}
