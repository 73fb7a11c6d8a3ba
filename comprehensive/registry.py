"""Strategies and counters by name: a name in, the procedure out; nothing is imported until it is asked for.

Third parties add theirs as entry points of the groups ``comprehensive.strategies`` and ``comprehensive.counters``;
the value names an instance, or a class or function that makes one::

    [project.entry-points."comprehensive.strategies"]
    unroll = "my_package.unroll:Unroll"

A maker that has a parameter ``registers`` gets the counter of registers per thread of the run: an estimate, or what
ptxas says; one that has a parameter ``shared_words`` that of the shared memory of a block.

The defaults, in their order, are what ``comprehensive gen`` uses: counters are evaluated from the first to the
last, and of the strategies that improve a counter the first one that is left is tried.  What ``--strategies`` names is
tried before the defaults, what ``--counters`` names is evaluated after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from comprehensive.plugins import PlugInError, accepted, plug_in

if TYPE_CHECKING:
    from comprehensive.loops.ir import Variant
    from comprehensive.optimize.protocols import Counter, Strategy
    from comprehensive.strategies.fewer_registers import Lowering

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
    "caching": ("comprehensive.strategies.caching:Caching", {}),
}
COMPILED = ("register-cap", "demote-registers", "local-spills")
"""Strategies for kernels that are compiled with passes, which are tried before values are spilled."""
_SPILLING = "register-pressure-3"
_COUNTERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "threads_per_block": ("comprehensive.counters.threads:Threads", {}),
    "shared_words_per_block": ("comprehensive.counters.shared_words:SharedWords", {}),
    "registers_per_thread": ("comprehensive.counters.registers:Registers", {}),
}
_LIMITS = ("warps", "blocks", "registers", "shared_memory")
_PERFORMANCE: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{
        f"occupancy_by_{limit}": ("comprehensive.counters.occupancy:Occupancy", {"of": limit})
        for limit in _LIMITS
    },
    "coalescing": ("comprehensive.counters.coalescing:Coalescing", {}),
    "bank_efficiency": ("comprehensive.counters.bank_efficiency:BankEfficiency", {}),
    "intensity": ("comprehensive.counters.intensity:Intensity", {}),
    **{
        f"latency_hiding_by_{limit}": ("comprehensive.counters.latency_hiding:LatencyHiding", {"of": limit})
        for limit in _LIMITS
    },
}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "occupancy": tuple(f"occupancy_by_{limit}" for limit in _LIMITS),
    "latency_hiding": tuple(f"latency_hiding_by_{limit}" for limit in _LIMITS),
    "all": tuple(_PERFORMANCE),
}
"""Names that stand for several counters: those of a measure that is the least of several values, and all of them."""


Given: TypeAlias = "Mapping[str, Counter[Variant]]"
"""Counters of a run by what makers call them: ``registers`` of a thread, and ``shared_words`` of a block."""
NOTHING_GIVEN: Given = MappingProxyType({})


class RegistryError(Exception):
    """A name is unknown or taken twice, or what has it is of no use; the message says what to do."""


class Registry(Struct, Generic[T], frozen=True):
    """Named things of one kind, in order: the built-in ones, then those of third parties by name."""

    what: str
    makers: tuple[tuple[str, Callable[[], T]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.makers))

    def get(self, name: str) -> T:
        """Raises RegistryError where nothing has the name, two things do, or what has it calls itself otherwise."""
        makers = [make for known, make in self.makers if known == name]
        if not makers:
            raise RegistryError(f"there is no {self.what} '{name}'; known are {', '.join(self.names)}")
        if len(makers) > 1:
            raise RegistryError(
                f"the {self.what} '{name}' is registered {len(makers)} times; "
                "uninstall all packages but one that have it, or ask their authors for another name"
            )
        try:
            made = makers[0]()
        except PlugInError as error:
            raise RegistryError(str(error)) from error
        own = getattr(made, "name", None)
        if own != name:
            raise RegistryError(f"the {self.what} registered as '{name}' calls itself {own!r}")
        return made

    def take(self, names: Iterable[str]) -> tuple[T, ...]:
        """Raises RegistryError for unknown names and for a name given twice."""
        names = tuple(names)
        for name in names:
            if names.count(name) > 1:
                raise RegistryError(f"the {self.what} '{name}' is given twice")
        return tuple(self.get(name) for name in names)


def strategies() -> Registry[Strategy[Variant]]:
    """All strategies that are installed."""
    own = _makers({**_STRATEGIES, **_MORE_STRATEGIES}, {})
    return _registry("strategy", own, entry_points(group="comprehensive.strategies"), {})


def counters(given: Given = NOTHING_GIVEN) -> Registry[Counter[Variant]]:
    """All counters that are installed; those ``given`` stand in the places of their names, for all that need them."""
    own = _own_counters({**_COUNTERS, **_PERFORMANCE}, given)
    return _registry("counter", own, entry_points(group="comprehensive.counters"), given)


def default_strategies(given: Given = NOTHING_GIVEN) -> tuple[Strategy[Variant], ...]:
    """The built-in strategies in the order in which they are tried; ``given`` is as for :func:`counters`."""
    own: Registry[Any] = Registry("strategy", tuple(_makers(_STRATEGIES, given).items()))
    return own.take(_STRATEGIES)


def default_counters(given: Given = NOTHING_GIVEN) -> tuple[Counter[Variant], ...]:
    """The built-in counters in the order in which they are evaluated; ``given`` is as for :func:`counters`."""
    own: Registry[Any] = Registry("counter", tuple(_own_counters(_COUNTERS, given).items()))
    return own.take(_COUNTERS)


def counters_of(names: Iterable[str], given: Given = NOTHING_GIVEN) -> tuple[Counter[Variant], ...]:
    """The default counters, then those asked for; RegistryError for unknown names and for a name given twice."""
    expanded = [single for name in names for single in FAMILIES.get(name, (name,))]
    for name in expanded:
        if name in _COUNTERS:
            raise RegistryError(f"the counter '{name}' is counted in any case")
    return (*default_counters(given), *counters(given).take(expanded))


def strategies_for(
    counted: Iterable[str],
    asked: Iterable[str] = (),
    lowerings: Mapping[str, Lowering] | None = None,
    given: Given = NOTHING_GIVEN,
) -> tuple[Strategy[Variant], ...]:
    """Return the strategies asked for, the default ones, and others that improve a counter of ``counted``.

    The last ones are strategies that are not taken by default. ``lowerings`` are what the strategies :data:`COMPILED`
    do, where there is a compiler; ``given`` is as for :func:`counters`. RegistryError for names ``asked`` that are
    unknown or given twice.
    """
    from comprehensive.strategies.fewer_registers import compiled_strategies

    improved = frozenset(counted)
    compiled = () if lowerings is None else compiled_strategies(lowerings)
    every = strategies()
    made = tuple((strategy.name, lambda strategy=strategy: strategy) for strategy in compiled)
    first = Registry(every.what, (*every.makers, *made)).take(asked)
    more = (every.get(name) for name in _MORE_STRATEGIES)
    default = default_strategies(given)
    place = [s.name for s in default].index(_SPILLING)
    behind = (
        *default[:place],
        *compiled,
        *default[place:],
        *(s for s in more if not improved.isdisjoint(s.improves)),
    )
    taken = {strategy.name for strategy in first}
    return (*first, *(s for s in behind if s.name not in taken))


def _own_counters(
    own: Mapping[str, tuple[str, Mapping[str, Any]]], given: Given
) -> dict[str, Callable[[], Any]]:
    return {
        **_makers(own, given),
        **{
            counter.name: lambda counter=counter: counter for counter in given.values() if counter.name in own
        },
    }


def _makers(
    own: Mapping[str, tuple[str, Mapping[str, Any]]], given: Mapping[str, object]
) -> dict[str, Callable[[], Any]]:
    def make(path: str, options: Mapping[str, Any]) -> Any:
        maker = _load(path)
        return maker(**options, **accepted(maker, given))

    return {
        name: lambda path=path, options=options: make(path, options) for name, (path, options) in own.items()
    }


def _registry(
    what: str,
    own: Mapping[str, Callable[[], Any]],
    found: Iterable[EntryPoint],
    given: Mapping[str, object],
) -> Registry[Any]:
    foreign = tuple(
        (point.name, lambda point=point: plug_in(point, what, given))
        for point in sorted(found, key=lambda p: (p.name, p.value))
    )
    return Registry(what, (*own.items(), *foreign))


def _load(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
