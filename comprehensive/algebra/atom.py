"""One constraint `polynomial >= 0`, `> 0` or `== 0`: two sides in, a normal form that prints and negates out.

>>> s, B, Z = (Polynomial.symbol(name) for name in ("s", "B", "Z_B"))
>>> at_most(2 * s * B + 2, Z).format(("s", "B"), isolate=("Z_B",))
'2*s*B + 2 <= Z_B'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from comprehensive.algebra.notation import Term, format_terms
from comprehensive.algebra.polynomial import Polynomial, Scalar

Side = Polynomial | Scalar


class Relation(Enum):
    """The relation of an atom's polynomial to zero."""

    GE = ">="
    GT = ">"
    EQ = "=="


_MIRRORED = {Relation.GE: "<=", Relation.GT: "<", Relation.EQ: "=="}


@dataclass(frozen=True, slots=True, repr=False)
class Atom:
    """The constraint `polynomial REL 0`, always in normal form.

    The polynomial is primitive (coprime integer coefficients). Inequalities keep its sign; the leading
    coefficient of an equation is positive.
    """

    polynomial: Polynomial
    relation: Relation

    def __post_init__(self) -> None:
        normal = self.polynomial.primitive()
        if self.relation is Relation.EQ and normal and normal.terms()[0].coefficient < 0:
            normal = -normal
        object.__setattr__(self, "polynomial", normal)

    def __hash__(self) -> int:
        # Atoms are hashed all the time, and the hash of an enumeration takes longer than that of the polynomial.
        return hash(self.polynomial)

    @staticmethod
    def make(polynomial: Polynomial | Scalar, relation: Relation) -> Atom:
        """The atom `polynomial relation 0` in normal form."""
        return Atom(polynomial if isinstance(polynomial, Polynomial) else Polynomial(polynomial), relation)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names that occur, sorted."""
        return self.polynomial.symbols

    @property
    def truth(self) -> bool | None:
        """Whether the atom holds when no symbol occurs in it; None otherwise."""
        return self.holds({}) if self.polynomial.is_constant else None

    @property
    def sort_key(self) -> tuple[object, ...]:
        """A key that orders atoms the same way in every run."""
        return (self.polynomial.sort_key, self.relation.value)

    def negate(self) -> Atom:
        """The complement. ValueError for an equation, whose complement is a union of two atoms."""
        match self.relation:
            case Relation.GE:
                return Atom(-self.polynomial, Relation.GT)
            case Relation.GT:
                return Atom(-self.polynomial, Relation.GE)
            case Relation.EQ:
                raise ValueError(f"{self} has no complement that is one atom; use complements()")
            case _:
                assert_never(self.relation)

    def complements(self) -> tuple[Atom, ...]:
        """Disjoint atoms whose union is the complement: one for an inequality, two for an equation."""
        if self.relation is Relation.EQ:
            return Atom(self.polynomial, Relation.GT), Atom(-self.polynomial, Relation.GT)
        return (self.negate(),)

    def holds(self, point: Mapping[str, Scalar]) -> bool:
        """Whether the atom is true at a point. KeyError names a symbol that the point does not give."""
        sign = self.polynomial.sign_at(point)
        match self.relation:
            case Relation.GE:
                return sign >= 0
            case Relation.GT:
                return sign > 0
            case Relation.EQ:
                return sign == 0
            case _:
                assert_never(self.relation)

    def substitute(self, values: Mapping[str, Polynomial | Scalar]) -> Atom:
        """Replaces symbols, all at once."""
        return Atom(self.polynomial.substitute(values), self.relation)

    @property
    def sign(self) -> str:
        """The relation sign between the `positive_sides`."""
        return _MIRRORED[self.relation]

    def positive_sides(self) -> tuple[Polynomial, Polynomial]:
        """The sides `(left, right)`, whose coefficients are not negative: `left <= right` (`<`, `==`).

        With non-negative symbols both sides can be evaluated in saturating unsigned arithmetic.
        """
        terms = self.polynomial.terms()
        left = _opposite(tuple(term for term in terms if term.coefficient < 0))
        right = tuple(term for term in terms if term.coefficient > 0)
        return Polynomial.from_terms(left), Polynomial.from_terms(right)

    def is_bound_from_below(self, isolate: Sequence[str]) -> bool:
        """Whether `format` prints the isolated symbols on the right: the atom bounds them from below."""
        return self._sides(isolate)[2]

    def format(self, order: Sequence[str] = (), isolate: Sequence[str] = ()) -> str:
        """Return the atom as the paper writes it: `Z_B < 2*s*B + 2`.

        The terms with a symbol of `isolate` stand alone on one side. Where these terms have both signs, or
        there are none, each side gets the terms of one sign. `order` is that of `Polynomial.format`.
        """
        left, right = self.sides(isolate)
        return f"{format_terms(left, order)} {self.sign} {format_terms(right, order)}"

    def sides(self, isolate: Sequence[str] = ()) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        """Return the terms on both sides of `sign`, as `format` prints them."""
        left, right, _ = self._sides(isolate)
        return left, right

    def _sides(self, isolate: Sequence[str]) -> tuple[tuple[Term, ...], tuple[Term, ...], bool]:
        terms = self.polynomial.terms()
        wanted = set(isolate)
        alone = tuple(term for term in terms if any(name in wanted for name, _ in term.powers))
        rest = tuple(term for term in terms if term not in alone)
        if alone and self.relation is Relation.EQ and all(term.coefficient > 0 for term in alone):
            return alone, _opposite(rest), False
        if alone and all(term.coefficient > 0 for term in alone):
            return _opposite(rest), alone, True
        if alone and all(term.coefficient < 0 for term in alone):
            return _opposite(alone), rest, False
        left, right = self.positive_sides()
        return left.terms(), right.terms(), False

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return f"Atom({str(self)!r})"


def at_most(left: Side, right: Side) -> Atom:
    """Return the atom `left <= right`."""
    return Atom(_difference(right, left), Relation.GE)


def less(left: Side, right: Side) -> Atom:
    """Return the atom `left < right`."""
    return Atom(_difference(right, left), Relation.GT)


def at_least(left: Side, right: Side) -> Atom:
    """Return the atom `left >= right`."""
    return at_most(right, left)


def equal(left: Side, right: Side) -> Atom:
    """Return the atom `left == right`."""
    return Atom(_difference(left, right), Relation.EQ)


def _difference(left: Side, right: Side) -> Polynomial:
    return (left if isinstance(left, Polynomial) else Polynomial(left)) - right


def _opposite(terms: Sequence[Term]) -> tuple[Term, ...]:
    return tuple(Term(-term.coefficient, term.powers) for term in terms)
