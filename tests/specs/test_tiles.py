"""Tiles of every spec: the nest over tiles in the interpreter, its kernels on the CPU, bit for bit."""

from __future__ import annotations

from itertools import islice, product
from random import Random
from typing import Any

import numpy as np
import pytest

from comprehensive.loops.ir import Role, Variant
from comprehensive.metafork.ast import IntLiteral
from comprehensive.optimize.tree import Tree
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import RegionPlan
from comprehensive.records import replace
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.emulated import Executables
from comprehensive.soundness.sampling import random_data, samples
from tests.compiled_specs import SPECS, BuiltSpecs, compiled
from tests.examples import quick_of
from tests.specs.disagreement import disagreement

# Larger than a tile in every direction, dividing nothing, and barely: both kinds of tiles occur.
SIZES: dict[str, list[dict[str, int | float]]] = {
    "blur5x5": [{"h": 23, "w": 270, "B0": 2, "B1": 16}, {"h": 12, "w": 132, "B0": 1, "B1": 1}],
    "gemm": [
        {"m": 261, "n": 67, "k": 29, "B0": 9, "B1": 4},
        {"m": 130, "n": 260, "k": 64, "B0": 4, "B1": 4},
        {"m": 3, "n": 140, "k": 1, "B0": 8, "B1": 8},
    ],
    "heat3d": [
        {"T": 1, "n": 42, "r": 0.1, "B0": 2, "B1": 4, "B2": 8},
        {"T": 3, "n": 33, "r": 0.1, "B0": 2, "B1": 4, "B2": 8},
        {"T": 2, "n": 19, "r": 0.3, "B0": 3, "B1": 3, "B2": 5},
    ],
    "jacobi1d": [
        {"T": 3, "N": 3100, "s": 2, "B": 32},
        {"T": 2, "N": 1030, "s": 1, "B": 4},
        {"T": 25, "N": 4500, "s": 1, "B": 32},
        {"T": 6, "N": 2070, "s": 3, "B": 5},
    ],
    "jacobi2d": [
        {"T": 1, "n": 281, "B0": 4, "B1": 8},
        {"T": 2, "n": 137, "B0": 3, "B1": 5},
        {"T": 5, "n": 281, "B0": 4, "B1": 8},
        {"T": 8, "n": 121, "B0": 3, "B1": 5},
    ],
    "matadd": [{"N": 530, "B0": 2, "B1": 8}, {"N": 260, "B0": 3, "B1": 5}],
    "matmul": [
        {"n": 261, "B0": 9, "ub1": 4, "s": 3},
        {"n": 132, "B0": 4, "ub1": 4, "s": 1},
        {"n": 67, "B0": 1, "ub1": 1, "s": 1},
    ],
    "matvec": [{"m": 300, "n": 201, "B": 8}, {"m": 128, "n": 256, "B": 32}, {"m": 33, "n": 3, "B": 5}],
    "reverse": [{"n": 2100, "B": 8, "s": 3}, {"n": 1024, "B": 32, "s": 1}],
    "transpose": [{"N": 200, "B0": 4, "B1": 8, "s": 2}, {"N": 131, "B0": 3, "B1": 3, "s": 1}],
}


def test_every_spec_has_sizes() -> None:
    assert sorted(SIZES) == SPECS


@pytest.mark.parametrize("spec", SPECS)
def test_the_nest_over_tiles_does_what_the_source_does_for_any_sizes_of_tiles(spec: str) -> None:
    compilation = compiled(spec)
    (plan,) = compilation.plan.functions
    random = Random(3)
    for nest, tree in zip(compilation.nests, compilation.trees, strict=True):
        tile = tree.alternatives[0].tree
        assert isinstance(tile, Tree)
        (leaf,) = tile.leaves
        constants = [s.name for s in leaf.fragment.nest.with_role(Role.TILE)]
        for number, sample in enumerate(islice(samples(plan.function, (nest,), 5), 8)):
            data = random_data(plan.function, (nest,), sample, number)
            sizes = {name: random.choice((1, 2, 3, 4)) for name in constants}
            found = disagreement(nest, with_sizes(leaf.fragment, sizes), sample.arguments, data, number % 4)
            assert found is None, f"{found}: {sizes} at {sample.arguments}"


def with_sizes(variant: Variant, sizes: dict[str, int]) -> Any:
    """The nest with numbers for its constants."""
    scalars = tuple(
        replace(s, role=Role.HOST, value=IntLiteral(sizes[s.name])) if s.name in sizes else s
        for s in variant.nest.scalars
    )
    return replace(variant.nest, scalars=scalars)


