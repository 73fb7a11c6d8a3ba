"""Interior: what points do that are far from all borders, and where that is what they do.

::

    if (i == 0 || i == n - 1) b[i][j] = a[i][j]; else b[i][j] = a[i - 1][j] + a[i + 1][(j + 1) % m];
        -->  b[i][j] = a[i - 1][j] + a[i + 1][j + 1]      where 0 <= i - 1, 0 <= n - 2 - i, 0 <= j + 1, 0 <= m - 2 - j

Comparisons of coordinates are decided as a point in the middle of large extents decides them, and remainders are the
numbers that they are there.  What is left reads the rows of arrays as they lie in memory, so that neighbours share what
they read (`windows.py`); points for which the conditions do not hold do what the program says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import at_least_zero
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.rewrite import substitute
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import with_operands
from comprehensive.metafork.walk import subexpressions
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.unroll_and_jam import is_short

LARGE = 1 << 12
"""An extent of which the middle is far from its ends, by more than other scalars are."""
SMALL = 2
"""The value of scalars that are no extents where a point in the middle decides about them."""


@dataclass(frozen=True, slots=True)
class Interior:
    """A body without choices that only points near a border make otherwise, and sums of coordinates, each at least 0
    where that is what the program does.  There are none where it is the body of the program."""

    body: tuple[Stmt, ...]
    conditions: tuple[Polynomial, ...]


def interior_of(nest: Nest, tile: RegisterTile, body: Sequence[Stmt]) -> Interior:
    """Return what points of a body do that are far from borders."""
    found = _Deciding(nest, tile)
    changed = found.statements(body)
    conditions = tuple(
        rest + constant for rest, constant in found.least.items() if found.may_fail(rest, constant)
    )
    return Interior(changed, conditions) if changed != tuple(body) else Interior(tuple(body), ())


def holds_between(value: Polynomial, ends: Mapping[str, tuple[Expr, Expr]]) -> Expr:
    """Return the condition that a sum is at least 0 while coordinates are from their first to their last values."""
    least: dict[str, Expr] = {}
    for name, (first, last) in ends.items():
        factor = value.coefficient(name, 1)
        least[name] = last if factor and factor.constant_value() < 0 else first
    return Binary("<=", ZERO, substitute(Ring().write(value), least))


class _Deciding:
    """The rewriting of one body, and the sums that are at least 0 where it is what the program does."""

    def __init__(self, nest: Nest, tile: RegisterTile) -> None:
        self._ring = Ring()
        self._scalars = {s.name for s in nest.scalars if s.type.is_integer and s.type.is_signed}
        self._coordinates = {c.name for c in tile.coordinates}
        self._counts: dict[str, int] = {}
        """The steps of the loops around that have constant ones."""
        self._middle = self._of_middle(nest, tile)
        self.least: dict[Polynomial, int] = {}
        """The least constant with which each sum without one has to be at least 0."""

    def _of_middle(self, nest: Nest, tile: RegisterTile) -> dict[str, int]:
        """Return the values of names at a point in the middle."""
        dims = [d for a in nest.arrays for d in a.dims or () if d is not None]
        extents = {name for e in (*dims, *(c.limit for c in tile.coordinates)) for name in names_read(e)}
        values = {name: LARGE if name in extents else SMALL for name in sorted(self._scalars)}
        for c in tile.coordinates:
            limit = self._ring.read(c.limit)
            known = set(limit.symbols) <= values.keys()
            values[c.name] = int(limit.evaluate(values)) // 2 if known else LARGE // 2
        return values

    def may_fail(self, rest: Polynomial, constant: int) -> bool:
        """Whether a sum may be negative at points that there are, as far as its signs tell."""
        values = [rest.coefficient(name, 1) for name in rest.symbols]
        is_of_points = set(rest.symbols) <= self._coordinates
        return constant < 0 or not is_of_points or any(value.constant_value() < 0 for value in values)

    # --- statements and expressions

    def statements(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(changed for statement in body for changed in self._statement(statement))

    def _statement(self, statement: Stmt) -> tuple[Stmt, ...]:
        match statement:
            case Declare(initial=initial):
                return (statement if initial is None else replace(statement, initial=self.expr(initial)),)
            case Assign(target=Index() as target, value=value):
                moved = self.expr(target)
                assert isinstance(moved, Index)
                return (replace(statement, target=moved, value=self.expr(value)),)
            case Assign(value=value):
                return (replace(statement, value=self.expr(value)),)
            case Block():
                return (Block(self.statements(statement.body)),)
            case If(condition=condition):
                truth = self._decided(condition)
                if truth is not None:
                    chosen = self.statements(statement.then if truth else statement.otherwise)
                    return (Block(chosen),) if any(isinstance(s, Declare) for s in chosen) else chosen
                then, otherwise = map(self.statements, (statement.then, statement.otherwise))
                return (If(self.expr(condition), then, otherwise),)
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
            case Conditional(condition=condition):
                truth = self._decided(condition)
                if truth is not None:
                    return self.expr(expr.then if truth else expr.otherwise)
            case Binary(operator="%"):
                left, right = self.expr(expr.left), self.expr(expr.right)
                number = self._remainder(left, right)
                return replace(expr, left=left, right=right) if number is None else number
            case _:
                pass
        return with_operands(expr, self.expr)

    def _remainder(self, left: Expr, right: Expr) -> Expr | None:
        """The remainder of a sum where it is the sum less some times the divisor; None where that is not known."""
        value, divisor = self._read(left), self._read(right)
        if value is None or divisor is None or self._moving.isdisjoint(value.symbols):
            return None
        if not self._moving.isdisjoint(divisor.symbols):
            return None
        at, by = self._at_middle(value), self._at_middle(divisor)
        if by <= 0 or at < 0:
            return None
        rest = value - at // by * divisor
        # Where the dividend is negative, it is another number: here both summands are at least 0.
        self._ask((rest, divisor - rest - 1))
        return self._ring.write(rest)

    # --- conditions

    def _decided(self, condition: Expr) -> bool | None:
        """The truth of a condition on coordinates in the middle, where it is decided; what it asks for is noted."""
        moves = not self._moving.isdisjoint(names_read(condition))
        truth = self._truth(condition) if moves else None
        if truth is None:
            return None
        sums = self._sums(condition, wanted=truth)
        if sums is None:
            return None
        self._ask(sums)
        return truth

    def _truth(self, condition: Expr) -> bool | None:
        """The truth in the middle; None where other things decide."""
        match condition:
            case Binary(operator="&&" | "||" as operator, left=left, right=right):
                both = self._truth(left), self._truth(right)
                if None in both:
                    return None
                return all(both) if operator == "&&" else any(both)
            case Unary(operator="!", operand=operand):
                truth = self._truth(operand)
                return None if truth is None else not truth
            case Binary(operator="==" | "!=" as operator):
                apart = self._read(Binary("-", condition.left, condition.right))
                return None if apart is None else (self._at_middle(apart) == 0) == (operator == "==")
            case _:
                least = self._comparison(condition)
                return None if least is None else self._at_middle(least) >= 0

    def _sums(self, condition: Expr, *, wanted: bool) -> tuple[Polynomial, ...] | None:
        """Return sums that are all at least 0 only where the condition, which is so in the middle, is as ``wanted``."""
        match condition:
            case Binary(operator="&&" | "||" as operator, left=left, right=right):
                if (operator == "&&") == wanted:
                    both = self._sums(left, wanted=wanted), self._sums(right, wanted=wanted)
                    return None if both[0] is None or both[1] is None else (*both[0], *both[1])
                return self._sums(left if self._truth(left) == wanted else right, wanted=wanted)
            case Unary(operator="!", operand=operand):
                return self._sums(operand, wanted=not wanted)
            case Binary(operator="==" | "!=" as operator):
                if (operator == "==") == wanted:
                    return None
                apart = self._read(Binary("-", condition.left, condition.right))
                return None if apart is None else (apart - 1 if self._at_middle(apart) > 0 else -apart - 1,)
            case _:
                least = self._comparison(condition)
                return None if least is None else (least if wanted else -least - 1,)

    def _comparison(self, condition: Expr) -> Polynomial | None:
        """A sum that is at least 0 exactly where a comparison of known integers holds."""
        match condition:
            case Binary(operator="<" | "<=" | ">" | ">="):
                is_known = self._read(Binary("-", condition.left, condition.right)) is not None
                return at_least_zero(self._ring, condition) if is_known else None
            case _:
                return None

    def _read(self, expr: Expr) -> Polynomial | None:
        """The sum that an expression of signed integers is; None for others, and where it is none that is known."""
        literals = [e for e in subexpressions(expr) if isinstance(e, IntLiteral)]
        value = self._ring.read(expr) if all(e.type.is_signed for e in literals) else None
        return value if value is not None and self._is_known(value) else None

    def _ask(self, sums: Sequence[Polynomial]) -> None:
        for value in sums:
            for name, count in self._counts.items():
                factor = value.coefficient(name, 1)
                value = value.substitute({name: count - 1 if factor and factor.constant_value() < 0 else 0})
            constant = int(value.constant_term)
            rest = value - constant
            self.least[rest] = min(constant, self.least.get(rest, constant))

    # --- names

    @property
    def _moving(self) -> set[str]:
        return self._coordinates | self._counts.keys()

    def _is_known(self, value: Polynomial) -> bool:
        """Whether a sum is one of coordinates and loops of constant steps, times constants, and of scalars."""
        moving = self._moving & set(value.symbols)
        factors = [value.coefficient(name, 1) for name in moving]
        return (
            set(value.symbols) <= self._moving | self._scalars
            and value.is_integral
            and all(value.degree(name) == 1 for name in moving)
            and all(factor.is_constant for factor in factors)
        )

    def _at_middle(self, value: Polynomial) -> int:
        return int(value.evaluate({**self._middle, **{name: n // 2 for name, n in self._counts.items()}}))
