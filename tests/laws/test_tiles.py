"""The laws of schedules: tiles, however a recipe has fitted them, and what primitives make of them, mean what the
program means.

A nest over tiles goes through the reference interpreter beside the region that it comes from, forwards and backwards:
arrays are the same, to the bit, at sizes of 0 and 1, at such as tiles do not divide, with random sizes of tiles.  The
programs are the examples, those of golden files and of tests on GPUs, and random ones.  Where a condition of a tile
does not hold, a launch takes another kernel, and nothing is compared.

A launch of several sweeps does one here: more of them need the shared memory of a block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from comprehensive.diagnostics import CompileError, DiagnosticSink, SourceFile
from comprehensive.driver import understood
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.integers import ZERO, Ring
from comprehensive.loops.interpreter import Order
from comprehensive.loops.ir import Nest, Points, RegisterTile, Role
from comprehensive.loops.normalize import normalize
from comprehensive.loops.traverse import all_names
from comprehensive.loops.verify import verify
from comprehensive.metafork.ast import Binary, Function, If, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.model.values import wide_value
from comprehensive.optimize.protocols import Applied
from comprehensive.records import replace
from comprehensive.schedule.accumulate import accumulated
from comprehensive.schedule.alternatives import one_tile
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.conditions_inside import conditions_inside
from comprehensive.schedule.cut import cut
from comprehensive.schedule.equalize import equalized
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.flatten import flattened
from comprehensive.schedule.interior import interior_of
from comprehensive.schedule.jam_serial_loop import with_jammed_loop
from comprehensive.schedule.left_early import with_loops_to_the_end
from comprehensive.schedule.legality import types_in
from comprehensive.schedule.mask import masked
from comprehensive.schedule.predicate import predicated
from comprehensive.schedule.recipes import registry
from comprehensive.schedule.recipes.specialized_window import SpecializedWindow
from comprehensive.schedule.row_numbers import with_row_numbers_inside
from comprehensive.schedule.transposed_accesses import over_two_coordinates
from comprehensive.soundness.interpreted import difference, result
from comprehensive.soundness.sampling import NotSampledError, Ranges, all_scalars, random_data, samples
from comprehensive.strategies.tilings import every_tiling
from comprehensive.strategies.to_points import points_of
from tests.examples import quick_of, seeds
from tests.fuzz.grammar.program import generate
from tests.golden.texts import options_of
from tests.laws.nests import CORNERS, example_paths

TESTS = Path(__file__).resolve().parents[1]
SOURCES = {
    path.stem: path
    for path in (
        *example_paths(),
        *sorted(TESTS.glob("golden/programs/*.*")),
        *sorted(TESTS.glob("gpu/sources/*.mf")),
    )
}
TEXTS = {
    **CORNERS,
    "left_early": """
