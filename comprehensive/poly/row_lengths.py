"""The assert on the lengths of rows under which iterations surely touch different elements: a nest in, its text out.

``c[i*ldc + j]`` with ``j < n`` names one element twice where ``ldc < n``, which no call may mean, and nothing says so.
What is missing is read off the coordinates of the subscripts (`virtual.py`), and the prover tries it::

    c[i*ldc + j], j < n                 -->   assert(ldc >= n)
    c[l*s + i*n + j], i < m, j < n      -->   assert(s >= m * n)
    c[i*m]                              -->   assert(m >= 1)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice, pairwise, product

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import Binary
from comprehensive.metafork.printer import print_expr
from comprehensive.poly.domains import Reference, domain, references
from comprehensive.poly.legality import verdicts
from comprehensive.poly.memo import remembered_in_text
from comprehensive.poly.model import Parallel
from comprehensive.poly.virtual import chains, kept_chain, split, subscripts_at
from comprehensive.records import replace

_MOST_TRIED = 4


@remembered_in_text(64)
def assert_on_rows(nest: Nest) -> str | None:
    """Return the assert with which all loops of a nest are proved to be parallel; None where none is found."""
    every = references(nest)
    written = dict.fromkeys(r.access.array for r in every if r.access.mode.writes)
    options: list[list[tuple[Binary, ...]]] = []
    for array in written:
        mine = [r for r in every if r.access.array == array]
        if any(r.subscripts is None for r in mine):
            return None
        options += [list(_options(nest, mine, place)) for place in range(nest.array(array).rank)]
    for chosen in islice(product(*options), _MOST_TRIED):
        conditions = _needed(tuple(dict.fromkeys(condition for each in chosen for condition in each)))
        supposed = replace(nest, preconditions=(*nest.preconditions, *conditions))
        if conditions and all(isinstance(verdict, Parallel) for *_, verdict in verdicts(supposed)):
            return f"assert({' && '.join(map(print_expr, conditions))})"
    return None


def _needed(conditions: Sequence[Binary]) -> tuple[Binary, ...]:
    """Return the conditions that do not hold at all numbers, each the strongest of those that differ by a number."""
    ring = Ring()
    differences = [ring.read(c.left) - ring.read(c.right) for c in conditions]
    kept: dict[Polynomial, tuple[Fraction, Binary]] = {}
    for condition, difference in zip(conditions, differences, strict=True):
        least = difference.constant_term
        varying = difference - least
        if varying.is_constant and least >= 0:
            continue
        if varying not in kept or least < kept[varying][0]:
            kept[varying] = least, condition
    return tuple(condition for _, condition in kept.values())


def _options(nest: Nest, mine: Sequence[Reference], place: int) -> Iterator[tuple[Binary, ...]]:
    """Yield what may be missing for the rows of one subscript, in several ways; nothing where they are kept."""
    subscripts = subscripts_at(mine, place)
    if len(kept_chain(nest, mine, place)) > 1:
        yield ()
        return
    for chain in sorted(
        chains(nest, subscripts), key=lambda chain: _inner_before_outer(chain, *subscripts[0])
    ):
        demands = [
            d for reference, subscript in subscripts for d in _demands(nest, chain, reference, subscript)
        ]
        if None not in demands:
            yield tuple(dict.fromkeys(d for d in demands if d is not None))


def _inner_before_outer(chain: Sequence[Polynomial], reference: Reference, subscript: Polynomial) -> int:
    """Return how often the loop of a weight is inside that of a smaller one: rows are mostly those of inner loops."""
    counters = [axis.counter for axis in reference.axes]
    loops = [
        min((counters.index(s) for s in coordinate.symbols if s in counters), default=len(counters))
        for coordinate in split(chain, subscript)
    ]
    return sum(outer > inner for outer, inner in combinations(loops, 2))


def _demands(
    nest: Nest, chain: Sequence[Polynomial], reference: Reference, subscript: Polynomial
) -> Iterator[Binary | None]:
    """Yield that the rows behind each weight fit into it; None where nothing says how many there are."""
    for coordinate, (larger, smaller) in zip(split(chain, subscript)[1:], pairwise(chain), strict=True):
        limit = _limit(nest, reference, coordinate)
        yield None if limit is None else Binary(">=", Ring().write(larger), Ring().write(limit * smaller))


def _limit(nest: Nest, reference: Reference, coordinate: Polynomial) -> Polynomial | None:
    """A number over scalars of the program below which a coordinate stays, as one guard or loop says."""
    scalars = {s.name for s in nest.scalars if s.role not in (Role.PROGRAM, Role.TILE)}
    guards = (c for piece in reference.guard.pieces for c in piece)
    found = (c.polynomial + coordinate + 1 for c in (*guards, *domain(reference)))
    return next((limit for limit in (coordinate + 1, *found) if scalars.issuperset(limit.symbols)), None)
