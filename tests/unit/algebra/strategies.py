"""Hypothesis strategies for small polynomials, atoms and systems, and a brute-force oracle on integer boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from random import Random

from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, Relation, System, at_least
from comprehensive.algebra.notation import Term

NAMES = ("B", "s", "x", "Z_B")

fractions = st.builds(Fraction, st.integers(-6, 6), st.integers(1, 4))
powers = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2), max_size=3).map(
    lambda found: tuple(sorted(found.items()))
)
terms = st.builds(Term, fractions, powers)
polynomials = st.lists(terms, max_size=5).map(Polynomial.from_terms)
points = st.fixed_dictionaries({name: fractions for name in NAMES})
relations = st.sampled_from(list(Relation))
atoms = st.builds(Atom.make, polynomials, relations)

small = st.integers(-3, 3).map(Fraction)
tame_terms = st.builds(
    Term,
    small,
    st.dictionaries(st.sampled_from(("B", "s")), st.just(1), max_size=2).map(
        lambda d: tuple(sorted(d.items()))
    ),
)


@st.composite
def machine_atoms(draw: st.DrawFn) -> Atom:
    """`c*Z + polynomial(B, s) REL 0`, the shape of the atoms of a decision tree; c may be 0."""
    rest = Polynomial.from_terms(draw(st.lists(tame_terms, max_size=3)))
    machine = draw(st.sampled_from(("Z_B", "R_B")))
    return Atom(rest + draw(st.integers(-2, 2)) * Polynomial.symbol(machine), draw(relations))


assumed = tuple(at_least(Polynomial.symbol(name), 1) for name in ("B", "s")) + tuple(
    at_least(Polynomial.symbol(name), 0) for name in ("R_B", "Z_B")
)
machine_systems = st.lists(machine_atoms(), max_size=5).map(lambda found: System(assumed, tuple(found)))
free_systems = st.lists(atoms, min_size=1, max_size=4).map(lambda found: System((), tuple(found)))


def random_atom(random: Random) -> Atom:
    """An atom like those of `atoms`, from a generator whose sequence is the same in every run."""
    terms = [
        Term(
            Fraction(random.randint(-6, 6), random.randint(1, 4)),
            tuple(
                (name, random.randint(1, 2)) for name in sorted(random.sample(NAMES, random.randint(0, 3)))
            ),
        )
        for _ in range(random.randint(0, 5))
    ]
    return Atom.make(Polynomial.from_terms(terms), random.choice(list(Relation)))


def box(names: Sequence[str], values: Iterable[int]) -> Iterator[dict[str, int]]:
    """All points with the given integer values."""
    listed = list(values)
    for chosen in product(listed, repeat=len(names)):
        yield dict(zip(names, chosen, strict=True))


def all_hold(found: Iterable[Atom], point: Mapping[str, int | Fraction]) -> bool:
    """The conjunction at a point, by plain arithmetic on the terms: independent of flint."""
    for atom in found:
        # Coefficients of atoms are integers, and int is several times as fast as Fraction here.
        value: int | Fraction = 0
        for term in atom.polynomial.terms():
            part: int | Fraction = term.coefficient.numerator
            for name, power in term.powers:
                part *= point[name] ** power
            value += part
        verdict = {Relation.GE: value >= 0, Relation.GT: value > 0, Relation.EQ: value == 0}
        if not verdict[atom.relation]:
            return False
    return True


def first_point(found: Sequence[Atom], values: Iterable[int]) -> dict[str, int] | None:
    """The first point of the box where all atoms hold."""
    names = sorted({name for atom in found for name in atom.symbols})
    return next((point for point in box(names, values) if all_hold(found, point)), None)
