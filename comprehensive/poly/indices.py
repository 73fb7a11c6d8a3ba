"""Expressions of a nest as polynomials, and conditions as unions of polynomial systems.

In: an ``Expr`` of the syntax tree.  Out: a :class:`Polynomial` over scalars and iterators, or an exception that
names the term which is not polynomial.  An integer division of scalars becomes a *quotient*: a symbol of its own,
named by its C text, unless a host scalar already holds it.  Example: with ``int dim0 = n / B0;`` the bound
``n / B0`` reads as ``dim0``, and ``j + N/2`` as ``j + [(N)/(2)]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import product
from typing import assert_never

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.closure import reached
from comprehensive.diagnostics import Span
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockStmt, Nest, Role, Scalar
from comprehensive.loops.sizes import sizes
from comprehensive.loops.types import names_declared, type_of
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.walk import all_statements_in, assigned_scalars, subexpressions
from comprehensive.poly.memo import remembered
from comprehensive.poly.model import Constraint, c_text
from comprehensive.poly.remainders import is_turns, masked, turns, turns_among
from comprehensive.poly.unsigned import WIDE, WRAPPING, is_of, is_small_sum, unconverted
from comprehensive.records import replace

ZERO = Polynomial.constant(0)
ONE = Polynomial.constant(1)

Conjunction = tuple[Constraint, ...]


class NotPolynomialError(Exception):
    """The part ``term`` of an expression that has no polynomial, with the reason."""

    def __init__(self, term: Expr, reason: str) -> None:
        super().__init__(reason)
        self.term = term
        self.reason = reason

    @property
    def span(self) -> Span:
        return self.term.span


class Quotient(Struct, frozen=True):
    """A quotient as C divides, towards zero: ``symbol == numerator / denominator``, the latter positive."""

    symbol: str
    numerator: Polynomial
    denominator: Polynomial


class Scope(Struct, frozen=True):
    """The meanings of the names of a nest; iterators are added by whoever knows the place.

    ``values`` are the host scalars with a polynomial definition, ``quotients`` the ones that divide, ``lower`` the
    least value of each integer scalar, ``tampered`` the loop variables that their own loop assigns, ``unsigned``
    the names whose differences wrap around, ``wide`` those of 64 bits, which an ``int`` may not hold.  ``facts`` are
    not negative, by the asserts before the region.  ``extents`` are sizes of data and of grids, which no computer has
    in the upper half of 64 bits.
    """

    values: Mapping[str, Polynomial]
    quotients: Mapping[tuple[Polynomial, Polynomial], str]
    lower: Mapping[str, int]
    program: frozenset[str]
    tampered: frozenset[str]
    unsigned: frozenset[str]
    wide: frozenset[str]
    facts: tuple[Polynomial, ...] = ()
    extents: frozenset[str] = frozenset()

    def read(
        self, expr: Expr, iterators: frozenset[str] = frozenset(), *, remainders: bool = False
    ) -> Polynomial:
        """The polynomial of an integer expression.  Raises NotPolynomialError.

        With ``remainders`` those of iterators have symbols of their own (`remainders.py`), of which the caller has to
        say what holds.
        """
        return _Reader(self, iterators, remainders=remainders).read(expr)

    def subscript(
        self, expr: Expr, iterators: frozenset[str] = frozenset(), *, remainders: bool = False
    ) -> Polynomial:
        """The polynomial of a subscript, as :meth:`read` has it.  Raises NotPolynomialError.

        Sums and products that wrap around in 64 bits are read as they stand: a place outside of the array is no
        place at all, and inside of it the subscript is that of mathematics.
        """
        return _Reader(self, iterators, is_place=True, remainders=remainders).read(expr)

    def condition(
        self, expr: Expr, iterators: frozenset[str] = frozenset(), *, remainders: bool = False
    ) -> Guard:
        """The condition as a union of conjunctions; what is not polynomial counts as possibly true."""
        return _Reader(self, iterators, remainders=remainders).condition(expr, True)


class Guard(Struct, frozen=True):
    """A union of conjunctions that contains every point where a condition holds.

    ``opaque`` are the parts of the condition that were taken as possibly true; where there are none it is exact.
    """

    pieces: tuple[Conjunction, ...]
    opaque: tuple[Expr, ...] = ()

    def both(self, other: Guard) -> Guard:
        joined = tuple((*left, *right) for left, right in product(self.pieces, other.pieces))
        return _bounded(Guard(joined, self.opaque + other.opaque))

    def either(self, other: Guard) -> Guard:
        return _bounded(Guard(self.pieces + other.pieces, self.opaque + other.opaque))


ALWAYS = Guard(((),))
NEVER = Guard(())
_MOST_PIECES = 16
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _bounded(guard: Guard) -> Guard:
    if len(guard.pieces) <= _MOST_PIECES:
        return guard
    return Guard(((),), (*guard.opaque, IntLiteral(1)))


@remembered
def scope_of(nest: Nest) -> Scope:
    """The scope of a nest: roles give lower bounds, host definitions give values and quotients."""
    values: dict[str, Polynomial] = {}
    quotients: dict[tuple[Polynomial, Polynomial], str] = {}
    bounded = sizes(nest)
    scalars = (*nest.scalars, *nest.state.scalars)
    lower = {s.name: _least(s, s.name in bounded) for s in scalars if s.type.is_integer}
    program = frozenset(s.name for s in nest.scalars if s.role is Role.PROGRAM)
    unsigned, wide = (
        frozenset(s.name for s in scalars if s.type in types) | names_declared(nest.body, types)
        for types in (WRAPPING, WIDE)
    )
    extents = bounded | {s.name for s in nest.with_role(Role.DATA)}
    scope = Scope(values, quotients, lower, program, _tampered(nest.body), unsigned, wide, extents=extents)
    types = {s.name: s.type for s in scalars}
    for scalar in scalars:
        if scalar.value is None or not scalar.type.is_integer or _is_cut_off(scalar, types):
            continue
        del lower[scalar.name]
        try:
            if isinstance(scalar.value, Binary) and scalar.value.operator == "/":
                key = (scope.read(scalar.value.left), scope.read(scalar.value.right))
                if not key[1].is_constant or not key[0].is_constant:
                    quotients.setdefault(key, scalar.name)
            polynomial = scope.read(scalar.value)
        except NotPolynomialError:
            lower[scalar.name] = _least(scalar, is_size=False)
            continue
        if polynomial != Polynomial.symbol(scalar.name):
            values[scalar.name] = polynomial
    asserted = (scope.condition(condition).pieces for condition in nest.preconditions)
    facts = [c.polynomial for pieces in asserted if len(pieces) == 1 for c in pieces[0] if not c.equality]
    return replace(scope, facts=tuple(facts))


def _is_cut_off(scalar: Scalar, types: Mapping[str, ScalarType]) -> bool:
    """Whether a byte or a half word holds what is defined as a wider number."""
    if not scalar.type.is_narrow or scalar.value is None:
        return False
    return not names_read(scalar.value) <= types.keys() or type_of(scalar.value, types) is not scalar.type


def _least(scalar: Scalar, is_size: bool) -> int:
    """The least value of an integer scalar: what the launcher demands, or what its type can hold."""
    if scalar.role is Role.PROGRAM:
        return 1
    return 0 if scalar.role is Role.DATA or is_size else scalar.type.lowest


def quotient_symbols(symbols: Iterable[str], scope: Scope) -> tuple[Quotient, ...]:
    """The quotients among the symbols and, in turn, among their numerators and denominators."""
    named = {name: Quotient(name, *key) for key, name in scope.quotients.items()}

    def parts(name: str) -> tuple[str, ...]:
        quotient = named.get(name) or _ANONYMOUS.get(name)
        return () if quotient is None else (*quotient.numerator.symbols, *quotient.denominator.symbols)

    found = (named.get(name) or _ANONYMOUS.get(name) for name in sorted(reached(symbols, parts)))
    return tuple(quotient for quotient in found if quotient is not None)


def is_nonnegative(polynomial: Polynomial, lower: Mapping[str, int]) -> bool:
    """A cheap certificate: written in ``symbol - lower[symbol]``, no coefficient is negative."""
    if all(t.coefficient >= 0 for t in polynomial.terms()) and all(
        lower.get(s, -1) >= 0 for s in polynomial.symbols
    ):
        return True
    shifts: dict[str, Polynomial] = {}
    for symbol in polynomial.symbols:
        if symbol not in lower:
            return False
        shifts[symbol] = Polynomial.symbol(symbol) + lower[symbol]
    return all(t.coefficient >= 0 for t in polynomial.substitute(shifts).terms())


# Named by its text, so that the name alone says what it is; never removed, never changed.
_ANONYMOUS: dict[str, Quotient] = {}


class _Reader:
    def __init__(
        self,
        scope: Scope,
        iterators: frozenset[str],
        is_place: bool = False,
        *,
        remainders: bool = False,
    ) -> None:
        self._scope = scope
        self._iterators = iterators
        self._remainders = remainders
        self._is_place = is_place
        """Whether what is read is a subscript up to sums and products."""

    def read(self, expr: Expr) -> Polynomial:
        match expr:
            case IntLiteral():
                return Polynomial.constant(expr.value)
            case Name():
                return self._name(expr)
            case Unary(operator="-"):
                if self._is_unsigned(expr):
                    raise NotPolynomialError(expr, "may wrap around, being unsigned")
                return -self.read(expr.operand)
            case Unary(operator="+"):
                return self.read(expr.operand)
            case Cast() if expr.type.is_wide or expr.type in (ScalarType.INT, ScalarType.UNSIGNED):
                return self._converted(expr)
            case Binary():
                return self._binary(expr)
            case Index():
                raise NotPolynomialError(expr, "depends on data")
            case Conditional():
                raise NotPolynomialError(expr, "is a conditional expression")
            case FloatLiteral():
                raise NotPolynomialError(expr, "is not an integer")
            case Call():
                raise NotPolynomialError(expr, f"is a call of {expr.function}")
            case Unary() | Cast():
                raise NotPolynomialError(expr, "is not polynomial")
            case _:
                assert_never(expr)

    def _converted(self, expr: Cast) -> Polynomial:
        """The operand of a conversion that leaves its value as it is."""
        names, types = self._scope.wide, WIDE
        if expr.type.is_signed:
            names, types = names | self._scope.unsigned, types | WRAPPING
        if not expr.type.is_wide and self._speaks_of(expr.operand, names, types):
            raise NotPolynomialError(expr, f"may be cut off by the conversion to {expr.type.value}")
        if self._is_place and expr.type.is_wide:
            return self.read(expr.operand)
        value = self._inside().read(expr.operand)
        if expr.type.wraps and self._may_be_negative(value):
            raise NotPolynomialError(expr, "may wrap around, being unsigned")
        return value

    def _inside(self) -> _Reader:
        """Return the reader for the parts of an operation whose value matters beyond the lowest 64 bits."""
        return _Reader(self._scope, self._iterators, remainders=self._remainders) if self._is_place else self

    def _name(self, expr: Name) -> Polynomial:
        name = expr.identifier
        if name in self._scope.tampered:
            raise NotPolynomialError(expr, "is changed inside its loop")
        if name in self._iterators:
            return Polynomial.symbol(name)
        if name in self._scope.values:
            return self._scope.values[name]
        if name in self._scope.lower or name in self._scope.quotients.values():
            return Polynomial.symbol(name)
        if name in self._scope.unsigned:
            raise NotPolynomialError(expr, "is computed in unsigned arithmetic, which may wrap around")
        raise NotPolynomialError(expr, "is not known before the loop runs")

    def _binary(self, expr: Binary) -> Polynomial:
        match expr.operator:
            case "+":
                return self.read(expr.left) + self.read(expr.right)
            case "-":
                difference = self.read(expr.left) - self.read(expr.right)
                if self._is_unsigned(expr) and not self._is_no_negative_one(difference):
                    raise NotPolynomialError(expr, "may wrap around, being unsigned")
                return difference
            case "*":
                left, right = self.read(expr.left), self.read(expr.right)
                if self._varies(left) and self._varies(right):
                    raise NotPolynomialError(expr, "is a product of iterators")
                return left * right
            case _ if self._is_place:
                return self._inside()._binary(expr)
            case "/":
                return self._divide(expr)
            case "%":
                return self.read(expr.left) - self.read(expr.right) * self._divide(expr)
            case "&" if self._remainders and (found := masked(expr)) is not None:
                number, modulus = found
                return turns(self.read(number), modulus, is_rounded_down=True).rest
            case ">>" if (
                self._remainders and isinstance(expr.right, IntLiteral) and 0 <= expr.right.value < 31
            ):
                number, modulus = self.read(expr.left), 2**expr.right.value
                if self._is_unsigned(expr) and self._may_be_negative(number):
                    raise NotPolynomialError(expr, "may wrap around, being unsigned")
                exact = number.divide_exactly(Polynomial.constant(modulus))
                if exact is not None and exact.is_integral:
                    return exact
                return turns(number, modulus, is_rounded_down=True).times
            case "<<":
                amount = self.read(expr.right)
                if not amount.is_constant or not 0 <= amount.constant_value() < 31:
                    raise NotPolynomialError(expr, "shifts by a variable amount")
                return self.read(expr.left) * 2 ** int(amount.constant_value())
            case _:
                raise NotPolynomialError(expr, f"uses the operator {expr.operator}")

    def _is_no_negative_one(self, difference: Polynomial) -> bool:
        """Whether what the launcher demands, or an assert, says of a difference of scalars that it is not negative."""
        least = self._scope.lower
        return is_nonnegative(difference, least) or any(
            is_nonnegative(difference - fact, least) for fact in self._scope.facts
        )

    def _varies(self, polynomial: Polynomial) -> bool:
        return any(symbol in self._iterators or is_turns(symbol) for symbol in polynomial.symbols)

    def _divide(self, expr: Binary) -> Polynomial:
        numerator, denominator = self.read(expr.left), self.read(expr.right)
        if denominator.is_constant and not denominator:
            raise NotPolynomialError(expr, "divides by zero")
        if denominator.is_constant and denominator.constant_value() < 0:
            raise NotPolynomialError(expr, "divides by a negative number")
        if self._is_unsigned(expr) and self._may_be_negative(numerator):
            raise NotPolynomialError(expr, "may wrap around, being unsigned")
        # Exact where the quotient has integer coefficients: truncation then has nothing to cut off.
        exact = numerator.divide_exactly(denominator)
        if exact is not None and exact.is_integral:
            return exact
        if numerator.is_constant and denominator.is_constant:
            top, bottom = int(numerator.constant_value()), int(denominator.constant_value())
            return Polynomial.constant(abs(top) // bottom * (1 if top >= 0 else -1))
        if self._remainders and self._varies(numerator) and denominator.is_constant:
            return turns(numerator, int(denominator.constant_value()), is_rounded_down=False).times
        if self._varies(numerator) or self._varies(denominator):
            raise NotPolynomialError(expr, "divides an iterator")
        # Zero is undefined: what is not negative is positive here.
        if not is_nonnegative(denominator, self._scope.lower):
            raise NotPolynomialError(expr, "divides by what may be negative")
        name = self._scope.quotients.get((numerator, denominator))
        if name is None:
            name = f"({c_text(numerator)})/({c_text(denominator)})"
            _ANONYMOUS.setdefault(name, Quotient(name, numerator, denominator))
        return Polynomial.symbol(name)

    def condition(self, expr: Expr, wanted: bool) -> Guard:
        match expr:
            case Unary(operator="!"):
                return self.condition(expr.operand, not wanted)
            case Binary(operator="&&" | "||"):
                left, right = self.condition(expr.left, wanted), self.condition(expr.right, wanted)
                return left.both(right) if (expr.operator == "&&") == wanted else left.either(right)
            case Binary(operator="<" | "<=" | ">" | ">=" | "==" | "!="):
                operator = expr.operator if wanted else _NEGATED[expr.operator]
                return self._comparison(expr, expr.left, operator, expr.right)
            case _:
                return self._comparison(expr, expr, "!=" if wanted else "==", IntLiteral(0))

    def _comparison(self, whole: Expr, left: Expr, operator: str, right: Expr) -> Guard:
        try:
            first, second = self.read(left), self.read(right)
        except NotPolynomialError:
            if (bound := self._unsigned_bound(left, operator, right)) is not None:
                return bound
            return Guard(((),), (whole,))
        if self._is_unsigned(whole) and (self._may_be_negative(first) or self._may_be_negative(second)):
            # C compares after conversion: -1 < 1u is false.
            return self._unsigned_bound(left, operator, right) or Guard(((),), (whole,))
        difference = first - second
        match operator:
            case "<":
                pieces = ((Constraint(-difference - 1),),)
            case "<=":
                pieces = ((Constraint(-difference),),)
            case ">":
                pieces = ((Constraint(difference - 1),),)
            case ">=":
                pieces = ((Constraint(difference),),)
            case "==":
                pieces = ((Constraint(difference, equality=True),),)
            case _:
                pieces = ((Constraint(difference - 1),), (Constraint(-difference - 1),))
        constant = all(c.polynomial.is_constant for piece in pieces for c in piece)
        if not constant:
            return Guard(pieces)
        return ALWAYS if any(all(_holds(c) for c in piece) for piece in pieces) else NEVER

    def _unsigned_bound(self, left: Expr, operator: str, right: Expr) -> Guard | None:
        """A comparison of a number in an unsigned type with one that is not negative: ``(unsigned)p < (unsigned)n`` is
        ``0 <= p && p < n``.  None where it is none."""
        if operator in ("==", "!="):
            return None
        small, large = (left, right) if "<" in operator else (right, left)
        margin = 0 if "=" in operator else 1
        for compared, other in ((small, large), (large, small)):
            try:
                number, bound = self._before_wrapping(compared, other), self.read(other)
            except NotPolynomialError:
                continue
            if number is None or self._may_be_negative(bound):
                continue
            if compared is small:
                return Guard(((Constraint(number), Constraint(bound - number - margin)),))
            return Guard(((Constraint(-number - 1),), (Constraint(number - bound - margin),)))
        return None

    def _before_wrapping(self, expr: Expr, other: Expr) -> Polynomial | None:
        """The number that becomes a side of a comparison modulo the range of an unsigned type, where the other side is
        in the lower half of that; None where it is not known."""
        scope, sides = self._scope, (expr, other)
        wide_names, wide_types = scope.unsigned & scope.wide, WRAPPING & WIDE
        if any(is_of(e, wide_names, wide_types) for side in sides for e in unconverted(side)):
            is_low = is_small_sum(self.read(other), scope.extents | (self._iterators - scope.unsigned))
            return _Reader(scope, self._iterators, is_place=True).read(expr) if is_low else None
        if any(self._speaks_of(side, scope.wide, WIDE) for side in sides):
            return None
        match expr, other:
            case (
                Cast(type=ScalarType.UNSIGNED, operand=operand),
                Cast(type=ScalarType.UNSIGNED, operand=bound) | bound,
            ) if not any(self._speaks_of(e, scope.unsigned, WRAPPING) for e in (operand, bound)):
                return self.read(operand)
            case _:
                return None

    def _is_unsigned(self, expr: Expr) -> bool:
        """Whether an operation may be carried out in an unsigned type: a conversion to a signed one hides others."""
        names, types = self._scope.unsigned, WRAPPING
        if self._is_place:
            names, types = names - self._scope.wide, types - WIDE
        return any(is_of(e, names, types) for e in unconverted(expr))

    def _speaks_of(self, expr: Expr, names: Set[str], types: Set[ScalarType]) -> bool:
        """Whether one of the names, or a literal or a conversion of these types, is a part of the expression."""
        return any(is_of(e, names, types) for e in subexpressions(expr))

    def _may_be_negative(self, polynomial: Polynomial) -> bool:
        known = {name: 0 for name in self._iterators} | dict(self._scope.lower)
        if self._is_no_negative_one(polynomial) or any(
            found.rest == polynomial and (found.is_rounded_down or not self._may_be_negative(found.number))
            for found in turns_among(polynomial.symbols)
        ):
            return False
        return any(t.coefficient < 0 for t in polynomial.terms()) or any(
            known.get(name, -1) < 0 for name in polynomial.symbols
        )


def _holds(constraint: Constraint) -> bool:
    value = constraint.polynomial.constant_value()
    return value == 0 if constraint.equality else value >= 0


def _tampered(body: tuple[BlockStmt, ...]) -> frozenset[str]:
    """Loop variables that are assigned inside their own loop."""
    loops = (s for s in all_statements_in(body) if isinstance(s, For))
    return frozenset(loop.iterator for loop in loops if loop.iterator in assigned_scalars(loop.body))
