"""Virtual coordinates: linearised subscripts split by their row lengths.

``c[i*N + j]  -->  (i, j) with weights (N, 1)`` when every iterator term is a multiple of a chain of weights
``1 | N | ...`` made of sizes of data, and ``0 <= j < N`` is proved wherever a reference runs.  Without it two
coordinates could name one element, which is harmless only for data that the band does not write.  A weight has the
numbers by which all its terms are multiplied, ``y[(2*i + u)*(2*w) + 2*j + v] --> (2*i + u, 2*j + v)`` with rows of
``2*w``, if rows are kept so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import gcd

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import Nest
from comprehensive.poly.domains import Reference, facts_at
from comprehensive.poly.indices import ONE, ZERO, scope_of
from comprehensive.poly.lifting import implied
from comprehensive.poly.model import Constraint

Weights = tuple[tuple[Polynomial, ...], ...]


def virtual_weights(nest: Nest, array: str, references: Sequence[Reference]) -> Weights:
    """The weights of an array: one row per C subscript, one column per virtual coordinate."""
    rank = nest.array(array).rank
    if rank == 1:
        for chain in _chains(nest, references):
            if len(chain) > 1 and _rows_are_kept(nest, chain, references):
                return (tuple(chain),)
    return tuple(tuple(ONE if k == d else ZERO for k in range(rank)) for d in range(rank))


def coordinates(weights: Weights, subscripts: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """The virtual coordinates of a reference with these subscripts."""
    if len(weights) == 1 and len(weights[0]) > 1:
        return _split(weights[0], subscripts[0])
    return subscripts


def _split(chain: Sequence[Polynomial], subscript: Polynomial) -> tuple[Polynomial, ...]:
    """Each term goes to the largest weight that divides it."""
    parts = [ZERO] * len(chain)
    for term in subscript.terms():
        polynomial = Polynomial.from_terms((term,))
        for k, weight in enumerate(chain):
            quotient = _quotient(polynomial, weight)
            if quotient is not None:
                parts[k] = parts[k] + quotient
                break
    return tuple(parts)


def _quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """The quotient, if it is one of integer polynomials."""
    quotient = dividend.divide_exactly(divisor)
    return quotient if quotient is not None and quotient.is_integral else None


def _chains(nest: Nest, references: Sequence[Reference]) -> Iterator[list[Polynomial]]:
    """The data parts of all iterator coefficients, largest first, if each divides the one before.

    First with the greatest number that divides all coefficients of each but the last one, then without.
    """
    scope = scope_of(nest)
    multiples: dict[Polynomial, int] = {ONE: 0}
    for reference in references:
        counters = {a.counter for a in reference.axes}
        for term in (reference.subscripts or (ZERO,))[0].terms():
            names = dict(term.powers)
            if not counters & names.keys():
                continue
            part = ONE
            for name, power in term.powers:
                if name not in counters and name not in scope.program:
                    part = part * Polynomial.symbol(name) ** power
            multiples[part] = gcd(multiples.get(part, 0), term.coefficient.numerator)
    parts = sorted(multiples, key=lambda p: (-p.total_degree, p.sort_key))
    scaled = [part if part == ONE else part * multiples[part] for part in parts]
    for chain in [scaled, parts] if scaled != parts else [parts]:
        if all(_quotient(larger, smaller) is not None for larger, smaller in pairwise(chain)):
            yield chain


def _rows_are_kept(nest: Nest, chain: list[Polynomial], references: Sequence[Reference]) -> bool:
    """Whether every coordinate but the first is proved to stay in ``[0, row length)``, or nothing is written."""
    if not any(r.access.mode.writes for r in references):
        return True
    # Rows that all begin some elements later are rows as well: a[1 + i*N + j].
    begins = dict.fromkeys((ZERO, *map(_begin, references)))
    return any(_are_kept_behind(nest, chain, references, begin) for begin in begins)


def _begin(reference: Reference) -> Polynomial:
    """The subscript where all iterators are 0."""
    return (reference.subscripts or (ZERO,))[0].substitute({a.counter: 0 for a in reference.axes})


def _are_kept_behind(
    nest: Nest, chain: list[Polynomial], references: Sequence[Reference], begin: Polynomial
) -> bool:
    lengths = [_quotient(larger, smaller) for larger, smaller in pairwise(chain)]
    for reference in references:
        split = _split(chain, (reference.subscripts or (ZERO,))[0] - begin)
        facts = facts_at(nest, reference, tuple(s for length in lengths if length for s in length.symbols))
        for coordinate, length in zip(split[1:], lengths, strict=True):
            assert length is not None
            goals = (Constraint(coordinate), Constraint(length - 1 - coordinate))
            for piece in reference.guard.pieces:
                known = (*facts.constraints, *piece)
                if not all(implied(goal, known, facts.lower) for goal in goals):
                    return False
    return True
