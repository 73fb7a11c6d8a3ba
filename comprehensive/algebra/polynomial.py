"""Exact polynomials over the rationals: names and numbers in, immutable hashable values out.

    >>> s, B = Polynomial.symbol("s"), Polynomial.symbol("B")
    >>> str(2 * s * B + 2 - s * B)
    'B*s + 2'

This is the only module that imports python-flint. A value lives in the flint context of exactly the symbols
that occur in it, sorted by name, so equal polynomials are equal values however they were built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import gcd, lcm

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from comprehensive.algebra.notation import Term, format_terms

Scalar = int | Fraction


_Names = tuple[str, ...]
_Integers = tuple[int, tuple[tuple[int, tuple[tuple[str, int], ...]], ...]]
_SortKey = tuple[tuple[tuple[tuple[str, int], ...], Fraction], ...]


def plain(value: Scalar) -> Scalar:
    """An int where the value is one: arithmetic on fractions is slow."""
    return value.numerator if value.denominator == 1 else value


class Polynomial:
    """A polynomial with exact rational coefficients in named symbols.

    Build with `constant`, `symbol` and `from_terms`; combine with `+ - * **`, also with int and Fraction.
    """

    __slots__ = ("_hash", "_integers", "_key", "_names", "_terms", "_value")

    _hash: int | None
    _integers: _Integers | None
    _key: _SortKey | None
    _names: _Names
    _terms: tuple[Term, ...] | None
    _value: fmpq_mpoly

    def __init__(self, value: Scalar = 0) -> None:
        """The constant `value`; the same as `Polynomial.constant(value)`."""
        self._names = ()
        self._value = _context(()).constant(_to_flint(value))
        self._hash = None
        self._integers = None
        self._key = None
        self._terms = None

    # --- construction

    @staticmethod
    def constant(value: Scalar) -> Polynomial:
        """The constant polynomial `value`."""
        return Polynomial(value)

    @staticmethod
    @cache
    def symbol(name: str) -> Polynomial:
        """The polynomial `name`. ValueError unless the name is non-empty printable ASCII."""
        if not name or not name.isascii() or not name.isprintable():
            raise ValueError(f"a symbol needs a non-empty ASCII name, not {name!r}")
        return _build(_context((name,)).gen(0), (name,))

    @staticmethod
    def from_terms(terms: Iterable[Term]) -> Polynomial:
        """The sum of the terms; inverse of `terms()`."""
        listed = list(terms)
        names = tuple(sorted({name for term in listed for name, _ in term.powers}))
        sums: dict[tuple[int, ...], Fraction] = {}
        for term in listed:
            powers = dict(term.powers)
            monomial = tuple(powers.get(name, 0) for name in names)
            sums[monomial] = sums.get(monomial, Fraction(0)) + term.coefficient
        return _build(
            _context(names).from_dict({key: _to_flint(value) for key, value in sums.items()}), names
        )

    # --- arithmetic

    def __add__(self, other: Polynomial | Scalar) -> Polynomial:
        if isinstance(other, Polynomial):
            left, right, names = _aligned(self, other)
            return _build(left + right, names)
        number = _number(other)
        return NotImplemented if number is None else _made(self._value + number, self._names)

    def __sub__(self, other: Polynomial | Scalar) -> Polynomial:
        if isinstance(other, Polynomial):
            left, right, names = _aligned(self, other)
            return _build(left - right, names)
        number = _number(other)
        return NotImplemented if number is None else _made(self._value - number, self._names)

    def __mul__(self, other: Polynomial | Scalar) -> Polynomial:
        # Only a product with 0 loses symbols.
        if isinstance(other, Polynomial):
            left, right, names = _aligned(self, other)
            return _made(left * right, names) if self and other else Polynomial(0)
        number = _number(other)
        if number is None:
            return NotImplemented
        return _made(self._value * number, self._names) if other else Polynomial(0)

    def __radd__(self, other: Scalar) -> Polynomial:
        return self + other

    def __rsub__(self, other: Scalar) -> Polynomial:
        return -self + other

    def __rmul__(self, other: Scalar) -> Polynomial:
        return self * other

    def __neg__(self) -> Polynomial:
        return _made(-self._value, self._names)

    def __pow__(self, exponent: int) -> Polynomial:
        if exponent < 0:
            raise ValueError(f"a polynomial has no power {exponent}; use RationalFunction")
        if exponent == 0:
            return Polynomial(1)
        return _build(self._value**exponent, self._names)

    def divide_exactly(self, divisor: Polynomial | Scalar) -> Polynomial | None:
        """The quotient when the division leaves nothing over, else None. ZeroDivisionError for zero."""
        left, right, names = _aligned(self, _coerce(divisor))
        quotient, remainder = divmod(left, right)
        return _build(quotient, names) if remainder.is_zero() else None

    def gcd(self, other: Polynomial) -> Polynomial:
        """The greatest common divisor: primitive with a positive leading coefficient; 0 when both are 0."""
        left, right, names = _aligned(self, other)
        return _positive_leading(_build(left.gcd(right), names).primitive())

    def content(self) -> Fraction:
        """The positive rational `c` for which `self / c` has coprime integer coefficients; 0 for zero."""
        numerator, denominator = 0, 1
        for term in self.terms():
            numerator = gcd(numerator, term.coefficient.numerator)
            denominator = lcm(denominator, term.coefficient.denominator)
        return Fraction(numerator, denominator)

    def primitive(self) -> Polynomial:
        """This polynomial divided by its content; the sign is kept and zero stays zero."""
        content = self.content()
        return self if content in (0, 1) else self * (1 / content)

    def factor(self) -> tuple[Fraction, tuple[tuple[Polynomial, int], ...]]:
        """Return `(c, ((f, e), ...))` with `self == c * product f**e`.

        The factors are irreducible and primitive with a positive leading coefficient, in a fixed order.
        """
        if self.is_constant:
            return self.constant_value(), ()
        constant, found = self._value.factor()
        scale = _to_fraction(constant)
        factors: list[tuple[Polynomial, int]] = []
        for value, exponent in found:
            raw = _build(value, self._names)
            normal = _positive_leading(raw.primitive())
            scale *= (raw.terms()[0].coefficient / normal.terms()[0].coefficient) ** int(exponent)
            factors.append((normal, int(exponent)))
        return scale, tuple(sorted(factors, key=lambda item: item[0].sort_key))

    def resultant(self, other: Polynomial, name: str) -> Polynomial:
        """The resultant with respect to `name`, which must occur in both: 0 just where they share a factor in it."""
        left, right, names = _aligned(self, other)
        return _build(left.resultant(right, name), names)

    def discriminant(self, name: str) -> Polynomial:
        """The discriminant with respect to `name`, which must occur: 0 just where a factor in it is repeated."""
        return _build(self._value.discriminant(name), self._names)

    # --- inspection

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names that occur, sorted."""
        return self._names

    @property
    def is_constant(self) -> bool:
        """Whether no symbol occurs."""
        return not self._names

    def constant_value(self) -> Fraction:
        """The value of a constant polynomial. ValueError when a symbol occurs."""
        if self._names:
            raise ValueError(f"{self} is not a constant")
        terms = self.terms()
        return terms[0].coefficient if terms else Fraction(0)

    @property
    def constant_term(self) -> Fraction:
        """The term without symbols."""
        return self.evaluate(dict.fromkeys(self.symbols, 0))

    @property
    def is_integral(self) -> bool:
        """Whether every coefficient is an integer."""
        return all(term.coefficient.denominator == 1 for term in self.terms())

    @property
    def total_degree(self) -> int:
        """The largest sum of powers in a term; 0 for constants, zero included."""
        return max(0, int(self._value.total_degree()))

    def degree(self, name: str) -> int:
        """The largest power of `name`; 0 where it does not occur."""
        return int(self._value.degrees()[self._names.index(name)]) if name in self._names else 0

    def coefficient(self, name: str, power: int) -> Polynomial:
        """The coefficient of `name**power`, seen as a polynomial in `name`."""
        if name not in self._names:
            return self if power == 0 else Polynomial(0)
        if power == 1 and self.degree(name) == 1:
            return _build(self._value.derivative(self._names.index(name)), self._names)
        return Polynomial.from_terms(
            Term(term.coefficient, tuple(item for item in term.powers if item[0] != name))
            for term in self.terms()
            if dict(term.powers).get(name, 0) == power
        )

    def terms(self) -> tuple[Term, ...]:
        """The non-zero terms, by descending total degree, then by descending powers of the sorted symbols."""
        if self._terms is None:
            # Contexts are graded ("deglex"), so flint's own order is the promised one.
            self._terms = tuple(
                Term(
                    _to_fraction(coefficient),
                    tuple((n, int(p)) for n, p in zip(self._names, powers, strict=True) if p),
                )
                for powers, coefficient in zip(self._value.monoms(), self._value.coeffs(), strict=True)
            )
        return self._terms

    @property
    def sort_key(self) -> _SortKey:
        """A key that orders polynomials the same way in every run."""
        if self._key is None:
            self._key = tuple((term.powers, term.coefficient) for term in self.terms())
        return self._key

    # --- values

    def substitute(self, values: Mapping[str, Polynomial | Scalar]) -> Polynomial:
        """Replaces symbols, all at once; the symbols that are not in `values` stay."""
        if not any(name in values for name in self._names):
            return self
        images = {name: _coerce(values[name]) for name in self._names if name in values}
        kept = (name for name in self._names if name not in values)
        names = tuple(sorted({*kept, *(name for image in images.values() for name in image._names)}))
        context = _context(names)
        projected = [
            _in_context(images[name], names) if name in images else context.gen(names.index(name))
            for name in self._names
        ]
        return _build(self._value.compose(*projected, ctx=context), names)

    def evaluate(self, point: Mapping[str, Scalar]) -> Fraction:
        """The value at a point. KeyError names a symbol that the point does not give."""
        scale, value = self.scaled_value(point)
        return Fraction(value) / scale

    def plain_value(self, point: Mapping[str, Scalar]) -> Scalar:
        """The value of a polynomial with integer coefficients: an int where the point has ints only."""
        scale, value = self.scaled_value(point)
        assert scale == 1, f"{self} has coefficients that are no integers"
        return value

    def sign_at(self, point: Mapping[str, Scalar]) -> int:
        """-1, 0 or 1: the sign of `evaluate(point)`."""
        _, value = self.scaled_value(point)
        return (value > 0) - (value < 0)

    def scaled_value(self, point: Mapping[str, Scalar]) -> tuple[int, Scalar]:
        """Return `(scale, scale * value)` with scale > 0; the second is an int where the point has ints only."""
        # Most points are integers; Python's are faster than the way to flint and back.
        scale, terms = self.integers()
        total: Scalar = 0
        for coefficient, powers in terms:
            product: Scalar = coefficient
            for name, power in powers:
                product *= point[name] if power == 1 else point[name] ** power
            total += product
        return scale, total

    def integers(self) -> _Integers:
        """Return `(scale, terms)` with scale > 0.

        The terms are those of `scale * self`, whose coefficients are integers.
        """
        if self._integers is None:
            scale = lcm(*(term.coefficient.denominator for term in self.terms()))
            self._integers = (
                scale,
                tuple((int(term.coefficient * scale), term.powers) for term in self.terms()),
            )
        return self._integers

    # --- identity and text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial):
            return self._names == other._names and bool(self._value == other._value)
        if isinstance(other, int | Fraction):
            return not self._names and self.constant_value() == other
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            # A constant equals its number, so it hashes like it; flint writes equal polynomials in equal text.
            self._hash = hash(str(self._value)) if self._names else hash(self.constant_value())
        return self._hash

    def __bool__(self) -> bool:
        return not self._value.is_zero()

    def __reduce__(self) -> tuple[object, ...]:
        return Polynomial.from_terms, (self.terms(),)

    def format(self, order: Sequence[str] = ()) -> str:
        """Return the polynomial as the paper writes it, `2*s*B + 2`.

        In each product the symbols of `order` stand first, the rest sorted.
        """
        return format_terms(self.terms(), order)

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return f"Polynomial({str(self)!r})"


