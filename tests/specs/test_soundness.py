"""Every leaf of every spec computes what its source computes, without a GPU.

Interpreter against interpreter, the emitted CUDA on the CPU against the serial C (bit for bit, forwards and
backwards), and Definition 2; on parameters that divide nothing, granularity 1, tiles larger than the data, sizes 0.
"""

from __future__ import annotations

from itertools import islice

import pytest

from comprehensive.data import spec_directory
from comprehensive.driver import compile_file, problem_of
from comprehensive.generate import outputs
from comprehensive.optimize.definition2 import constraint_soundness, coverage, optimality
from comprehensive.soundness.emulated import run_leaves
from comprehensive.soundness.sampling import random_data, samples
from tests.compiled_specs import OPTIONS, SPECS, BuiltSpecs, compiled, texts
from tests.examples import quick_of
from tests.specs.disagreement import disagreement

POINTS = 12


@pytest.mark.parametrize("spec", SPECS)
def test_interpreter_gives_the_same_on_every_leaf_as_on_the_source(spec: str) -> None:
    compilation = compiled(spec)
    (plan,) = compilation.plan.functions
    for nest, tree in zip(compilation.nests, compilation.trees, strict=True):
        for number, sample in enumerate(islice(samples(plan.function, (nest,), 7), POINTS)):
            data = random_data(plan.function, (nest,), sample, number)
            for leaf in tree.leaves:
                difference = disagreement(nest, leaf.fragment.nest, sample.arguments, data, number % 4)
                assert difference is None, f"leaf {leaf.index}: {difference} at {sample.arguments}"


@pytest.mark.parametrize("spec", quick_of(SPECS, {"matadd", "jacobi1d", "transpose", "matvec"}))
def test_emitted_kernels_on_the_cpu_equal_the_serial_c_on_every_leaf(
    spec: str, executables: BuiltSpecs
) -> None:
    for leaf in run_leaves(compiled(spec), executables(spec), POINTS, seed=11):
        assert leaf.failures == (), f"{leaf.region} leaf {leaf.leaf}"
        assert leaf.runs == POINTS, f"{leaf.region} leaf {leaf.leaf} was reached {leaf.runs} times only"


@pytest.mark.parametrize("spec", quick_of(SPECS, {"jacobi1d"}))
def test_no_leaf_touches_memory_that_it_does_not_own(spec: str, executables: BuiltSpecs) -> None:
    for leaf in run_leaves(compiled(spec), executables(spec, sanitize=True), 3, seed=5):
        assert leaf.failures == (), f"{leaf.region} leaf {leaf.leaf}"
        assert leaf.runs == 3


@pytest.mark.parametrize("spec", SPECS)
def test_every_leaf_has_an_exact_sample_point_and_leaves_and_dead_ends_fill_the_space(spec: str) -> None:
    compilation = compiled(spec)
    for nest, tree in zip(compilation.nests, compilation.trees, strict=True):
        problem = problem_of(nest, OPTIONS)
        assert constraint_soundness(tree).holds
        assert coverage(tree, problem).holds
        assert optimality(tree, problem).holds
        assert not tree.undecided


def test_footprints_of_the_trees_are_the_published_ones() -> None:
    words = {
        spec: {
            str(branch.value)
            for tree in compiled(spec).trees
            for leaf in tree.leaves
            for counter in tree.counters
            if counter.name == "shared_words_per_block"
            for branch in (counter.evaluate(leaf.fragment),)
        }
        for spec in ("jacobi1d", "matmul")
    }
    # comprehensive, figure 7; and the tiles of figure 4 with the copy loops mended.
    assert words["jacobi1d"] == {"2*B*s + 2", "2*B + 2", "0"}
    assert words["matmul"] == {"B0*s*ub1 + B0^2", "B0^2 + B0*ub1", "0"}


def test_growing_a_tree_twice_gives_the_same_tree() -> None:
    again = compile_file(spec_directory() / "jacobi1d.mf", OPTIONS)
    assert outputs(again) == texts("jacobi1d")
