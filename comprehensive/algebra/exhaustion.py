"""All points of a small box: atoms in, an integer point, atoms without one, or None out.

    x**2 + y**2 == 8633,  1 <= x <= 80,  70 <= y <= 90    -->   (52, 77)
    x**2 + y**2 == 8634,  1 <= x <= 80,  70 <= y <= 90    -->   no point: these atoms

What the atoms say of the ranges makes the box; `enumeration.py` goes through it.  That nothing was found is a proof,
but none that could be written down shortly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.domains import box
from comprehensive.algebra.enumeration import blocks
from comprehensive.algebra.points import Point, complete, is_integral, plan_for
from comprehensive.algebra.splitting import whole_box
from comprehensive.algebra.system import System


def exhaust(atoms: Sequence[Atom], most_points: int, most_runs: int = 1) -> Point | tuple[Atom, ...] | None:
    """A point, or atoms that have none; None where the box is not finite or holds more points than this.

    After the first, so many runs are spent on leaving atoms out of the core.
    """
    is_empty, point = _gone_through(atoms, most_points)
    if not is_empty:
        return point
    core = tuple(atoms)
    for atom in core[::-1][: most_runs - 1]:
        rest = tuple(other for other in core if other != atom)
        core = rest if _gone_through(rest, most_points)[0] else core
    return core


def _gone_through(atoms: Sequence[Atom], most_points: int) -> tuple[bool, Point | None]:
    """Return whether there is certainly no point, and a point where one was found."""
    found = whole_box(atoms)
    if found is None:
        return False, None
    ranges, demands = found
    if prod(max(high - low + 1, 0) for low, high in ranges.values()) > most_points:
        return False, None
    domains = {name: box(low, high) for name, (low, high) in ranges.items()}
    part = next(blocks(System((), demands), domains), None)
    if part is None:
        return True, None
    # What was eliminated can be added to any point, but not by `complete` where eliminated symbols meet in one atom.
    given = dict(zip(part.names, map(Fraction, next(iter(part))), strict=True))
    rest = [atom.substitute(given) for atom in atoms]
    plan = plan_for(rest)
    point = complete(plan, {name: Fraction(0) for name in plan.free})
    return False, {**given, **point} if point is not None and is_integral(point) else None
