"""Integers that fit into ``int`` are computed in ``int``, whatever type the program computes them in.

In: what is done at points, the types and the ranges of all names.  Out: the same, to the bit, without conversions that
change no value::

    a[(unsigned long)y + 1] = (unsigned long)y;  if ((unsigned long)y < 7ul) ...
        -->   a[y + 1] = y;  if (y < 7) ...                         where 0 <= y < 2^31 - 1

A subscript of 64 bits may be negative where the program computes it in ``size_t``: an address is the same modulo 2^64,
so that ``a[(unsigned long)y - 1]`` is ``a[y - 1]``; and so is any integer to which such a number is converted.
Elsewhere an expression is computed in ``int`` only where nothing in it wraps around.

What ranges do not show of a sum of coordinates and iterators, each once, a launch can tell, as for a window of an
image: ``in[(long)y + (long)k]`` is ``in[y + k]`` where ``h + m - 2 <= 2147483647``.  Products are left as they are:
whoever counts elements in 64 bits may have as many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.integers import POLYNOMIAL_OPERATORS, ZERO
from comprehensive.loops.intervals import Interval, Ranges, joined, negated, values_of
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.iterators import Counted, in_statements
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.precedence import COMPARISONS
from comprehensive.metafork.rewrite import map_expression, map_expressions, with_bodies, with_subscripts
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.walk import assigned_scalars, statements_in
from comprehensive.records import replace

_INT = ScalarType.INT


def in_int_at_points(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Mapping[str, Expr]
) -> tuple[list[tuple[Stmt, ...]], tuple[Expr, ...]]:
    """The bodies with what fits into ``int`` computed in it, and the conditions on scalars under which it does.

    ``0 <= name < limit`` for each of the coordinates.  Loops whose extents differ between points count in ``int``, too,
    where these fit.
    """
    demanded: dict[Expr, None] = {}
    done = list(bodies)
    while True:
        subscripts = Subscripts.of(nest, done, coordinates)
        narrow = [_at_points(subscripts, body, demanded) for body in done]
        counted = [each.counted(body) for each, body in zip(narrow, done, strict=True)]
        if counted == done:
            return [n.body(body) for n, body in zip(narrow, done, strict=True)], tuple(demanded)
        done = counted


def _at_points(subscripts: Subscripts, body: tuple[Stmt, ...], demanded: dict[Expr, None]) -> _Narrow:
    """The rewriting of a body; what a launch has to see to for it comes to what is ``demanded``."""

    def can_tell(sum: Expr, kind: ScalarType) -> bool:
        value, conversions = subscripts.linear(sum), subscripts.conversions(sum)
        if value is None or conversions is None:
            return False
        factors = [value.coefficient(variable, 1) for variable in subscripts.variables(value)]
        if not all(factor in (1, -1) for factor in factors):
            return False
        found = subscripts.within(value, kind)
        if found is None:
            return False
        demanded.update(dict.fromkeys((*conversions, *found)))
        return True

    changing = assigned_scalars(body) | {s.name for s in statements_in(body) if isinstance(s, Declare)}
    ranges = {name: r for name, r in subscripts.ranges.items() if name not in changing}
    return _Narrow(subscripts.types, ranges, can_tell)


def in_int(
    body: tuple[Stmt, ...],
    types: Mapping[str, ScalarType],
    ranges: Ranges,
) -> tuple[Stmt, ...]:
    """The body with what fits into ``int`` computed in it; ``types`` are those of all names in the body."""
    return _Narrow(types, ranges, lambda _, __: False).body(body)


class _Narrow(Struct, frozen=True):
    """``can_tell``: whether a launch sees to it that an integer type holds a sum.

    What is ``modest`` demands of no launch that a difference is not negative.
    """

    types: Mapping[str, ScalarType]
    ranges: Ranges
    can_tell: Callable[[Expr, ScalarType], bool]
    modest: bool = False

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements with all that fits computed in ``int``."""

        def subscript(expr: Expr) -> Expr:
            return self.place(self.within(expr))

        return self.stored(
            map_expressions(body, self.within, lambda place: with_subscripts(place, subscript))
        )

    def counted(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body with its outermost loops of other types over ``int``, where their extents fit."""
        return tuple(self._counted(s) if isinstance(s, For) else with_bodies(s, self.counted) for s in body)

    def _counted(self, loop: For) -> For:
        kind = promote(loop.type or _INT)
        inside = replace(loop, body=self.counted(loop.body))
        compared = common_type(kind, type_of(loop.bound, self.types))
        if compared is _INT or not loop.counts_up:
            return inside
        extent = self._int(loop.bound)
        if extent is None or loop.iterator in assigned_scalars(loop.body):
            return inside
        if compared.wraps and not self._is_held(extent, compared):
            return inside
        if kind is _INT:
            return replace(inside, bound=extent)
        number = Name(loop.iterator, loop.span)
        counted = Counted(_INT, extent, Cast(kind, number, loop.span), number, 0)
        within = in_statements(loop.body, loop.iterator, counted, {**self.types, loop.iterator: _INT})
        return replace(loop, type=_INT, bound=extent, body=within)

    def within(self, expr: Expr) -> Expr:
        """The expression with its parts in ``int`` wherever its own type is the same then."""
        return map_expression(expr, self._node)

    def stored(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements with what is converted to the type of a target in ``int`` before."""
        return tuple(map(self._statement, body))

    def place(self, subscript: Expr) -> Expr:
        """A subscript, of which the lowest 64 bits count."""
        found = self._int(subscript, bits=64)
        kind = self._kind(subscript)
        if found is not None or not kind.is_wide:
            return found or subscript
        match subscript:
            case Binary(operator=operator, left=left, right=right) if operator in POLYNOMIAL_OPERATORS:
                # What is in int on one side is converted for the other side's sake.
                one = replace(subscript, left=self.place(left))
                one = one if self._kind(one) is kind else subscript
                both = replace(one, right=self.place(right))
                return both if self._kind(both) is kind else one
            case _:
                return subscript

    def _converted(self, expr: Expr, to: ScalarType) -> Expr | None:
        """Return the operand of a conversion to a type in ``int``: for an integer type the lowest bits count."""
        return replace(self, modest=True)._int(expr, bits=to.bits if to.is_integer else 0)

    def _statement(self, statement: Stmt) -> Stmt:
        match statement:
            case Declare(type=kind, initial=initial) if initial is not None:
                return replace(statement, initial=self._converted(initial, kind) or initial)
            case Assign(operator=operator, target=target, value=value):
                if operator == "=":
                    kind = type_of(target, self.types)
                    return replace(statement, value=self._converted(value, kind) or value)
                return replace(statement, value=self._operand(value, target))
            case _:
                return with_bodies(statement, self.stored)

    def _node(self, expr: Expr) -> Expr:
        match expr:
            case Index():
                return replace(expr, subscripts=tuple(map(self.place, expr.subscripts)))
            case Cast(type=kind, operand=operand):
                found = self._converted(operand, kind)
                if found is None:
                    return expr
                is_idle = kind is _INT and type_of(found, self.types) is _INT
                return found if is_idle else replace(expr, operand=found)
            case Binary(operator=operator, left=left, right=right) if operator in COMPARISONS:
                modest = replace(self, modest=True)
                sides = modest._int(left), modest._int(right)
                if sides[0] is not None and sides[1] is not None and self._compare_alike(left, right):
                    return replace(expr, left=sides[0], right=sides[1])
                if (within := modest._unsigned_bound(expr)) is not None:
                    return within
                return replace(expr, left=self._operand(left, right), right=self._operand(right, left))
            case Binary(operator="+" | "-" | "*" | "/" | "%", left=left, right=right):
                left = self._operand(left, right)
                return replace(expr, left=left, right=self._operand(right, left))
            case Conditional(then=then, otherwise=otherwise):
                then = self._operand(then, otherwise)
                return replace(expr, then=then, otherwise=self._operand(otherwise, then))
            case _:
                return expr

    def _unsigned_bound(self, expr: Binary) -> Expr | None:
        """A comparison in an unsigned type with a number that is not negative, in ``int``; None where it is none.

        ::

            (unsigned)p < (unsigned)n   -->   0 <= p && p < n
            (unsigned)p >= (unsigned)n   -->   p < 0 || n <= p
        """
        kind = common_type(type_of(expr.left, self.types), type_of(expr.right, self.types))
        if not kind.wraps or expr.operator not in ("<", "<=", ">", ">="):
            return None
        small, large = (expr.left, expr.right) if "<" in expr.operator else (expr.right, expr.left)
        relation = "<=" if "=" in expr.operator else "<"
        for compared, other in ((small, large), (large, small)):
            number, bound = self._wrapped(compared, kind), self._int(other)
            if number is None or bound is None or not self._is_held(bound, kind):
                continue
            if compared is small:
                return Binary("&&", Binary("<=", ZERO, number), Binary(relation, number, bound), expr.span)
            return Binary("||", Binary("<", number, ZERO), Binary(relation, bound, number), expr.span)
        return None

    def _wrapped(self, expr: Expr, kind: ScalarType) -> Expr | None:
        """The number of ``int`` whose value modulo the range of an unsigned type an expression of that type is."""
        match expr:
            case Cast(operand=operand) if self._kind(operand) is _INT and kind is expr.type:
                return operand
            case _ if self._kind(expr) is _INT:
                return expr
            case _:
                return self._int(expr, bits=kind.bits)

    def _operand(self, expr: Expr, other: Expr) -> Expr:
        """An operand in ``int`` where C converts it to the same type again, for the other operand's sake."""
        found = replace(self, modest=True)._int(expr)
        kind = type_of(other, self.types)
        if found is None or common_type(_INT, kind) is not common_type(type_of(expr, self.types), kind):
            return expr
        return found

    def _compare_alike(self, left: Expr, right: Expr) -> bool:
        """Whether two integers that fit into ``int`` compare there as they do in their common type."""
        if not common_type(type_of(left, self.types), type_of(right, self.types)).wraps:
            return True
        return all(self._values(side).least >= 0 for side in (left, right))

    def _int(self, expr: Expr, *, bits: int = 0) -> Expr | None:
        """An expression of ``int`` that has the value of an integer expression, of which, unless that is 0, so many
        ``bits`` count, the lowest ones; None where none is known."""
        kind = self._kind(expr)
        if kind is _INT:
            return expr
        if not kind.is_integer:
            return None
        modular = 0 < bits <= kind.bits
        if kind.wraps and not modular and isinstance(expr, Binary | Unary):
            # The parts of a sum may be negative that is not.
            found = self._int(expr, bits=kind.bits)
            if found is not None and self._is_held(found, kind):
                return found
        match expr:
            case IntLiteral(value=value) if Interval(value, value).within(_INT):
                return replace(expr, type=_INT)
            case Cast(operand=operand):
                found = self._int(operand, bits=bits)
                return found if found is not None and (modular or self._fits(found, kind)) else None
            case Unary(operator="-" | "+" as operator, operand=operand):
                found = self._int(operand, bits=bits)
                if found is None:
                    return None
                values = self._values(found)
                values = negated(values) if operator == "-" else values
                if not values.within(_INT) or not (modular or values.within(kind)):
                    return None
                return replace(expr, operand=found)
            case Binary(operator=operator, left=left, right=right) if operator in POLYNOMIAL_OPERATORS:
                parts = self._int(left, bits=bits), self._int(right, bits=bits)
                if parts[0] is None or parts[1] is None:
                    return None
                values = joined(operator, *(self._values(part) for part in parts if part is not None))
                exact = all(self._fits(part, kind) for part in parts if part is not None)
                if not (modular or (exact and values.within(kind))):
                    return None
                found = replace(expr, left=parts[0], right=parts[1])
                return found if values.within(_INT) or self.can_tell(found, _INT) else None
            case Binary(operator="/" | "%", left=left, right=right):
                first, second = self._int(left), self._int(right)
                if first is None or second is None:
                    return None
                if not (self._is_held(first, kind) and self._is_held(second, kind)):
                    return None
                if self._values(first).least == _INT.lowest and self._values(second).least < 0:
                    return None  # the quotient of the least number and -1
                return replace(expr, left=first, right=second)
            case Conditional(then=then, otherwise=otherwise):
                first, second = self._int(then, bits=bits), self._int(otherwise, bits=bits)
                if first is None or second is None:
                    return None
                if not (modular or (self._fits(first, kind) and self._fits(second, kind))):
                    return None
                return replace(expr, then=first, otherwise=second)
            case _:
                return None

    def _kind(self, expr: Expr) -> ScalarType:
        return promote(type_of(expr, self.types))

    def _values(self, expr: Expr) -> Interval:
        return values_of(expr, self.types, self.ranges)

    def _is_held(self, expr: Expr, kind: ScalarType) -> bool:
        """Whether an integer type holds the values of an expression of ``int``, perhaps for what a launch sees to."""
        return self._fits(expr, kind) or (not self.modest and self.can_tell(expr, kind))

    def _fits(self, expr: Expr, kind: ScalarType) -> bool:
        return self._values(expr).within(kind)
