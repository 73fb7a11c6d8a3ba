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
from comprehensive.ptx.analysis.facts import limits
from comprehensive.ptx.analysis.forms import Form, add, constant, form, scaled, single, subtract, widened
from comprehensive.ptx.analysis.loops import Loops
from comprehensive.ptx.analysis.variance import Level, Variance
from comprehensive.ptx.special_registers import special_register

_GROWING = frozenset({"%tid.x", "%laneid"})
_MOST_FACTOR = 1 << 16
"""The most times that each number is in a sum, so that sums of a few numbers of 32 bits stay within 64."""
_STAYING = frozenset({"%tid.y", "%tid.z"})


class Wrap(NamedTuple):
    """The condition that a sum of numbers, signed or unsigned, does not wrap in the bits of each of them.

    ``parts`` are forms, all of one width, and what the number that each is counts; ``by`` is added.
    """

    signed: bool
    parts: tuple[tuple[Form, int], ...]
    by: int


class Distance(NamedTuple):
    """A distance of ``bytes``, if none of ``wraps`` wraps."""

    bytes: int
    wraps: tuple[Wrap, ...]


class Lanes:
    """The relations of terms between lanes; ``arithmetic`` knows the symbols of the forms."""

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
        """Return by how much the ideal sum grows from one lane to the next."""
        names = {name: self._symbols.find("special", (name,)) for name in _GROWING}
        return sum(self.ideal(one).coefficient(n) for n in names.values() if n is not None)

    def shifted(self, one: Form, by: int) -> Form | None:
        """Return the form as the thread ``by`` lanes further has it; None where that is not known."""
        found = constant(one.bits, one.constant)
        for number, coefficient in one.terms:
            each = self.of_symbol(number, by, one.bits)
            if each is None:
                return None
            found = add(found, scaled(each, coefficient))
        return found

    def between(self, source: Form, one: Form, by: int) -> Distance | None:
        """Return the distance from the source's address ``by`` lanes further to the other in this lane.

        None where it is no number.

        The forms in each :class:`Wrap` are of this lane.
        """
        far = self.shifted(source, by) if by else source
        if far is None:
            return None
        rest = subtract(one, far)
        wraps: list[Wrap] = []
        own = {n for n, _ in (*one.terms, *source.terms)}
        while not rest.is_constant:
            found = next(self._sums(rest, own), None)
            if found is None:
                return None
            gone, parts, apart = found
            wrap = Wrap(self._is_signed(gone), tuple((self._inner(n), c) for n, c in parts), apart)
            if not (self._stays_near(wrap, gone, source, by) or self._is_bounded(wrap)):
                wraps.append(wrap)
            coefficient = rest.coefficient(gone)
            terms = {number: coefficient * factor for number, factor in parts} | {gone: -coefficient}
            rest = add(rest, form(rest.bits, terms, apart * coefficient))
        return Distance(rest.constant, tuple(dict.fromkeys(wraps)))

    def _sums(self, rest: Form, own: set[int]) -> Iterator[tuple[int, tuple[tuple[int, int], ...], int]]:
        """A term that is a number, others that as sums make it up, and what is left: two terms a constant apart, the
        second one of this lane; or one that all others together cancel."""
        wide = [n for n, _ in rest.terms if self._symbols.all[n].kind in ("signed", "unsigned")]
        for gone in wide:
            alike = [n for n in wide if n != gone and self._is_like(n, gone)]
            for kept in alike:
                apart = subtract(self._inner(gone), self._inner(kept))
                if kept in own and apart.is_constant:
                    yield gone, ((kept, 1),), apart.constant
        for gone in wide:
            alike = [n for n in wide if n != gone and self._is_like(n, gone)]
            coefficient = rest.coefficient(gone)
            parts = tuple((n, -rest.coefficient(n) // coefficient) for n in alike)
            if max((abs(factor) for _, factor in parts), default=_MOST_FACTOR) >= _MOST_FACTOR:
                continue
            if all(rest.coefficient(n) % coefficient == 0 for n in alike):
                apart = self._inner(gone)
                for number, factor in parts:
                    apart = subtract(apart, scaled(self._inner(number), factor))
                if apart.is_constant:
                    yield gone, parts, apart.constant

    def _is_like(self, one: int, other: int) -> bool:
        same = self._symbols.all[one].kind == self._symbols.all[other].kind
        return same and self._inner(one).bits == self._inner(other).bits

    def _inner(self, number: int) -> Form:
        found = self._symbols.all[number].key[0]
        assert isinstance(found, Form)
        return found

    def _is_signed(self, number: int) -> bool:
        return self._symbols.all[number].kind == "signed"

    def _is_bounded(self, wrap: Wrap) -> bool:
        """Whether the sum stays within its bits, by what is known of the parts."""
        low = high = wrap.by
        for part, factor in wrap.parts:
            ends = [factor * end for end in self._arithmetic.number_bounds(part, wrap.signed)]
            low, high = low + min(ends), high + max(ends)
        least, most = limits(wrap.parts[0][0].bits, wrap.signed)
        return least <= low and high <= most

    def _stays_near(self, wrap: Wrap, other: int, source: Form, by: int) -> bool:
        """Whether two numbers are surely so far apart: by what is known of both."""
        if len(wrap.parts) != 1 or wrap.parts[0][1] != 1:
            return False
        one, two, signed = wrap.parts[0][0], self._inner(other), wrap.signed
        low, high = self._arithmetic.number_bounds(one, signed)
        least, most = self._arithmetic.number_bounds(two, signed)
        for number, _ in source.terms:
            if self._symbols.all[number].kind != self._symbols.all[other].kind:
                continue
            if self.shifted(self._inner(number), by) == two:
                # The other lane knows of its own number what this one knows of its own.
                below, above = self._arithmetic.number_bounds(self._inner(number), signed)
                least, most = max(least, below), min(most, above)
        size = 1 << one.bits
        return not any(least - high <= wrap.by + wrapped <= most - low for wrapped in (-size, size))

    def of_symbol(self, number: int, by: int, bits: int) -> Form | None:
        """The symbol as the thread ``by`` lanes further has it, in so many bits."""
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
            case (("parameter" | "address" | "window"), _):
                return same
            case (("count" | "value" | "operation" | "load"), _) if not symbol.loops <= self.in_step:
                # Lanes that have left the loop in different rounds have it from these.
                return None
            case "count", _:
                return same
            case "product", numbers:
                found = constant(bits, 1)
                for each in numbers:
                    factor = self.of_symbol(each, by, bits) if isinstance(each, int) else None
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
