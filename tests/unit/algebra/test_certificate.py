"""Certificates: every one that is found checks, none that has been tampered with does."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given

from comprehensive.algebra import (
    Atom,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    Relation,
    System,
    at_least,
    at_most,
    equal,
    less,
    smt,
)
from comprehensive.algebra.certificate import (
    Cases,
    Certificate,
    Given,
    Line,
    Product,
    Rounded,
    Squared,
    Sum,
    proves_contradiction,
)
from comprehensive.algebra.handelman import refute_by_products
from comprehensive.algebra.proof import certificate
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.splitting import refute_by_splits
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.records import replace
from tests.unit.algebra.strategies import all_hold, atoms, box, free_systems, machine_systems, random_atom

B, s, x, Z, P, Q = (Polynomial.symbol(name) for name in ("B", "s", "x", "Z_B", "P_occ", "P_bw"))
space = (at_least(s, 1), at_least(B, 1), at_least(Z, 0))


def contradiction(*atoms: Atom) -> Inconsistent:
    verdict = PortfolioSolver(use_smt=False).check(System((), atoms))
    assert isinstance(verdict, Inconsistent)
    return verdict


def is_proof(proof: Certificate | None, core: tuple[Atom, ...]) -> bool:
    return proof is not None and proves_contradiction(proof, core, is_integer_symbol)


EXAMPLES = {
    "two bounds": (*space, at_least(Z, 2 * s * B + 2), less(Z, 2 * B + 2)),
    "one atom": (*space, less(s * B, 1)),
    "a chain": (*space, at_most(B, 4), less(Z, 2 * B + 2), at_least(Z, 30 * s)),
    "a slope that is positive by its bounds": (at_least(B, 1), at_least(Z * (2 * B - 1), 3), at_most(Z, 0)),
    "an equation": (*space, equal(Z, 3 * B), less(Z, 2 * B)),
    "an equation from the other side": (*space, equal(Z, 3 * B), less(4 * B, Z)),
    "an equation that is positive": (*space, equal(Z + B, 0)),
    "no integer between": (less(5, x), less(x, 6)),
    "no integer after a crossing": (less(5, x + 2 * s), at_most(2 * s, 4), less(x, 2), at_most(2, s)),
    "parity": (equal(2 * x + 4 * s, 7),),
    "a false constant": (less(B, B),),
    "shares": (less(1, 2 * P), less(P, Fraction(1, 2))),
    "bounds that are derived": (at_least(x, B + 3), at_least(B, 2), at_most(x * s, 4), at_least(s, 1)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_refuted_without_a_solver_has_a_proof(name: str) -> None:
    verdict = contradiction(*EXAMPLES[name])
    assert is_proof(verdict.certificate, verdict.core)
    assert not is_proof(verdict.certificate, verdict.core[1:])


PRODUCTS = {
    "linear": (at_least(P + Q, 3), at_most(2 * P + Q, 3), at_most(P + 2 * Q, 2)),
    "a square": (less(P * P + Q * Q, 2 * P * Q),),
    "hyperbola and line": (at_least(P * Q, 5), at_most(P + Q, 4), at_least(P, 0), at_least(Q, 0)),
    "strict": (less(P * Q, P), at_least(Q, 1), less(0, P)),
    "equations": (equal(P * Q, 1), equal(P, 2 * Q - 2 * Q + 3), less(Q, Fraction(1, 4)), at_least(Q, 0)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_sums_of_products_are_found_and_have_a_proof(name: str) -> None:
    found = refute_by_products(PRODUCTS[name], 2, smt.Limits())
    assert found is not None
    assert is_proof(certificate(found), found.sources)
    for atom in found.sources:
        rest = tuple(other for other in found.sources if other != atom)
        assert not is_proof(certificate(found), rest)


def test_no_sum_of_products_refutes_what_has_a_point() -> None:
    assert (
        refute_by_products((at_least(P * Q, 4), at_most(P + Q, 4), at_least(P, 0)), 2, smt.Limits()) is None
    )


@given(machine_systems | free_systems)
def test_every_certificate_checks_and_each_of_its_lines_holds_where_the_given_ones_do(system: System) -> None:
    verdict = PortfolioSolver(use_smt=False).check(system)
    if not isinstance(verdict, Inconsistent):
        return
    proof = verdict.certificate
    assert proof is not None
    assert is_proof(proof, verdict.core)
    for position, line in enumerate(proof.lines):
        before = [earlier.atom for earlier in proof.lines[:position]]
        names = sorted({name for atom in (*before, line.atom) for name in atom.symbols})
        if isinstance(line.reason, Given) or len(names) > 3:
            continue
        for point in box(names, range(-2, 4)):
            assert not all_hold(before, point) or all_hold([line.atom], point)


def tampered(proof: Certificate, random: Random) -> Iterator[Certificate]:
    """Certificates that are wrong in one place each."""
    lines = proof.lines
    if proof.cases is not None:
        yield from tampered_cases(proof, proof.cases, random)
        return
    yield Certificate(lines[:-1])
    for position, line in enumerate(lines):
        other = random_atom(random)
        if other not in [entry.atom for entry in lines]:
            yield Certificate((*lines[:position], replace(line, atom=other), *lines[position + 1 :]))
        match line.reason:
            case Given():
                yield Certificate(
                    (*lines[:position], Line(line.atom, Rounded(position)), *lines[position + 1 :])
                )
            case Rounded():
                yield Certificate((*lines[:position], Line(line.atom, Given()), *lines[position + 1 :]))
            case Squared():
                yield Certificate((*lines[:position], Line(line.atom, Given()), *lines[position + 1 :]))
            case Sum(products):
                for number, product in enumerate(products):
                    for wrong in (
                        replace(product, coefficient=-product.coefficient),
                        replace(product, coefficient=product.coefficient + 1),
                        replace(product, factors=(*product.factors, position)),
                    ):
                        changed = Sum((*products[:number], wrong, *products[number + 1 :]))
                        yield Certificate(
                            (*lines[:position], Line(line.atom, changed), *lines[position + 1 :])
                        )


def tampered_cases(proof: Certificate, cases: Cases, random: Random) -> Iterator[Certificate]:
    left, right = cases.proofs
    first, second = cases.first, cases.second
    yield Certificate(proof.lines)
    yield replace(proof, cases=replace(cases, first=Atom(first.polynomial - 1, Relation.GE)))
    yield replace(proof, cases=replace(cases, second=Atom(second.polynomial - 1, Relation.GE)))
    yield replace(proof, cases=replace(cases, first=equal(first.polynomial, 0)))
    yield replace(proof, cases=replace(cases, first=second, second=first))
    yield replace(proof, cases=replace(cases, proofs=(right, left)))
    yield replace(proof, cases=replace(cases, proofs=(left, left)))
    yield replace(proof, cases=replace(cases, proofs=(right, right)))
    for wrong in tampered(left, random):
        yield replace(proof, cases=replace(cases, proofs=(wrong, right)))
    for wrong in tampered(right, random):
        yield replace(proof, cases=replace(cases, proofs=(left, wrong)))


CASES = {
    "a tree of values": (
        *(at_least(symbol, -1) for symbol in (B, s)),
        *(at_most(symbol, 2) for symbol in (B, s)),
        equal(B * B - 3 * B * s + s, -2),
    ),
    "an order": (*space, less(B * B, s * s), less(s * s, (B + 1) ** 2)),
    "ranges": (*space, equal(B**3 + s**3, 1729), less(1, B), less(B, 9)),
    "shares": (less(0, P), at_least(B, 1), at_most(P * B + B, 1)),
}


def test_no_proof_by_cases_survives_a_change() -> None:
    random = Random(0)
    rejected = 0
    for name, example in CASES.items():
        found = refute_by_splits(example, 100_000)
        assert found is not None, name
        assert is_proof(certificate(found), found.sources)
        mutants = list(tampered(certificate(found), random))
        for wrong in (*mutants[:8], *random.sample(mutants, min(100, len(mutants)))):
            assert not is_proof(wrong, found.sources), (name, wrong)
            rejected += 1
    assert rejected > 300


def test_no_certificate_survives_a_change() -> None:
    random = Random(0)
    rejected = 0
    found = [(verdict.certificate, verdict.core) for e in EXAMPLES.values() if (verdict := contradiction(*e))]
    facts = [refute_by_products(example, 2, smt.Limits()) for example in PRODUCTS.values()]
    found += [(certificate(fact), fact.sources) for fact in facts if fact is not None]
    for proof, core in found:
        assert proof is not None
        for wrong in tampered(proof, random):
            assert not is_proof(wrong, core), wrong
            rejected += 1
    assert rejected > 200


def test_cases_must_cover_every_point() -> None:
    lower = Certificate((Line(less(x * x, 0), Given()),))
    split = Cases(at_least(x, 0), less(x, 0), (lower, lower))
    assert not is_proof(Certificate((), split), (less(x * x, 0),))  # neither case is proved
    false = less(x, x)
    closed = Certificate((Line(false, Given()),))
    for second, covers in (
        (less(x, 3), True),
        (at_most(x, 2), True),
        (at_most(x, 3), True),
        (less(x, 2), False),
        (at_most(x, 1), False),
        (at_least(x, 4), False),
    ):
        split = Certificate((), Cases(at_least(x, 3), second, (closed, closed)))
        assert is_proof(split, (false,)) is covers
    shares = Cases(at_least(P, 3), at_most(P, 2), (closed, closed))
    assert not is_proof(Certificate((), shares), (false,))


@given(atoms)
def test_rounding_keeps_exactly_the_integer_points(atom: Atom) -> None:
    whole = rounded(atom, is_integer_symbol)
    for point in box(atom.symbols, range(-2, 4)):
        assert whole.holds(point) is atom.holds(point)
    assert rounded(whole, is_integer_symbol) == whole
    assert whole.relation is not Relation.GT or whole.polynomial.is_constant


def test_sums_must_be_of_the_right_kind() -> None:
    positive, zero = at_least(x, 1), equal(s, 2)
    lines = (Line(positive, Given()), Line(zero, Given()))

    def follows(atom: Atom, *products: Product) -> bool:
        false = Line(less(x, x), Given())
        return is_proof(Certificate((*lines, Line(atom, Sum(products)), false)), (positive, zero, false.atom))

    assert follows(at_least(2 * x + s, 4), Product(Fraction(2), (0,)), Product(Fraction(1), (1,)))
    assert follows(at_least(x - s, -1), Product(Fraction(1), (0,)), Product(Fraction(-1), (1,)))
    assert not follows(at_most(x, 1), Product(Fraction(-1), (0,)))
    assert not follows(less(1, x), Product(Fraction(1), (0,)))
    assert not follows(equal(x, 1), Product(Fraction(1), (0,)))
    assert follows(equal((x - 1) * (s - 2), 0), Product(Fraction(1), (0, 1)))
