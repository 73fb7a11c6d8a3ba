"""Equality of terms by z3, for what sums cannot say: divisions, remainders, masks and shifts of the lane.

In: two addresses and the lanes between.  Out: whether they are so many bytes apart for all inputs::

    solver = Solver(arithmetic, lanes)
    solver.nearest(a, b, 8, 31)      # 2: the nearest lane for which drawn inputs give b - a(2 lanes further) == 8
    solver.proves(a, b, 2, 8)        # True; False where there is an input for which it is not so, None for neither

Terms are bit-vectors of 64 bits, with the wrap-around and the extensions of the forms.  What is the same in all lanes,
products included, is a variable between its bounds.  Lanes are those of a block whose rows are whole warps, or which is
a line: ``%tid.x`` modulo 32 is the lane, and both lanes are there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.facts import Facts
from comprehensive.ptx.analysis.forms import Form, single
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.symbolic.lanes import Lanes, Wrap

MOST_QUERIES = 10
RESOURCES = 400_000
"""z3's rlimit of a query: about a tenth of a second, and the same answer everywhere."""
_LANES = 32
_DRAWN_LANES = (0, 13, 18, _LANES - 1)
"""The lanes for which numbers are drawn: from the middle of a warp there are lanes to both sides."""


@dataclass
class Solver:
    """Proves that terms are equal with z3, by at most ``queries`` queries; behind these nothing is proved."""

    arithmetic: Arithmetic
    lanes: Lanes
    queries: int = MOST_QUERIES

    def nearest(self, source: Form, one: Form, bytes_: int, most: int) -> int | None:
        """The nearest lane, up to ``most`` away, for which nothing is drawn that shows otherwise."""
        terms = _Terms(self.arithmetic, self.lanes)
        apart = terms.apart(source, one)
        if apart is None:
            return None
        z3, random = terms.z3, Random(0)
        inputs = [
            [(each, z3.BitVecVal(random.getrandbits(64), 64)) for each in terms.variables.values()]
            for _ in _DRAWN_LANES
        ]
        drawn = [
            z3.substitute(apart, (terms.tid, z3.BitVecVal(32 * random.randrange(8) + lane, 64)), *each)
            for each, lane in zip(inputs, _DRAWN_LANES, strict=True)
        ]
        for by in sorted(range(-most, most + 1), key=lambda n: (abs(n), n)):
            there = z3.BitVecVal(by, 64)
            values = (
                z3.simplify(z3.substitute(each, (terms.by, there))).as_long()
                for each, lane in zip(drawn, _DRAWN_LANES, strict=True)
                if 0 <= lane + by < _LANES
            )
            if all(value == bytes_ % 2**64 for value in values):
                return by
        return None

    def proves(
        self,
        source: Form,
        one: Form,
        by: int,
        bytes_: int,
        wraps: Iterable[Wrap] = (),
        facts: Facts | None = None,
    ) -> bool | None:
        """Return whether ``bytes_`` lie between two addresses where no wrap happens and facts hold.

        ``wraps`` are what does not wrap, ``facts`` hold in both lanes. None where it is not decided.
        """
        if self.queries <= 0:
            return None
        self.queries -= 1
        terms = _Terms(self.arithmetic, self.lanes, by)
        moved = self.lanes.shifted(source, by)
        if moved is None:
            apart = terms.apart(source, one)
        else:
            terms.group(moved, one)
            apart = terms.form(one, False) - terms.form(moved, False)
        if apart is None:
            return None
        z3 = terms.z3
        solver = z3.Solver()
        solver.set("rlimit", RESOURCES)
        for wrap in wraps:
            terms.demand_no_wrap(wrap)
        if facts is not None:
            terms.demand_facts(facts)
        lane = z3.URem(terms.tid, 32)
        solver.add(z3.ULT(terms.tid, 1024), lane + by >= 0, lane + by < _LANES)
        solver.add(*terms.constraints, apart != bytes_)
        answer = solver.check()
        return True if answer == z3.unsat else False if answer == z3.sat else None


class _InexpressibleError(Exception):
    """A form in which only a part of a group stands."""


