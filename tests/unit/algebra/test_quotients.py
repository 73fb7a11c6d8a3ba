"""Floors, ceilings and remainders: their definitions and the solver on them, against Python's integers on boxes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.least import least_of
from comprehensive.algebra import (
    Atom,
    Consistent,
    Defined,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    RationalFunction,
    System,
    at_least,
    at_most,
    ceiling_of,
    equal,
    floor_of,
    is_integer_symbol,
    less,
    proves_contradiction,
    with_quotients,
)
from comprehensive.algebra.comparison import DenominatorError
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.quotients import SignsOf, monotone
from comprehensive.algebra.sign_sets import Signs
from tests.examples import examples
from tests.unit.algebra.strategies import all_hold, polynomials

B, N, R, T, r, s = (Polynomial.symbol(name) for name in ("B", "N", "R", "T", "r", "s"))
positive = tuple(at_least(symbol, 1) for symbol in (B, N, R, T, r, s))
known = Signs(positive).of
nothing_known = Signs(()).of


def rounded_up(value: Polynomial, unit: Polynomial | int, signs: SignsOf) -> Defined:
    """The least multiple of a unit that is not below the value: registers of a warp, granules of shared memory."""
    steps = ceiling_of(RationalFunction(value, unit), signs)
    return Defined(steps.value * unit, steps.quotients)


def remainder_of(value: Polynomial, divisor: Polynomial | int, signs: SignsOf) -> Defined:
    """Return the value less the largest multiple of the divisor in it: 0 just where the divisor divides it."""
    steps = floor_of(RationalFunction(value, divisor), signs)
    return Defined(value - steps.value * divisor, steps.quotients)


def solutions(found: Defined, point: Mapping[str, int | Fraction], around: int) -> list[int]:
    """The values of the one new symbol at which the definition holds."""
    (name,) = {name for atom in found.definition for name in atom.symbols} - set(point)
    assert is_integer_symbol(name)
    return [
        value for value in range(around - 3, around + 4) if all_hold(found.definition, {**point, name: value})
    ]


# --- definitions

numerators = polynomials.map(lambda p: p.substitute({"x": N, "Z_B": R}))
denominators = st.sampled_from((2, 3, 256, B, s * B, s * B + 1, 3 * B, -B, Fraction(5, 2) * s))
naturals = st.fixed_dictionaries(dict.fromkeys(("B", "N", "R", "s"), st.integers(1, 40)))


@given(numerators, denominators, naturals)
def test_a_definition_has_the_rounded_value_as_its_only_solution(numerator, denominator, point):
    value = RationalFunction(numerator, denominator)
    for define, rounding in ((floor_of, floor), (ceiling_of, ceil)):
        found, expected = define(value, known), rounding(value.evaluate(point))
        if found.definition:
            assert solutions(found, point, expected) == [expected]
        else:
            assert found.value.evaluate(point) == expected


@given(numerators, st.sampled_from((8, 256, B, s * B, B + 2)), naturals)
def test_multiples_and_remainders_are_those_of_python(numerator, divisor, point):
    value = numerator.evaluate(point)
    by = Polynomial(1) * divisor
    step = by.evaluate(point)
    expected = {rounded_up: ceil(value / step) * step, remainder_of: value % step}
    for define, wanted in expected.items():
        found = define(numerator, divisor, known)
        names = {name for atom in found.definition for name in atom.symbols} - set(point)
        rounding = ceil if define is rounded_up else floor
        at = {**point, **dict.fromkeys(names, rounding(value / step))}
        assert all_hold(found.definition, at)
        assert found.value.evaluate(at) == wanted


def test_shares_are_rounded_too() -> None:
    share = Polynomial.symbol("P_x")
    found = ceiling_of(64 * share, Signs((less(0, share),)).of)
    (name,) = found.value.symbols
    assert is_integer_symbol(name)
    assert solutions(found, {"P_x": Fraction(1, 3)}, 22) == [22]


def test_what_is_an_integer_by_itself_needs_no_symbol() -> None:
    assert floor_of(2 * s * B + 1, known) == Defined(2 * s * B + 1)
    assert ceiling_of(RationalFunction(s * B * N, s), known) == Defined(B * N)
    assert floor_of(RationalFunction(-7, 2), known) == Defined(Polynomial(-4))
    assert ceiling_of(RationalFunction(-7, 2), known) == Defined(Polynomial(-3))
    assert remainder_of(2 * s * B, 2 * B, known) == Defined(Polynomial(0))


def test_the_least_value_is_given_where_signs_tell_it() -> None:
    def least(found: Defined) -> list[Atom]:
        return [atom for atom in found.definition if atom.symbols == found.value.symbols]

    ceiling = ceiling_of(RationalFunction(s * B, 32), known)
    assert least(ceiling) == [at_least(ceiling.value, 1)]
    threads = floor_of(
        RationalFunction(Polynomial(64), ceiling.value), Signs((*positive, *ceiling.definition)).of
    )
    assert least(threads) == [at_least(threads.value, 0)]
    grown = floor_of(RationalFunction(N + s * B, s * B), known)
    assert least(grown) == [at_least(grown.value, 1)]
    assert least(floor_of(RationalFunction(N - B, s), known)) == []


# --- names


def test_equal_quotients_share_a_symbol_and_others_do_not() -> None:
    assert str(floor_of(RationalFunction(N * B, s * B**2), known).value) == "floor(N/(B*s))"
    assert floor_of(RationalFunction(2 * N, 2 * s), known) == floor_of(RationalFunction(N, s), known)
    warps = ceiling_of(RationalFunction(T, 32), known)
    nested = floor_of(RationalFunction(R, warps.value), Signs((*positive, *warps.definition)).of)
    assert str(nested.value) == "floor(R/ceil(T/32))"
    pairs = [(N, s), (N + 1, s), (N, s * B), (N, s + B), (N, 3), (N, 3 * s), (3 * N, s), (N, s**2), (N**2, s)]
    values = [RationalFunction(above, below) for above, below in pairs]
    names = [str(define(value, known).value) for define in (floor_of, ceiling_of) for value in values]
    assert len(set(names)) == len(names)
    assert not any(name.isidentifier() for name in names)


def test_a_symbol_that_could_make_two_names_alike_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'N \+ B'"):
        floor_of(RationalFunction(Polynomial.symbol("N + B"), 2), known)


# --- denominators


def test_a_denominator_that_may_be_0_is_refused() -> None:
    for divisor in (B, B - 1, s * B):
        with pytest.raises(DenominatorError):
            floor_of(RationalFunction(N, divisor), nothing_known)


@pytest.mark.parametrize("value", [-3, 2])
def test_a_denominator_of_either_sign_is_one(value) -> None:
    either = Signs((less(0, B**2),)).of

    def signs(polynomial: Polynomial) -> frozenset[int]:
        return frozenset({1, -1}) if polynomial == B else either(polynomial)

    found = floor_of(RationalFunction(N, B), signs)
    point = {"N": 7, "B": value}
    assert solutions(found, point, 7 // value) == [7 // value]


# --- the solver


def verdict(assumptions: tuple[Atom, ...], *atoms: Atom) -> bool:
    """Whether there is an integer point; what the portfolio says is checked."""
    system = System(assumptions, atoms)
    match PortfolioSolver().check(system):
        case Consistent(point) if is_integral(point):
            assert all_hold(system.all_atoms, point)
            return True
        case Inconsistent(core) as found:
            assert set(core) <= set(system.all_atoms)
            if found.certificate is not None:
                assert proves_contradiction(found.certificate, core, is_integer_symbol)
            return False
        case other:
            pytest.fail(f"{system}: {other}")


def ranged(**most: int) -> tuple[Atom, ...]:
    symbols = {name: Polynomial.symbol(name) for name in most}
    return tuple(at_least(x, 1) for x in symbols.values()) + tuple(
        at_most(symbols[n], m) for n, m in most.items()
    )


RELATIONS = {
    "<=": (at_most, int.__le__),
    ">=": (at_least, int.__ge__),
    "==": (equal, int.__eq__),
    "<": (less, int.__lt__),
}


@settings(max_examples=examples(40))
@given(
    available=st.integers(1, 64),
    unit=st.integers(1, 8),
    relation=st.sampled_from(sorted(RELATIONS)),
    count=st.integers(0, 9),
    least=st.integers(1, 6),
)
def test_blocks_by_registers_are_those_of_python(available, unit, relation, count, least):
    atom, compare = RELATIONS[relation]
    box = (*ranged(r=6, T=6), at_least(T, least))
    taken = rounded_up(r * T, unit, Signs(box).of)
    blocks = floor_of(RationalFunction(available, taken.value), Signs((*box, *taken.definition)).of)
    expected = any(
        compare(available // (ceil(Fraction(a * b, unit)) * unit), count)
        for a, b in product(range(1, 7), range(least, 7))
    )
    assert verdict((*box, *taken.definition, *blocks.definition), atom(blocks.value, count)) == expected


@settings(max_examples=examples(40))
@given(
    slots=st.integers(1, 12),
    width=st.integers(1, 4),
    capacity=st.integers(1, 12),
    relation=st.sampled_from(sorted(RELATIONS)),
    resident=st.integers(0, 12),
)
def test_resident_warps_with_a_minimum_are_those_of_python(slots, width, capacity, relation, resident):
    atom, compare = RELATIONS[relation]
    box = ranged(s=5, T=8)
    warps = ceiling_of(RationalFunction(T, width), Signs(box).of)
    by_warps = floor_of(RationalFunction(slots, warps.value), Signs((*box, *warps.definition)).of)
    by_words = floor_of(RationalFunction(capacity, s), Signs(box).of)
    assumed = (*box, *warps.definition, *by_warps.definition, *by_words.definition)
    found = any(
        verdict(assumed, *case.atoms, atom(case.value * warps.value, resident))
        for case in least_of((by_warps.value, by_words.value))
    )
    expected = any(
        compare(
            min(slots // ceil(Fraction(t, width)), capacity // words) * ceil(Fraction(t, width)), resident
        )
        for t, words in product(range(1, 9), range(1, 6))
    )
    assert found == expected


@settings(max_examples=examples(40))
@given(number=st.integers(1, 60), low=st.integers(1, 30), width=st.integers(0, 12), wanted=st.booleans())
def test_divisibility_and_its_negation_are_those_of_python(number, low, width, wanted):
    box = (*ranged(s=6, B=6), at_least(s * B, low), at_most(s * B, low + width))
    left = remainder_of(Polynomial(number), s * B, Signs(box).of)
    divisors = [a * b for a, b in product(range(1, 7), repeat=2) if low <= a * b <= low + width]
    expected = any((number % divisor == 0) == wanted for divisor in divisors)
    decision = equal(left.value, 0) if wanted else less(0, left.value)
    assert verdict((*box, *left.definition), decision) == expected


def test_without_the_floor_the_verdict_is_wrong() -> None:
    # 64 warps are never resident in blocks of 3, since 64/3 is no integer.
    box = (*ranged(T=1024), less(64, T), less(T, 96))
    warps = ceiling_of(RationalFunction(T, 32), Signs(box).of)
    blocks = floor_of(RationalFunction(64, warps.value), Signs((*box, *warps.definition)).of)
    assert not verdict((*box, *warps.definition, *blocks.definition), equal(blocks.value * warps.value, 64))
    real = Polynomial.symbol("P_blocks")
    assert verdict((*box, *warps.definition, equal(real * warps.value, 64)), equal(real * warps.value, 64))


def test_a_symbolic_device_holds_no_more_than_it_has() -> None:
    taken = rounded_up(r * T, 256, known)
    signs = Signs((*positive, *taken.definition)).of
    blocks = floor_of(RationalFunction(R, taken.value), signs)
    assumed = (*positive, *taken.definition, *blocks.definition)
    assert not verdict(assumed, less(R, blocks.value * r * T))
    assert verdict(assumed, equal(R, blocks.value * r * T))
    # The bound is strict: one block more never fits.
    assert not verdict(assumed, at_least(R, (blocks.value + 1) * taken.value))
    assert verdict(assumed, equal(R, (blocks.value + 1) * taken.value - 1))


def test_no_number_of_threads_is_its_own_remainder() -> None:
    left = remainder_of(N, s * B, known)
    assert not verdict((*positive, *left.definition), equal(left.value, 0), less(N, s * B))
    assert not verdict((*positive, *left.definition), at_least(left.value, s * B))
    assert verdict((*positive, *left.definition), equal(left.value, s * B - 1), less(1, s))


def test_a_point_gets_its_quotients_in_order_where_it_determines_them() -> None:
    inner = ceiling_of(
        RationalFunction(Polynomial.symbol("r"), 256), Signs((at_least(Polynomial.symbol("r"), 1),)).of
    )
    atoms = (at_least(Polynomial.symbol("r"), 1), *inner.definition)
    outer = floor_of(RationalFunction(Polynomial.symbol("R"), inner.value), Signs(atoms).of)
    quotients = (*inner.quotients, *outer.quotients)
    assert with_quotients({"r": 257, "R": 7}, quotients) == {
        "r": 257,
        "R": 7,
        str(inner.value): 2,
        str(outer.value): 3,
    }
    assert with_quotients({"R": 7}, quotients) == {"R": 7}


def test_quotients_that_are_rounded_alike_are_compared_by_what_is_divided() -> None:
    unit, total = Polynomial.symbol("U"), R
    bounds = (at_least(r, 1), at_least(unit, 1), at_least(total, 0))
    small = ceiling_of(RationalFunction(r, unit), Signs(bounds).of)
    large = ceiling_of(RationalFunction(2 * r, unit), Signs(bounds).of)
    known = (*bounds, *small.definition, *large.definition)
    many = floor_of(RationalFunction(total, unit * small.value), Signs(known).of)
    few = floor_of(RationalFunction(total, unit * large.value), Signs(known).of)
    quotients = tuple(q for found in (small, large, many, few) for q in found.quotients)
    atoms = (*known, *many.definition, *few.definition)
    assert set(monotone(quotients, atoms)) == {
        at_most(small.value, large.value),
        at_most(few.value, many.value),
    }
    assert monotone(quotients[:1], atoms) == ()