void left_early(int m, int n, const int x[m][n], int y[m], int B) {
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      int h = 7;
      for (int t = 0; t < n; t++) {
        if (x[i][t] % 2) { h = -h; if (x[i][t] % 3 == 0) break; }
        h = h / 2 + x[i][t];
      }
      y[i] = h;
    }
  }
}""",
}
"""Programs that are in no file."""
RECIPES = tuple(recipe.name for recipe in registry.every())


def shown_by(recipe: str) -> str:
    """The program for a recipe that fits it: of those whose golden tree has it, the one of that name, or the first."""
    fits = re.compile(rf"^[├└]─ {recipe}$", re.MULTILINE)
    trees = sorted((TESTS / "golden/expected").glob("*.tree.txt"))
    found = [path.name.split(".")[0] for path in trees if fits.search(path.read_text(encoding="utf-8"))]
    # A test on GPUs may have the name of a golden program.
    found = [name for name in found if SOURCES[name].parent.name != "sources"]
    assert found, f"no golden program has a tile of the recipe {recipe}"
    named = recipe.replace(" ", "_").replace("-", "_")
    return named if named in found else found[0]


OF_RECIPES = {recipe: shown_by(recipe) for recipe in RECIPES}
OF_PRIMITIVES = {
    "accumulate": "parallel_rows",
    "batch": "matmul",
    "conditions_inside": "stopped_at_the_border",
    "equalize": "parts_of_products",
    "even_loops": "from_border_to_border",
    "flatten": "long_rows",
    "interior": "life_on_a_ring",
    "jam_serial_loop": "nearest",
    "left_early": "left_early",
    "mask": "masked_products",
    "predicate": "triangle_products",
    "row_numbers": "rows_of_points",
    "transposed_accesses": "four_loops",
}
"""A program for each primitive that changes it."""
QUICK = {*TEXTS, *OF_RECIPES.values(), *OF_PRIMITIVES.values()}
FOR_FEW_SIZES = {recipe.name for recipe in registry.every() if isinstance(recipe, SpecializedWindow)}
"""Recipes for which no size may fit that is drawn."""
RANGES = Ranges(sizes=(0, 1, 2, 3, 4, 5, 7), tiles=(1, 2, 3), steps=(0, 1, 2))
TILE_SIZES = (1, 2, 3, 8)
LENGTHS = (1, 3, 8, 256)
"""The depths of pieces, and their number, or what a recipe takes these constants for."""
POINTS = 12
"""The points at which each tile is compared."""


@dataclass(frozen=True, slots=True)
class Point:
    """Arguments and data of a region, and its arrays behind it."""

    arguments: Mapping[str, int | float]
    data: Mapping[str, Any]
    step: int
    expected: Mapping[str, Any]


@cache
def regions(name: str) -> tuple[tuple[Function, tuple[Nest, ...]], ...]:
    """The functions of a program, each with its regions; none of a random one that is refused."""
    if name in SOURCES:
        path, text = SOURCES[name].name, SOURCES[name].read_text(encoding="utf-8")
    else:
        path, text = f"{name}.mf", TEXTS.get(name) or generate(f"tiles:{name}").text
    sink = DiagnosticSink()
    try:
        program, nests = understood(SourceFile(path, text), sink, options_of(name))
    except CompileError:
        assert name.isdigit()
        return ()
    left = iter(nests)
    return tuple((f, tuple(next(left) for _ in f.regions)) for f in program.functions if f.regions)


@cache
def points(name: str) -> Sequence[Sequence[Point]]:
    """The points of each region of a program in order; none where the region has undefined behaviour."""
    found: list[Sequence[Point]] = []
    for function, nests in regions(name):
        try:
            drawn = [
                (s, random_data(function, nests, s, number))
                for number, s in enumerate(islice(samples(function, nests, 0, RANGES), POINTS))
            ]
        except NotSampledError:
            drawn = []
        for nest in nests:
            done = ((s, data, k, result(nest, s.arguments, data, k)) for k, (s, data) in enumerate(drawn))
            found.append(
                [Point(s.arguments, data, k, after) for s, data, k, after in done if after is not None]
            )
    return found


def compared(over_tiles: Nest, tile: RegisterTile, at: Sequence[Point], seed: str) -> int:
    """The number of points at which a nest over tiles was compared; those where a condition fails are left out."""
    verify(over_tiles)
    random, count = Random(seed), 0
    for point in at:
        sizes = {
            s.name: random.choice(LENGTHS if s.name in (tile.depth, tile.stages) else TILE_SIZES)
            for s in over_tiles.with_role(Role.TILE)
        }
        sizes |= dict.fromkeys(tile.sweeps.sizes, 1)
        arguments = {**point.arguments, **sizes}
        scalars = all_scalars(over_tiles, arguments, point.step)
        # Launches look at conditions in 64 bits.
        if not all(wide_value(over_tiles, condition, scalars) for condition in tile.conditions):
            continue
        after = {a.pointer: point.expected.get(a.pointer, point.data[a.pointer]) for a in over_tiles.arrays}
        order: Order = "reversed" if count % 2 else "forward"
        found = difference(after, over_tiles, arguments, point.data, point.step, order=order)
        assert found is None, f"{found}: {sizes} at {point.arguments}"
        count += 1
    return count


# --- recipes


@cache
def of_recipes(name: str) -> Counter[str]:
    """Compares what each recipe makes of each region of a program; returns how often, by recipe, 0 included."""
    seen: Counter[str] = Counter()
    nests = [normalize(nest) for _, of_function in regions(name) for nest in of_function]
    for in_another_order in (False, True):
        for number, found in enumerate(every_tiling(nests, in_another_order=in_another_order)):
            for each in found:
                if isinstance(each.result, Applied):
                    tile = each.result.fragment.tile
                    assert tile is not None
                    where = f"{name} {number} {each.recipe}"
                    seen[each.recipe] += compared(
                        each.result.fragment.nest, tile, points(name)[number], where
                    )
    return seen


# --- primitives


def _with_bodies(tile: RegisterTile, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> RegisterTile:
    return replace(tile, alternatives=tuple(replace(a, body=change(a.body)) for a in tile.alternatives))


def _far_from_borders(nest: Nest, tile: RegisterTile) -> RegisterTile:
    return _with_bodies(tile, lambda body: interior_of(nest, tile, body).body)


def _by_borders(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """Points do what those far from borders do where that is the same, and else what the program says."""

    def chosen(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        interior = interior_of(nest, tile, body)
        inside = [Binary("<=", ZERO, Ring().write(each)) for each in interior.conditions]
        return (If(conjunction(inside), interior.body, body),) if inside else interior.body

    return _with_bodies(tile, chosen)


PRIMITIVES: Mapping[str, Callable[[Nest, RegisterTile], RegisterTile | None]] = {
    "accumulate": accumulated,
    "batch": lambda nest, tile: with_inner(tile, 1),
    "conditions_inside": lambda nest, tile: _with_bodies(
        tile,
        lambda body: conditions_inside(
            body, types_in(nest, tile), Namer({*all_names(nest), *types_in(nest, tile)})
        ),
    ),
    "equalize": equalized,
    "even_loops": with_even_loops,
    "flatten": flattened,
    "interior": _by_borders,
    "jam_serial_loop": lambda nest, tile: with_jammed_loop(nest, tile, 3),
    "left_early": with_loops_to_the_end,
    "mask": masked,
    "predicate": predicated,
    "row_numbers": with_row_numbers_inside,
    "transposed_accesses": over_two_coordinates,
}
"""The primitives from tile to tile, which are given one over all coordinates and may make nothing of it."""
ONCE = {"transposed_accesses", "jam_serial_loop"}
"""One takes tiles that have no batch yet, and groups of turns may be jammed as turns are."""
IDEMPOTENT = {name: PRIMITIVES[name] for name in PRIMITIVES.keys() - ONCE} | {"interior": _far_from_borders}
"""The primitives that change nothing when they are applied again."""


@cache
def of_primitives(name: str) -> Counter[str]:
    """Compares what each primitive makes of each region of a program; returns how often, for those that change it."""
    seen: Counter[str] = Counter()
    for number, source in enumerate(nest for _, nests in regions(name) for nest in nests):
        nest = normalize(source)
        if not isinstance(found := points_of(nest), Points):
            continue
        nest, tile = one_tile(nest, found)
        for primitive, change in PRIMITIVES.items():
            after = change(nest, tile)
            if after is not None and after != tile:
                where = f"{name} {number} {primitive}"
                seen[primitive] += compared(cut(nest, after), after, points(name)[number], where)
        for primitive, change in IDEMPOTENT.items():
            once = change(nest, tile) or tile
            assert (change(nest, once) or once) == once, f"{primitive} is not idempotent"
    return seen


# --- the laws

programs = pytest.mark.parametrize("name", quick_of(sorted({*SOURCES, *TEXTS}), QUICK))


@programs
def test_what_recipes_make_of_a_program_means_what_it_means(name: str) -> None:
    seen = of_recipes(name)
    assert seen
    assert all(times for recipe, times in seen.items() if recipe not in FOR_FEW_SIZES), seen


@programs
def test_what_primitives_make_of_a_program_means_what_it_means(name: str) -> None:
    seen = of_primitives(name)
    assert all(seen.values()), seen


@pytest.mark.parametrize("seed", seeds(25))
def test_tiles_of_random_programs_mean_what_they_mean(seed: int) -> None:
    names = [str(4 * seed + number) for number in range(4)]
    assert sum((of_recipes(name) for name in names), Counter[str]()).total() > 0
    for name in names:
        of_primitives(name)


def test_every_recipe_and_every_primitive_is_compared() -> None:
    assert OF_PRIMITIVES.keys() == PRIMITIVES.keys()
    assert [r for r, name in OF_RECIPES.items() if not of_recipes(name)[r]] == []
    assert [p for p, name in OF_PRIMITIVES.items() if not of_primitives(name)[p]] == []
