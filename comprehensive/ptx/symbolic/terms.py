"""Forms as bit-vectors of 64 bits, of symbols or of numbers.

In: a form, and an arithmetic of bit-vectors.  Out: what the form is in one lane or another::

    terms = Terms(arithmetic, lanes, z3, z3.BitVec("tid", 64), z3.BitVecVal(2, 64))
    terms.form(address, far=True)        # the address of the lane 2 further, as a term of z3
    terms.variables                      # what it is made of

With the words of :mod:`.words` in the place of z3, and numbers for what it is made of, the same walk gives a number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from comprehensive.closure import reached
from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.facts import Facts
from comprehensive.ptx.analysis.forms import Form, single
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.symbolic.lanes import Lanes, Wrap

LANES = 32


class InexpressibleError(Exception):
    """A form in which only a part of a group stands."""


@dataclass
class Terms:
    """Forms as bit-vectors, in this lane, whose ``%tid.x`` is ``tid``, and in the one ``by`` further.

    ``variables`` are what is not known, by what it is; those that are not there yet are made when they are met.
    """

    arithmetic: Arithmetic
    lanes: Lanes
    words: Any
    """The arithmetic of bit-vectors: the module z3, or :class:`.words.Words`."""
    tid: Any
    by: Any
    variables: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    constraints: list[Any] = field(default_factory=list[Any])
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict[int, "tuple[int, ...]"])

    def apart(self, source: Form, one: Form) -> Any:
        """Return the difference of two addresses; None where a term has no meaning here."""
        here, there = self.form(one, False), self.form(source, True)
        return None if here is None or there is None else here - there

    def demand_no_wrap(self, wrap: Wrap) -> None:
        total = self.words.BitVecVal(wrap.by, 128)
        bits = wrap.parts[0][0].bits
        for part, factor in wrap.parts:
            number = self._number(part, wrap.signed, False)
            if number is None:
                return
            total = total + self.words.SignExt(64, number) * factor
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if wrap.signed else (0, (1 << bits) - 1)
        self.constraints += [total >= low, total <= high]

    def demand_facts(self, facts: Facts) -> None:
        for known, signed, low, high in facts.known():
            for far in (False,) if self.groups else (False, True):
                try:
                    number = self._number(known, signed, far) if known.bits < 64 else None
                except InexpressibleError:
                    continue
                if number is not None:
                    self.constraints += [number >= low, number <= high]

    def form(self, one: Form, far: bool) -> Any:
        """Return a bit-vector whose low bits are the form; those above have no meaning."""
        total = self.words.BitVecVal(one.constant, 64)
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
                raise InexpressibleError
        present = {number for number, _ in one.terms}
        if not all(present.issuperset(group) for group in found):
            raise InexpressibleError
        return found.items()

    def _sum(self, numbers: tuple[int, ...]) -> Any:
        return self.variables.setdefault(numbers, self._new())

    def group(self, *forms: Form) -> None:
        """Symbols that stand in all of these, and in what is made wider in them, as often, are one variable from now
        on: z3 need not find out that sums commute."""
        symbols = self.arithmetic.symbols.all

        def inner(one: Form) -> Iterator[Form]:
            return (each for n, _ in one.terms for each in symbols[n].key if isinstance(each, Form))

        every = reached(forms, inner)
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
        low = self.words.Extract(one.bits - 1, 0, found)
        extend = self.words.SignExt if signed else self.words.ZeroExt
        return extend(64 - one.bits, low)

    def _symbol(self, number: int, far: bool) -> Any:
        symbol = self.arithmetic.symbols.all[number]
        tid = self.tid + self.by if far else self.tid
        match symbol.kind, symbol.key:
            case "special", ("%tid.x",):
                return tid
            case "special", ("%laneid",):
                return tid & (LANES - 1)
            case (("signed" | "unsigned"), (Form() as inner,)):
                return self._number(inner, symbol.kind == "signed", far)
            case "operation", (str(text), *operands) if self.lanes.of_symbol(number, 1, 64) is None:
                return self._operation(text, operands, far)
            case "product", numbers if not self._is_same(number):
                found = self.words.BitVecVal(1, 64)
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
            found = self.variables[key] = self._new()
            if symbol.low >= 0 and symbol.high < 2**64:
                self.constraints += [self.words.UGE(found, symbol.low), self.words.ULE(found, symbol.high)]
        return found

    def _new(self) -> Any:
        """Return a variable named by how many there are, so that like questions of two kernels are the same text."""
        return self.words.BitVec(f"s{len(self.variables)}", 64)

    def _operation(self, text: str, operands: Iterable[Hashable], far: bool) -> Any:
        """Return the result of an operation as an unsigned number; None where there is no rule."""
        code = opcode(text)
        rule = operations(self.words, code.types[0][0] == "s").get(code.base)
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
            given.append(self.words.Extract(bits - 1, 0, found))
        if len(given) != 2:
            return None
        result = rule(*given)
        return self.words.ZeroExt(64 - bits, result) if bits < 64 else result


def operations(words: Any, signed: bool) -> Mapping[str, Callable[[Any, Any], Any]]:
    """Return the operations on two bit-vectors of one width that stand for opcodes, by base opcode."""
    vector = words.BitVecRef
    return {
        "div": vector.__truediv__ if signed else words.UDiv,
        "rem": words.SRem if signed else words.URem,
        "and": vector.__and__,
        "or": vector.__or__,
        "xor": vector.__xor__,
        "shl": vector.__lshift__,
        "shr": vector.__rshift__ if signed else words.LShR,
    }