def sum_of(items: Iterable[Polynomial | Scalar]) -> Polynomial:
    """The sum; 0 for no items."""
    total = Polynomial(0)
    for item in items:
        total = total + item
    return total


def product_of(items: Iterable[Polynomial | Scalar]) -> Polynomial:
    """The product; 1 for no items."""
    total = Polynomial(1)
    for item in items:
        total = total * item
    return total


@cache
def _context(names: _Names) -> fmpq_mpoly_ctx:
    return fmpq_mpoly_ctx.get(names, Ordering.deglex)


def _build(value: fmpq_mpoly, names: _Names) -> Polynomial:
    """The value in the context of exactly the symbols that occur in it."""
    degrees = value.degrees()
    if min(degrees, default=1) <= 0:
        names = tuple(name for name, degree in zip(names, degrees, strict=True) if degree > 0)
        value = value.project_to_context(_context(names))
    return _made(value, names)


def _made(value: fmpq_mpoly, names: _Names) -> Polynomial:
    """The value, all symbols of whose context are known to occur in it."""
    made = Polynomial.__new__(Polynomial)
    made._value = value  # pyright: ignore[reportPrivateUsage]
    made._names = names  # pyright: ignore[reportPrivateUsage]
    made._hash = None  # pyright: ignore[reportPrivateUsage]
    made._integers = None  # pyright: ignore[reportPrivateUsage]
    made._key = None  # pyright: ignore[reportPrivateUsage]
    made._terms = None  # pyright: ignore[reportPrivateUsage]
    return made


