"""The functions with regions of a `.mf` text, and their parameters, read without the tool under test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.literals import scalar_type
from tests.fuzz.nodes import Group, Node, is_group, split, text_of, tokens_of

_TYPE_WORDS = frozenset(["int", "unsigned", "signed", "short", "long", "char", "float", "double"])


@dataclass(frozen=True, slots=True)
class Parameter:
    """``dims`` are the declared extents as text, an open one empty; None for a scalar or a plain pointer."""

    name: str
    type: ScalarType
    is_data: bool
    dims: tuple[str, ...] | None
    declared: str


@dataclass(frozen=True, slots=True)
class Function:
    """A definition with a region; ``at`` is the number of its name among the nodes of the file."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Group
    at: int

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.is_data)

    @property
    def data(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.is_data)


def functions(nodes: Sequence[Node]) -> tuple[Function, ...]:
    """All definitions that hold a region. ValueError for parameters that are not understood."""
    found: list[Function] = []
    for at in range(len(nodes) - 2):
        name, listed, body = nodes[at : at + 3]
        if not isinstance(name, str) or not isinstance(listed, Group) or not isinstance(body, Group):
            continue
        if listed.opening == "(" and body.opening == "{" and "meta_schedule" in tokens_of(body.items):
            parts = split(listed.items, ",")
            parameters = tuple(_parameter(part) for part in parts if part and part != ("void",))
            found.append(Function(name, parameters, body, at))
    return tuple(found)


def _parameter(part: tuple[Node, ...]) -> Parameter:
    words = [node for node in part if isinstance(node, str)]
    dims = [node for node in part if is_group(node, "[")]
    rows = [node for node in part if is_group(node, "(")]
    kind = scalar_type([w for w in words if w in _TYPE_WORDS])
    if kind is None:
        raise ValueError(f"parameter '{text_of(part)}' has another type")
    extents = tuple(_extent(d) for d in dims if isinstance(d, Group))
    if rows:
        (row,) = rows
        assert isinstance(row, Group)
        name = next(w for w in tokens_of(row.items) if w not in ("*", "const", "restrict"))
        return Parameter(name, kind, True, ("", *extents), text_of(part))
    name = words[-1]
    if name in _TYPE_WORDS:
        raise ValueError(f"parameter '{text_of(part)}' has no name")
    if "*" in words:
        return Parameter(name, kind, True, None, text_of(part))
    return Parameter(name, kind, bool(extents), extents or None, text_of(part))


def _extent(dimension: Group) -> str:
    return text_of([n for n in dimension.items if n not in ("static", "const", "restrict")])
