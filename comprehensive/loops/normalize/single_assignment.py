"""Single assignment: integers that choices change step by step are one choice, where they are read.

::

    int y = i + u;  y = y < 0 ? 0 : y;  y = y >= m ? m - 1 : y;  s += a[y][j];
        -->  s += a[(i + u < 0 ? 0 : i + u) >= m ? m - 1 : i + u < 0 ? 0 : i + u][j];

A scalar of an iteration is several, each assigned once and then inlined (`inlined.py`).  Only few choices are, so that
expressions stay short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from comprehensive.loops.normalize.inlined import inlined
from comprehensive.loops.traverse import rename
from comprehensive.metafork.ast import Assign, Conditional, Declare, For, If, Name, ScalarType, Stmt
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import assigned_scalars, reads_data

MOST = 4
"""The choices in a row, above which they stay assignments."""


def single_assigned(
    body: Sequence[Stmt], types: Mapping[str, ScalarType], name: Callable[[str], str]
) -> tuple[Stmt, ...]:
    """Return the body with such scalars inlined; ``types`` are those of all names in it, ``name`` gives free ones."""
    found = tuple(
        with_bodies(s, lambda inner: single_assigned(inner, types, name)) if isinstance(s, For | If) else s
        for s in body
    )
    for declared in found:
        if isinstance(declared, Declare) and _is_chosen(declared, found):
            versions, known = _versions(declared, found, name)
            known = {**types, **dict.fromkeys(known, declared.type)}
            found = inlined(versions, known)
    return found


def _is_chosen(declared: Declare, body: Sequence[Stmt]) -> bool:
    """Whether the declared scalar is an integer that changes in the body alone, by choices between what is no data."""
    changes = [s for s in body if isinstance(s, Assign) and s.target == Name(declared.name)]
    inside = [s for s in body if isinstance(s, For | If) and declared.name in assigned_scalars((s,))]
    values = [s.value for s in changes]
    return (
        declared.type.is_integer
        and declared.initial is not None
        and not reads_data(declared.initial)
        and not inside
        and 0 < len(changes) <= MOST
        and all(s.operator == "=" and isinstance(s.value, Conditional) for s in changes)
        and not any(map(reads_data, values))
    )


def _versions(
    declared: Declare, body: Sequence[Stmt], name: Callable[[str], str]
) -> tuple[tuple[Stmt, ...], list[str]]:
    """Return the body with a scalar for each value that a declared one has, and their names."""
    scalar = declared.name
    result: list[Stmt] = []
    names: list[str] = []
    now = scalar
    for statement in body:
        (renamed,) = rename((statement,), {scalar: now}) if now != scalar else (statement,)
        if isinstance(statement, Assign) and statement.target == Name(scalar):
            assert isinstance(renamed, Assign)
            now = name(scalar)
            names.append(now)
            renamed = Declare(declared.type, now, initial=renamed.value, span=statement.span)
        result.append(renamed)
    return tuple(result), names
