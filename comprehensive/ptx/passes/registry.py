"""Passes by name; a module is imported when a pass is asked for.

    make("vectorize-accesses", {"width": "2"})      # VectorizeAccesses(width=2)

Values are texts as the command line gives them; the type of a field is that of its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType

from comprehensive.ptx.passes.ptx_pass import Option, PtxPass

PASSES: Mapping[str, str] = MappingProxyType(
    {
        "dce": "dce:DeadCodeElimination",
        "demote-registers": "demote_registers:DemoteRegisters",
        "grid-stride": "grid_stride:GridStride",
        "register-cap": "register_cap:RegisterCap",
        "shared-spills": "shared_spills:SharedSpills",
        "memory-space": "memory_space:MemorySpace",
        "vectorize-accesses": "vectorize_accesses:VectorizeAccesses",
        "drop-conversions": "drop_conversions:DropConversions",
        "unroll": "unroll:Unroll",
        "raise-alignment": "raise_alignment:RaiseAlignment",
        "propagate-copies": "propagate_copies:PropagateCopies",
        "pre": "pre:PartialRedundancyElimination",
        "synthesize-shuffles": "synthesize_shuffles:SynthesizeShuffles",
        "lower-version": "lower_version:LowerVersion",
    }
)


class UnknownPassError(LookupError):
    """An error for a name that no pass has; the message says which are near."""


class UnknownOptionError(LookupError):
    """The pass ``name`` has no such option."""


class OptionValueError(ValueError):
    """The value does not fit the option; ``option`` is None where the options do not fit one another."""

    def __init__(self, option: str | None, why: str) -> None:
        super().__init__(why)
        self.option = option


def class_of(name: str) -> type[PtxPass]:
    """Return the class of a pass. UnknownPassError for a name that none has."""
    try:
        module, _, attribute = PASSES[name].partition(":")
    except KeyError:
        near = get_close_matches(name, PASSES, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(PASSES)}"
        raise UnknownPassError(hint) from None
    return getattr(import_module(f"comprehensive.ptx.passes.{module}"), attribute)


def make(name: str, given: Mapping[str, str]) -> PtxPass:
    """Return a pass with options from their texts.

    UnknownPassError, UnknownOptionError and OptionValueError say what is wrong.
    """
    kind = class_of(name)
    defaults = {f.name: f.default for f in fields(kind)}
    values: dict[str, Option] = {}
    for option, text in given.items():
        if option not in defaults:
            near = f"it has {', '.join(defaults)}" if defaults else "it has none"
            raise UnknownOptionError(option, near)
        values[option] = _value(option, text, defaults[option])
    try:
        return kind(**values)  # type: ignore[arg-type]
    except ValueError as error:
        raise OptionValueError(next(iter(given)) if len(given) == 1 else None, str(error)) from None


def described() -> str:
    """All passes with their options, one line each, as ``--list`` prints them."""
    lines: list[str] = []
    for name in PASSES:
        kind = class_of(name)
        lines.append(f"{name:20} {kind.summary}")
        lines += [f"    {f'{f.name}={f.default}'.lower():28} {f.metadata['help']}" for f in fields(kind)]
    return "\n".join(lines)


def _value(option: str, text: str, default: object) -> Option:
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise OptionValueError(option, f"'{text}' is neither true nor false")
        return text == "true"
    if isinstance(default, int):
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise OptionValueError(option, f"'{text}' is no whole number")
        return int(text)
    return text
