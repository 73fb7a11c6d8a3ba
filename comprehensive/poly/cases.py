"""The constraints on scalars by asserts and host code, and the cases that together cover every run.

In: a nest.  Out: constraints that hold at the region, and conjunctions of which one holds whenever it runs.
Example: ``int src = t % 2, dst = (t + 1) % 2;`` are two constraints, from which ``src != dst`` follows; so does it
from ``assert(src != dst)``.  Either way the cases are ``src < dst`` and ``src > dst``.  A loop of host code around the
region says that its iterator is within its bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.sizes import sizes
from comprehensive.metafork.ast import Binary, Expr, Name
from comprehensive.poly.domains import complete
from comprehensive.poly.indices import Conjunction, scope_of
from comprehensive.poly.lifting import infeasible
from comprehensive.poly.memo import remembered
from comprehensive.poly.model import Constraint

_MOST_CASES = 8
_MOST_UNKNOWN = 3
"""Host scalars that are compared with each other."""


@remembered
def stated(nest: Nest) -> tuple[Constraint, ...]:
    """Return what holds of host scalars at the region, beside the preconditions."""
    pieces = [scope_of(nest).condition(fact).pieces for fact in (*nest.state.conditions, *_turning(nest))]
    return tuple(c for alternatives in pieces if len(alternatives) == 1 for c in alternatives[0])


def _turning(nest: Nest) -> Iterator[Expr]:
    """Yield the comparisons of loops of host code around the region, which hold in every turn."""
    types = {s.name: s.type for s in (*nest.scalars, *nest.state.scalars)}
    for loop in nest.state.loops:
        header = Binary(loop.relation, Name(loop.iterator), loop.bound)
        if names_read(header) <= types.keys() and is_exact(header, types, sizes(nest)):
            yield header


@remembered
def cases(nest: Nest) -> tuple[Conjunction, ...]:
    """Conjunctions of which at least one holds at the region; a single empty one where nothing is known."""
    splits: dict[tuple[Conjunction, ...], None] = {}
    for condition in (*nest.preconditions, *nest.state.conditions):
        guard = scope_of(nest).condition(condition)
        if len(guard.pieces) > 1:
            splits[guard.pieces] = None
    for split in _unequal(nest):
        splits[split] = None
    found: tuple[Conjunction, ...] = ((),)
    for split in splits:
        if len(found) * len(split) <= _MOST_CASES:
            found = tuple((*left, *right) for left, right in product(found, split))
    return found


def _unequal(nest: Nest) -> list[tuple[Conjunction, ...]]:
    """The two orders of each pair of host scalars that what is stated keeps apart."""
    unknown = [s.name for s in nest.scalars if s.role is Role.HOST and s.value is None and s.type.is_integer]
    if not stated(nest) or len(unknown) > _MOST_UNKNOWN:
        return []
    found: list[tuple[Conjunction, ...]] = []
    for first, second in combinations(unknown, 2):
        difference = Polynomial.symbol(first) - Polynomial.symbol(second)
        facts = complete(nest, [*stated(nest), Constraint(difference, equality=True)], ())
        if infeasible(facts.constraints, facts.lower):
            found.append(((Constraint(difference - 1),), (Constraint(-difference - 1),)))
    return found
