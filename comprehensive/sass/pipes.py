"""The part of a multiprocessor that an instruction keeps busy, by its mnemonic.

    work_of("LDG.E.128.CONSTANT")        # Work(pipe="load_store", access=Access("global", "load", 16), ...)
    work_of("FFMA.FTZ").pipe             # "fp32"

The facts are in ``specs/sass/pipes.toml``; a mnemonic that is not there takes a place in issue and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypedDict

from comprehensive.data import fact_table

Space = Literal["global", "shared", "local"]
Action = Literal["load", "store", "update"]

LOAD_STORE = "load_store"
WORD_BYTES = 4

_SHUFFLE = "SHFL"
_MATRICES = frozenset({"LDSM", "STSM"})
"""One word a lane for each of the matrices, whose number is the last modifier."""
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


@dataclass(frozen=True, slots=True)
class Access:
    """An access to memory, with what one lane moves."""

    space: Space
    action: Action
    bytes: int


@dataclass(frozen=True, slots=True)
class Work:
    """The work of an instruction: the pipe or the memory that it keeps busy.

    ``pipe`` is :data:`LOAD_STORE` or a name of ``throughput_per_clock_per_sm``, None for issue alone; ``latency`` the
    name of the device's number that says when its results are there, where that is unknown and it is no access;
    ``global`` stands for the end of asynchronous copies out of global memory.
    """

    pipe: str | None
    access: Access | None
    latency: str | None

    @property
    def rows(self) -> int:
        """Rows of 32 words that pass the load-store pipe."""
        return 1 if self.access is None else max(1, self.access.bytes // WORD_BYTES)


class _Memory(TypedDict):
    loads: list[str]
    stores: list[str]
    updates: list[str]


class _File(TypedDict):
    pipes: dict[str, list[str]]
    memory: dict[Space, _Memory]
    latency: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class _Facts:
    pipe: dict[str, str]
    access: dict[str, tuple[Space, Action]]
    latency: dict[str, str]


@cache
def work_of(opcode: str) -> Work:
    """Return what an instruction with that mnemonic and these modifiers keeps busy."""
    base, *modifiers = opcode.split(".")
    facts = _facts()
    access = None
    if found := facts.access.get(base):
        width = next((_WIDTHS[modifier] for modifier in modifiers if modifier in _WIDTHS), WORD_BYTES)
        if base in _MATRICES and modifiers[-1:] in (["2"], ["4"]):
            width = WORD_BYTES * int(modifiers[-1])
        access = Access(*found, width)
    pipe = LOAD_STORE if access or base == _SHUFFLE else facts.pipe.get(base)
    return Work(pipe, access, facts.latency.get(base))


@cache
def _facts() -> _Facts:
    file: _File = fact_table("sass/pipes.toml")
    actions: tuple[tuple[Literal["loads", "stores", "updates"], Action], ...] = (
        ("loads", "load"),
        ("stores", "store"),
        ("updates", "update"),
    )
    return _Facts(
        {base: pipe for pipe, bases in file["pipes"].items() for base in bases},
        {
            base: (space, action)
            for space, memory in file["memory"].items()
            for several, action in actions
            for base in memory[several]
        },
        {base: name for name, bases in file["latency"].items() for base in bases},
    )
