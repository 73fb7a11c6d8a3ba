"""Guards that need not be tested.

``if (i < n && j < n) S  -->  S`` where domain and facts imply the condition (floor grids), conjunct by conjunct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from msgspec import Struct

from comprehensive.loops.access import Access, Context, Mode, accesses
from comprehensive.loops.ir import Array, BlockStmt, Nest
from comprehensive.loops.traverse import expand_bands
from comprehensive.metafork.ast import (
    Block,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.terms import conjunction, conjuncts
from comprehensive.poly.domains import Reference, facts_at, reference_at
from comprehensive.poly.indices import scope_of
from comprehensive.poly.lifting import infeasible
from comprehensive.poly.memo import remembered
from comprehensive.poly.model import Constraint
from comprehensive.records import replace

# In no C program: an array that stands for the conditions, to learn what encloses them.
_PROBE = "?"


class _Test(Struct, frozen=True):
    """The n-th ``if`` of the bands, its condition with index scalars substituted, and where it stands."""

    condition: Expr
    place: Reference


def drop_implied_guards(nest: Nest) -> Nest:
    """The nest without the conditions of its bands that always hold.

    An ``if`` whose condition is gone altogether leaves its statements; everything else stays as it is.
    """
    tests = _tests(nest)
    if not tests:
        return nest
    kept = [_kept(nest, test) for test in tests]

    def reduce(number: int, statement: If) -> tuple[Stmt, ...]:
        parts = tuple(conjuncts(statement.condition))
        left = [c for c, keep in zip(parts, kept[number], strict=True) if keep]
        if left:
            if len(left) == len(parts):
                return (statement,)
            return (replace(statement, condition=conjunction(left, left[0].span)),)
        if any(isinstance(s, Declare) for s in statement.then):
            return (Block(statement.then, statement.span),)
        return statement.then

    return replace(nest, body=_Rewriter(reduce).blocks(nest.body))


def _kept(nest: Nest, test: _Test) -> list[bool]:
    """Return for each conjunct of the condition whether it must be tested."""
    scope = scope_of(nest)
    axes = test.place.axes
    values = {a.iterator: a.value for a in axes}
    iterators = frozenset(values)
    spoken = {
        s
        for piece in (*scope.condition(test.condition, iterators).pieces, *test.place.guard.pieces)
        for c in piece
        for s in c.polynomial.symbols
    }
    facts = facts_at(nest, test.place, tuple(sorted(spoken - iterators)))
    around = test.place.guard.pieces if len(test.place.guard.pieces) <= 4 else ((),)
    parts = tuple(conjuncts(test.condition))
    keep = [True] * len(parts)
    for number, conjunct in enumerate(parts):
        negated = scope.condition(Unary("!", conjunct), iterators)
        if negated.opaque:
            continue
        # What stands to the left is tested before; what stands to the right is not yet known to hold.
        before: tuple[tuple[Constraint, ...], ...] = ((),)
        for other in parts[:number]:
            guard = scope.condition(other, iterators)
            if len(guard.pieces) == 1:
                before = tuple((*b, *guard.pieces[0]) for b in before)
        keep[number] = not all(
            infeasible(
                (
                    *facts.constraints,
                    *outer,
                    *(Constraint(c.polynomial.substitute(values), c.equality) for c in (*left, *piece)),
                ),
                facts.lower,
            )
            for outer, left, piece in product(around, before, negated.pieces)
        )
    return keep


@remembered
def _tests(nest: Nest) -> tuple[_Test, ...]:
    def probe(number: int, statement: If) -> tuple[Stmt, ...]:
        return (replace(statement, condition=Index(_PROBE, (IntLiteral(number), statement.condition))),)

    probed = replace(
        nest,
        body=_Rewriter(probe).blocks(nest.body),
        arrays=(*nest.arrays, Array(_PROBE, ScalarType.INT, None)),
    )
    found: dict[int, _Test] = {}
    for access in accesses(probed):
        if access.array != _PROBE or access.mode is not Mode.READ:
            continue
        number, condition = access.subscripts
        assert isinstance(number, IntLiteral)
        context = replace(access.context, guards=tuple(_decoded(access.context)))
        place = Access(access.ordinal, _PROBE, (), Mode.READ, context, access.span)
        found[number.value] = _Test(_plain(condition), reference_at(nest, place))
    return tuple(found[number] for number in sorted(found))


def _decoded(context: Context) -> Iterator[Expr]:
    for guard in context.guards:
        yield _plain(guard)


def _plain(expr: Expr) -> Expr:
    match expr:
        case Index(array="?"):
            return _plain(expr.subscripts[1])
        case Unary():
            return replace(expr, operand=_plain(expr.operand))
        case _:
            return expr


class _Rewriter:
    """Replaces every ``if`` of the bands, inner ones first; ``change`` gets its number in order of the text."""

    def __init__(self, change: Callable[[int, If], tuple[Stmt, ...]]) -> None:
        self._change = change
        self._number = 0

    def blocks(self, body: tuple[BlockStmt, ...]) -> tuple[BlockStmt, ...]:
        return expand_bands(body, lambda band: (replace(band, body=self.body(band.body)),))

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for statement in body:
            number = self._number
            self._number += isinstance(statement, If)
            changed = with_bodies(statement, self.body)
            result += self._change(number, changed) if isinstance(changed, If) else (changed,)
        return tuple(result)
