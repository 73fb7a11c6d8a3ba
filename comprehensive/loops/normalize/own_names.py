"""Own names: of several variables of a body that have one name, all but the first get names of their own.

::

    if (c) { float t = a[i]; s += t; } else { float t = b[i]; s -= t; }
        -->  if (c) { float t = a[i]; s += t; } else { float t_1 = b[i]; s -= t_1; }

so that a declaration may leave its branch (`if_conversion.py`), and a name says which type it has.  While subscripts
are read a name says how far a loop goes, too::

    for (i < n) s += a[i]; for (i < m) t += b[i];    -->  for (i < n) s += a[i]; for (i_1 < m) t += b[i_1];
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from comprehensive.loops.traverse import rename
from comprehensive.metafork.ast import Declare, For, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.records import replace


def with_own_names(body: tuple[Stmt, ...], name: Namer) -> tuple[Stmt, ...]:
    """Return the body with a name for each variable that it declares."""
    return _named(body, name, set())


def _named(body: tuple[Stmt, ...], name: Namer, seen: set[str]) -> tuple[Stmt, ...]:
    result: list[Stmt] = []
    rest = body
    while rest:
        if isinstance(rest[0], Declare):
            if rest[0].name in seen:
                rest = rename(rest, {rest[0].name: name(rest[0].name)})
            seen |= {s.name for s in rest[:1] if isinstance(s, Declare)}
        result.append(with_bodies(rest[0], partial(_named, name=name, seen=seen)))
        rest = rest[1:]
    return tuple(result)


def with_own_loops(
    bodies: Sequence[tuple[Stmt, ...]], name: Namer
) -> tuple[list[tuple[Stmt, ...]], dict[str, str]]:
    """Return the bodies with an iterator for each header of a loop, and the names that the new ones had."""
    headers: dict[For[Stmt], str] = {}
    before: dict[str, str] = {}

    def named(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(one, body))

    def one(statement: Stmt) -> Stmt:
        if isinstance(statement, For) and statement.type is not None:
            header = replace(statement, body=())
            if header not in headers:
                is_free = all(other.iterator != header.iterator for other in headers)
                headers[header] = header.iterator if is_free else name(header.iterator)
                if not is_free:
                    before[headers[header]] = header.iterator
            if headers[header] != statement.iterator:
                (statement,) = rename((statement,), {statement.iterator: headers[header]})
        return with_bodies(statement, named)

    return [named(body) for body in bodies], before
