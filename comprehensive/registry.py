"""Strategies and counters by name: a name in, the procedure out; nothing is imported until it is asked for.

Third parties add theirs as entry points of the groups ``comprehensive.strategies`` and ``comprehensive.counters``;
the value names an instance, or a class or function to be called without arguments::

    [project.entry-points."comprehensive.strategies"]
    unroll = "my_package.unroll:Unroll"

The defaults, in their order, are what ``comprehensive gen`` uses: counters are evaluated from the first to the
last, and of the strategies that improve a counter the first one that is left is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from comprehensive.loops.ir import Variant
    from comprehensive.optimize.protocols import Counter, Strategy

T = TypeVar("T")

_STRATEGIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "granularity": ("comprehensive.strategies.granularity:Granularity", {}),
    "cse-1": ("comprehensive.strategies.cse:CommonSubexpressions", {"level": 1}),
    "no-caching": ("comprehensive.strategies.caching:NoCaching", {}),
    "register-pressure-1": ("comprehensive.strategies.register_pressure:RegisterPressure", {"level": 1}),
    "register-pressure-2": ("comprehensive.strategies.register_pressure:RegisterPressure", {"level": 2}),
    "register-pressure-3": ("comprehensive.strategies.register_pressure:RegisterPressure", {"level": 3}),
    "cse-2": ("comprehensive.strategies.cse:CommonSubexpressions", {"level": 2}),
}
_MORE_STRATEGIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "shuffle": ("comprehensive.strategies.shuffle:Shuffle", {}),
    "caching": ("comprehensive.strategies.caching:Caching", {}),
}
_COUNTERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "threads_per_block": ("comprehensive.counters.threads:Threads", {}),
    "shared_words_per_block": ("comprehensive.counters.shared_words:SharedWords", {}),
    "registers_per_thread": ("comprehensive.counters.registers:Registers", {}),
}
_LIMITS = ("warps", "blocks", "registers", "shared_memory")
_PERFORMANCE: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{
        f"occupancy_by_{limit}": ("comprehensive.counters.occupancy:occupancy_by", {"limit": limit})
        for limit in _LIMITS
    },
    "coalescing": ("comprehensive.counters.coalescing:Coalescing", {}),
    "bank_efficiency": ("comprehensive.counters.bank_efficiency:BankEfficiency", {}),
    "intensity": ("comprehensive.counters.intensity:Intensity", {}),
    **{
        f"latency_hiding_by_{limit}": (
            "comprehensive.counters.latency_hiding:latency_hiding_by",
            {"limit": limit},
        )
        for limit in _LIMITS
    },
}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "occupancy": tuple(f"occupancy_by_{limit}" for limit in _LIMITS),
    "latency_hiding": tuple(f"latency_hiding_by_{limit}" for limit in _LIMITS),
    "all": tuple(_PERFORMANCE),
}
"""Names that stand for several counters: those of a measure that is the least of several values, and all of them."""


class RegistryError(Exception):
    """A name is unknown or taken twice; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """Named things of one kind, in order: the built-in ones, then those of third parties by name."""

    what: str
    _makers: tuple[tuple[str, Callable[[], T]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._makers)

    def get(self, name: str) -> T:
        """Raises RegistryError where nothing has the name, or the thing found calls itself otherwise."""
        for known, make in self._makers:
            if known == name:
                made = make()
                own = getattr(made, "name", None)
                if own != name:
                    raise RegistryError(f"the {self.what} registered as '{name}' calls itself {own!r}")
                return made
        raise RegistryError(f"there is no {self.what} '{name}'; known are {', '.join(self.names)}")

    def take(self, names: Iterable[str]) -> tuple[T, ...]:
        """Raises RegistryError for unknown names and for a name given twice."""
        names = tuple(names)
        for name in names:
            if names.count(name) > 1:
                raise RegistryError(f"the {self.what} '{name}' is given twice")
        return tuple(self.get(name) for name in names)


def strategies() -> Registry[Strategy[Variant]]:
    """All strategies that are installed."""
    return _registry(
        "strategy", {**_STRATEGIES, **_MORE_STRATEGIES}, entry_points(group="comprehensive.strategies")
    )


def counters() -> Registry[Counter[Variant]]:
    """All counters that are installed."""
    return _registry("counter", {**_COUNTERS, **_PERFORMANCE}, entry_points(group="comprehensive.counters"))


def default_strategies() -> tuple[Strategy[Variant], ...]:
    """The built-in strategies in the order in which they are tried."""
    return strategies().take(_STRATEGIES)


def default_counters() -> tuple[Counter[Variant], ...]:
    """The built-in counters in the order in which they are evaluated."""
    return counters().take(_COUNTERS)


def strategies_for(names: Iterable[str]) -> tuple[Strategy[Variant], ...]:
    """The default strategies, and behind them those that improve nothing but counters which are not default."""
    improved = frozenset(names)
    more = (strategies().get(name) for name in _MORE_STRATEGIES)
    return (*default_strategies(), *(s for s in more if not improved.isdisjoint(s.improves)))


def more_counters(names: Iterable[str]) -> tuple[Counter[Variant], ...]:
    """Those asked for besides the default ones; RegistryError for unknown names and for a name given twice."""
    expanded = [single for name in names for single in FAMILIES.get(name, (name,))]
    for name in expanded:
        if name in _COUNTERS:
            raise RegistryError(f"the counter '{name}' is counted in any case")
    return counters().take(expanded)


def _registry(
    what: str, own: Mapping[str, tuple[str, Mapping[str, Any]]], found: Iterable[EntryPoint]
) -> Registry[Any]:
    makers: list[tuple[str, Callable[[], Any]]] = [
        (name, lambda path=path, options=options: _load(path)(**options))
        for name, (path, options) in own.items()
    ]
    for point in sorted(found, key=lambda p: (p.name, p.value)):
        if any(name == point.name for name, _ in makers):
            raise RegistryError(
                f"the {what} '{point.name}' is registered twice, the second time by '{point.value}'; "
                "uninstall one of the packages or ask its authors for another name"
            )
        makers.append((point.name, lambda point=point: _made(point.load())))
    return Registry(what, tuple(makers))


def _load(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def _made(loaded: Any) -> Any:
    return loaded() if callable(loaded) else loaded
