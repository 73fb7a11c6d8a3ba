"""Virtual coordinates: linearised subscripts split by their row lengths.

``c[i*N + j]  -->  (i, j) with weights (N, 1)`` when every iterator term is a multiple of a chain of weights
``1 | N | ...`` made of sizes of data, and ``0 <= j < N`` is proved wherever a reference runs.  Without it two
coordinates could name one element, which is harmless only for data that the band does not write.  A weight has the
numbers by which all its terms are multiplied, ``y[(2*i + u)*(2*w) + 2*j + v] --> (2*i + u, 2*j + v)`` with rows of
``2*w``, if rows are kept so; and it may be a sum, ``u[i*(N + 2) + j]``.  For data that is written, weights need not
divide each other, ``c[l*s + i*N + j]``, where the rows behind a weight are proved to fit into it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from math import gcd
from typing import TypeAlias

from comprehensive.algebra import Polynomial, integral_quotient, whole_times
from comprehensive.loops.ir import Nest
from comprehensive.poly.cases import stated
from comprehensive.poly.domains import Reference, facts_at
from comprehensive.poly.indices import ONE, ZERO, scope_of
from comprehensive.poly.lifting import implied
from comprehensive.poly.model import Constraint

_MOST_ORDERED = 3
"""The weights of which all orders are tried, where they do not divide each other."""
Weights = tuple[tuple[Polynomial, ...], ...]
_Subscript: TypeAlias = tuple[Reference, Polynomial]
"""A reference with one of its subscripts."""


def virtual_weights(nest: Nest, array: str, references: Sequence[Reference]) -> Weights:
    """The weights of an array: one row per C subscript, one column per virtual coordinate."""
    kept = [kept_chain(nest, references, place) for place in range(nest.array(array).rank)]
    rank = sum(map(len, kept))
    rows: list[tuple[Polynomial, ...]] = []
    before = 0
    for chain in kept:
        rows.append((*[ZERO] * before, *chain, *[ZERO] * (rank - before - len(chain))))
        before += len(chain)
    return tuple(rows)


def coordinates(weights: Weights, subscripts: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """The virtual coordinates of a reference with these subscripts."""
    rows = [[weight for weight in row if weight != ZERO] for row in weights]
    return tuple(
        part
        for chain, subscript in zip(rows, subscripts, strict=False)
        for part in (split(chain, subscript) if len(chain) > 1 else (subscript,))
    )


def kept_chain(nest: Nest, references: Sequence[Reference], place: int) -> list[Polynomial]:
    """Return the weights of one subscript; 1 alone where it does not run through rows."""
    subscripts = subscripts_at(references, place)
    for chain in chains(nest, subscripts):
        if len(chain) > 1 and _rows_are_kept(nest, chain, subscripts):
            return chain
    return [ONE]


def subscripts_at(references: Sequence[Reference], place: int) -> list[_Subscript]:
    """Return the references with their subscript at a place, which is 0 where it is no polynomial."""
    return [(r, ZERO if r.subscripts is None else r.subscripts[place]) for r in references]


def split(chain: Sequence[Polynomial], subscript: Polynomial) -> tuple[Polynomial, ...]:
    """Return the parts of a subscript: what is multiplied by the same counters goes to the weights as far as it
    contains them, the largest first; but the element before the first one of a row is the last one of a row."""
    sizes = {symbol for weight in chain for symbol in weight.symbols}
    parts = [ZERO] * len(chain)
    for factor, rest in _by_factor(subscript, sizes).items():
        for place, weight in enumerate(chain):
            times = whole_times(rest, weight)
            parts[place] = parts[place] + factor * times
            rest = rest - times * weight
    for place in reversed(range(1, len(chain))):
        length = integral_quotient(chain[place - 1], chain[place])
        if length is not None and parts[place].is_constant and parts[place].constant_value() < 0:
            parts[place - 1 : place + 1] = [parts[place - 1] - 1, parts[place] + length]
    return tuple(parts)


def _by_factor(subscript: Polynomial, sizes: Container[str]) -> dict[Polynomial, Polynomial]:
    """Return the parts of a subscript that are made of sizes alone, by what they are multiplied with."""
    found: dict[Polynomial, Polynomial] = {}
    for term in subscript.terms():
        factor, size = ONE, Polynomial.constant(term.coefficient)
        for name, power in term.powers:
            symbols = Polynomial.symbol(name) ** power
            factor, size = (factor, size * symbols) if name in sizes else (factor * symbols, size)
        found[factor] = found.get(factor, ZERO) + size
    return found


def chains(nest: Nest, subscripts: Sequence[_Subscript]) -> Iterator[list[Polynomial]]:
    """The data parts of all iterator coefficients, largest first, if each divides the one before; then, for data that
    is written, those that do not, in all orders.

    First each term for itself, ``i*N + i`` being two rows and one, then what an iterator is multiplied with as one sum;
    of these with the greatest number that divides all coefficients of each but the last one, then without.
    """
    program = scope_of(nest).program
    whole: list[Polynomial] = []
    for reference, subscript in subscripts:
        counters = _varying(reference)
        sizes = set(subscript.symbols) - counters - program
        parts = _by_factor(subscript, sizes)
        whole += [rest for factor, rest in parts.items() if counters.intersection(factor.symbols)]
    terms = [Polynomial.from_terms((term,)) for sum_ in whole for term in sum_.terms()]
    seen: list[list[Polynomial]] = []
    others: list[list[Polynomial]] = []
    for weights in (_weights(terms), _weights(whole)):
        for chain in (_in_order(weights), _in_order(dict.fromkeys(weights, 1))):
            if chain in seen:
                continue
            seen.append(chain)
            if all(integral_quotient(larger, smaller) is not None for larger, smaller in pairwise(chain)):
                yield chain
            elif len(chain) - 1 <= _MOST_ORDERED:
                others.append(chain)
    if any(reference.access.mode.writes for reference, _ in subscripts):
        for chain in others:
            yield from ([*order, chain[-1]] for order in permutations(chain[:-1]))


def _varying(reference: Reference) -> frozenset[str]:
    """Return the symbols of a reference that differ between iterations."""
    return reference.turns.union(axis.counter for axis in reference.axes)


def _weights(coefficients: Iterable[Polynomial]) -> dict[Polynomial, int]:
    """Return the coefficients without the numbers that divide all of their terms, with the greatest number by which
    each of these is multiplied wherever it stands."""
    multiples: dict[Polynomial, int] = {ONE: 0}
    for coefficient in coefficients:
        sign = -1 if coefficient.terms()[0].coefficient < 0 else 1
        primitive = coefficient.primitive() * sign
        times = (coefficient * sign).divide_exactly(primitive)
        assert times is not None
        multiples[primitive] = gcd(multiples.get(primitive, 0), int(times.constant_value()))
    return multiples


def _in_order(multiples: Mapping[Polynomial, int]) -> list[Polynomial]:
    parts = sorted(multiples, key=lambda p: (-p.total_degree, p.sort_key))
    return [part if part == ONE else part * multiples[part] for part in parts]


def _rows_are_kept(nest: Nest, chain: list[Polynomial], subscripts: Sequence[_Subscript]) -> bool:
    """Whether every coordinate but the first is proved to stay in ``[0, row length)``, or nothing is written."""
    if not any(reference.access.mode.writes for reference, _ in subscripts):
        return True
    # Rows that all begin some elements later are rows as well: a[1 + i*N + j].
    begins = dict.fromkeys((ZERO, *(s.substitute(dict.fromkeys(_varying(r), 0)) for r, s in subscripts)))
    return any(
        _begins_alike(chain, subscripts, begin) and _are_kept_behind(nest, chain, subscripts, begin)
        for begin in begins
    )


def _begins_alike(chain: list[Polynomial], subscripts: Sequence[_Subscript], begin: Polynomial) -> bool:
    """Whether coordinates of all subscripts differ from those behind where they begin by the same numbers: else rows
    that are kept there say nothing about the coordinates."""
    first = split(chain, begin)
    return all(
        tuple(one + other for one, other in zip(first, split(chain, subscript - begin), strict=True))
        == split(chain, subscript)
        for _, subscript in subscripts
    )


def _are_kept_behind(
    nest: Nest, chain: list[Polynomial], subscripts: Sequence[_Subscript], begin: Polynomial
) -> bool:
    for reference, subscript in subscripts:
        parts = split(chain, subscript - begin)
        sizes = tuple(s for weight in chain for s in weight.symbols)
        known = [
            facts_at(nest, reference, sizes, (*piece, *stated(nest))) for piece in reference.guard.pieces
        ]
        for coordinate, (larger, smaller) in zip(parts[1:], pairwise(chain), strict=True):
            length = integral_quotient(larger, smaller)
            rows = (coordinate + 1) * smaller
            goals = (
                Constraint(coordinate),
                Constraint(larger - rows if length is None else length - 1 - coordinate),
            )
            if not all(implied(goal, facts.constraints, facts.lower) for facts in known for goal in goals):
                return False
    return True
