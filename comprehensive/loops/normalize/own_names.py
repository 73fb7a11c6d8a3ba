"""Own names: of several variables of a body that have one name, all but the first get names of their own.

::

    if (c) { float t = a[i]; s += t; } else { float t = b[i]; s -= t; }
        -->  if (c) { float t = a[i]; s += t; } else { float t_1 = b[i]; s -= t_1; }

so that a declaration may leave its branch (`if_conversion.py`), and a name says which type it has.
"""

from __future__ import annotations

from functools import partial

from comprehensive.loops.traverse import rename
from comprehensive.metafork.ast import Declare, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import with_bodies


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
