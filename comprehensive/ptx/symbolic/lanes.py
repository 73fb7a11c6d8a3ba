"""Terms of one lane as another lane of its warp has them.

In: forms of a thread.  Out: the same forms in the thread so many lanes further, and how far apart two of them lie::

    lanes.shifted(f, 1)           # 4*s(%tid.x + i) --> 4*s(%tid.x + i + 1); None where the lanes may have anything
    lanes.ideal(f)                # 4*%tid.x + 4*i: as if no index of 32 bits wrapped
    lanes.between(a, b, 2)        # Distance(0, ()): b - a(2 lanes further), if what stands in the tuple does not wrap

In a warp ``%tid.x`` grows by one from lane to lane, and ``%tid.y`` and ``%tid.z`` are the same, where the block has as
many threads along x as a multiple of 32, or is a line: whoever uses this sees to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.forms import Form, add, constant, form, scaled, single, subtract, widened
from comprehensive.ptx.analysis.loops import Loops
from comprehensive.ptx.analysis.symbols import Symbol
from comprehensive.ptx.analysis.variance import Level, Variance
from comprehensive.ptx.special_registers import special_register

_GROWING = frozenset({"%tid.x", "%laneid"})
_STAYING = frozenset({"%tid.y", "%tid.z"})


class Wrap(NamedTuple):
    """That ``form + by`` is no more than ``by`` away from ``form``, as numbers with sign or without."""

    signed: bool
    form: Form
    by: int


class Distance(NamedTuple):
    """``bytes``, if none of ``wraps`` wraps."""

    bytes: int
    wraps: tuple[Wrap, ...]


class Lanes:
    """``arithmetic`` knows the symbols of the forms."""

    def __init__(self, arithmetic: Arithmetic, variance: Variance, loops: Loops) -> None:
        self._arithmetic = arithmetic
        self.in_step = frozenset(
            loop.number
            for loop in loops.loops
            if all(variance.branches[block] <= Level.WARP for block in loop.blocks)
        )
        """Loops that all lanes of a warp go round together, and leave together."""
        self._symbols = arithmetic.symbols
        self._variance = variance
        self._ideal: dict[Form, Form] = {}
        self._shifted: dict[tuple[int, int, int], Form | None] = {}

    def ideal(self, one: Form) -> Form:
        """The sum with the sums in it that were made wider, as if they could not wrap."""
        found = self._ideal.get(one)
        if found is None:
            found = one
            for number, coefficient in one.terms:
                symbol = self._symbols.all[number]
                if symbol.kind in ("signed", "unsigned") and isinstance(inner := symbol.key[0], Form):
                    wide = widened(self.ideal(inner), one.bits)
                    found = add(
                        subtract(found, form(one.bits, {number: coefficient})), scaled(wide, coefficient)
                    )
            self._ideal[one] = found
        return found

    def slope(self, one: Form) -> int:
        """By how much the ideal sum grows from lane to lane."""
        names = {name: self._symbols.find("special", (name,)) for name in _GROWING}
        return sum(self.ideal(one).coefficient(n) for n in names.values() if n is not None)

    def shifted(self, one: Form, by: int) -> Form | None:
        """As the thread ``by`` lanes further has it; None where that is not known."""
        found = constant(one.bits, one.constant)
        for number, coefficient in one.terms:
            each = self._symbol(number, by, one.bits)
            if each is None:
                return None
            found = add(found, scaled(each, coefficient))
        return found

    def between(self, source: Form, one: Form, by: int) -> Distance | None:
        """From the source's address ``by`` lanes further to the other in this lane; None where it is no number.

        The form in each :class:`Wrap` is one of this lane.
        """
        far = self.shifted(source, by) if by else source
        if far is None:
            return None
        rest = subtract(one, far)
        wraps: list[Wrap] = []
        own = {n for n, _ in (*one.terms, *source.terms)}
        while not rest.is_constant:
            found = next(self._pairs(rest, own), None)
            if found is None:
                return None
            kept, gone, apart = found
            symbol = self._symbols.all[kept]
            inner = symbol.key[0]
            assert isinstance(inner, Form)
            if not self._stays_near(symbol, self._symbols.all[gone], apart, source, by):
                wraps.append(Wrap(symbol.kind == "signed", inner, apart))
            coefficient = rest.coefficient(gone)
            rest = add(rest, form(rest.bits, {gone: -coefficient, kept: coefficient}, apart * coefficient))
        return Distance(rest.constant, tuple(dict.fromkeys(wraps)))

    def _pairs(self, rest: Form, own: set[int]) -> Iterator[tuple[int, int, int]]:
        """Two terms that are numbers of sums a constant apart: one of this lane, the other, and the constant."""
        for kept, _ in rest.terms:
            symbol = self._symbols.all[kept]
            if kept not in own or symbol.kind not in ("signed", "unsigned"):
                continue
            for gone, _ in rest.terms:
                other = self._symbols.all[gone]
                a, b = symbol.key[0], other.key[0]
                if gone == kept or other.kind != symbol.kind:
                    continue
                if isinstance(a, Form) and isinstance(b, Form) and a.bits == b.bits and a.terms == b.terms:
                    yield kept, gone, subtract(b, a).constant

    def _stays_near(self, symbol: Symbol, other: Symbol, apart: int, source: Form, by: int) -> bool:
        """Whether the two numbers are surely so far apart: by what is known of both."""
        one, two = symbol.key[0], other.key[0]
        assert isinstance(one, Form)
        assert isinstance(two, Form)
        signed = symbol.kind == "signed"
        low, high = self._arithmetic.number_bounds(one, signed)
        least, most = self._arithmetic.number_bounds(two, signed)
        for number, _ in source.terms:
            own = self._symbols.all[number]
            inner = own.key[0]
            if own.kind == symbol.kind and isinstance(inner, Form) and self.shifted(inner, by) == two:
                # The other lane knows of its own number what this one knows of its own.
                below, above = self._arithmetic.number_bounds(inner, signed)
                least, most = max(least, below), min(most, above)
        size = 1 << one.bits
        return not any(least - high <= apart + wrapped <= most - low for wrapped in (-size, size))

    def _symbol(self, number: int, by: int, bits: int) -> Form | None:
        key = (number, by, bits)
        if key not in self._shifted:
            self._shifted[key] = self._made(number, by, bits)
        return self._shifted[key]

    def _made(self, number: int, by: int, bits: int) -> Form | None:
        symbol = self._symbols.all[number]
        same = single(bits, number)
        match symbol.kind, symbol.key:
            case "special", (str(name),):
                if name in _GROWING:
                    return add(same, constant(bits, by))
                special = special_register(name)
                uniform = special is not None and special.varies in ("grid", "block", "warp")
                return same if uniform or name in _STAYING else None
            case (("parameter" | "address" | "window" | "count"), _):
                return same
            case "product", numbers:
                found = constant(bits, 1)
                for each in numbers:
                    factor = self._symbol(each, by, bits) if isinstance(each, int) else None
                    product = None if factor is None else self._arithmetic.product(found, factor)
                    if product is None:
                        return None
                    found = product
                return found
            case (("signed" | "unsigned"), (Form() as inner,)):
                moved = self.shifted(inner, by)
                if moved is None:
                    return None
                return (
                    same
                    if moved == inner
                    else self._arithmetic.extension(moved, bits, symbol.kind == "signed")
                )
            case "load", (Form() as address, *others):
                moved = self.shifted(address, by)
                if moved is None or moved == address:
                    return None if moved is None else same
                there = self._symbols.find("load", (moved, *others))
                return None if there is None else single(bits, there)
            case _:
                is_uniform = symbol.value >= 0 and self._variance.is_uniform(symbol.value)
                return same if is_uniform else None
