"""Sinking: declarations in front of the last statement of a point, a condition, go into it where only it reads them.

::

    float s = 0;  if (j <= i) { for (k < n) s += a[k];  c[i][j] = s; }
        -->  if (j <= i) { float s = 0;  for (k < n) s += a[k];  c[i][j] = s; }

The condition is then one around the whole point.  Legal where the condition does not read what is declared, and nothing
in it declares that name again: nothing else stands between, and a declaration writes nothing else.
"""

from __future__ import annotations

from comprehensive.loops.access import names_read
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Declare, If, Stmt
from comprehensive.records import replace


def sunk(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with such declarations in the condition at its end, in their order."""
    *before, last = body or (None,)
    if not isinstance(last, If) or last.otherwise or not before:
        return body
    declared = [s for s in before if isinstance(s, Declare)]
    names = {s.name for s in declared}
    if len(declared) < len(before) or names & (names_read(last.condition) | declared_names(last.then)):
        return body
    return (replace(last, then=(*declared, *last.then)),)
