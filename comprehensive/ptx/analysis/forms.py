"""Sums of symbols modulo a power of two.

A :class:`Form` of 32 bits stands for ``sum(coefficient * symbol) + constant`` modulo 2^32, where symbols are integers::

    f = form(32, {3: 4}, 8)            # 4 * symbol 3 + 8
    add(f, f)                          # 8 * symbol 3 + 16
    scaled(f, 2**31)                   # 0: both wrap away

Coefficients and constants are kept between -2^(bits-1) and 2^(bits-1).  What the symbols are is said elsewhere
(:mod:`comprehensive.ptx.analysis.symbols`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MOST_TERMS = 16
"""Longer sums become symbols of their own, so that all steps stay cheap."""


class Form(NamedTuple):
    """A sum of symbols; ``terms`` are symbols and coefficients, by symbol, none zero."""

    bits: int
    terms: tuple[tuple[int, int], ...]
    constant: int

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def coefficient(self, symbol: int) -> int:
        """0 for a symbol that is not in it."""
        return next((c for s, c in self.terms if s == symbol), 0)

    @property
    def varying(self) -> Form:
        """The form without its constant."""
        return Form(self.bits, self.terms, 0)


def wrapped(value: int, bits: int) -> int:
    """Return the value as a signed number of so many bits."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def constant(bits: int, value: int) -> Form:
    return Form(bits, (), wrapped(value, bits))


def single(bits: int, symbol: int) -> Form:
    return Form(bits, ((symbol, 1),), 0)


def form(bits: int, terms: Mapping[int, int], value: int = 0) -> Form:
    found = ((s, wrapped(c, bits)) for s, c in sorted(terms.items()))
    return Form(bits, tuple((s, c) for s, c in found if c), wrapped(value, bits))


def add(one: Form, other: Form) -> Form:
    """Return the sum of two forms of the same number of bits."""
    bits = one.bits
    value = one.constant + other.constant
    if not other.terms:
        return Form(bits, one.terms, wrapped(value, bits))
    if not one.terms:
        return Form(bits, other.terms, wrapped(value, bits))
    terms = dict(one.terms)
    for symbol, coefficient in other.terms:
        terms[symbol] = terms.get(symbol, 0) + coefficient
    return form(bits, terms, value)


def scaled(one: Form, factor: int) -> Form:
    bits = one.bits
    if factor == 1:
        return one
    terms = ((s, wrapped(c * factor, bits)) for s, c in one.terms)
    return Form(bits, tuple((s, c) for s, c in terms if c), wrapped(one.constant * factor, bits))


def subtract(one: Form, other: Form) -> Form:
    return add(one, scaled(other, -1))


def truncated(one: Form, bits: int) -> Form:
    """Return the form modulo a smaller power of two, which loses nothing of the sum."""
    terms = ((s, wrapped(c, bits)) for s, c in one.terms)
    return Form(bits, tuple((s, c) for s, c in terms if c), wrapped(one.constant, bits))


def widened(one: Form, bits: int) -> Form:
    """The same sum modulo a larger power: right only for a sum that is known not to wrap."""
    return Form(bits, one.terms, one.constant)
