"""The enumerated candidates: every tile, leaves that their systems admit, caps at the cliffs of occupancy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from comprehensive.loops.ir import Role
from comprehensive.machine.device import load_device
from comprehensive.machine.occupancy import register_cliffs
from comprehensive.model.choice import candidates as choice_candidates
from comprehensive.model.choice import chosen
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.records import replace
from comprehensive.soundness.sampling import all_scalars
from comprehensive.tuning import expected_order
from comprehensive.tuning.candidates import admitted, candidates, capped, points, tile_of
from comprehensive.tuning.expected_order import by_expected_cost
from comprehensive.tuning.problems import problem, scaled_names, size_names
from tests import compiled_specs
from tests.examples import quick_of
from tests.unit.tuning.programs import PAIRS, compiled

H200 = load_device("h200")


def spec(name: str) -> FunctionPlan:
    (plan,) = compiled_specs.compiled(name).plan.functions
    return plan


@pytest.fixture(scope="module")
def matmul() -> FunctionPlan:
    return spec("matmul")


def test_every_tile_comes_first_and_once_then_leaves_of_about_256_threads(matmul: FunctionPlan) -> None:
    sizes = {"n": 1024}
    posed = problem(matmul, sizes, points(matmul, {}), {})
    found = candidates(matmul, sizes, posed.baseline, {}, H200)
    (region,) = matmul.regions
    tiles = len(region.numbers) - len(region.leaves)
    assert [tile_of(matmul, c) for c in found[:tiles]] == [*range(1, tiles + 1)]
    assert all(
        dict(c.parameters) == {"B0": 1, "ub1": 1, "s": 1, "tile": k} for k, c in enumerate(found[:tiles], 1)
    )
    leaves = found[tiles:]
    assert all(tile_of(matmul, c) == 0 for c in leaves)
    threads = [dict(c.parameters)["B0"] * dict(c.parameters)["ub1"] for c in leaves]
    assert threads == sorted(threads, key=lambda count: abs(count - 256))
    assert min(threads) == 32
    assert max(threads) == 1024
    assert len(set(found)) == len(found)


def test_leaves_are_those_that_asserts_and_systems_admit_and_no_fewer(matmul: FunctionPlan) -> None:
    sizes = {"n": 1024}
    found = {
        tuple(dict(c.parameters)[name] for name in ("B0", "ub1", "s"))
        for c in candidates(matmul, sizes, {"B0": 1, "ub1": 1, "s": 1}, {}, H200)
        if tile_of(matmul, c) == 0
    }
    (region,) = matmul.regions
    powers = [1 << k for k in range(11)]
    expected: set[tuple[int, int, int]] = set()
    for b0 in powers:
        for ub1 in powers:
            for s in powers:
                if not 32 <= b0 * ub1 <= 1024 or b0 > ub1 * s:
                    continue
                values = all_scalars(region.nest, {"n": 1024, "B0": b0, "ub1": ub1, "s": s})
                if any(leaf.system.holds({**H200.parameters(), **values}) for leaf in region.leaves):
                    expected.add((b0, ub1, s))
    assert found == expected


def test_parameters_that_a_caller_names_are_all_tried() -> None:
    (plan,) = compiled().plan.functions
    found = candidates(plan, {"n": 100}, {"B": 1}, {"B": [3, 5000]}, H200)
    leaves = [c for c in found if tile_of(plan, c) == 0]
    assert sorted(dict(c.parameters)["B"] for c in leaves) == [3, 5000]


def test_caps_are_at_every_cliff_and_a_step_to_either_side() -> None:
    (plan,) = compiled().plan.functions
    found = candidates(plan, {"n": 100}, {"B": 1}, {"B": [128]}, H200)
    (leaf,) = (c for c in found if tile_of(plan, c) == 0)
    every = capped(plan, leaf, H200)
    caps = [int(c.pipeline.removeprefix("register-cap{registers=").removesuffix("}")) for c in every]
    assert caps == sorted(set(caps), reverse=True)
    assert all(passes_of(c.pipeline) for c in every)
    cliffs = {r for r, _ in register_cliffs(H200, threads_per_block=128, shared_bytes_per_block=0)}
    assert {168, 128, 96, 80, 72, 64} <= cliffs
    assert {r + step for r in cliffs for step in (-8, 0, 8) if 24 <= r + step <= 255} == set(caps)
    assert {c.parameters for c in every} == {leaf.parameters}


@pytest.mark.parametrize("name", quick_of(["jacobi1d", "jacobi2d", "heat3d"], {"jacobi1d"}))
def test_sizes_that_are_halved_are_those_of_data_and_not_the_number_of_sweeps(name: str) -> None:
    plan = spec(name)
    assert set(size_names(plan)) - scaled_names(plan) == {"T"}


@pytest.mark.parametrize(
    "name", quick_of(["matmul", "blur5x5", "heat3d", "reverse", "transpose", "matadd"], {"matmul", "reverse"})
)
def test_the_baseline_is_one_everywhere_and_buffers_are_known_at_large_sizes(name: str) -> None:
    plan = spec(name)
    sizes = {each: 5 if each == "T" else 600 for each in size_names(plan)}
    posed = problem(plan, sizes, points(plan, {}), {})
    program = {s.name for region in plan.regions for s in region.nest.with_role(Role.PROGRAM)}
    assert set(posed.baseline) == {a.name for a in interface(plan).program} <= program
    assert set(posed.baseline.values()) == {1}
    rank = 3 if name == "heat3d" else 1 if name == "reverse" else 2
    for argument in posed.arguments:
        if argument["pointer"]:
            elements = 1
            for extent in argument["shape"]:
                elements *= extent
            border = 2 * 600 + 2 if name == "blur5x5" and argument["written"] else 0
            assert elements == 600**rank - border


def test_asserts_decide_on_the_baseline(tmp_path: Path) -> None:
    text = "#include <assert.h>\n" + PAIRS.replace("  int dim", "  assert(B % 32 == 0);\n  int dim")
    (plan,) = compiled(text).plan.functions
    assert not admitted(plan, {"n": 100}, {"B": 1})
    assert problem(plan, {"n": 100}, points(plan, {}), {}).baseline == {"B": 32}


def test_candidates_come_in_the_order_that_the_model_expects() -> None:
    """A product of 1024: tiles before leaves, and the tile that the launcher takes first."""
    plan = spec("gemm")
    device = load_device("h200")
    sizes = {"m": 1024, "n": 1024, "k": 1024}
    every = candidates(plan, sizes, {"B0": 1, "B1": 1}, {}, device)
    ordered = by_expected_cost(plan, device)(every)
    assert sorted(c.key for c in ordered) == sorted(c.key for c in every)
    tiles = [tile_of(plan, c) for c in ordered]
    assert 0 not in tiles[:6]
    values = {**sizes, "B0": 1, "B1": 1}
    best = chosen(
        choice_candidates(plan.regions[0], device.machine(), values, addresses={}, sweeps_left=1),
        sweeps_left=1,
    )
    assert best is not None
    assert tiles[0] == best.number


def test_time_tiles_are_ranked_by_how_often_the_loop_of_the_host_runs() -> None:
    """The region itself does not read T, a time tile of it does."""
    plan = spec("jacobi1d")
    device = load_device("h200")
    every = candidates(plan, {"T": 5, "N": 600}, {"s": 1, "B": 1}, {}, device)
    tiles = [c for c in every if tile_of(plan, c) != 0]
    assert any(
        plan.regions[0].kind_of(len(plan.regions[0].leaves) + tile_of(plan, c) - 1) == "time tile"
        for c in tiles
    )
    leaf = next(c for c in every if tile_of(plan, c) == 0)
    ordered = by_expected_cost(plan, device)([leaf, *tiles])
    assert sorted(c.key for c in ordered) == sorted(c.key for c in [leaf, *tiles])
    assert tile_of(plan, ordered[0]) != 0


def test_a_leaf_with_the_number_of_a_tile_is_not_what_the_tile_costs(
    matmul: FunctionPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_cheap_leaf(*arguments: Any, **named: Any) -> tuple[Any, ...]:
        *tiles, leaf = choice_candidates(*arguments, **named)
        assert leaf.kind == "leaf"
        assert leaf.cost is not None
        return (
            *tiles,
            *(replace(leaf, number=t.number, cost=replace(leaf.cost, cycles=1)) for t in tiles[1:]),
        )

    every = candidates(matmul, {"n": 1024}, {"B0": 1, "ub1": 1, "s": 1}, {}, H200)
    ordered = by_expected_cost(matmul, H200)(every)
    monkeypatch.setattr(expected_order, "candidates", with_a_cheap_leaf)
    assert by_expected_cost(matmul, H200)(every) == ordered
