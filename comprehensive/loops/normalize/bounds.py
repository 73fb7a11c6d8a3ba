"""Conditions as upper bounds of a coordinate: a comparison in, the limit that the coordinate is less than out.

::

    y < n               -->   y < n
    (unsigned long)y + 1 <= m - 1   -->   y < m - 1
    (unsigned)v*B + t < w           -->   y < w          for y = v*B + t, if nothing wraps around before the last y

C has to compare as mathematics does: sides wrap around nowhere, and no negative number becomes a large one.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.conversions import in_type, without_conversions
from comprehensive.loops.integers import Ring
from comprehensive.loops.intervals import Interval, sum_of, values_of
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.counters import LARGEST_COUNT, is_uniform, ranges_of
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, ScalarType
from comprehensive.metafork.scalar_types import common_type, promote

_FARTHEST = Interval(0, ScalarType.INT.highest**2)
"""The range of a coordinate before any condition: in a number of blocks of a number of threads."""


class Bound(Struct, frozen=True):
    """``name < limit``.  With ``wraps`` that holds only if the coordinate is less than ``LARGEST_COUNT`` anyway."""

    name: str
    limit: Expr
    wraps: bool


def upper_bound(nest: Nest, condition: Expr, names: Sequence[str]) -> Bound | None:
    """The bound that a condition is for one of the coordinates; None where it is none."""
    uniform = {s.name for s in nest.scalars}
    if not is_uniform(condition, uniform):
        return None
    match condition:
        case Binary(operator="<" | "<=" | ">" | ">=" as relation, left=left, right=right):
            pass
        case _:
            return None
    types = environment_of(nest)
    if not all(type_of(side, types).is_integer for side in (left, right)):
        return None
    small, large = (left, right) if relation in ("<", "<=") else (right, left)
    for farthest in (_FARTHEST, Interval(0, LARGEST_COUNT - 1)):
        ring = Ring()
        ranges = {**ranges_of(nest), **dict.fromkeys(names, farthest)}
        sides = [_exact(side, names, types, ranges) for side in (small, large)]
        common = common_type(type_of(left, types), type_of(right, types))
        if None in sides:
            continue
        if common.wraps and not all(values_of(e, types, ranges).within(common) for e in (small, large)):
            continue
        low, high = (ring.read(side) for side in sides if side is not None)
        room = high - low + (1 if relation in ("<=", ">=") else 0)
        found = [name for name in names if name in ring.names_in(room)]
        if len(found) != 1 or room.degree(found[0]) != 1 or room.coefficient(found[0], 1) != -1:
            return None
        rest = room.coefficient(found[0], 0)
        if found[0] in ring.names_in(rest):
            return None
        return Bound(found[0], _limit(ring.write(rest), types), farthest is not _FARTHEST)
    return None


def _exact(
    side: Expr, names: Sequence[str], types: dict[str, ScalarType], ranges: dict[str, Interval]
) -> Expr | None:
    """A side as a polynomial of the value that C computes; None where it may wrap around.

    What is the same for all points may: the host computes it as C does.
    """
    kind = promote(type_of(side, types))
    plain = without_conversions(side, types)
    if not kind.wraps or sum_of(plain, types, ranges).within(kind):
        return plain
    return None if names_read(side) & set(names) else Cast(kind, side, side.span)


def _limit(limit: Expr, types: dict[str, ScalarType]) -> Expr:
    """The limit in a type in which a difference of sizes does not wrap around."""
    return in_type(limit, ScalarType.LONG, types) if promote(type_of(limit, types)).wraps else limit
