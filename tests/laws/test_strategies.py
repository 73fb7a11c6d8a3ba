"""The laws of strategies/README.md, over every strategy and every region of the examples."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from comprehensive import registry
from comprehensive.algebra import with_quotients
from comprehensive.loops.interpreter import run
from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.verify import verify
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.optimize.protocols import Applied, Evaluation, Kind, NotApplicable
from comprehensive.strategies.caching import initial_caching
from tests.examples import quick_of
from tests.laws.inputs import arguments_for, data_for
from tests.laws.nests import all_nests

NESTS = all_nests()
STRATEGIES = registry.strategies().names
COUNTERS = registry.counters().names
PERFORMANCE = registry.FAMILIES["all"]
SMALL_MACHINES = {
    "R_SM": 65536,
    "W_SM": 32,
    "B_SM": 16,
    "Z_SM": 12288,
    "R_U": 256,
    "Q_SM": 4,
    "Z_U": 32,
    "Z_0": 256,
}
CLAIMED_MONOTONE = {
    ("granularity", "shared_words_per_block"),
    ("no-caching", "shared_words_per_block"),
    ("register-pressure-3", "registers_per_thread"),
    ("granularity", "occupancy_by_shared_memory"),
    ("no-caching", "occupancy_by_shared_memory"),
    ("no-caching", "latency_hiding_by_shared_memory"),
    ("no-caching", "bank_efficiency"),
    ("register-pressure-3", "occupancy_by_registers"),
    ("register-pressure-3", "latency_hiding_by_registers"),
}
"""The pairs for which the README of the strategies claims it; for the others the optimizer compares and may refuse."""

# The nests over three dimensions take as long as all others.
LONG = {"heat3d_1", "heat3d_2"}
nests = pytest.mark.parametrize("nest_name", quick_of(sorted(NESTS), NESTS.keys() - LONG))
strategies = pytest.mark.parametrize("strategy_name", STRATEGIES)


@cache
def variant(nest_name: str) -> Variant:
    return Variant(initial_caching(NESTS[nest_name]))


@cache
def applied(strategy_name: str, nest_name: str) -> Applied[Variant] | NotApplicable:
    return registry.strategies().get(strategy_name).apply(variant(nest_name))


@cache
def value(counter_name: str, fragment: Variant) -> Evaluation:
    return registry.counters().get(counter_name).evaluate(fragment)


def changed(strategy_name: str, nest_name: str) -> Variant:
    """The rewritten variant; where the strategy does not apply it must say why, and the variant stays."""
    result = applied(strategy_name, nest_name)
    if isinstance(result, NotApplicable):
        assert result.reason
        return variant(nest_name)
    return result.fragment


def assert_same_results(source: Nest, rewritten: Nest, seeds: range) -> None:
    for seed in seeds:
        arguments = arguments_for(source, seed)
        data = data_for(source, arguments, seed)
        expected, found = run(source, arguments, data), run(rewritten, arguments, data)
        for array in source.arrays:
            np.testing.assert_array_equal(
                expected[array.name].view(np.uint8),
                found[array.name].view(np.uint8),
                f"{array.name} at {arguments}",
            )


@nests
@strategies
def test_a_strategy_keeps_the_meaning_bit_for_bit(strategy_name: str, nest_name: str) -> None:
    fragment = changed(strategy_name, nest_name)
    verify(fragment.nest)
    if fragment.nest == NESTS[nest_name]:
        return
    assert_same_results(NESTS[nest_name], fragment.nest, range(12))


@nests
def test_all_source_strategies_one_after_another_keep_the_meaning(nest_name: str) -> None:
    fragment = variant(nest_name)
    for name in STRATEGIES:
        result = registry.strategies().get(name).apply(fragment)
        if isinstance(result, Applied):
            fragment = result.fragment
            verify(fragment.nest)
    assert_same_results(NESTS[nest_name], fragment.nest, range(12))


@nests
@strategies
def test_a_strategy_is_pure_and_repeatable(strategy_name: str, nest_name: str) -> None:
    before = hash(variant(nest_name))
    first, again = (
        applied(strategy_name, nest_name),
        registry.strategies().get(strategy_name).apply(variant(nest_name)),
    )
    assert first == again
    assert hash(variant(nest_name)) == before


@nests
@strategies
def test_applying_a_strategy_twice_changes_no_counter_that_it_improves(
    strategy_name: str, nest_name: str
) -> None:
    strategy = registry.strategies().get(strategy_name)
    once = changed(strategy_name, nest_name)
    twice = strategy.apply(once)
    if isinstance(twice, Applied):
        for counter_name in strategy.improves:
            assert value(counter_name, twice.fragment).value == value(counter_name, once).value


@nests
@pytest.mark.parametrize(("strategy_name", "counter_name"), sorted(CLAIMED_MONOTONE))
def test_a_monotone_strategy_never_makes_its_counter_worse(
    strategy_name: str, counter_name: str, nest_name: str
) -> None:
    less_is_better = registry.counters().get(counter_name).kind is Kind.RESOURCE
    before, after = (
        value(counter_name, variant(nest_name)),
        value(counter_name, changed(strategy_name, nest_name)),
    )
    generator = random.Random(nest_name)
    for _ in range(50):
        names = {s.name for s in NESTS[nest_name].scalars} | {"F_SM", "O_W"}
        point = {name: generator.randint(1, 40) for name in sorted(names)} | SMALL_MACHINES
        earlier, later = (e.value.evaluate(with_quotients(point, e.quotients)) for e in (before, after))
        assert later <= earlier if less_is_better else later >= earlier, point


@nests
@pytest.mark.parametrize("counter_name", COUNTERS)
def test_a_counter_is_a_function_of_the_variant_over_scalars_of_the_nest(
    counter_name: str, nest_name: str
) -> None:
    found = value(counter_name, variant(nest_name))
    assert found == registry.counters().get(counter_name).evaluate(variant(nest_name))
    known = {*(scalar.name for scalar in NESTS[nest_name].scalars), *MACHINE_PARAMETERS}
    for quotient in found.quotients:
        assert {*quotient.above.symbols, *quotient.below.symbols} <= known
        known.add(quotient.symbol)
    assert set(found.value.symbols) <= known


@nests
@pytest.mark.parametrize("counter_name", PERFORMANCE)
def test_a_performance_counter_is_not_negative_and_a_share_of_memory_not_above_1(
    counter_name: str, nest_name: str
) -> None:
    found = value(counter_name, variant(nest_name))
    generator = random.Random(f"{nest_name} {counter_name}")
    for _ in range(20):
        names = {s.name for s in NESTS[nest_name].scalars} | {"F_SM", "O_W"}
        point = with_quotients(
            {name: generator.randint(1, 40) for name in sorted(names)} | SMALL_MACHINES, found.quotients
        )
        exact = found.value.evaluate(point)
        assert exact >= 0
        if counter_name in ("coalescing", "bank_efficiency", "occupancy_by_warps"):
            assert exact <= 1


@pytest.mark.parametrize("strategy_name", STRATEGIES)
def test_every_strategy_is_in_sigma_of_a_counter_that_exists(strategy_name: str) -> None:
    improves = registry.strategies().get(strategy_name).improves
    assert improves
    assert set(improves) <= set(COUNTERS)


@pytest.mark.parametrize("strategy_name", [n for n in STRATEGIES if n != "register-pressure-3"])
def test_every_source_strategy_finds_work_in_some_example(strategy_name: str) -> None:
    assert any(isinstance(applied(strategy_name, nest_name), Applied) for nest_name in sorted(NESTS))


@nests
def test_the_random_arguments_make_every_region_write_something(nest_name: str) -> None:
    nest = NESTS[nest_name]
    written = 0
    for seed in range(12):
        arguments = arguments_for(nest, seed)
        data = data_for(nest, arguments, seed)
        after = run(nest, arguments, data)
        written += any(not np.array_equal(after[name], data[name]) for name in data)
    assert written >= 2
