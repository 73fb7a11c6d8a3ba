"""Random systems by number: a family and a number in, the same system in every process out."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    Relation,
    System,
    Unknown,
    Verdict,
    at_least,
    at_most,
    smt,
)
from comprehensive.algebra.notation import Term
from tests.unit.algebra.strategies import assumed, random_atom

FAMILIES = ("free", "boxed", "linear", "tree")
LOW, HIGH = -2, 3
# The watchdog never fires here: verdicts then depend on the resources alone, however slow the machine is.
LIMITS = smt.Limits(resources=100_000, seconds=120)


def random_system(family: str, number: int) -> System:
    """A system of the family; all points of a boxed one are in the box from LOW to HIGH."""
    random = Random(f"{family} {number}")
    match family:
        case "free":
            return System((), tuple(random_atom(random) for _ in range(random.randint(1, 4))))
        case "boxed":
            names = ("B", "s", "x")[: random.randint(1, 3)]
            box = [
                atom
                for symbol in map(Polynomial.symbol, names)
                for atom in (at_least(symbol, LOW), at_most(symbol, HIGH))
            ]
            atoms = [_atom(random, names, 3, 3) for _ in range(random.randint(1, 5))]
            return System((), (*box, *atoms))
        case "linear":
            names = ("B", "R_B", "s", "x")[: random.randint(2, 4)]
            return System((), tuple(_atom(random, names, 1, 3) for _ in range(random.randint(2, 6))))
        case _:
            return System(assumed, tuple(_tree_atom(random) for _ in range(random.randint(2, 8))))


def _atom(random: Random, names: tuple[str, ...], degree: int, terms: int) -> Atom:
    return Atom.make(_polynomial(random, names, degree, terms), random.choice(list(Relation)))


def _polynomial(random: Random, names: tuple[str, ...], degree: int, terms: int) -> Polynomial:
    """Return a polynomial of up to so many terms of up to that degree, and a constant."""
    found = [Term(Fraction(random.randint(-8, 8)), ())]
    for _ in range(random.randint(1, terms)):
        powers: dict[str, int] = {}
        for name in random.choices(names, k=random.randint(1, degree)):
            powers[name] = powers.get(name, 0) + 1
        found.append(Term(Fraction(random.randint(-5, 5)), tuple(sorted(powers.items()))))
    return Polynomial.from_terms(found)


def _tree_atom(random: Random) -> Atom:
    """A machine parameter against a polynomial in program parameters, from below or from above."""
    machine = Polynomial.symbol(random.choice(("R_B", "Z_B")))
    value = _polynomial(random, ("B", "s"), 2, 2)
    return random.choice((at_most(value, machine), at_least(value, machine + 1)))


def transcript(count: int) -> str:
    """Return the answers of one solver to ``count`` systems of each family, one a line, with its points and cores."""
    solver = PortfolioSolver(limits=LIMITS)
    lines = [
        f"{family} {number}: {spelled(solver.check(random_system(family, number)))}"
        for family in FAMILIES
        for number in range(count)
    ]
    return "\n".join([*lines, str(solver.decided_by)])


def spelled(verdict: Verdict) -> str:
    """A verdict with all that it carries."""
    match verdict:
        case Consistent(point):
            return "consistent " + " ".join(f"{name}={value}" for name, value in point.items())
        case Inconsistent(core):
            return f"inconsistent {[str(atom) for atom in core]} {verdict.certificate}"
        case Unknown(reason):
            return f"unknown {reason}"
