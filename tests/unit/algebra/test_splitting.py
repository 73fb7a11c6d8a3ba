"""Cases: contradictions with a proof and points, against brute force on boxes; ranges, against all their points."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, System, at_least, at_most, equal, less
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.fourier import Branching, Fact, originals
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.proof import certificate
from comprehensive.algebra.ranges import box_of, frame_of, implied, measured_from, moved, narrowed, refuted
from comprehensive.algebra.refute import refute_by_elimination, refute_by_sign
from comprehensive.algebra.splitting import refute_by_splits, split
from comprehensive.algebra.symbols import is_integer_symbol
from tests.examples import examples
from tests.unit.algebra.strategies import all_hold, atoms, box, first_point, free_systems, machine_systems

B, s, x, y, z, Z, R = (Polynomial.symbol(name) for name in ("B", "s", "x", "y", "z", "Z_B", "R_B"))
low = tuple(at_least(symbol, 1) for symbol in (x, y, z))

# Inconsistent, and neither a sign nor elimination says so.
NEED_CASES = {
    "two ranges": (*low, less(x * y, x + y - 1)),
    "strips of a tree": (
        *low,
        at_least(Z, 2 * x * y * z**2 + 16 * z**4 + x * z + 1),
        less(Z, 2 * x * z**2 + 16 * z**4 + x * z + 1),
        at_least(x, 2),
        at_most(y, 40),
    ),
    "no square between": (*low, less(x**2, y**2), less(y**2, (x + 1) ** 2)),
    "third way to 1729": (equal(x**3 + y**3, 1729), less(1, x), less(x, 9), less(0, y)),
    "a cubic in a box": (at_least(x, -3), at_most(x, 6), equal(x**3 - 5 * x, 7)),
    "bounded from above": (at_most(x, 0), at_most(y, 0), equal(x * y + x, 2), at_least(y, -1)),
    "an order of symbols": (*low, less(x**2 * y + x * y**2, 2 * x * y * y), less(y, x + 1)),
    "a sign that says more of integers": (at_least(B**2, 1), equal(B, 6 * B * x), at_least(x**2, 1)),
    "a share": (
        less(0, Polynomial.symbol("P_a")),
        at_least(x, 1),
        at_most(Polynomial.symbol("P_a") * x + x, 1),
    ),
}


def is_proof(found: Fact) -> bool:
    return proves_contradiction(certificate(found), found.sources, is_integer_symbol)


@pytest.mark.parametrize("name", NEED_CASES)
def test_contradictions_that_need_ranges_or_cases_are_found_with_a_proof(name: str) -> None:
    found = refute_by_splits(NEED_CASES[name], 40_000)
    assert found is not None
    assert set(found.sources) <= set(NEED_CASES[name])
    assert is_proof(found)
    assert first_point(found.sources, range(-3, 5)) is None


def test_some_of_these_are_decided_by_nothing_else() -> None:
    hard = [
        name
        for name, given in NEED_CASES.items()
        if refute_by_sign(given) is None and refute_by_elimination(given) is None
    ]
    assert len(hard) >= 5
    assert isinstance(split(NEED_CASES["no square between"], 40_000), Fact)


def test_a_proof_by_cases_has_both_of_them_and_its_core_has_neither() -> None:
    found = refute_by_splits(NEED_CASES["no square between"], 40_000)
    assert found is not None
    assert isinstance(found.reason, Branching)
    assert certificate(found).cases is not None
    assert found.reason.first not in found.sources
    assert found.reason.first in found.reason.left.sources
    assert found.reason.second in found.reason.right.sources


@settings(max_examples=examples(150), deadline=None)
@given(machine_systems | free_systems)
def test_answers_agree_with_brute_force(system: System) -> None:
    given_atoms = system.all_atoms
    found = split(given_atoms, 4_000)
    if isinstance(found, Fact):
        assert found.atom.truth is False
        assert set(found.sources) <= set(given_atoms)
        assert is_proof(found)
        assert first_point(found.sources, range(-2, 4)) is None
    elif found is not None:
        assert is_integral(found)
        assert system.holds(found)
        assert set(found) == set(system.symbols)


def test_boxes_are_always_decided_when_there_is_work_enough() -> None:
    wall = [atom for symbol in (x, y) for atom in (at_least(symbol, -2), at_most(symbol, 3))]
    for number in range(-12, 13):
        atoms_ = (*wall, equal(x**2 - 3 * x * y + y, number))
        witness = first_point(atoms_, range(-2, 4))
        found = split(atoms_, 200_000)
        assert found is not None
        assert isinstance(found, Fact) is (witness is None)


def test_little_work_decides_nothing_wrongly() -> None:
    for work in range(0, 3_000, 500):
        found = split((*low, equal(x**2 + y**2, 3 * z**2 + 5 * x * y + 1), at_least(x, 50)), work)
        assert found is None or not isinstance(found, Fact) or is_proof(found)
    assert split(NEED_CASES["no square between"], 0) is None


# --- ranges


bounds = st.tuples(st.integers(-3, 2), st.integers(0, 4))
boxes = st.fixed_dictionaries({"B": bounds, "s": bounds, "x": bounds, "Z_B": bounds})


def walls(spans: dict[str, tuple[int, int]]) -> list[Atom]:
    return [
        atom
        for name, (lower, width) in spans.items()
        for atom in (
            at_least(Polynomial.symbol(name), lower),
            at_most(Polynomial.symbol(name), lower + width),
        )
    ]


@settings(max_examples=examples(200), deadline=None)
@given(atoms, boxes)
def test_ranges_hold_at_every_point_of_the_box(atom: Atom, spans: dict[str, tuple[int, int]]) -> None:
    span = box_of(originals(walls(spans)))
    frame = frame_of(span)
    fact = Fact(atom, (atom,))
    form = moved(atom.polynomial, frame)
    assert form is not None
    names = atom.symbols
    inside = [
        point
        for point in box(names, range(-3, 7))
        if all(spans[name][0] <= point[name] <= sum(spans[name]) for name in names)
    ]
    refutation = refuted(fact, form, frame)
    if refutation is not None:
        assert not any(all_hold([atom], point) for point in inside)
        assert is_proof(refutation)
    if implied(fact, form, frame):
        assert all(all_hold([atom], point) for point in inside)
    for name in names:
        cut = narrowed(fact, form, name, span, frame)
        if cut is not None:
            assert all(all_hold([cut.kept], point) for point in inside if all_hold([atom], point))
            assert not any(all_hold([cut.kept, cut.closed], point) for point in inside)
            assert is_proof(cut.proof)
            assert set(cut.proof.sources) <= {atom, cut.closed, *walls(spans)}


def test_a_range_is_exact_where_terms_pull_in_one_direction() -> None:
    span = box_of(originals([at_least(x, 1), at_most(x, 5), at_least(y, 1), at_most(y, 10)]))
    frame = frame_of(span)

    def fails(atom: Atom) -> bool:
        form = moved(atom.polynomial, frame)
        return form is not None and refuted(Fact(atom, (atom,)), form, frame) is not None

    assert fails(at_least(x * y, 51))
    assert not fails(at_least(x * y, 50))
    atom = at_least(x * y, 40)
    form = moved(atom.polynomial, frame)
    assert form is not None
    cut = narrowed(Fact(atom, (atom,)), form, "y", span, frame)
    assert cut is not None
    assert (cut.kept, cut.closed) == (at_least(y, 8), at_most(y, 7))


def test_an_order_of_symbols_is_an_origin_unless_it_is_circular() -> None:
    facts = originals([at_least(x, 1), at_least(y, 1)])
    frame = frame_of(box_of(facts))
    above = at_least(y, x)
    measured = measured_from(frame, "y", Fact(above, (above,)))
    assert measured is not None
    form = moved(y * y - x * x, measured)
    assert form is not None
    assert all(value > 0 for value in form.values())
    assert measured_from(measured, "x", Fact(at_least(x, y), (at_least(x, y),))) is None
    assert measured_from(frame, "y", Fact(at_least(y, z), (at_least(y, z),))) is None
    assert moved(y + Fraction(1, 2), measured) == {(("x", 1),): 1, (("y", 1),): 1, (): Fraction(3, 2)}