@dataclass
class _Terms:
    """Forms as bit-vectors, in this lane and in the one ``by`` further: ``lanes_between``, or a variable for None."""

    arithmetic: Arithmetic
    lanes: Lanes
    lanes_between: int | None = None
    variables: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    constraints: list[Any] = field(default_factory=list[Any])
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict[int, "tuple[int, ...]"])

    z3: Any = None

    def __post_init__(self) -> None:
        self.z3 = z3 = _loaded()
        self.tid: Any = z3.BitVec("tid", 64)
        between = self.lanes_between
        self.by: Any = z3.BitVec("by", 64) if between is None else z3.BitVecVal(between, 64)

    def apart(self, source: Form, one: Form) -> Any:
        """Return the difference of two addresses; None where a term has no meaning here."""
        here, there = self.form(one, False), self.form(source, True)
        return None if here is None or there is None else here - there

    def demand_no_wrap(self, wrap: Wrap) -> None:
        total = self.z3.BitVecVal(wrap.by, 128)
        bits = wrap.parts[0][0].bits
        for part, factor in wrap.parts:
            number = self._number(part, wrap.signed, False)
            if number is None:
                return
            total = total + self.z3.SignExt(64, number) * factor
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if wrap.signed else (0, (1 << bits) - 1)
        self.constraints += [total >= low, total <= high]

    def demand_facts(self, facts: Facts) -> None:
        for known, signed, low, high in facts.known():
            for far in (False,) if self.groups else (False, True):
                try:
                    number = self._number(known, signed, far) if known.bits < 64 else None
                except _InexpressibleError:
                    continue
                if number is not None:
                    self.constraints += [number >= low, number <= high]

    def form(self, one: Form, far: bool) -> Any:
        """Return a bit-vector whose low bits are the form; those above have no meaning."""
        total = self.z3.BitVecVal(one.constant, 64)
        for numbers, coefficient in self._grouped(one):
            each = self._symbol(numbers[0], far) if len(numbers) == 1 else self._sum(numbers)
            if each is None:
                return None
            total = total + each * coefficient
        return total

    def _grouped(self, one: Form) -> Iterable[tuple[tuple[int, ...], int]]:
        found: dict[tuple[int, ...], int] = {}
        for number, coefficient in one.terms:
            group = self.groups.get(number, (number,))
            if found.setdefault(group, coefficient) != coefficient:
                raise _InexpressibleError
        present = {number for number, _ in one.terms}
        if not all(present.issuperset(group) for group in found):
            raise _InexpressibleError
        return found.items()

    def _sum(self, numbers: tuple[int, ...]) -> Any:
        return self.variables.setdefault(numbers, self.z3.BitVec(f"sum{numbers[0]}", 64))

    def group(self, *forms: Form) -> None:
        """Symbols that stand in all of these, and in what is made wider in them, as often, are one variable from now
        on: z3 need not find out that sums commute."""
        every: dict[Form, None] = {}
        work = list(forms)
        while work:
            one = work.pop()
            if one in every:
                continue
            every[one] = None
            for number, _ in one.terms:
                symbol = self.arithmetic.symbols.all[number]
                work += [each for each in symbol.key if isinstance(each, Form)]
        alike: dict[tuple[int, ...], list[int]] = {}
        plain = {n for one in every for n, _ in one.terms if self._is_plain(n)}
        for number in sorted(plain):
            alike.setdefault(tuple(one.coefficient(number) for one in every), []).append(number)
        self.groups = {number: tuple(group) for group in alike.values() for number in group if len(group) > 1}

    def _is_plain(self, number: int) -> bool:
        return self.arithmetic.symbols.all[number].kind not in ("signed", "unsigned", "operation")

    def _number(self, one: Form, signed: bool, far: bool) -> Any:
        """Return the number that the form is, extended to 64 bits."""
        found = self.form(one, far)
        if found is None or one.bits == 64:
            return found
        low = self.z3.Extract(one.bits - 1, 0, found)
        extend = self.z3.SignExt if signed else self.z3.ZeroExt
        return extend(64 - one.bits, low)

    def _symbol(self, number: int, far: bool) -> Any:
        symbol = self.arithmetic.symbols.all[number]
        tid = self.tid + self.by if far else self.tid
        match symbol.kind, symbol.key:
            case "special", ("%tid.x",):
                return tid
            case "special", ("%laneid",):
                return tid & (_LANES - 1)
            case (("signed" | "unsigned"), (Form() as inner,)):
                return self._number(inner, symbol.kind == "signed", far)
            case "operation", (str(text), *operands) if self.lanes.of_symbol(number, 1, 64) is None:
                return self._operation(text, operands, far)
            case "product", numbers if not self._is_same(number):
                found = self.z3.BitVecVal(1, 64)
                for each in numbers:
                    factor = self._symbol(each, far) if isinstance(each, int) else None
                    if factor is None:
                        return None
                    found = found * factor
                return found
            case _:
                return self._variable(number, far)

    def _is_same(self, number: int) -> bool:
        """Return whether a symbol has the same value in all lanes."""
        return self.lanes.of_symbol(number, 1, 64) == single(64, number)

    def _variable(self, number: int, far: bool) -> Any:
        """One for all lanes where they have the same."""
        symbol = self.arithmetic.symbols.all[number]
        key = (number, far and not self._is_same(number))
        found = self.variables.get(key)
        if found is None:
            found = self.variables[key] = self.z3.BitVec(f"s{number}{'far' if key[1] else ''}", 64)
            if symbol.low >= 0 and symbol.high < 2**64:
                self.constraints += [self.z3.UGE(found, symbol.low), self.z3.ULE(found, symbol.high)]
        return found

    def _operation(self, text: str, operands: Iterable[Hashable], far: bool) -> Any:
        """Return the result of an operation as an unsigned number; None where there is no rule."""
        code = opcode(text)
        rule = _rules(self.z3, code.types[0][0] == "s").get(code.base)
        bits = int(code.types[0][1:]) if code.types[0][1:].isdigit() else 0
        if (
            rule is None
            or set(code.modifiers) != set(code.types)
            or len(code.types) != 1
            or bits not in (16, 32, 64)
        ):
            return None
        given: list[Any] = []
        for operand in operands:
            found = self.form(operand, far) if isinstance(operand, Form) else None
            if found is None:
                return None
            given.append(self.z3.Extract(bits - 1, 0, found))
        if len(given) != 2:
            return None
        result = rule(*given)
        return self.z3.ZeroExt(64 - bits, result) if bits < 64 else result


def _loaded() -> Any:
    import z3  # pyright: ignore[reportMissingTypeStubs]  # z3 has no types; it stays within this module

    found: Any = z3
    return found


def _rules(z3: Any, signed: bool) -> Mapping[str, Callable[[Any, Any], Any]]:
    """Return the operations on two bit-vectors of one width that stand for opcodes, by base opcode."""
    vector = z3.BitVecRef
    return {
        "div": vector.__truediv__ if signed else z3.UDiv,
        "rem": z3.SRem if signed else z3.URem,
        "and": vector.__and__,
        "or": vector.__or__,
        "xor": vector.__xor__,
        "shl": vector.__lshift__,
        "shr": vector.__rshift__ if signed else z3.LShR,
    }
