"""z3 as the last step of the portfolio: atoms in, a model, a core or a reason out.

This is the only module of the package that imports z3, and only when a question is asked: z3 costs time and memory to
load.
Every question has a z3 context of its own, so that an answer depends on nothing that was asked before: `rlimit` makes
it repeatable. Since z3 can overrun that (and its own timeout), a watchdog interrupts the context after a wall-clock
limit.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation

# Resources count neither digits nor degrees, so that z3 would go on until the watchdog ends it, question after
# question. Classic problems have degrees up to 6, and stay below a tenth of the product.
_HIGHEST_DEGREE = 24
_MOST_DEGREE_TIMES_BITS = 1000


class Limits(Struct, frozen=True):
    """The limits of a question: `resources` is z3's rlimit (3 million a second), `seconds` the watchdog's.

    The watchdog is for questions on which z3 overruns its rlimit, and long enough that no slow machine changes a
    verdict.
    """

    resources: int = 3_000_000
    seconds: float = 30.0

    def divided(self, parts: int) -> Limits:
        """A part of the resources, for a question that is worth less."""
        return Limits(self.resources // parts, self.seconds)


class Model(Struct, frozen=True):
    """A satisfying assignment; a value that is not rational is given by a rational close to it."""

    values: Mapping[str, Fraction]
    exact: bool


class Core(Struct, frozen=True):
    """Atoms of the question that contradict each other."""

    atoms: tuple[Atom, ...]


class Undecided(Struct, frozen=True):
    """z3 gave up; why, in its words."""

    reason: str


Answer = Model | Core | Undecided


def solve(atoms: Sequence[Atom], integers: Iterable[str] = (), limits: Limits | None = None) -> Answer:
    """Asks z3 for real values of the symbols, integer ones for those in `integers`."""
    limits = limits or Limits()
    large = next((atom for atom in atoms if _is_too_large(atom)), None)
    if large is not None:
        return Undecided(f"a polynomial of degree {large.polynomial.total_degree} is too large for z3")
    z3, context = _loaded()
    whole = frozenset(integers)
    names = sorted({name for atom in atoms for name in atom.symbols})
    variables = {name: (z3.Int if name in whole else z3.Real)(name, ctx=context) for name in names}
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", limits.resources)
    solver.set("timeout", max(1, int(limits.seconds * 1000)))
    marks = [z3.Bool(f"atom!{index}", ctx=context) for index in range(len(atoms))]
    for atom, mark in zip(atoms, marks, strict=True):
        solver.assert_and_track(_translated(z3, context, atom, variables), mark)
    with _watchdog(context, limits.seconds):
        try:
            answer = solver.check()
            model = solver.model() if answer == z3.sat else None  # an interrupted "sat" may have none
        except z3.Z3Exception as error:  # an interrupt can surface as an exception
            return Undecided(str(error))
    if model is not None:
        return _verified(_model(z3, model, variables), atoms)
    if answer == z3.unsat:
        kept = {str(mark) for mark in solver.unsat_core()}
        return Core(tuple(a for a, mark in zip(atoms, marks, strict=True) if str(mark) in kept))
    return Undecided(str(solver.reason_unknown()))


class Program(Struct, frozen=True):
    """A linear program over `len(constant)` unknowns: coefficients by row, sums that must be 0 or at most 0.

    The unknowns are not negative, but for those that are `free`. Wanted is a combination whose constant is negative,
    or 0 with a `strict` unknown in it.
    """

    rows: tuple[tuple[tuple[int, Fraction], ...], ...]
    exact: tuple[bool, ...]
    constant: tuple[Fraction, ...]
    strict: tuple[bool, ...]
    free: tuple[bool, ...]


def combination(program: Program, limits: Limits) -> tuple[Fraction, ...] | None:
    """Exact values of the unknowns; None where there are none or z3 gives up."""
    z3, context = _loaded()
    unknowns = [z3.Real(f"m{index}", ctx=context) for index in range(len(program.constant))]
    solver = z3.SolverFor("QF_LRA", ctx=context)
    solver.set("rlimit", limits.resources)
    solver.set("timeout", max(1, int(limits.seconds * 1000)))
    zero = z3.RealVal(0, ctx=context)

    def total(entries: Iterable[tuple[int, Fraction]]) -> Any:
        terms = [z3.Q(c.numerator, c.denominator, ctx=context) * unknowns[at] for at, c in entries if c]
        return z3.Sum(terms) if terms else zero

    for unknown, free in zip(unknowns, program.free, strict=True):
        if not free:
            solver.add(unknown >= 0)
    for row, exact in zip(program.rows, program.exact, strict=True):
        solver.add(total(row) == 0 if exact else total(row) <= 0)
    constant = total(enumerate(program.constant))
    strict = total((at, Fraction(1)) for at, is_strict in enumerate(program.strict) if is_strict)
    solver.add(constant <= 0, strict - constant >= 1)
    with _watchdog(context, limits.seconds):
        try:
            answer = solver.check()
        except z3.Z3Exception:  # an interrupt can surface as an exception
            return None
    if answer != z3.sat:
        return None
    model = solver.model()
    return tuple(Fraction(model.eval(unknown, model_completion=True).as_string()) for unknown in unknowns)


def _is_too_large(atom: Atom) -> bool:
    """Whether the atom is not linear and beyond what z3 can be asked."""
    degree = atom.polynomial.total_degree
    bits = max((term.coefficient.numerator.bit_length() for term in atom.polynomial.terms()), default=0)
    return degree > _HIGHEST_DEGREE or (degree > 1 and degree * bits > _MOST_DEGREE_TIMES_BITS)


def _loaded() -> tuple[Any, Any]:
    """z3 and a new context: it takes some milliseconds."""
    import z3  # pyright: ignore[reportMissingTypeStubs]  # z3 has no types; it stays within this module

    return z3, z3.Context()


@contextmanager
def _watchdog(context: Any, seconds: float) -> Generator[None]:
    finished = threading.Event()

    def guard() -> None:
        # An interrupt between two phases of z3 is lost, so it is repeated until the question is over.
        wait = seconds * 1.5
        while not finished.wait(wait):
            context.interrupt()
            wait = 0.05

    watcher = threading.Thread(target=guard, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()  # an interrupt after this point would hit the next question


def _translated(z3: Any, context: Any, atom: Atom, variables: Mapping[str, Any]) -> Any:
    total: Any = z3.RealVal(0, ctx=context)
    if all(variables[name].is_int() for name in atom.symbols):
        total = z3.IntVal(0, ctx=context)
    for term in atom.polynomial.terms():
        # Coefficients are integers in the normal form of an atom, so no division is involved.
        product: Any = z3.IntVal(term.coefficient.numerator, ctx=context)
        for name, power in term.powers:
            for _ in range(power):
                product = product * variables[name]
        total = total + product
    match atom.relation:
        case Relation.GE:
            return total >= 0
        case Relation.GT:
            return total > 0
        case Relation.EQ:
            return total == 0


def _verified(model: Model, atoms: Sequence[Atom]) -> Answer:
    # An interrupt that arrives while z3 completes a model has been seen to leave wrong values in it.
    if model.exact and not all(atom.holds(model.values) for atom in atoms):
        return Undecided("the model is not one")
    return model


def _model(z3: Any, model: Any, variables: Mapping[str, Any]) -> Model:
    values: dict[str, Fraction] = {}
    exact = True
    for name, variable in variables.items():
        value = model.eval(variable, model_completion=True)
        if z3.is_algebraic_value(value):
            value = value.approx(20)
            exact = False
        values[name] = Fraction(value.as_string())
    return Model(values, exact)
