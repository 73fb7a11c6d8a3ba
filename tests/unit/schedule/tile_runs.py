"""Kernels over register tiles on the CPU, all their instances, against the serial C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from comprehensive.driver import Compilation, Options, compile_file, tree_of_tiles
from comprehensive.generate import outputs, source_texts
from comprehensive.loops.ir import Variant
from comprehensive.loops.normalize import normalize
from comprehensive.metafork.ast import Binary
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Tree
from comprehensive.plan.interface import interface
from comprehensive.schedule.recipes.window_product import SHORTEST_PIECE
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.emulated import build
from comprehensive.strategies.tilings import every_tiling, tilings
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from tests.compiled_specs import LITTLE_OPTIMIZATION, OPTIONS
from tests.laws.nests import nests_of


# A source is run and compiled for a device; `tests/distribution.py` gives both tests to one worker.
def compilation_of(source: str, *, reassociate: bool = False) -> Compilation:
    return _compilation(source, reassociate)


def sources_of(source: str, *, reassociate: bool = False) -> Mapping[str, str]:
    """The header and the CUDA source."""
    return _sources(source, reassociate)


def texts_of(source: str, *, reassociate: bool = False) -> Mapping[str, str]:
    """All that `gen` writes."""
    return outputs(_compilation(source, reassociate))


# Called by place alone: a cache takes an argument by name, or one left out, for another.
@lru_cache(maxsize=8)
def _compilation(source: str, reassociate: bool) -> Compilation:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "f.mf"
        path.write_text(source, encoding="utf-8")
        return compile_file(path, Options(registers="estimate", reassociate=reassociate))


@lru_cache(maxsize=8)
def _sources(source: str, reassociate: bool) -> Mapping[str, str]:
    return source_texts(_compilation(source, reassociate).plan)


def recipes_of(source: str) -> dict[str, str | None]:
    """Return for each recipe why it does not fit; None where it does."""
    (tree,) = compilation_of(source).trees
    return {
        each.recipe: None if isinstance(each.tree, Tree) else each.tree.reason for each in tree.alternatives
    }


def numbers_of(source: str, recipe: str = "resident rows", *, reassociate: bool = False) -> tuple[int, ...]:
    """Return the numbers of the instances of a recipe, as callers ask for them."""
    (plan,) = compilation_of(source, reassociate=reassociate).plan.functions
    (region,) = plan.regions
    found = (tiling for tiling in region.tilings if tiling.recipe == recipe)
    return tuple(
        region.tile_of(tiling.first + place) for tiling in found for place in range(len(tiling.instances))
    )


def refusable(source: str) -> set[int]:
    """Return the numbers of instances that are for some sizes: rows that stay, windows of one size, long pieces."""
    (plan,) = compilation_of(source).plan.functions
    (region,) = plan.regions
    found = set(numbers_of(source))
    for tiling in region.tilings:
        for place, instance in enumerate(tiling.instances):
            is_long = tiling.kernel.in_rows and tiling.sizes(instance).get("D", 0) > SHORTEST_PIECE
            if is_long or any(isinstance(c, Binary) and c.operator == "==" for c in tiling.tile.conditions):
                found.add(region.tile_of(tiling.first + place))
    return found


def register_tiles_of(source: str) -> tuple[Tree[Variant] | NotApplicable, ...]:
    """For each region the tree over register tiles, or why it has none: the driver's own stages and no others."""
    return tuple(tree_of_tiles(tilings(nest)[0].result, OPTIONS) for nest in map(normalize, nests_of(source)))


def time_tiles_of(source: str) -> tuple[Tree[Variant] | NotApplicable, ...]:
    """The same over time tiles."""
    nests = tuple(map(normalize, nests_of(source)))
    return tuple(
        tree_of_tiles(found[-1].result, OPTIONS) for found in every_tiling(nests, in_another_order=False)
    )


def warnings_of(source: str, directory: Path, nvcc: Tool, *, reassociate: bool = False) -> tuple[str, ...]:
    """Return the warnings of nvcc about the header and the CUDA source; warnings are errors."""
    for file, text in sources_of(source, reassociate=reassociate).items():
        (directory / file).write_text(text, encoding="utf-8")
    flags = ("-Werror", "all-warnings", *LITTLE_OPTIMIZATION)
    return compile_cubin(nvcc, directory / "f.cu", "sm_90", flags).warnings


def run_all(
    source: str,
    arrays: Mapping[str, tuple[tuple[int | str, ...], str]],
    runs: Sequence[Mapping[str, int]],
    directory: Path,
    *,
    reassociate: bool = False,
    backwards: Sequence[bool] = (False,),
) -> set[tuple[int, str]]:
    """Runs the one function ``f`` of a source with every instance and all sizes, its threads in these orders.

    Arrays have shapes, numbers or expressions of the sizes, and types.  Where sums may be added up in another order,
    numbers are such that they are exact.  Returns the instances that were refused, with the constraint.
    """
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    compilation = compilation_of(source, reassociate=reassociate)
    (plan,) = compilation.plan.functions
    (region,) = plan.regions
    assert region.single, compilation.trees[0].alternatives
    host = interface(plan)
    assert host.tile is not None
    texts = sources_of(source, reassociate=reassociate)
    built = build(compilation, texts, directory / "work", c=c, cxx=cxx)
    random = np.random.RandomState(1)
    refused: set[tuple[int, str]] = set()
    for number in range(1, sum(len(plan.instances) for plan in region.single) + 1):
        for sizes in runs:
            data: dict[str, Any] = {}
            for array, (shape, kind) in arrays.items():
                extents = [eval(e, {}, dict(sizes)) if isinstance(e, str) else e for e in shape]
                values = random.randint(-100, 100, extents)
                real = values % 16 if reassociate else values * 0.37
                data[array] = (real if kind[0] == "f" else values).astype(kind)
            expected = {k: v.copy() for k, v in data.items()}
            built.serial.call("f", {**sizes, **expected})
            chosen = {a.name: sizes[a.name] for a in host.program} | {host.tile: number}
            given = {a.name: sizes[a.name] for a in host.arguments if not a.pointer}
            for order in backwards:
                actual = {k: v.copy() for k, v in data.items()}
                outcome = built.kernels.call("f", {**given, **actual}, chosen, backwards=order)
                if outcome.status != 0:
                    refused.add((number, outcome.constraint))
                    break
                assert first_difference(expected, actual) is None, f"instance {number} at {sizes}"
    return refused
