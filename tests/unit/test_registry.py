"""Strategies and counters are found by name, and only when asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from comprehensive import registry
from comprehensive.registry import RegistryError


def test_the_default_order_is_that_of_the_paper() -> None:
    assert [c.name for c in registry.default_counters()] == [
        "threads_per_block",
        "shared_words_per_block",
        "registers_per_thread",
    ]
    assert [s.name for s in registry.default_strategies()] == [
        "granularity",
        "cse-1",
        "no-caching",
        "register-pressure-1",
        "register-pressure-2",
        "register-pressure-3",
        "cse-2",
    ]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(RegistryError, match="there is no strategy 'unroll'; known are granularity, cse-1"):
        registry.strategies().get("unroll")


def test_a_name_given_twice_is_an_error() -> None:
    with pytest.raises(RegistryError, match="'cse-1' is given twice"):
        registry.strategies().take(["cse-1", "cse-1"])


def test_a_strategy_of_a_third_party_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("no-caching", "comprehensive.strategies.caching:NoCaching", "comprehensive.strategies")
    monkeypatch.setattr(registry, "_STRATEGIES", {})
    monkeypatch.setattr(registry, "_MORE_STRATEGIES", {})
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert registry.strategies().names == ("no-caching",)
    assert registry.strategies().get("no-caching").decision == ("4b", "4a")


def test_two_packages_with_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("cse-1", "elsewhere:Thing", "comprehensive.strategies")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert registry.default_strategies()[1].name == "cse-1"
    with pytest.raises(RegistryError, match="'cse-1' is registered 2 times"):
        registry.strategies().get("cse-1")


def test_a_thing_under_another_name_than_its_own_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("nothing", "comprehensive.strategies.caching:NoCaching", "comprehensive.strategies")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    with pytest.raises(RegistryError, match="calls itself 'no-caching'"):
        registry.strategies().get("nothing")


def test_listing_names_imports_no_strategy() -> None:
    code = (
        "import sys; from comprehensive import registry; registry.strategies().names; registry.counters().names; "
        "sys.exit(any(m in sys.modules for m in ('sympy', 'islpy', 'z3', 'flint', 'comprehensive.strategies')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_family_of_counters_is_asked_for_by_one_name() -> None:
    names = [counter.name for counter in registry.counters_of(("coalescing", "occupancy"))[3:]]
    assert names == ["coalescing", *registry.FAMILIES["occupancy"]]
    assert [c.name for c in registry.counters_of(("all",))[3:]] == list(registry.FAMILIES["all"])
    assert not set(registry.FAMILIES["all"]) & {counter.name for counter in registry.default_counters()}


@pytest.mark.parametrize("names", [("speed",), ("occupancy", "all"), ("threads_per_block",)])
def test_a_counter_that_is_unknown_or_asked_for_twice_is_an_error(names: tuple[str, ...]) -> None:
    with pytest.raises(registry.RegistryError):
        registry.counters_of(names)


def test_a_strategy_that_helps_no_counter_of_the_run_takes_no_part() -> None:
    default = tuple(s.name for s in registry.default_strategies())
    assert tuple(s.name for s in registry.strategies_for(["registers_per_thread"])) == default
    assert tuple(s.name for s in registry.strategies_for(["coalescing"])) == (*default, "caching")