@pytest.mark.parametrize("spec", quick_of(SPECS, {"matmul", "reverse", "transpose", "matvec"}))
def test_tiles_on_the_cpu_equal_the_serial_c_inside_and_at_the_edges(
    spec: str, executables: BuiltSpecs
) -> None:
    compare_tiles(spec, executables(spec), SIZES[spec])


# One of each shape of kernel: reductions, turned stores, streams and sweeps of one, two and three coordinates.
SHAPES = ("matmul", "matvec", "transpose", "reverse", "heat3d", "jacobi1d", "jacobi2d")


@pytest.mark.parametrize("spec", quick_of(SHAPES, {"transpose", "jacobi1d"}))
def test_no_tile_touches_memory_that_it_does_not_own(spec: str, executables: BuiltSpecs) -> None:
    compare_tiles(spec, executables(spec, sanitize=True), SIZES[spec][-1:])


@pytest.mark.parametrize("spec", quick_of(["matmul", "jacobi2d"], {"matmul"}))
def test_a_number_that_no_tile_has_is_refused(spec: str, executables: BuiltSpecs) -> None:
    compilation = compiled(spec)
    (plan,) = compilation.plan.functions
    host = interface(plan)
    assert host.tile is not None
    last = max(region.tile_of(region.numbers[-1]) for region in plan.regions)
    sizes: dict[str, int | float] = {a.name: 64 for a in host.everything if not a.pointer}
    arguments = {
        **{name: sizes[name] for name in sizes if name not in host.program_names},
        **buffers(spec, sizes),
    }
    program = {a.name: 4 for a in host.program} | {host.tile: last + 1}
    outcome = executables(spec).kernels.call(plan.function.name, arguments, program)
    assert (outcome.status, outcome.constraint) == (2, f"{host.tile} <= {last}")
    assert (outcome.needed, outcome.available) == (last + 1, last)


def compare_tiles(spec: str, built: Executables, sizes: list[dict[str, int | float]]) -> None:
    (plan,) = compiled(spec).plan.functions
    host = interface(plan)
    assert host.tile is not None
    last = plan.regions[-1]
    numbers = range(1, last.tile_of(last.numbers[-1]) + 1)
    swept: set[int] = set()
    for (number, arguments), tile in product(enumerate(sizes), numbers):
        data = buffers(spec, arguments)
        expected, actual = ({name: values.copy() for name, values in data.items()} for _ in range(2))
        built.serial.call(host.name, {**arguments, **expected})
        program = {a.name: int(arguments[a.name]) for a in host.program} | {host.tile: tile}
        others = {a.name: arguments[a.name] for a in host.arguments if not a.pointer}
        outcome = built.kernels.call(
            host.name, {**others, **actual}, program, backwards=(number + tile) % 2 == 1
        )
        asked = last.numbers[len(last.leaves) + tile - 1]
        if outcome.status == 1 and is_for_short_rows(last, asked):
            continue
        assert outcome.status == 0, outcome
        if last.kind_of(asked) == "register tile":
            assert outcome.leaf == asked
        elif outcome.leaf == asked:
            swept.add(tile)
        assert first_difference(expected, actual) is None, f"tile {tile} at {arguments}"
    assert swept == {
        tile for tile in numbers if last.kind_of(last.numbers[len(last.leaves) + tile - 1]) == "time tile"
    }


def is_for_short_rows(region: RegionPlan, number: int) -> bool:
    """Return whether a variant keeps rows in shared memory: longer rows than it is made for are refused."""
    tiling = region.tiling_of(number)
    return tiling is not None and tiling[0].recipe == "resident rows"


def buffers(spec: str, arguments: dict[str, int | float]) -> dict[str, Any]:
    """Random data for every array; sizes from the declared dims, or from h and w."""
    (plan,) = compiled(spec).plan.functions
    random = np.random.RandomState(5)
    found: dict[str, Any] = {}
    for parameter in plan.function.parameters:
        if not parameter.is_data:
            continue
        n = int(arguments.get("n", arguments.get("N", 0)))
        m, k = (int(arguments.get(name, 0)) for name in ("m", "k"))
        shapes = {
            "blur5x5": (int(arguments.get("h", 0)) * int(arguments.get("w", 0)),),
            "gemm": {"a": (m, k), "b": (k, n), "c": (m, n)},
            "heat3d": (n, n, n),
            "jacobi1d": (2 * n,),
            "reverse": (n,),
            "matvec": {"a": (m, n), "x": (n,), "y": (m,)},
            "transpose": {"a": (n, n), "c": (n * n,)},
        }
        shape = shapes.get(spec, (n, n))
        shape = shape[parameter.name] if isinstance(shape, dict) else shape
        dtype = parameter.type.numpy_name
        values = random.randint(-10_000, 10_000, shape)
        found[parameter.name] = (
            values.astype(dtype) if parameter.type.is_integer else (values * 0.00037).astype(dtype)
        )
    return found
