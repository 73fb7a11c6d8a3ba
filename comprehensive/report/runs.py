"""The visible parts of a plane: exact cells in, cells joined upwards, and the curves between different choices out.

A critical value at which the joined cells do not change, such as a crossing inside one leaf, is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.algebra.regions import Branch, Column, Critical, Plane, Reason


class Run(Struct, frozen=True):
    """Neighbouring cells of a column with one choice, from branch to branch; `first` and `last` are their places."""

    choice: int | None
    below: Branch
    above: Branch
    first: int
    last: int


def runs(column: Column) -> tuple[Run, ...]:
    """The column, upwards; what only a curve between two cells has is not seen."""
    areas = [(place, cell) for place, cell in enumerate(column.cells) if not cell.is_curve]
    found: list[Run] = []
    for choice, group in groupby(areas, key=lambda item: item[1].choice):
        joined = list(group)
        (first, lowest), (last, highest) = joined[0], joined[-1]
        # Over an open interval different irreducible polynomials have no branch in common.
        found.append(Run(choice, lowest.below[0], highest.above[0], first, last))
    return tuple(found)


def open_columns(plane: Plane) -> tuple[Column, ...]:
    """The columns that have an area, from left to right."""
    return tuple(column for column in plane.columns if not column.is_point)


def seen_critical(plane: Plane) -> tuple[Critical, ...]:
    """The critical values where the runs on the left are not those on the right, with the reasons that can be seen."""
    seen = tuple(critical for critical, left, right in _neighbours(plane) if _shape(left) != _shape(right))
    known = {
        *_curves_between_runs(plane),
        *(each.polynomial for each in plane.boundaries if not each.equations),
    }
    return tuple(Critical(critical.value, _reasons(critical, known)) for critical in seen)


def seen_curves(plane: Plane) -> tuple[Polynomial, ...]:
    """The boundary polynomials along which the choice changes, in the order of the boundaries."""
    seen = {*_curves_between_runs(plane)}
    for critical in seen_critical(plane):
        seen |= {sources[0] for reason, sources in critical.reasons if reason is Reason.VERTICAL}
    return tuple(each.polynomial for each in plane.boundaries if each.polynomial in seen)


def _neighbours(plane: Plane) -> Iterator[tuple[Critical, Column, Column]]:
    columns = open_columns(plane)
    return zip(plane.critical, columns, columns[1:], strict=False)


def _shape(column: Column) -> tuple[tuple[int | None, Branch, Branch], ...]:
    return tuple((run.choice, run.below, run.above) for run in runs(column))


def _curves_between_runs(plane: Plane) -> Iterator[Polynomial]:
    for column in open_columns(plane):
        yield from (run.above.polynomial for run in runs(column)[:-1])


def _reasons(critical: Critical, known: set[Polynomial]) -> tuple[tuple[Reason, tuple[Polynomial, ...]], ...]:
    """Return the reasons about curves that are seen; all of them where there are no such reasons."""
    seen = tuple(
        (reason, sources)
        for reason, sources in critical.reasons
        if reason is Reason.VERTICAL or known.issuperset(sources)
    )
    return seen or critical.reasons
