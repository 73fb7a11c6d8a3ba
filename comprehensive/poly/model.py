"""The results of the polyhedral analyses: plain values over polynomials, no isl object leaves the package.

Everything is said in *virtual coordinates* of an array: a declared array has one coordinate per subscript; a
linearised subscript ``c[i*N + j]`` of row length N has two, (i, j), and ``weights`` lead back to the subscripts
written in C: ``subscript[d] = sum(weights[d][k] * coordinate[k])``.

Polynomials speak of scalars of the nest and of iterators by their names; in a :class:`Constraint`, ``@k`` stands
for the k-th virtual coordinate.  A symbol that is not a C identifier is an integer division of scalars and is
named by its C text, ``(N)/(2)``: print it in parentheses, evaluate it as C does (:func:`c_text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.algebra.notation import sum_text
from comprehensive.diagnostics import GENERATED, Span
from comprehensive.metafork.ast import Expr


class Level(Enum):
    """The levels of a footprint: which iterators are fixed when it is taken."""

    GRID = "one thread block, all its serial loops"
    BLOCK = "one thread block, one step of the serial loops around the band"
    THREAD = "one thread, one step of the serial loops around the band"


def c_text(polynomial: Polynomial) -> str:
    """The polynomial (integer coefficients) as a C expression: powers written out, quotients in parentheses.

    ``2*s*B + 2``; ``j + ((N)/(2))``.  Types are the caller's business.
    """
    terms = polynomial.terms()
    if any(term.coefficient.denominator != 1 for term in terms):
        raise ValueError(f"{polynomial} has no integer coefficients")
    return sum_text(terms, lambda name, power: [name if name.isidentifier() else f"({name})"] * power)


class Constraint(Struct, frozen=True):
    """The constraint ``polynomial >= 0``, or ``== 0`` where ``equality``."""

    polynomial: Polynomial
    equality: bool = False


class Condition(Struct, frozen=True):
    """A disjunction of conjunctions; ``TRUE`` is the one empty conjunction."""

    pieces: tuple[tuple[Constraint, ...], ...]

    @property
    def is_true(self) -> bool:
        return () in self.pieces


TRUE = Condition(((),))


class Tile(Struct, frozen=True):
    """The box that one reference group of an array touches at a level.

    Its elements are ``origin[k] + stride[k] * x[k]`` with ``0 <= x[k] < extent[k]``.
    """

    array: str
    origin: tuple[Polynomial, ...]
    """A polynomial for each virtual coordinate, over scalars and the fixed iterators."""
    extent: tuple[Polynomial, ...]
    """Elements per virtual coordinate, over scalars only."""
    stride: tuple[Polynomial, ...]
    """Distance of neighbours per virtual coordinate; 1 unless all varying terms share a factor."""
    weights: tuple[tuple[Polynomial, ...], ...]
    """One row per C subscript, one column per virtual coordinate."""
    index: Mapping[int, tuple[Polynomial, ...]]
    """The virtual coordinates, over all iterators, of each reference of the group, by ``Access.ordinal``."""
    count: Polynomial | None
    """The exact number of distinct elements that the group touches in a full tile; None if it is not a union of
    disjoint boxes.  Allocation needs ``elements``, which is at least as large."""
    load: Condition | None
    """The elements of the box (in ``@k``) that must be copied in; None: nothing is read before it is
    written."""
    store: Condition | None
    """The elements of the box that must be copied out; None: nothing is written."""

    @property
    def elements(self) -> Polynomial:
        """Elements of the box: what is allocated."""
        product = Polynomial.constant(1)
        for extent in self.extent:
            product = product * extent
        return product


class Footprint(Struct, frozen=True):
    """All tiles of one array in one band at a level."""

    array: str
    level: Level
    tiles: tuple[Tile, ...]
    count: Polynomial | None
    """Distinct elements of the array touched in a full tile, exact, groups that overlap counted once."""
    direct: tuple[Opaque, ...] = ()
    """References that no tile serves: what they read may lie outside of the array where they do not happen."""

    @property
    def elements(self) -> Polynomial:
        """Elements allocated: the boxes of all groups."""
        total = Polynomial.constant(0)
        for tile in self.tiles:
            total = total + tile.elements
        return total


@dataclass(frozen=True, slots=True)
class Opaque:
    """The reason why an array has no footprint: ``term`` as written in the source, at ``span``.

    ``remedy`` is what would give it one.
    """

    array: str
    term: str
    reason: str
    span: Span = field(default=GENERATED, compare=False, repr=False)
    remedy: str | None = None


class Parallel(Struct, frozen=True):
    """Proved: no two conflicting iterations differ in the loop's iterator.  ``method`` says how."""

    method: str


@dataclass(frozen=True, slots=True)
class Witness:
    """Two iterations that touch one element, one of them writing, at concrete parameters."""

    array: str
    element: tuple[int, ...]
    parameters: Mapping[str, int]
    first: Mapping[str, int]
    second: Mapping[str, int]
    first_span: Span = field(default=GENERATED, compare=False, repr=False)
    second_span: Span = field(default=GENERATED, compare=False, repr=False)
    ordinals: tuple[int, int] = field(default=(-1, -1), compare=False, repr=False)
    """The numbers of the two references, as ``Access.ordinal``."""
    supposing: str | None = None
    """The condition on data under which the two meet, empty where it may be anything; None where no data decides."""


class Conflict(Struct, frozen=True):
    """Refuted: the loop carries a dependence."""

    witness: Witness


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither proved nor refuted; ``reason`` names the term that stood in the way."""

    reason: str
    span: Span = field(default=GENERATED, compare=False, repr=False)


Legality: TypeAlias = Parallel | Conflict | Undecided


@dataclass(frozen=True, slots=True)
class WithoutValue:
    """A read of a local variable, or of an ``element`` of a local array, that has no value at ``point``.

    With a ``condition`` that depends on data it has none where this is true, or, unless it ``holds``, false.
    """

    name: str
    element: tuple[int, ...]
    point: Mapping[str, int]
    condition: Expr | None = None
    holds: bool = True
    span: Span = field(default=GENERATED, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """A subscript outside the declared array at concrete parameters and iterators."""

    array: str
    subscript: int
    """The position of the subscript, from 0."""
    value: int
    extent: int
    point: Mapping[str, int]
    span: Span = field(default=GENERATED, compare=False, repr=False)
