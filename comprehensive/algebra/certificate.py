"""Proofs that atoms contradict each other, and a checker that needs no solver: lines in, yes or no out.

A certificate is a list of lines, each an atom with the reason why it holds wherever the given atoms do::

    0  Z_B - 2*s*B - 2 >= 0     given
    1  2*B + 2 - Z_B > 0        given
    2  s - 1 >= 0               given
    3  B - 1 >= 0               given
    4  0 > 0                    1 * line 0 + 1 * line 1 + 2 * (line 2 * line 3) + 2 * line 2

A sum of products of lines with positive coefficients is what Handelman's and Farkas' theorems speak of; products may
hold further lines, so that a proof by elimination is written down as it was found.  Squares need no reason.  A line
may also be another one rounded: where all symbols are integers, `2*x - 1 > 0` is `x - 1 >= 0`.  A certificate may end
in two cases, in each of which one more atom is given; together the cases say nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.rounding import rounded


class Product(Struct, frozen=True):
    """A product: `coefficient` times the polynomials of earlier lines, given by their numbers."""

    coefficient: Fraction
    factors: tuple[int, ...]


class Given(Struct, frozen=True):
    """The atom is one of those that contradict each other."""


class Sum(Struct, frozen=True):
    """The polynomial of the line is the sum of the products."""

    products: tuple[Product, ...]


class Rounded(Struct, frozen=True):
    """The line is what an earlier one says of integers."""

    line: int


class Squared(Struct, frozen=True):
    """The line says that the square of `root` is not negative."""

    root: Polynomial


Reason = Given | Sum | Rounded | Squared


class Line(Struct, frozen=True):
    atom: Atom
    reason: Reason


class Cases(Struct, frozen=True):
    """A distinction of cases, `first` and its complement, each with its proof.

    Every point satisfies one of them (every integer point, where both are rounded).
    """

    first: Atom
    second: Atom
    proofs: tuple[Certificate, Certificate]


class Certificate(Struct, frozen=True):
    """Lines of which the last is false, or a distinction of cases after the lines."""

    lines: tuple[Line, ...]
    cases: Cases | None = None


def proves_contradiction(
    certificate: Certificate, atoms: Collection[Atom], is_integer: Callable[[str], bool]
) -> bool:
    """Whether the certificate shows that no point satisfies the atoms, with integers where `is_integer` says so."""
    return _holds(certificate, frozenset(atoms), is_integer)


def _holds(certificate: Certificate, given: frozenset[Atom], is_integer: Callable[[str], bool]) -> bool:
    lines = certificate.lines
    for number, line in enumerate(lines):
        match line.reason:
            case Given():
                follows = line.atom in given
            case Rounded(earlier):
                follows = 0 <= earlier < number and rounded(lines[earlier].atom, is_integer) == line.atom
            case Squared(root):
                follows = line.atom == Atom(root * root, Relation.GE)
            case Sum(products):
                follows = _is_sum(line.atom, products, lines[:number])
        if not follows:
            return False
    if certificate.cases is None:
        return bool(lines) and lines[-1].atom.truth is False
    first, second = certificate.cases.first, certificate.cases.second
    if not _cover(first, second, is_integer):
        return False
    known = given | {line.atom for line in lines}
    left, right = certificate.cases.proofs
    return _holds(left, known | {first}, is_integer) and _holds(right, known | {second}, is_integer)


def _is_sum(atom: Atom, products: Sequence[Product], lines: Sequence[Line]) -> bool:
    total = Polynomial(0)
    is_strict = False
    for product in products:
        if not all(0 <= factor < len(lines) for factor in product.factors):
            return False
        relations = [lines[factor].atom.relation for factor in product.factors]
        is_zero = Relation.EQ in relations
        if product.coefficient <= 0 and not is_zero:
            return False
        if atom.relation is Relation.EQ and not is_zero:
            return False
        is_strict = is_strict or all(relation is Relation.GT for relation in relations)
        term = Polynomial(product.coefficient)
        for factor in product.factors:
            term = term * lines[factor].atom.polynomial
        total = total + term
    return total == atom.polynomial and (atom.relation is not Relation.GT or is_strict)


def _cover(first: Atom, second: Atom, is_integer: Callable[[str], bool]) -> bool:
    """Whether one of the two atoms holds everywhere."""
    if Relation.EQ in (first.relation, second.relation):
        return False
    if first.relation is second.relation is Relation.GE and first.polynomial == -second.polynomial:
        return True
    if second in first.complements():
        return True
    return second in (rounded(complement, is_integer) for complement in first.complements())
