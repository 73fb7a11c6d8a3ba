"""A partition for programs: cells in, plain data out.

Cases are referred to by their position in `cases`, boundaries by theirs in `boundaries`; a case `null` is where an
assumption is violated. A number is `{"value": "33/2", "decimal": "16.5"}` or, where it is irrational, the `root`-th
real root, from 0, of the polynomial with the given integer `coefficients`, constant term first, and the only one that
lies `between` two rationals. `specs/schema/partition.json` says all that.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from comprehensive.algebra import Polynomial
from comprehensive.algebra.regions import Branch, Column, Plane
from comprehensive.algebra.roots import Algebraic, RealNumber
from comprehensive.algebra.thresholds import Line
from comprehensive.optimize.partition import Partition
from comprehensive.report.partition_words import Titled, condition, decimal, equation

Json: TypeAlias = dict[str, Any]

_NARROW = Fraction(1, 1 << 10)


def partition_document(titled: Titled) -> Json:
    """The partition with all exact cells, as dictionaries, lists, text and whole numbers."""
    partition = titled.partition
    divided = partition.divided
    shape = (
        {"line": _line(partition, divided)}
        if isinstance(divided, Line)
        else {"plane": _plane(partition, divided)}
    )
    return {
        "title": titled.title,
        "values": {k: v if isinstance(v, int) else str(v) for k, v in partition.values.items()},
        "cases": [
            {
                "kind": case.kind,
                "index": case.index,
                "code": case.code,
                "condition": condition(partition, position),
            }
            for position, case in enumerate(partition.cases)
        ],
        "unchecked": list(titled.unchecked),
        **shape,
    }


def _line(partition: Partition, line: Line) -> Json:
    return {
        "symbol": line.symbol,
        "thresholds": [
            {
                "value": _number(each.value),
                "below": each.below,
                "at": each.at,
                "above": each.above,
                "equations": [equation(atom, partition.order, partition.limits) for atom in each.equations],
            }
            for each in line.thresholds
        ],
        "pieces": [
            {
                "low": _number(piece.low),
                "high": _number(piece.high),
                "has_low": piece.has_low,
                "has_high": piece.has_high,
                "sample": _number(piece.sample),
                "case": piece.choice,
            }
            for piece in line.pieces
        ],
    }


def _plane(partition: Partition, plane: Plane) -> Json:
    position = {boundary.polynomial: index for index, boundary in enumerate(plane.boundaries)}
    return {
        "symbols": list(plane.symbols),
        "boundaries": [
            {
                "polynomial": boundary.polynomial.format(partition.order),
                "equations": [
                    equation(atom, partition.order, partition.limits) for atom in boundary.equations
                ],
            }
            for boundary in plane.boundaries
        ],
        "critical": [
            {
                "value": _number(critical.value),
                "reasons": [
                    {"reason": reason.value, "boundaries": [position[source] for source in sources]}
                    for reason, sources in critical.reasons
                ],
            }
            for critical in plane.critical
        ],
        "columns": [_column(column, position) for column in plane.columns],
    }


def _column(column: Column, position: dict[Polynomial, int]) -> Json:
    return {
        "low": _number(column.low),
        "high": _number(column.high),
        "sample": _number(column.sample),
        "cells": [
            {
                "below": _branches(cell.below, position),
                "above": _branches(cell.above, position),
                "sample": [_number(value) for value in cell.sample],
                "case": cell.choice,
            }
            for cell in column.cells
        ],
    }


def _branches(branches: Iterable[Branch], position: dict[Polynomial, int]) -> list[Json]:
    return [{"boundary": position[branch.polynomial], "branch": branch.index} for branch in branches]


def _number(value: RealNumber) -> Json:
    if isinstance(value, Algebraic):
        narrow = value.refined(_NARROW)
        return {
            "root": value.index,
            "coefficients": list(value.coefficients),
            "between": [str(narrow.low), str(narrow.high)],
            "decimal": decimal(value),
        }
    return {"value": str(value), "decimal": decimal(value)}
