"""Interior: what points do that are far from all borders, and where that is what they do.

::

    if (i == 0 || i == n - 1) b[i][j] = a[i][j]; else b[i][j] = a[i - 1][j] + a[i + 1][(j + 1) % m];
        -->  b[i][j] = a[i - 1][j] + a[i + 1][j + 1]      where 0 <= i - 1, 0 <= n - 2 - i, 0 <= m - 2 - j

A border is a constant number of points wide, at 0 or at an extent: comparisons of one coordinate with such places are
decided as a point in the middle decides them, and remainders by an extent are the numbers that they are there.  What
is left reads the rows of arrays as they lie in memory, so that neighbours share what they read (`windows.py`); points
for which the conditions do not hold do what the program says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import at_least_zero
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.types import as_type, type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    IntLiteral,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import substitute, with_operands, with_own_expressions
from comprehensive.metafork.walk import subexpressions
from comprehensive.records import replace
from comprehensive.schedule.collapse_coordinates import has_rows
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.legality import point_obstacle, types_in
from comprehensive.schedule.short_loops import is_short

LARGE = 1 << 12
"""An extent whose middle is far from both ends."""
WIDEST = 1 << 8
"""The most points of a border."""


class Interior(Struct, frozen=True):
    """A body without the choices that only points near a border make otherwise, and sums, each at least 0 at points
    that do what it says: a coordinate less a constant, or an extent less a coordinate and a constant.  Without
    conditions all points do so."""

    body: tuple[Stmt, ...]
    conditions: tuple[Polynomial, ...]


def interior_of(nest: Nest, tile: RegisterTile, body: Sequence[Stmt]) -> Interior:
    """Return what points of a body do that are far from borders."""
    found = _Deciding(nest, tile)
    changed = found.statements(body)
    conditions = tuple(
        rest + constant for rest, constant in found.least.items() if found.may_fail(rest, constant)
    )
    # Without a condition around them, arrays of a point may be declared where all points do a statement together.
    is_as_before = point_obstacle(nest, changed) is None or point_obstacle(nest, tuple(body)) is not None
    return Interior(changed, conditions) if is_as_before else Interior(tuple(body), ())


def holds_between(value: Polynomial, ends: Mapping[str, tuple[Expr, Expr]]) -> Expr:
    """Return the condition that a sum is at least 0 while coordinates are from their first to their last values."""
    least: dict[str, Expr] = {}
    for name, (first, last) in ends.items():
        factor = value.coefficient(name, 1)
        least[name] = last if factor and factor.constant_value() < 0 else first
    return Binary("<=", ZERO, substitute(Ring().write(value), least))


class _Decided(Struct, frozen=True):
    """The truth of a condition in the middle, and sums that are all at least 0 only where it is the same."""

    truth: bool
    sums: tuple[Polynomial, ...]


class _Deciding:
    """The rewriting of one body, and the sums that are at least 0 where it is what the program does."""

    def __init__(self, nest: Nest, tile: RegisterTile) -> None:
        self._ring = Ring()
        self._types = types_in(nest, tile)
        self._limits = {c.name: c.limit for c in tile.coordinates}
        self._coordinates = self._limits.keys()
        self._extents = self._extents_of(nest, tile)
        self._counts: dict[str, int] = {}
        """The steps of the loops around that have constant ones."""
        self.least: dict[Polynomial, int] = {}
        """The least constant with which each sum without one has to be at least 0."""

    def _extents_of(self, nest: Nest, tile: RegisterTile) -> set[str]:
        """Return the integers that are extents of arrays or limits of coordinates, but for a constant: none is
        negative."""
        dims = [d for a in nest.arrays for d in a.dims or () if d is not None]
        values = map(self._ring.read, (*dims, *(c.limit for c in tile.coordinates)))
        signed = {s.name for s in nest.scalars if s.type.is_integer and s.type.is_signed}
        plain = (v.symbols[0] for v in values if len(v.symbols) == 1 and v - v.constant_term == _one(v))
        return signed.intersection(plain)

    def may_fail(self, rest: Polynomial, constant: int) -> bool:
        """Whether a sum may be negative at points inside of the limits, whose coordinates are at least 0."""
        is_coordinate = set(rest.symbols) <= self._coordinates
        return constant < 0 or not is_coordinate or rest != _one(rest)

    # --- statements and expressions

    def statements(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(changed for statement in body for changed in self._statement(statement))

    def _statement(self, statement: Stmt) -> tuple[Stmt, ...]:
        match statement:
            case Declare() | Assign():
                return (with_own_expressions(statement, self.expr),)
            case Block():
                return (Block(self.statements(statement.body)),)
            case If(condition=condition):
                condition = self.expr(condition)
                decided = self._asked(condition)
                if decided is not None:
                    chosen = self.statements(statement.then if decided.truth else statement.otherwise)
                    return (Block(chosen),) if any(isinstance(s, Declare) for s in chosen) else chosen
                then, otherwise = map(self.statements, (statement.then, statement.otherwise))
                return (If(condition, then, otherwise),)
            case For(start=IntLiteral(value=0), relation="<", step=IntLiteral(value=1)) if is_short(
                statement
            ):
                assert isinstance(statement.bound, IntLiteral)
                if statement.iterator in self._counts or statement.bound.value < 1:
                    return (statement,)
                self._counts[statement.iterator] = statement.bound.value
                changed = replace(statement, body=self.statements(statement.body))
                del self._counts[statement.iterator]
                return (changed,)
            case _:
                return (statement,)

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Conditional():
                # Choices in the condition first: of a number that is held between two ends, for example.
                condition = self.expr(expr.condition)
                decided = self._asked(condition)
                if decided is not None:
                    chosen = expr.then if decided.truth else expr.otherwise
                    return as_type(self.expr(chosen), type_of(expr, self._types), self._types)
                return replace(
                    expr, condition=condition, then=self.expr(expr.then), otherwise=self.expr(expr.otherwise)
                )
            case Binary(operator="%"):
                left, right = self.expr(expr.left), self.expr(expr.right)
                number = self._remainder(left, right)
                if number is None:
                    return replace(expr, left=left, right=right)
                return as_type(number, type_of(expr, self._types), self._types)
            case _:
                pass
        return with_operands(expr, self.expr)

    def _remainder(self, left: Expr, right: Expr) -> Expr | None:
        """The remainder of a sum by an extent, where it is the sum or the sum less the extent; None where it is not
        known which."""
        value, divisor = self._read(left), self._read(right)
        if value is None or divisor is None or divisor != _one(divisor):
            return None
        if not self._extents.issuperset(divisor.symbols) or self._coordinates.isdisjoint(value.symbols):
            return None
        # A number of the points of whole rows is at ends of rows everywhere.
        if any(has_rows(self._limits[name], divisor) for name in self._coordinates & set(value.symbols)):
            return None
        times = self._at_middle(value) // LARGE
        rest = value - times * divisor
        # A sum that is not negative: where it is, C has another remainder.
        sums = (rest, divisor - rest - 1)
        if times not in (0, 1) or not all(map(self._is_border, sums)):
            return None
        self._ask(sums)
        return left if times == 0 else self._ring.write(rest)

    # --- conditions

    def _asked(self, condition: Expr) -> _Decided | None:
        """Return how a condition is decided, if it is; what it asks for is noted."""
        decided = self._decided(condition)
        if decided is not None:
            self._ask(decided.sums)
        return decided

    def _decided(self, condition: Expr) -> _Decided | None:
        match condition:
            case Binary(operator="&&" | "||" as operator):
                both = [self._decided(condition.left), self._decided(condition.right)]
                known = [each for each in both if each is not None]
                if len(known) < len(both):
                    return None
                decisive = [each for each in known if each.truth == (operator == "||")]
                if decisive:
                    return decisive[0]
                return _Decided(operator == "&&", tuple(value for each in known for value in each.sums))
            case Unary(operator="!"):
                decided = self._decided(condition.operand)
                return None if decided is None else replace(decided, truth=not decided.truth)
            case Binary(operator="==" | "!=" as operator):
                apart = self._read(Binary("-", condition.left, condition.right))
                if apart is None or self._at_middle(apart) == 0:
                    return None
                apart = apart if self._at_middle(apart) > 0 else -apart
                return self._border(operator == "!=", apart - 1)
            case Binary(operator="<" | "<=" | ">" | ">="):
                if self._read(Binary("-", condition.left, condition.right)) is None:
                    return None
                least = at_least_zero(self._ring, condition)
                assert least is not None, "a comparison"
                truth = self._at_middle(least) >= 0
                return self._border(truth, least if truth else -least - 1)
            case _:
                return None

    def _border(self, truth: bool, value: Polynomial) -> _Decided | None:
        return _Decided(truth, (value,)) if self._is_border(value) else None

    def _is_border(self, value: Polynomial) -> bool:
        """Whether a sum says that a coordinate is so many points away from 0, or from an extent, in all turns of loops:
        it is then no larger than integers are."""
        turns = sum(abs(value.coefficient(name, 1).constant_value()) * n for name, n in self._counts.items())
        fixed = value.substitute(dict.fromkeys(self._counts, 0))
        own = [name for name in fixed.symbols if name in self._coordinates]
        rest = fixed - fixed.constant_term
        if len(own) != 1 or abs(fixed.constant_term) + turns > WIDEST:
            return False
        (coordinate,) = own
        up = Polynomial.symbol(coordinate)
        if rest == up:
            return True
        return rest + up == _one(rest + up) != Polynomial.constant(0)

    def _ask(self, sums: Sequence[Polynomial]) -> None:
        for value in sums:
            for name, count in self._counts.items():
                factor = value.coefficient(name, 1)
                value = value.substitute({name: count - 1 if factor and factor.constant_value() < 0 else 0})
            constant = int(value.constant_term)
            rest = value - constant
            self.least[rest] = min(constant, self.least.get(rest, constant))

    # --- sums

    def _read(self, expr: Expr) -> Polynomial | None:
        """The sum of coordinates, extents and turns of loops, times constants, that an expression of signed integers
        is; None for others."""
        parts = list(subexpressions(expr))
        if not all(e.type.is_signed for e in parts if isinstance(e, IntLiteral)):
            return None
        known = self._coordinates | self._extents | self._counts.keys()
        value = self._ring.read(expr)
        is_linear = names_read(expr) <= known and value.is_integral and value.total_degree <= 1
        return value if is_linear and set(value.symbols) <= known else None

    def _at_middle(self, value: Polynomial) -> int:
        middle = dict.fromkeys(self._extents, LARGE) | dict.fromkeys(self._coordinates, LARGE // 2)
        return int(value.evaluate(middle | {name: count // 2 for name, count in self._counts.items()}))


def _one(value: Polynomial) -> Polynomial:
    """The sum of the names in a polynomial where that is one name; 0 for others."""
    return Polynomial.symbol(value.symbols[0]) if len(value.symbols) == 1 else Polynomial.constant(0)
