"""Strategies and counters of third parties: checked when they are loaded, and blamed for what they raise.

In: an entry point of a package that is installed beside this one.  Out: the strategy or counter that it names, behind a
wrapper of the same protocol.  What cannot be loaded, or is no strategy or counter, is a :class:`PlugInError` that names
the package; an exception out of one that runs is a CompileError (CF0721) with the place in the code of the package::

    error: the counter 'divergence' of 'acme-counters' failed: KeyError: 'x' (acme/divergence.py:41) [CF0721]
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Hashable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from comprehensive.diagnostics import CompileError

if TYPE_CHECKING:
    from comprehensive.loops.ir import Variant
    from comprehensive.optimize.protocols import Applied, Evaluation, Kind, NotApplicable

T = TypeVar("T")

_STRATEGY_MEMBERS: Mapping[str, str] = {
    "name": "a string",
    "improves": "a tuple of names of counters",
    "on_ir": "a bool",
    "decision": "a pair of strings",
    "apply": "a method",
}
_COUNTER_MEMBERS: Mapping[str, str] = {
    "name": "a string",
    "limit": "a name, which begins with P_ just where the kind is PERFORMANCE",
    "kind": "a Kind",
    "evaluate": "a method",
}


class PlugInError(Exception):
    """A package offers what cannot be used; the message names it and says what is wrong."""


def plug_in(point: EntryPoint, what: str, given: Mapping[str, object]) -> Any:
    """The strategy or counter (``what``) that an entry point names, wrapped.

    A class or function is called; of ``given`` it gets the values for which it has a parameter of that name.
    """
    package = point.dist.name if point.dist is not None else point.value.partition(":")[0]
    owner = f"{what} '{point.name}' of '{package}'"
    try:
        loaded: Any = point.load()
        made: Any = loaded
        if callable(loaded):
            made = loaded(**accepted(loaded, given))
    except Exception as error:
        raise PlugInError(f"the {owner} cannot be loaded: {_told(error)}") from error
    members = _STRATEGY_MEMBERS if what == "strategy" else _COUNTER_MEMBERS
    for member, expected in members.items():
        if not _is_expected(made, member):
            raise PlugInError(f"the {owner} has no '{member}' that is {expected}")
    return ForeignStrategy(made, owner) if what == "strategy" else ForeignCounter(made, owner)


def accepted(maker: Callable[..., object], given: Mapping[str, object]) -> dict[str, object]:
    """Return the values for which a class or function has a parameter of that name."""
    parameters = inspect.signature(maker).parameters
    return {name: value for name, value in given.items() if name in parameters}


class ForeignStrategy(Struct, frozen=True, eq=False):
    """A strategy of a third party; ``owner`` is what messages call it."""

    wrapped: Any
    owner: str

    @property
    def name(self) -> str:
        return self.wrapped.name

    @property
    def improves(self) -> tuple[str, ...]:
        return self.wrapped.improves

    @property
    def on_ir(self) -> bool:
        return self.wrapped.on_ir

    @property
    def decision(self) -> tuple[str, str]:
        return self.wrapped.decision

    def stands(self, fragment: Variant, taken: bool) -> bool:
        """Packages need not answer this: what they say of a leaf is what was done to it."""
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        """Return the strategy's answer. CompileError (CF0721) where it raises, or answers what is no outcome."""
        from comprehensive.loops.ir import Variant
        from comprehensive.loops.verify import verify
        from comprehensive.optimize.protocols import Applied, NotApplicable

        def outcome() -> Applied[Variant] | NotApplicable:
            found: object = self.wrapped.apply(fragment)
            match found:
                case NotApplicable():
                    return found
                case Applied(fragment=Variant() as changed):
                    verify(changed.nest)
                    return Applied(changed, str(found.note))
                case _:
                    raise TypeError(f"it returned {found!r}, which is no Applied and no NotApplicable")

        return _blaming(self.owner, outcome)


class ForeignCounter(Struct, frozen=True, eq=False):
    """A counter of a third party; ``owner`` is what messages call it."""

    wrapped: Any
    owner: str

    @property
    def name(self) -> str:
        return self.wrapped.name

    @property
    def limit(self) -> str:
        return self.wrapped.limit

    @property
    def kind(self) -> Kind:
        return self.wrapped.kind

    def evaluate(self, fragment: Variant) -> Evaluation:
        """Return the counter's answer, whatever it is. CompileError (CF0721) where it raises.

        The optimizer checks the answer.
        """
        return _blaming(self.owner, lambda: self.wrapped.evaluate(fragment))


def _is_expected(made: object, member: str) -> bool:
    from comprehensive.algebra import is_integer_symbol
    from comprehensive.optimize.protocols import Kind

    try:
        value: Any = getattr(made, member)
    except AttributeError:
        return False
    match member:
        case "name":
            return isinstance(value, str)
        case "limit":
            is_share = getattr(made, "kind", None) is Kind.PERFORMANCE
            return isinstance(value, str) and value.isidentifier() and is_integer_symbol(value) != is_share
        case "kind":
            return isinstance(value, Kind)
        case "improves":
            return isinstance(value, tuple) and all(isinstance(n, str) for n in _items(value))
        case "decision":
            return isinstance(value, tuple) and [type(text) for text in _items(value)] == [str, str]
        case "on_ir":
            return isinstance(value, bool)
        case _:
            return callable(value)


def _items(values: Any) -> tuple[Hashable, ...]:
    return values


def _blaming(owner: str, ask: Callable[[], T]) -> T:
    """The answer; CompileError (CF0721) for any exception, which is then none of ours."""
    try:
        return ask()
    except CompileError:
        raise
    except Exception as error:
        message = f"the {owner} failed: {_told(error)}"
        help = "report it to its authors, or leave it out"
        raise CompileError.of("CF0721", message, help=help) from error


def _told(error: Exception) -> str:
    """The exception and the last place outside of this package."""
    here = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(here)]
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
