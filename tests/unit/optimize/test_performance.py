"""Performance counters in the tree: accepted and refused, pruned, and right at every point."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from comprehensive.algebra import with_quotients
from comprehensive.algebra.polynomial import Scalar
from comprehensive.codegen.levels import with_levels
from comprehensive.driver import Compilation, Options, compile_file, counted_by
from comprehensive.loops.ir import Variant
from comprehensive.machine.device import devices, load_device
from comprehensive.machine.occupancy import occupancy
from comprehensive.optimize.definition2 import constraint_soundness, pruning
from comprehensive.optimize.protocols import Counter, Evaluation, Kind
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Pruned, Tree, leaf_for, walk
from comprehensive.registry import counters_of
from tests.laws.nests import CORNERS
from tests.unit.codegen.compiled import Selection
from tests.unit.counters.programs import SMOOTH, TRANSPOSED

Point = dict[str, Scalar]
SIZES = (1, 8, 16, 31, 32, 33, 100, 256, 512, 1024)


@cache
def compilation_of(text: str, *names: str) -> Compilation:
    with TemporaryDirectory() as folder:
        source = Path(folder) / "program.mf"
        source.write_text(text, encoding="utf-8")
        return compile_file(source, Options("estimate", counters=names))


def tree_of(text: str, *names: str) -> Tree[Variant]:
    (tree,) = compilation_of(text, *names).trees
    return tree


def points(tree: Tree[Variant], count: int) -> list[Point]:
    generator = random.Random(7)
    found: list[Point] = []
    for _ in range(count):
        device = generator.choice(devices())
        found.append(
            {
                **device.parameters(),
                "O_W": generator.randint(1, 40),
                "F_SM": generator.randint(100, 4000),
                **{s.name: generator.choice(SIZES) for s in tree.source.nest.scalars},
                **{
                    name: Fraction(generator.randint(0, 8), 8)
                    for name in tree.limits
                    if name.startswith("P_")
                },
            }
        )
    return found


def reaches(counter: Counter[Variant], found: Evaluation, point: Mapping[str, Scalar]) -> bool:
    value = found.value.evaluate(with_quotients(point, found.quotients))
    limit = point[counter.limit]
    return value <= limit if counter.kind is Kind.RESOURCE else value >= limit


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (SMOOTH, ("occupancy",)),
        (TRANSPOSED, ("coalescing", "bank_efficiency")),
        (CORNERS["partly"], ("intensity",)),
        pytest.param(SMOOTH, ("latency_hiding",), marks=pytest.mark.slow),
    ],
)
def test_a_leaf_is_chosen_just_where_its_counters_reach_their_limits(
    text: str, names: tuple[str, ...]
) -> None:
    tree = tree_of(text, *names)
    counted = counters_of(names, counted_by(Options("estimate")))
    evaluated: dict[int, list[tuple[Counter[Variant], Evaluation]]] = {}
    seen: set[str] = set()
    for point in points(tree, 150):
        case = leaf_for(tree, point)
        if isinstance(case, DeadEnd):
            seen.add(case.counter.partition("_by_")[0])
            failed = next(c for c in counted if c.name == case.counter)
            assert not reaches(failed, case.evaluation, point)
        else:
            seen.add("leaf")
            if case.index not in evaluated:
                evaluated[case.index] = [(counter, counter.evaluate(case.fragment)) for counter in counted]
            assert all(reaches(counter, value, point) for counter, value in evaluated[case.index])
            assert case.system.holds(with_quotients(point, tree.quotients))
    assert seen >= {"leaf", names[-1]}


def test_the_leaf_taken_on_a_device_has_the_occupancy_that_the_calculator_says() -> None:
    tree, device = tree_of(SMOOTH, "occupancy"), load_device("sm_90")
    (registers,) = (c for c in counters_of((), counted_by(Options("estimate"))) if c.limit == "R_B")
    found: set[bool] = set()
    for threads in range(1, 1025, 31):
        point: Point = {**device.parameters(), "n": 4096, "B": threads, "P_occupancy": Fraction(3, 4)}
        case = leaf_for(tree, point)
        held = occupancy(
            device,
            threads_per_block=threads,
            registers_per_thread=int(registers.evaluate(tree.source).value.evaluate({})),
            shared_bytes_per_block=4 * (threads + 2),
        )
        found.add(isinstance(case, Leaf) and case.index == 0)
        assert (isinstance(case, Leaf) and case.index == 0) == (held.fraction >= Fraction(3, 4))
    assert found == {True, False}


def test_both_branches_of_a_performance_counter_are_there_and_contradictions_are_pruned() -> None:
    tree = tree_of(SMOOTH, "occupancy")
    asked = [
        node for node, _ in walk(tree.root) if isinstance(node, Branch) and node.kind is Kind.PERFORMANCE
    ]
    assert {node.counter for node in asked} == {
        f"occupancy_by_{limit}" for limit in ("warps", "blocks", "registers", "shared_memory")
    }
    assert any(not isinstance(node.accept, Pruned) and not isinstance(node.refuse, Pruned) for node in asked)
    assert any(node.strategy == "no-caching" for node in asked)
    assert any(node.strategy == "register-pressure-3" for node in asked)
    # What was accepted before is not refused again for the same code.
    cores = [node.refuse.core for node in asked if isinstance(node.refuse, Pruned)]
    assert any("P_occupancy" in atom.symbols for core in cores for atom in core)
    assert not tree.undecided
    assert constraint_soundness(tree).holds
    assert not pruning(tree).wrong


def test_a_strategy_for_one_counter_lets_the_others_be_asked_again() -> None:
    """A leaf's system bounds every counter of its own code, those too that were accepted for other code."""
    tree = tree_of(SMOOTH, "occupancy")
    for leaf in tree.leaves:
        for counter in tree.counters:
            for atom in counter.evaluate(leaf.fragment).assumed:
                assert atom in leaf.system.all_atoms or atom.truth


def test_what_a_cache_clause_leaves_out_is_cached_where_intensity_is_demanded() -> None:
    tree = tree_of(CORNERS["partly"], "intensity")
    cached = {leaf.fragment.nest.cached for leaf in tree.leaves}
    assert ("a",) in cached
    assert ("a", "b") in cached


def test_selection_in_c_rounds_as_the_tree_does(tmp_path: Path) -> None:
    compilation = compilation_of(SMOOTH, "occupancy")
    (tree,) = compilation.trees
    plan = with_levels(compilation.plan, {"P_occupancy": Fraction(3, 4)})
    selection = Selection(plan, tmp_path, ("n",), ("B",))
    seen: set[int] = set()
    for device in devices():
        for threads in (1, 31, 32, 96, 97, 160, 256, 384, 500, 512, 640, 768, 1000, 1024, 1025):
            point: Point = {**device.parameters(), "n": 5000, "B": threads, "P_occupancy": Fraction(3, 4)}
            case = leaf_for(tree, point)
            found = selection.select(dict(device.parameters()), {"B": threads, "n": 5000})
            assert found.leaf == (case.index if isinstance(case, Leaf) else -1)
            seen.add(found.leaf)
    assert {-1, 0} <= seen
