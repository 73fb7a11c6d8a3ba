"""Integer sets over named dimensions: rows of coefficients in, sets and rows out.  The only module with islpy.

A row is ``({dimension: coefficient}, constant, is_equality)`` and means ``sum + constant >= 0`` (``== 0``).
Example: ``{0 <= x < n}`` over ``("n", "x")`` has the rows ``({"x": 1}, 0, False)`` and ``({"n": 1, "x": -1}, -1,
False)``; projected onto ``("n",)`` it is ``{n >= 1}``.

Everything is a set dimension, parameters too.  islpy swallows exceptions that a callback raises, so that no
callback is used here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import islpy  # pyright: ignore[reportMissingTypeStubs]

isl: Any = islpy

Row = tuple[Mapping[str, int], int, bool]
_MOST_PIECES = 12
_Frozen = tuple[tuple[tuple[int, int], ...], int, bool]


class IslSet:
    """An integer set over ``names``."""

    __slots__ = ("_set", "names")

    def __init__(self, names: tuple[str, ...], isl_set: Any) -> None:
        self.names = names
        self._set = isl_set

    @staticmethod
    def of(names: Sequence[str], rows: Sequence[Row]) -> IslSet:
        """The set of all integer points that satisfy the rows."""
        position = {name: i for i, name in enumerate(names)}
        return IslSet(tuple(names), _build(len(names), _freeze(position, rows)))

    @property
    def is_empty(self) -> bool:
        return bool(self._set.is_empty())

    def project(self, keep: Sequence[str]) -> IslSet:
        """The shadow on the dimensions ``keep``, in their order here."""
        result = self._set
        for position in reversed(range(len(self.names))):
            if self.names[position] not in keep:
                result = result.project_out(isl.dim_type.set, position, 1)
        return IslSet(tuple(n for n in self.names if n in keep), result)

    def union(self, other: IslSet) -> IslSet:
        return IslSet(self.names, self._set.union(other._set))

    def intersect(self, other: IslSet) -> IslSet:
        return IslSet(self.names, self._set.intersect(other._set))

    def is_subset(self, other: IslSet) -> bool:
        return bool(self._set.is_subset(other._set))

    def coalesced(self) -> IslSet:
        """The same set with fewer pieces; never before counting, it may undo disjointness of boxes."""
        return IslSet(self.names, self._set.coalesce())

    def grown(self) -> IslSet:
        """The same set as fewer, overlapping pieces: each grows by others as long as it gets no more faces."""
        pieces: list[Any] = list(self._set.compute_divs().remove_redundancies().get_basic_sets())
        if not 1 < len(pieces) <= _MOST_PIECES:
            return self
        large: list[Any] = []
        for piece in pieces:
            for other in pieces:
                both = isl.Set.from_basic_set(piece).union(isl.Set.from_basic_set(other)).coalesce()
                merged = list(both.get_basic_sets())
                if len(merged) == 1 and _faces(merged[0]) <= max(_faces(piece), _faces(other)):
                    piece = merged[0]
            if any(piece.is_subset(kept) for kept in large):
                continue
            large = [kept for kept in large if not kept.is_subset(piece)]
            large.append(piece)
        result = isl.Set.empty(self._set.get_space())
        for piece in large:
            result = result.union(isl.Set.from_basic_set(piece))
        return IslSet(self.names, result)

    def pieces(self) -> tuple[tuple[Row, ...], ...] | None:
        """The set as a union of conjunctions of rows; None where one needs a quantifier."""
        found: list[tuple[Row, ...]] = []
        for basic in self._set.compute_divs().remove_redundancies().get_basic_sets():
            if basic.dim(isl.dim_type.div) > 0:
                return None
            rows: list[Row] = []
            for constraint in basic.get_constraints():
                coefficients = {
                    name: value
                    for i, name in enumerate(self.names)
                    if (value := _int(constraint.get_coefficient_val(isl.dim_type.set, i))) != 0
                }
                constant = _int(constraint.get_constant_val())
                rows.append((coefficients, constant, bool(constraint.is_equality())))
            found.append(tuple(sorted(rows, key=lambda r: (sorted(r[0].items()), r[1], r[2]))))
        return tuple(sorted(found, key=lambda p: [(sorted(r[0].items()), r[1], r[2]) for r in p]))


def is_empty(names: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether no integer point satisfies the rows; remembered."""
    position = {name: i for i, name in enumerate(names)}
    return _is_empty(len(names), _freeze(position, rows))


def _freeze(position: Mapping[str, int], rows: Sequence[Row]) -> tuple[_Frozen, ...]:
    frozen = {
        (tuple(sorted((position[n], c) for n, c in coefficients.items())), constant, equality)
        for coefficients, constant, equality in rows
    }
    return tuple(sorted(frozen))


@lru_cache(maxsize=16384)
def _is_empty(dimensions: int, rows: tuple[_Frozen, ...]) -> bool:
    return bool(_build(dimensions, rows).is_empty())


def _build(dimensions: int, rows: tuple[_Frozen, ...]) -> Any:
    # Seven times as fast as text for isl's parser.
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, dimensions)
    local = isl.LocalSpace.from_space(space)
    parts = [isl.BasicSet.universe(space)]
    for terms, constant, equality in rows:
        make = isl.Constraint.alloc_equality if equality else isl.Constraint.alloc_inequality
        constraint = make(local).set_constant_val(_val(constant))
        for position, coefficient in terms:
            constraint = constraint.set_coefficient_val(isl.dim_type.set, position, _val(coefficient))
        parts.append(isl.BasicSet.from_constraint(constraint))
    # isl goes through all that a set has whenever a constraint is added to it: halves are put together.
    while len(parts) > 1:
        pairs = zip_longest(parts[::2], parts[1::2])
        parts = [one if other is None else one.intersect(other) for one, other in pairs]
    return isl.Set.from_basic_set(parts[0])


def _faces(basic: Any) -> int:
    return int(basic.n_constraint())


def _val(number: int) -> Any:
    # islpy converts integers of 64 bits only.
    return isl.Val(str(number), isl.DEFAULT_CONTEXT) if abs(number) >= 2**62 else number


def _int(value: Any) -> int:
    return int(value.to_python())
