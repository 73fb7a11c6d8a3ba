"""Asserts that no call can meet: a nest in, the source facts that contradict each other out.

    assert(B > 9);  assert(n > 0);  assert(B < 4);   -->   B > 9, B < 4
    assert(B < 0);  with B an extent of a block      -->   B < 0, B >= 1

Conditions with more than one case (``||``, ``!=``) contradict each other where each combination of their cases does.
What is no polynomial, or is computed in arithmetic that wraps around, counts as possibly true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from msgspec import Struct

from comprehensive.algebra import Atom, Inconsistent, Polynomial, PortfolioSolver, System, at_least, equal
from comprehensive.algebra.smt import Limits
from comprehensive.loops.access import names_read
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.ir import Nest, Scalar
from comprehensive.metafork.ast import Expr
from comprehensive.metafork.terms import conjuncts
from comprehensive.poly.indices import Conjunction, Scope, quotient_symbols, scope_of
from comprehensive.poly.lifting import quotient_facts
from comprehensive.poly.model import Constraint

_LIMITS = Limits(resources=400_000)
_MOST_COMBINATIONS = 64


class Contradiction(Struct, frozen=True):
    """Facts that exclude each other.

    ``conditions`` are parts of asserts or definitions, in the order of the text; ``bounded`` are scalars whose least
    value counts, with that value, and ``defined`` those whose definition does.
    """

    conditions: tuple[Expr, ...]
    bounded: tuple[tuple[Scalar, int], ...]
    defined: tuple[Scalar, ...]


def contradiction(nest: Nest) -> Contradiction | None:
    """The facts around a region that no call meets; None where some call may."""
    scope = scope_of(nest)
    conditions = tuple(sorted(_exact_parts(nest, scope), key=lambda condition: condition.span.start))
    pieces = [scope.condition(condition).pieces for condition in conditions]
    for condition, alternatives in zip(conditions, pieces, strict=True):
        if not alternatives:
            return _explained(nest, scope, [condition], [])
    chosen = _few([*zip(conditions, pieces, strict=True)])
    if not any(given for _, alternatives in chosen for given in alternatives):
        return None
    solver = PortfolioSolver(limits=_LIMITS)
    core: list[Expr] = []
    atoms: list[Atom] = []
    for combination in product(*(alternatives for _, alternatives in chosen)):
        stated = {
            _atom(constraint): condition
            for (condition, _), given in reversed([*zip(chosen, combination, strict=True)])
            for constraint in given
        }
        verdict = solver.check(System(_always(stated, scope), tuple(stated)))
        if not isinstance(verdict, Inconsistent):
            return None
        shown = solver.minimal(verdict).core
        core += [stated[atom] for atom in shown if atom in stated]
        atoms += shown
    return _explained(nest, scope, [condition for condition in conditions if condition in core], atoms)


def _exact_parts(nest: Nest, scope: Scope) -> Iterator[Expr]:
    """The conjuncts that mean in C what they mean in mathematics."""
    types = {scalar.name: scalar.type for scalar in (*nest.scalars, *nest.state.scalars)}
    positive = {name for name, least in scope.lower.items() if least >= 0}
    for condition in (*nest.preconditions, *nest.state.conditions):
        for part in conjuncts(condition):
            if names_read(part) <= types.keys() and is_exact(part, types, positive):
                yield part


def _few(cases: Sequence[tuple[Expr, tuple[Conjunction, ...]]]) -> list[tuple[Expr, tuple[Conjunction, ...]]]:
    """Return conditions whose cases have few combinations, as many as possible, those with one case first."""
    kept: list[tuple[Expr, tuple[Conjunction, ...]]] = []
    for condition, alternatives in sorted(cases, key=lambda entry: len(entry[1])):
        if prod(len(known) for _, known in kept) * len(alternatives) <= _MOST_COMBINATIONS:
            kept.append((condition, alternatives))
    return kept


def _always(stated: dict[Atom, Expr], scope: Scope) -> tuple[Atom, ...]:
    """Least values of the symbols and what divisions among them say."""
    symbols = {name for atom in stated for name in atom.symbols}
    for quotient in quotient_symbols(symbols, scope):
        symbols |= {*quotient.numerator.symbols, *quotient.denominator.symbols}
    facts = tuple(_atom(fact) for fact in quotient_facts(symbols, scope))
    bounds = (
        at_least(Polynomial.symbol(name), scope.lower[name])
        for name in sorted(symbols)
        if scope.lower.get(name, -1) >= 0
    )
    return (*facts, *bounds)


def _atom(constraint: Constraint) -> Atom:
    return (equal if constraint.equality else at_least)(constraint.polynomial, 0)


def _explained(nest: Nest, scope: Scope, core: Sequence[Expr], atoms: Sequence[Atom]) -> Contradiction:
    """The conditions of the core, with the definitions of the names in them and the bounds that were used."""
    scalars = {scalar.name: scalar for scalar in (*nest.scalars, *nest.state.scalars)}
    conditions = tuple(dict.fromkeys(core))
    used = {atom.symbols[0] for atom in atoms if len(atom.symbols) == 1 and atom in _bounds(scope)}
    bounded = tuple((scalars[name], scope.lower[name]) for name in scalars if name in used)
    named = names_behind((n for each in conditions for n in names_read(each)), scalars.values())
    defined = (scalar for scalar in scalars.values() if scalar.value is not None and scalar.name in named)
    return Contradiction(conditions, bounded, tuple(defined))


def _bounds(scope: Scope) -> frozenset[Atom]:
    return frozenset(
        at_least(Polynomial.symbol(name), least) for name, least in scope.lower.items() if least >= 0
    )
