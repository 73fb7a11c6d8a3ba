"""Two digits of an index become one: a body over (j, w) in, the body over one iterator out, or None.

Where every index adds up to a function of ``s*j + w`` (mixed radix), the pair of a grid loop ``j`` and a serial
loop ``w < s`` is one loop of extent ``dim * s``, and no division is needed::

    grid j < dim, w < s:   int q = j*(s*B) + u;  int x = w*B;  c[q + x]
        -->  grid j < dim*s:   int q = j*B + u;  c[q]

Definitions may hold one digit only, as ``q`` and ``x`` do; what counts is the sum where it is used.  There every
expression must be a polynomial in ``s*j + w``, proved by substituting ``w := y - s*j`` and seeing ``j`` vanish.

What is not may keep its digits where the new iterator has a name of its own: most subscripts then collapse, as
footprints need it, and what uses a digit alone still reads ``j`` or ``w``::

    a[(j*s + w)*B + u] * w      -->      a[y*B + u] * w      with w = y % s
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.conversions import in_type, keeps_sums, without_conversions
from comprehensive.loops.integers import (
    POLYNOMIAL_OPERATORS,
    ZERO,
    Ring,
    addends,
    sum_of_addends,
)
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import declared_names
from comprehensive.loops.types import environment_of, type_of
from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Declare,
    Expr,
    For,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import with_bodies, with_operands, with_own_expressions
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import assigned_scalars, declared, statements_in
from comprehensive.records import replace

_DIGITS = "@digits"
"""The symbol of ``s*j + w``; no C name."""


class Digits(Struct, frozen=True):
    """A pair of counters, ``high`` and ``low < radix``, that becomes ``joined := radix*high + low``.

    ``joined`` may be ``high`` itself; both digits are then gone from the body.
    """

    high: str
    low: str
    radix: Expr
    joined: str


class _NotMixedRadixError(Exception):
    pass


def collapse(
    nest: Nest,
    number: int,
    body: tuple[Stmt, ...],
    digits: Digits,
    around: Mapping[str, ScalarType] | None = None,
) -> tuple[Stmt, ...] | None:
    """The body of band ``number`` over the joined iterator; ``around`` are the types of names that statements around a
    part of the band declare.

    None where, with ``joined == high``, some value does not depend on ``radix*high + low`` alone.
    """
    if {digits.high, digits.low} & declared_names(body):
        return None
    types = {
        **environment_of(nest, number),
        **(around or {}),
        digits.low: ScalarType.INT,
        digits.joined: ScalarType.INT,
    }
    for name, type in chain.from_iterable(declared(statement).items() for statement in statements_in(body)):
        if types.setdefault(name, type) is not type:
            return None  # one name, two types: a matter for a person
    try:
        return _Collapse(digits, types, assigned_scalars(body)).body(body, _Scope({}, frozenset()))
    except _NotMixedRadixError:
        return None


class _Scope(Struct, frozen=True):
    """Definitions in force that hold a digit: their values over both digits, and those whose new value is 0."""

    values: Mapping[str, Polynomial]
    zeros: frozenset[str]

    def without(self, name: str) -> _Scope:
        return _Scope({k: v for k, v in self.values.items() if k != name}, self.zeros - {name})


class _Collapse:
    def __init__(self, digits: Digits, types: Mapping[str, ScalarType], assigned: frozenset[str]) -> None:
        self._digits = digits
        self._types = types
        self._assigned = assigned
        self._ring = Ring()
        self._radix = self._ring.read(digits.radix)

    # --- statements

    def body(self, body: tuple[Stmt, ...], scope: _Scope) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case Declare():
                    scope, kept = self._declare(statement, scope)
                    result += kept
                case _:
                    inside = scope.without(statement.iterator) if isinstance(statement, For) else scope
                    changed = with_own_expressions(statement, partial(self.value, scope=scope))
                    result.append(with_bodies(changed, partial(self.body, scope=inside)))
        return tuple(result)

    def _declare(self, statement: Declare, scope: _Scope) -> tuple[_Scope, tuple[Stmt, ...]]:
        initial = statement.initial
        outer, scope = scope, scope.without(statement.name)
        if initial is None:
            return scope, (statement,)
        full = self._digits_in_definition(statement, initial, outer)
        if full is None:
            return scope, (replace(statement, initial=self.value(initial, outer)),)
        value = self._replaced(self._plain(initial, outer), outer)
        scope = _Scope({**scope.values, statement.name: full}, scope.zeros)
        if value == ZERO:
            return replace(scope, zeros=scope.zeros | {statement.name}), ()
        return scope, (replace(statement, initial=self._as_typed(value, initial)),)

    def _digits_in_definition(self, statement: Declare, initial: Expr, scope: _Scope) -> Polynomial | None:
        """The value of a definition that may hold a part of the digits; None where its value is used as it is.

        What wraps around in 64 bits is right wherever it is used: nothing is computed modulo more.
        """
        kind = statement.type
        if not (kind.is_exact or kind.is_wide) or statement.name in self._assigned:
            return None
        if not self._is_ring_node(initial) or names_read(initial) & self._assigned:
            return None
        both_exact = kind.is_exact and promote(type_of(initial, self._types)).is_exact
        if not both_exact and not keeps_sums(kind, initial, self._types):
            return None
        polynomial = self._ring.read(self._plain(initial, scope))
        full = polynomial.substitute(scope.values)
        return full if {self._digits.high, self._digits.low} & set(full.symbols) else None

    def _plain(self, expr: Expr, scope: _Scope) -> Expr:
        return self._with_atoms(without_conversions(expr, self._types), scope)

    # --- expressions

    def value(self, expr: Expr, scope: _Scope) -> Expr:
        """An expression whose value counts: over the joined iterator, or over the digits where that is allowed."""
        if self._is_ring_node(expr):
            return self._sum(expr, scope)
        return with_operands(expr, partial(self.value, scope=scope))

    def _sum(self, expr: Expr, scope: _Scope) -> Expr:
        """Likewise an expression that is a polynomial but for conversions."""
        plain = without_conversions(expr, self._types)
        seen = self._with_atoms(plain, scope)
        polynomial = self._ring.read(seen)
        read = {self._digits.high, self._digits.low} & set(polynomial.symbols)
        defined = scope.values.keys() & set(polynomial.symbols)
        full = polynomial.substitute(scope.values)
        if (read or defined) and self._is_mixed_radix(full):
            return self._as_typed(self._replaced(seen, scope), expr)
        if (read or defined) and self._digits.joined == self._digits.high:
            raise _NotMixedRadixError
        # As written, unless it reads a definition, which is one over the joined iterator by now.
        if defined:
            return self._as_typed(self._ring.write(full), expr)
        return expr if seen == plain else self._as_typed(seen, expr)

    def _as_typed(self, value: Expr, was: Expr) -> Expr:
        """The value in the type that it had: what made it wide or unsigned may be gone with the digits."""
        kind = promote(type_of(was, self._types))
        return value if kind is ScalarType.INT else in_type(value, kind, self._types)

    def _is_ring_node(self, expr: Expr) -> bool:
        """Whether an expression is an integer that has an operation of the ring, or a conversion, at its root."""
        match expr:
            case Name() | Unary(operator="-" | "+") | Binary(operator="+" | "-" | "*"):
                return promote(type_of(expr, self._types)).is_integer
            case Cast():
                return keeps_sums(expr.type, expr.operand, self._types)
            case _:
                return False

    def _with_atoms(self, expr: Expr, scope: _Scope) -> Expr:
        """The expression, which has no conversions to be read through, with its atoms rewritten; a polynomial in its
        names is left for the caller."""
        match expr:
            case Name() | IntLiteral():
                return expr
            case Unary(operator="-" | "+"):
                return replace(expr, operand=self._with_atoms(expr.operand, scope))
            case Binary() if expr.operator in POLYNOMIAL_OPERATORS:
                left, right = self._with_atoms(expr.left, scope), self._with_atoms(expr.right, scope)
                return replace(expr, left=left, right=right)
            case Cast():
                return replace(expr, operand=self.value(expr.operand, scope))
            case _:
                return self.value(expr, scope)

    def _is_mixed_radix(self, polynomial: Polynomial) -> bool:
        low = Polynomial.symbol(_DIGITS) - self._radix * Polynomial.symbol(self._digits.high)
        return self._digits.high not in polynomial.substitute({self._digits.low: low}).symbols

    def _replaced(self, expr: Expr, scope: _Scope) -> Expr:
        """Replace digits in the summands that hold one: ``low := 0, high := joined/radix``.

        The others stay as written.
        """
        affected = {self._digits.high, self._digits.low} | scope.zeros
        kept: list[tuple[int, Expr]] = []
        position: int | None = None
        gathered = Polynomial.constant(0)
        for sign, term in addends(expr):
            polynomial = self._ring.read(term)
            if not affected & set(polynomial.symbols):
                kept.append((sign, term))
                continue
            position = len(kept) if position is None else position
            gathered = gathered + sign * polynomial
        if position is None:
            return expr
        gathered = gathered.substitute({name: 0 for name in (self._digits.low, *sorted(scope.zeros))})
        if gathered.degree(self._digits.high) > 1:
            raise _NotMixedRadixError
        quotient = gathered.coefficient(self._digits.high, 1).divide_exactly(self._radix)
        if quotient is None or not quotient.is_integral:
            raise _NotMixedRadixError
        value = quotient * Polynomial.symbol(self._digits.joined) + gathered.coefficient(self._digits.high, 0)
        kept[position:position] = addends(self._ring.write(value, self._digits.joined))
        return sum_of_addends(kept)