def _aligned(left: Polynomial, right: Polynomial) -> tuple[fmpq_mpoly, fmpq_mpoly, _Names]:
    if left.symbols == right.symbols or not right.symbols:
        names = left.symbols
    else:
        names = tuple(sorted({*left.symbols, *right.symbols}))
    return _in_context(left, names), _in_context(right, names), names


def _in_context(polynomial: Polynomial, names: _Names) -> fmpq_mpoly:
    value = polynomial._value  # pyright: ignore[reportPrivateUsage]
    return value if polynomial.symbols == names else value.project_to_context(_context(names))


def _number(value: object) -> fmpq | None:
    """Return the value as a number; None for anything else.

    RationalFunction can then take over, and a float is a TypeError.
    """
    return _to_flint(value) if isinstance(value, int | Fraction) else None


def _coerce(value: Polynomial | Scalar) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial(value)


def _positive_leading(polynomial: Polynomial) -> Polynomial:
    terms = polynomial.terms()
    return -polynomial if terms and terms[0].coefficient < 0 else polynomial


def _to_flint(value: Scalar) -> fmpq:
    if isinstance(value, int):
        return fmpq(value)
    return fmpq(value.numerator, value.denominator)


def _to_fraction(value: fmpq) -> Fraction:
    # Most are integers, and need no greatest common divisor.
    return Fraction(int(value.p)) if value.q == 1 else Fraction(int(value.p), int(value.q))
