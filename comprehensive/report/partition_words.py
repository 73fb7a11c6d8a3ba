"""The words of partitions for numbers, equations and cases, in text, JSON and pictures alike.

number(Fraction(33, 2))               # "33/2"
equation(atom, ("s", "B"), ("Z_B",))  # "2*s*B + 2 = Z_B"
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial, Relation
from comprehensive.algebra.regions import Cell, Plane
from comprehensive.algebra.roots import Algebraic, RealNumber, approximate
from comprehensive.algebra.thresholds import Line
from comprehensive.optimize.partition import Partition


class Titled(Struct, frozen=True):
    """A partition and what it is of, as in `jacobi1d on sm_90`."""

    title: str
    partition: Partition
    unchecked: tuple[str, ...] = ()
    """Asserts of the program, quoted, of which the partition says nothing."""


def heading(titled: Titled) -> str:
    """The title and the values that were put in."""
    values = ", ".join(f"{name} = {value}" for name, value in titled.partition.values.items())
    return f"{titled.title}{': ' if values else ''}{values}"


def number(value: RealNumber, symbol: str = "x") -> str:
    """A rational exactly, an algebraic number with six digits and what it is the root of."""
    if isinstance(value, Algebraic):
        return f"{decimal(value)} ({value.format(symbol)})"
    return str(value)


def decimal(value: RealNumber) -> str:
    """Return the number in decimals: integers in full, others with at most six significant digits."""
    near = approximate(value)
    return str(near) if near.denominator == 1 else f"{float(near):.6g}"


def equation(atom: Atom, order: tuple[str, ...], limits: tuple[str, ...]) -> str:
    """A counter and its limit, as in `2*s*B + 2 = Z_B`."""
    bound = Atom(atom.polynomial, Relation.GE)
    if not bound.is_bound_from_below(limits):
        bound = Atom(-atom.polynomial, Relation.GE)
    left, right = bound.format(order, limits).split(" <= ")
    return f"{right} = {left}" if left.isdecimal() else f"{left} = {right}"


def curve(partition: Partition, plane: Plane, polynomial: Polynomial) -> str:
    """The equation or equations of a boundary; that of an edge of the box is its own."""
    equations = next(each.equations for each in plane.boundaries if each.polynomial == polynomial)
    shown = equations or (Atom(polynomial, Relation.EQ),)
    return ", ".join(equation(atom, partition.order, partition.limits) for atom in shown)


def name(partition: Partition, choice: int | None) -> str:
    """Return what a choice is called, such as `leaf 2`."""
    if choice is None:
        return "against the assumptions"
    case = partition.cases[choice]
    return f"{case.kind} in line {case.index}" if case.kind == "assert" else f"{case.kind} {case.index}"


def condition(partition: Partition, choice: int | None) -> str:
    """The system of a case in one line."""
    if choice is None:
        return "no case holds"
    return ", ".join(partition.cases[choice].system.format(partition.order, partition.limits)) or "always"


def code(partition: Partition, choice: int | None) -> str:
    """Return what a case runs, such as `cached: a; decisions (3a) (4a) (1)`."""
    return "no variant" if choice is None else partition.cases[choice].code


def occurring(partition: Partition) -> tuple[int | None, ...]:
    """The choices that occur on an area, or on an interval of a line; leaves first, in the order of the tree."""
    divided = partition.divided
    if isinstance(divided, Line):
        found = {each.choice for each in divided.intervals if not each.is_point}
    else:
        found = {cell.choice for cell, _ in areas(divided)}
    return tuple(sorted(found, key=lambda choice: (choice is None, choice or 0)))


def areas(plane: Plane) -> Iterator[tuple[Cell, tuple[Fraction, Fraction]]]:
    """The two-dimensional cells, each with its rational sample."""
    for column in plane.columns:
        if column.is_point:
            continue
        for cell in column.cells:
            x, y = cell.sample
            if isinstance(x, Fraction) and isinstance(y, Fraction) and not cell.is_curve:
                yield cell, (x, y)


def example(partition: Partition, choice: int | None) -> str:
    """A point of a case, an integer one where a sample is: `B = 32, s = 4`."""
    divided = partition.divided
    points: list[dict[str, RealNumber]]
    if isinstance(divided, Line):
        points = [{divided.symbol: piece.sample} for piece in divided.pieces if piece.choice == choice]
    else:
        points = [
            dict(zip(divided.symbols, point, strict=True))
            for cell, point in areas(divided)
            if cell.choice == choice
        ]
    best = min(points, key=lambda point: not all(is_integer(value) for value in point.values()))
    return ", ".join(f"{symbol} = {number(value, symbol)}" for symbol, value in best.items())


def is_integer(value: RealNumber) -> bool:
    """Whether it is a whole number."""
    return isinstance(value, Fraction) and value.denominator == 1
