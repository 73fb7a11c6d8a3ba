"""The bounds of sums that follow from branches that were taken, for the blocks behind them.

In: comparisons, as blocks are entered and left again.  Out: whether a sum of 32 bits does not wrap there::

    facts = Facts()
    facts.learn(f, signed=True, low=-2**31, high=2**31 - 2)       # from f < n
    facts.shift(add(f, constant(32, 1)), signed=True)             # (f, 1): f + 1 as a number is f as a number, plus 1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from comprehensive.ptx.analysis.forms import Form, wrapped


def limits(bits: int, signed: bool) -> tuple[int, int]:
    """Return the least and the greatest number of so many bits."""
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


class Facts:
    """Bounds of numbers that forms are, read as signed or as unsigned, which are forgotten in reverse order."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, tuple[tuple[int, int], ...], bool], list[tuple[int, int, int]]] = {}
        self._order: list[tuple[int, tuple[tuple[int, int], ...], bool]] = []

    def known(self) -> Iterator[tuple[Form, bool, int, int]]:
        """All of them: a form, whether its number has a sign, least and greatest."""
        for (bits, terms, signed), each in self._known.items():
            for constant, low, high in each:
                yield Form(bits, terms, constant), signed, low, high

    def mark(self) -> int:
        return len(self._order)

    def forget(self, mark: int) -> None:
        """Forget everything that was learnt since the mark."""
        while len(self._order) > mark:
            self._known[self._order.pop()].pop()

    @staticmethod
    def of(known: Iterable[tuple[Form, bool, int, int]]) -> Facts:
        """Return facts from what :meth:`known` yields."""
        found = Facts()
        for form, signed, low, high in sorted(known):
            found._learn(form, signed, low, high)
        return found

    def copy(self) -> Facts:
        """The same facts, to learn more on one way and not on another."""
        found = Facts()
        found._known = {key: list(each) for key, each in self._known.items() if each}
        found._order = list(self._order)
        return found

    def learn(self, form: Form, signed: bool, low: int, high: int) -> None:
        least, greatest = limits(form.bits, signed)
        if not form.terms or low > high or (low <= least and high >= greatest):
            return
        self._learn(form, signed, low, high)
        # Small numbers are the same as signed and as unsigned.
        if low >= 0 and high <= limits(form.bits, True)[1]:
            self._learn(form, not signed, low, high)

    def _learn(self, form: Form, signed: bool, low: int, high: int) -> None:
        key = (form.bits, form.terms, signed)
        self._known.setdefault(key, []).append((form.constant, low, high))
        self._order.append(key)

    def bounds(self, form: Form, signed: bool) -> tuple[int, int]:
        """Return the bounds of the number that the form is, read as signed or as unsigned."""
        limit = low, high = limits(form.bits, signed)
        for constant, least, most in self._last(form, signed):
            by = wrapped(form.constant - constant, form.bits)
            if limit[0] <= least + by and most + by <= limit[1]:
                low, high = max(low, least + by), min(high, most + by)
        # Facts that exclude each other stand where nobody comes.
        return (low, high) if low <= high else limit

    def shift(self, form: Form, signed: bool) -> tuple[Form, int] | None:
        """Another sum and a number which together, without wrapping, are this one; None where nothing is known."""
        least, most = limits(form.bits, signed)
        for constant, low, high in self._last(form, signed):
            by = wrapped(form.constant - constant, form.bits)
            if least <= low + by and high + by <= most:
                # Without a constant where that is the same.
                if least <= low - constant and high - constant <= most:
                    return Form(form.bits, form.terms, 0), constant + by
                return Form(form.bits, form.terms, constant), by
        return None

    def _last(self, form: Form, signed: bool) -> list[tuple[int, int, int]]:
        """A few, the latest first."""
        known = self._known.get((form.bits, form.terms, signed))
        return known[: -MOST_LOOKED_AT - 1 : -1] if known else []


MOST_LOOKED_AT = 8
