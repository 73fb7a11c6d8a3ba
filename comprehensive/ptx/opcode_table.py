"""The rows of ``specs/ptx/opcodes.toml``: facts of instructions, read once and when first asked for.

In: nothing but the file.  Out: the :class:`Row` of an opcode, the one that shares the most words with it, whatever
their order, and what its words need::

    find_row("mul", frozenset({"wide", "s32"})).operands == "def W, use T, use T"

The file says what its fields mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from enum import Flag
from functools import cache
from itertools import product
from typing import NotRequired, TypedDict

from comprehensive.data import fact_table


class Effect(Flag):
    """The effect of an instruction on memory; ask for a part with ``Effect.WRITE in opcode.effect``."""

    NONE = 0
    READ = 1
    WRITE = 2
    BARRIER = 4
    """Orders or invalidates every access, whether or not it makes one itself: takes precedence over the others."""


@dataclass(frozen=True, slots=True)
class Need:
    """The need of an opcode with ``words`` for at least this ``.version`` and ``.target``."""

    words: frozenset[str]
    version: tuple[int, int]
    target: int
    """The number in ``sm_90``; 0 for any."""
    specific: bool
    """Whether only targets with a letter will do, such as ``sm_90a``."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row for one of its names; ``words`` are those after the base."""

    name: str
    words: frozenset[str]
    operands: str
    effect: Effect
    space: str | None
    """The memory that it accesses unless a modifier says so; None if it does not."""
    volatile: bool
    convergent: bool
    side_effects: bool
    terminator: bool
    gate: bool
    reads_carry: bool
    exact: bool
    needs: tuple[Need, ...]


UNKNOWN = Row(
    name="",
    words=frozenset(),
    operands="",
    effect=Effect.BARRIER,
    space="generic",
    volatile=True,
    convergent=True,
    side_effects=True,
    terminator=False,
    gate=True,
    reads_carry=True,
    exact=False,
    needs=(),
)
"""The row assumed for an instruction that is not in the table."""


class _Written(TypedDict):
    names: list[str]
    operands: str
    needs: list[str]
    effect: NotRequired[str]
    space: NotRequired[str]
    volatile: NotRequired[bool]
    convergent: NotRequired[bool]
    side_effects: NotRequired[bool]
    terminator: NotRequired[bool]
    gate: NotRequired[bool]
    reads_carry: NotRequired[bool]
    exact: NotRequired[bool]


class _File(TypedDict):
    needs: list[str]
    bits: dict[str, int]
    instruction: list[_Written]


def _file() -> _File:
    return fact_table("ptx/opcodes.toml")


@cache
def type_bits() -> dict[str, int]:
    """Return the number of bits of a value, for every word that is a type."""
    return _file()["bits"]


@cache
def rows() -> dict[str, tuple[Row, ...]]:
    """Rows by base, those with more words first."""
    found: dict[str, list[Row]] = {}
    general = tuple(_needs(_file()["needs"]))
    for written in _file()["instruction"]:
        for name in written["names"]:
            found.setdefault(name.split(".")[0], []).append(_row(name, written, general))
    return {base: tuple(sorted(some, key=lambda row: -len(row.words))) for base, some in found.items()}


def find_row(base: str, words: Set[str]) -> Row | None:
    """The row with the most of these words; None for an instruction that is not in the table."""
    return next((row for row in rows().get(base, ()) if row.words <= words), None)


def _row(name: str, written: _Written, general: tuple[Need, ...]) -> Row:
    _, *words = name.split(".")
    effect = Effect.NONE
    for word in written.get("effect", "").split():
        effect |= Effect[word.upper()]
    accesses = bool(effect) and "address" in written["operands"]
    return Row(
        name=name,
        words=frozenset(words),
        operands=written["operands"],
        effect=effect,
        space=written.get("space", "generic") if accesses else None,
        volatile=written.get("volatile", False),
        convergent=written.get("convergent", False),
        side_effects=written.get("side_effects", False),
        terminator=written.get("terminator", False),
        gate=written.get("gate", False),
        reads_carry=written.get("reads_carry", False),
        exact=written.get("exact", True),
        needs=(*_needs(written["needs"]), *general),
    )


_NEED = re.compile(
    r"(?:(?P<words>[^ ].*): )?(?P<major>\d+)\.(?P<minor>\d+)(?: sm_(?P<target>\d+)(?P<specific>a?))?"
)


def _needs(texts: Iterable[str]) -> Iterator[Need]:
    for text in texts:
        match = _NEED.fullmatch(text)
        if match is None:
            raise ValueError(f"'{text}' says no version")
        version = int(match["major"]), int(match["minor"])
        choices = [word.split("|") for word in (match["words"] or "").split()]
        for words in product(*choices):
            yield Need(frozenset(words), version, int(match["target"] or 0), bool(match["specific"]))
