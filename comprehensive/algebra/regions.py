"""A plane of parameters: systems and the ranges of two symbols in, cells with exact boundary curves out.

    >>> x, y = Polynomial.symbol("x"), Polynomial.symbol("y")
    >>> disc, rest = System((), (at_most(x * x + y * y, 4),)), System()
    >>> plane = divide_plane([disc, rest], ("x", "y"), Box(Fraction(0), Fraction(3), Fraction(0), Fraction(3)), {})
    >>> [str(critical.value) for critical in plane.critical]
    ['2']
    >>> plane.choice(Fraction(1), Fraction(1)), plane.choice(Fraction(2), Fraction(1))
    (0, 1)

A cylindrical decomposition, as far as a picture needs one. Where no discriminant, no leading coefficient and no
resultant of the boundary polynomials (Collins, McCallum) vanishes, the branches of the curves lie over one another in
the same order: one sample x decides for all between two critical values. The lines over critical values, rational or
not, are divided exactly as well, so that the columns are the whole box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import combinations, pairwise

from msgspec import Struct

from comprehensive.algebra.atom import Atom
from comprehensive.algebra.boundaries import Boundary, Specialized, specialize
from comprehensive.algebra.fibers import heights, sign_at
from comprehensive.algebra.polynomial import Polynomial, Scalar
from comprehensive.algebra.roots import RealNumber, ascending, between, compare, real_roots
from comprehensive.algebra.sign_sets import factors_of
from comprehensive.algebra.system import System


class Box(Struct, frozen=True):
    """The part of the plane that is looked at, edges included. ValueError where it is empty."""

    x_low: Fraction
    x_high: Fraction
    y_low: Fraction
    y_high: Fraction

    def __post_init__(self) -> None:
        if not (self.x_low < self.x_high and self.y_low < self.y_high):
            raise ValueError(
                f"the box from {self.x_low} to {self.x_high} by {self.y_low} to {self.y_high} is empty"
            )


class Branch(Struct, frozen=True):
    """y as a function of x: the `index`-th real root, from 0 upwards, of an irreducible polynomial in y."""

    polynomial: Polynomial
    index: int


class Reason(Enum):
    """The reasons why a value of x is critical."""

    VERTICAL = "vertical boundary"
    ASYMPTOTE = "a branch comes from or goes to infinity"
    TURN = "two branches of one curve meet"
    CROSSING = "two curves meet"


class Critical(Struct, frozen=True):
    """A value of x where the order of the branches may change, and the boundary polynomials that are the reason."""

    value: RealNumber
    reasons: tuple[tuple[Reason, tuple[Polynomial, ...]], ...]


class Cell(Struct, frozen=True):
    """A set of points where no atom changes its truth: between two neighbouring branches, or on one.

    `below` and `above` are the branches that bound it, several where they coincide; both are the same for a cell that
    is (part of) a curve. `sample` is a point of the cell: rational in x but over an irrational critical value, in y
    but on a curve.
    """

    below: tuple[Branch, ...]
    above: tuple[Branch, ...]
    sample: tuple[RealNumber, RealNumber]
    choice: int | None

    @property
    def is_curve(self) -> bool:
        """Whether the cell is part of a curve."""
        return self.below == self.above


class Column(Struct, frozen=True):
    """The cells, upwards, over an open interval of x, or over the one point where `low` is `high`.

    `sample` is rational but over an irrational point.
    """

    low: RealNumber
    high: RealNumber
    sample: RealNumber
    cells: tuple[Cell, ...]

    @property
    def is_point(self) -> bool:
        """Whether there is one x only."""
        return self.low == self.high


class Plane(Struct, frozen=True):
    """The box, divided: `boundaries` are the curves, its own edges included; columns stand from left to right."""

    symbols: tuple[str, str]
    box: Box
    boundaries: tuple[Boundary, ...]
    critical: tuple[Critical, ...]
    columns: tuple[Column, ...]

    def choice(self, x: RealNumber, y: RealNumber) -> int | None:
        """The choice at a point, read off the cell that it lies in. ValueError outside the box."""
        return self.cell(x, y).choice

    def cell(self, x: RealNumber, y: RealNumber) -> Cell:
        """The cell that a point lies in. ValueError outside the box."""
        for low, high, cell in self.over(x):
            below, above = compare(low, y), compare(high, y)
            if below == above == 0 if cell.is_curve else below < 0 < above:
                return cell
        raise ValueError(f"the point {x}, {y} is not in the box")

    def over(self, x: RealNumber) -> tuple[tuple[RealNumber, RealNumber, Cell], ...]:
        """The cells over x, upwards, each with its lower and upper end there. ValueError outside the box."""
        for column in self.columns:
            low, high = compare(column.low, x), compare(column.high, x)
            if low == high == 0 if column.is_point else low < 0 < high:
                return tuple(
                    (self.height(cell.below[0], x), self.height(cell.above[0], x), cell)
                    for cell in column.cells
                )
        raise ValueError(f"{x} is not in the box")

    def height(self, branch: Branch, x: RealNumber) -> RealNumber:
        """y on a branch, exactly. IndexError where the branch does not exist."""
        return heights(branch.polynomial, self.symbols, x)[branch.index]


def divide_plane(
    systems: Sequence[System], symbols: tuple[str, str], box: Box, values: Mapping[str, Scalar]
) -> Plane:
    """The choice everywhere in the box; ValueError as of `specialize`."""
    given = specialize(systems, symbols, values)
    boundaries = _with_edges(given.boundaries, symbols[1], box)
    critical = tuple(
        each
        for each in _critical(tuple(boundary.polynomial for boundary in boundaries), symbols)
        if compare(box.x_low, each.value) < 0 < compare(box.x_high, each.value)
    )
    cuts = [box.x_low, *(each.value for each in critical), box.x_high]

    def column(low: RealNumber, high: RealNumber, sample: RealNumber) -> Column:
        return Column(low, high, sample, tuple(_cells(given, boundaries, box, sample)))

    columns: list[Column] = []
    for low, high in pairwise(cuts):
        columns.append(column(low, low, low))
        columns.append(column(low, high, between(low, high)))
    columns.append(column(box.x_high, box.x_high, box.x_high))
    return Plane(symbols, box, boundaries, critical, tuple(columns))


def _cells(given: Specialized, boundaries: Sequence[Boundary], box: Box, x: RealNumber) -> Iterator[Cell]:
    """The cells over x, upwards."""
    branches = _branches_at(boundaries, (given.symbols[0], given.symbols[1]), x)
    cuts = ascending(y for y in branches if compare(box.y_low, y) <= 0 <= compare(box.y_high, y))
    for low, high in pairwise(cuts):
        middle = between(low, high)
        yield Cell(branches[low], branches[low], (x, low), _choice(given, x, low, branches[low], middle))
        yield Cell(branches[low], branches[high], (x, middle), _choice(given, x, middle, (), middle))
    top = branches[box.y_high]
    yield Cell(top, top, (x, box.y_high), _choice(given, x, box.y_high, top, box.y_high))


def _choice(
    given: Specialized, x: RealNumber, y: RealNumber, branches: Sequence[Branch], near: Fraction
) -> int | None:
    """The first system that holds at a point on these branches; none is from an irrational y, exclusive, to `near`."""
    vanishing = {branch.polynomial for branch in branches}
    height = y if isinstance(y, Fraction) else near

    def holds(atom: Atom) -> bool:
        if height != y and any(factor in vanishing for factor, _ in factors_of(atom.polynomial)[1]):
            sign = 0
        else:
            # What is not 0 at an irrational y has the sign there that it has next to it.
            sign = sign_at(atom.polynomial.substitute({given.symbols[1]: height}), x)
        return Atom(Polynomial(sign), atom.relation).truth is True

    for index, atoms in enumerate(given.systems):
        if atoms is not None and all(map(holds, atoms)):
            return index
    return None


def _with_edges(boundaries: Iterable[Boundary], name: str, box: Box) -> tuple[Boundary, ...]:
    """The boundaries and the lower and upper edge of the box, which branches must not cross unnoticed."""
    known = {boundary.polynomial: boundary for boundary in boundaries}
    for height in (box.y_low, box.y_high):
        edge = (Polynomial.symbol(name) - height).primitive()
        known.setdefault(edge, Boundary(edge, ()))
    return tuple(known[polynomial] for polynomial in sorted(known, key=lambda each: each.sort_key))


def _critical(polynomials: Sequence[Polynomial], symbols: tuple[str, str]) -> tuple[Critical, ...]:
    """Every critical x, ascending, with all its reasons."""
    reasons: dict[RealNumber, list[tuple[Reason, tuple[Polynomial, ...]]]] = {}

    def note(reason: Reason, projected: Polynomial, *sources: Polynomial) -> None:
        for root in real_roots(projected):
            reasons.setdefault(root, []).append((reason, sources))

    name = symbols[1]
    curves = [polynomial for polynomial in polynomials if polynomial.degree(name)]
    for polynomial in polynomials:
        degree = polynomial.degree(name)
        if degree == 0:
            note(Reason.VERTICAL, polynomial, polynomial)
            continue
        note(Reason.ASYMPTOTE, polynomial.coefficient(name, degree), polynomial)
        if degree > 1:
            note(Reason.TURN, polynomial.discriminant(name), polynomial)
    # Irreducible and different: neither resultants nor discriminants are 0 everywhere.
    for one, other in combinations(curves, 2):
        note(Reason.CROSSING, one.resultant(other, name), one, other)
    return tuple(Critical(value, tuple(reasons[value])) for value in ascending(reasons))


def _branches_at(
    boundaries: Iterable[Boundary], symbols: tuple[str, str], x: RealNumber
) -> Mapping[RealNumber, tuple[Branch, ...]]:
    """The heights of all curves above x with the branches that are there."""
    found: dict[RealNumber, list[Branch]] = {}
    for boundary in boundaries:
        if not boundary.polynomial.degree(symbols[1]):
            continue  # a vertical line
        for index, height in enumerate(heights(boundary.polynomial, symbols, x)):
            found.setdefault(height, []).append(Branch(boundary.polynomial, index))
    return {height: tuple(branches) for height, branches in found.items()}
