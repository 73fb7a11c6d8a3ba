"""Special registers: what a register that nobody declares holds, and between which threads it differs.

In: a name as operands have it, such as ``%tid.x``.  Out: a :class:`SpecialRegister`, None where it is none::

    special_register("%tid.x").varies == "lane"
    special_register("%ctaid.y").type == "u32"

The facts are in ``specs/ptx/special_registers.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NotRequired, TypeAlias, TypedDict

from comprehensive.data import fact_table

Varies: TypeAlias = Literal["lane", "warp", "block", "grid", "time"]


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """One that is read; ``%tid`` is a vector of four, ``%tid.x`` one value."""

    name: str
    type: str
    vector: int
    varies: Varies
    """The things between which the value differs: the lanes of a warp, the warps of a block, the blocks of a
    grid, grids; ``time``: it may differ between two reads, so that none may be moved, removed or merged."""
    min_version: tuple[int, int]
    min_target: int


class _Written(TypedDict):
    names: list[str]
    type: str
    varies: Varies
    needs: str
    vector: NotRequired[bool]


@cache
def special_registers() -> dict[str, SpecialRegister]:
    """All of them by name, those with components without."""
    rows: list[_Written] = fact_table("ptx/special_registers.toml")["register"]
    return {register.name: register for row in rows for register in _registers(row)}


@cache
def special_register(name: str) -> SpecialRegister | None:
    """The one of that name, with or without a component."""
    whole, dot, component = name.partition(".")
    found = special_registers().get(whole)
    if found is None or not dot:
        return found
    if found.vector == 1 or component not in ("x", "y", "z", "w", "r", "g", "b", "a"):
        return None
    return replace(found, name=name, vector=1)


def _registers(row: _Written) -> Iterator[SpecialRegister]:
    version, _, target = row["needs"].partition(" sm_")
    major, minor = version.split(".")
    for pattern in row["names"]:
        for name in _numbered(pattern):
            yield SpecialRegister(
                name=name,
                type=row["type"],
                vector=4 if row.get("vector") else 1,
                varies=row["varies"],
                min_version=(int(major), int(minor)),
                min_target=int(target or 0),
            )


def _numbered(pattern: str) -> list[str]:
    """Return the names of a pattern: ``%pm{0-7}`` is eight names."""
    match = re.fullmatch(r"(.*)\{(\d+)-(\d+)\}(.*)", pattern)
    if match is None:
        return [pattern]
    before, first, last, after = match.groups()
    return [f"{before}{number}{after}" for number in range(int(first), int(last) + 1)]
