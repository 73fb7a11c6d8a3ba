"""Forms of values, of operands, and of what is done to them where a step stands.

In: steps, one after the other, with the rules of instructions.  Out: the forms of what they define::

    arithmetic.define(7, RULES)     # add.s32 %r3, %r1, 4: forms[%r3] = forms[%r1] + 4
    arithmetic.extended(f, 64, signed=True)      # as cvt.s64.s32: f itself only where it is proved not to wrap
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from comprehensive.ptx.analysis.facts import Facts, limits
from comprehensive.ptx.analysis.forms import (
    MOST_TERMS,
    Form,
    add,
    constant,
    form,
    scaled,
    single,
    subtract,
    truncated,
    widened,
)
from comprehensive.ptx.analysis.launch import special_bounds
from comprehensive.ptx.analysis.loops import Loop, Loops
from comprehensive.ptx.analysis.operations import result_bounds
from comprehensive.ptx.analysis.ssa import NONE, Ssa
from comprehensive.ptx.analysis.symbols import UNBOUNDED, Symbol, Symbols
from comprehensive.ptx.analysis.trips import Trips
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.opcodes import Effect, Opcode
from comprehensive.ptx.operands import Address, Immediate, Name, Sum, Vector
from comprehensive.ptx.special_registers import special_register

WIDTHS = frozenset({16, 32, 64})
MOST_FACTORS = 4

# The form of what an instruction defines: by its step, its opcode and the bits of its destination.
Rule: TypeAlias = "Callable[[Arithmetic, int, Opcode, int], Form | None]"


class Arithmetic:
    """The arithmetic of forms; ``forms`` are by value, filled step by step."""

    def __init__(
        self,
        ssa: Ssa,
        operand_values: Sequence[Sequence[int]],
        loops: Loops,
        symbols: Symbols,
        facts: Facts,
    ) -> None:
        self._ssa = ssa
        self._operand_values = operand_values
        self.symbols = symbols
        self.facts = facts
        self._function = ssa.cfg.flow.function
        self._loops_of_block = [
            frozenset(loop.number for loop in loops.around(block.number)) for block in ssa.cfg.blocks
        ]
        self._bits = [
            0 if register.type == "pred" else 8 * bytes_of(register.type)
            for register in ssa.cfg.flow.registers
        ]
        self._parameters = self._function.kernel_parameters
        self.forms: list[Form | None] = [None] * len(ssa.values)
        for value in range(len(ssa.cfg.flow.registers)):
            if ssa.readers[value] or value in ssa.fixed:
                self.forms[value] = self.opaque(value)

    def define(self, index: int, rules: Mapping[str, Rule], runs: bool | None = None) -> None:
        """The forms of all that the step defines; ``rules`` are those of base opcodes, ``runs`` whether its guard lets
        it, where that is known."""
        defines = self._ssa.defines[index]
        if runs is False:
            for value, stays in zip(defines, self._ssa.previous[index], strict=True):
                self.forms[value] = self.forms[stays]
            return
        step = self._ssa.cfg.flow.steps[index]
        code = step.instruction.opcode
        found: Form | None = None
        known = runs or self._ssa.guards[index] == NONE
        if known and code.accepts(len(step.instruction.operands)):
            if code.base == "ld":
                self._load(index, code)
                return
            if len(defines) == 1:
                bits = self._bits[self._ssa.values[defines[0]].register]
                if bits in WIDTHS:
                    rule = rules.get(code.base)
                    found = None if rule is None else rule(self, index, code, bits)
                    if found is None:
                        found = self._operation(index, code, bits)
                    elif len(found[1]) > MOST_TERMS:
                        found = None
        for value in defines:
            # What is no name of its own (a parameter in a register) is never known.
            if self._ssa.is_entry(value):
                continue
            self.forms[value] = self.opaque(value) if found is None else found

    def opaque(self, value: int, low: int = 0, high: int | None = None) -> Form | None:
        """A symbol for a value of which nothing is known."""
        register = self._ssa.values[value].register
        bits = self._bits[register]
        if bits not in WIDTHS:
            return None
        most = (1 << bits) - 1 if high is None else high
        loops = self._loops_of_block[self._ssa.values[value].block]
        if self._ssa.is_entry(value) and value in self._ssa.fixed:
            # It may change anywhere, so that two reads are never known to be equal.
            return None
        return single(bits, self.symbols.number(Symbol("value", (value,), low, most, loops, value)))

    def operand(self, index: int, place: int, bits: int) -> Form | None:
        """Return the form of an operand that is read as so many bits; None where it is not known."""
        value = self._operand_values[index][place]
        if value != NONE:
            found = self.forms[value]
            if found is None or found.bits < bits:
                return None
            return found if found.bits == bits else self.narrowed(found, bits)
        match self._ssa.cfg.flow.steps[index].instruction.operands[place]:
            case Immediate() as literal:
                number = literal.value
                return constant(bits, number) if isinstance(number, int) else None
            case Name(text):
                return self._named(text, bits)
            case Sum(Name(text), offset):
                base = self._named(text, bits)
                return None if base is None else add(base, constant(bits, offset))
            case _:
                return None

    def address(self, index: int, place: int, operand: Address) -> Form | None:
        value = self._operand_values[index][place]
        if value != NONE:
            found = self.forms[value]
        elif isinstance(operand.base, Immediate):
            number = operand.base.value
            found = constant(64, number) if isinstance(number, int) else None
        else:
            found = self._named(operand.base.text, 64)
        return None if found is None else add(found, constant(found.bits, operand.offset))

    def only_address(self, index: int) -> Form | None:
        """Return the form of a step's only address; None where there are several, or none."""
        found: Form | None = None
        for place, operand in enumerate(self._ssa.cfg.flow.steps[index].instruction.operands):
            if isinstance(operand, Address):
                if found is not None:
                    return None
                found = self.address(index, place, operand)
        return found

    def _named(self, name: str, bits: int) -> Form | None:
        if name == "WARP_SZ":
            return constant(bits, 32)
        special = special_register(name)
        if special is None:
            if name.startswith("%") or "." in name or bits not in WIDTHS:
                return None
            return single(bits, self.symbols.number(Symbol("address", (name,), 0, (1 << 64) - 1)))
        if (
            special.varies == "time"
            or special.vector != 1
            or special.type == "pred"
            or 8 * bytes_of(special.type) != bits
        ):
            return None
        low, high = special_bounds(self._function, name) or (0, (1 << bits) - 1)
        if low == high:
            return constant(bits, low)
        return single(bits, self.symbols.number(Symbol("special", (name,), low, high)))

    def number_bounds(self, one: Form, signed: bool) -> tuple[int, int]:
        """Return the bounds of the form as a signed or unsigned number, where the facts hold."""
        low, high = self.bounds_anywhere(one, signed)
        known = self.facts.bounds(one, signed)
        # Facts that exclude each other stand where nobody comes.
        return (
            (max(low, known[0]), min(high, known[1])) if max(low, known[0]) <= min(high, known[1]) else known
        )

    def bounds_anywhere(self, one: Form, signed: bool) -> tuple[int, int]:
        """Return the bounds of the form as a signed or unsigned number, without what branches say.

        They hold for its symbols wherever these are met.
        """
        least, most = limits(one.bits, signed)
        if one.is_constant:
            number = one.constant if signed else one.constant % (1 << one.bits)
            return number, number
        low, high = self.symbols.bounds(one)
        return (low, high) if least <= low and high <= most else (least, most)

    def extended(self, one: Form, bits: int, signed: bool) -> Form:
        """The number that it is, as signed or unsigned, in more bits."""
        if one.is_constant:
            return constant(bits, one.constant if signed else one.constant % (1 << one.bits))
        least, most = limits(one.bits, signed)
        low, high = self.symbols.bounds(one)
        if least <= low and high <= most:
            return widened(one, bits)
        if signed and low >= 0 and high < 1 << one.bits and self.facts.bounds(one, True)[0] >= 0:
            return widened(one, bits)
        shifted = self.facts.shift(one, signed)
        if shifted is not None:
            base, by = shifted
            low, high = self.symbols.bounds(base)
            if least <= low and high <= most:
                return add(widened(base, bits), constant(bits, by))
            return add(self.extension(base, bits, signed), constant(bits, by))
        return self.extension(one, bits, signed)

    def extension(self, one: Form, bits: int, signed: bool) -> Form:
        least, most = limits(one.bits, signed)
        kind = "signed" if signed else "unsigned"
        symbol = Symbol(kind, (one,), least, most, self.symbols.loops(one))
        return single(bits, self.symbols.number(symbol))

    def narrowed(self, one: Form, bits: int) -> Form:
        """Return the form modulo a smaller power of two; numbers that were made wide become what they were."""
        found = truncated(one, bits)
        for number, coefficient in found.terms:
            symbol = self.symbols.all[number]
            if symbol.kind in ("signed", "unsigned") and isinstance(inner := symbol.key[0], Form):
                if inner.bits < bits:
                    continue
                found = subtract(found, form(bits, {number: coefficient}))
                found = add(found, scaled(truncated(inner, bits), coefficient))
        return found

    def product(self, one: Form, other: Form) -> Form | None:
        """Return the product of two forms; None where it would have too many terms."""
        if one.is_constant or other.is_constant:
            many, factor = (other, one.constant) if one.is_constant else (one, other.constant)
            return scaled(many, factor)
        if (len(one.terms) + 1) * (len(other.terms) + 1) > MOST_TERMS:
            return None
        terms: dict[int, int] = {}
        for symbol, factor in one.terms:
            for each, by in other.terms:
                both = self._factors(symbol, each)
                if both is None:
                    return None
                terms[both] = terms.get(both, 0) + factor * by
        for symbol, factor in one.terms:
            terms[symbol] = terms.get(symbol, 0) + factor * other.constant
        for symbol, factor in other.terms:
            terms[symbol] = terms.get(symbol, 0) + factor * one.constant
        return form(one.bits, terms, one.constant * other.constant)

    def counted(self, loop: Loop, trips: Trips | None, first: Form, step: Form) -> Form | None:
        """Return ``first + step * count``, where the header is visited for the count-th time.

        None where it has too many terms.
        """
        most = UNBOUNDED if trips is None or trips.constant is None else trips.constant
        key = Symbol("count", (loop.number,), 0, most, self._loops_of_block[loop.header])
        grown = self.product(step, single(first.bits, self.symbols.number(key)))
        return None if grown is None else add(first, grown)

    def _factors(self, one: int, other: int) -> int | None:
        """The symbol of a product of symbols."""
        table = self.symbols.all
        a, b = table[one], table[other]
        numbers: list[int] = []
        for number, symbol in ((one, a), (other, b)):
            if symbol.kind == "product":
                numbers += [each for each in symbol.key if isinstance(each, int)]
            else:
                numbers.append(number)
        if len(numbers) > MOST_FACTORS:
            return None
        corners = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
        key = tuple(sorted(numbers))
        return self.symbols.number(Symbol("product", key, min(corners), max(corners), a.loops | b.loops))

    def _load(self, index: int, code: Opcode) -> None:
        """Give the values that a load defines their forms.

        A kernel's parameter is a symbol of its own; other values are bounded by the type.
        """
        step = self._ssa.cfg.flow.steps[index]
        type_ = code.types[-1] if code.types else "b64"
        bits = 8 * bytes_of(type_)
        address = step.instruction.operands[-1]
        destinations = step.instruction.operands[0]
        names = destinations.names
        items = destinations.items if isinstance(destinations, Vector) else (destinations,)
        offsets = [place * bits // 8 for place, item in enumerate(items) if item.names]
        for place, value in enumerate(self._ssa.defines[index]):
            if self._ssa.is_entry(value):
                continue
            width = self._bits[self._ssa.values[value].register]
            high = (1 << bits) - 1 if bits < width and type_[0] in "ub" else None
            found = self.opaque(value, 0, high)
            match address:
                case Address(Name(text), offset) if (
                    code.space == "param"
                    and text in self._parameters
                    and width in WIDTHS
                    and (bits == width or high is not None)
                    and len(offsets) == len(names)
                ):
                    key = (text, offset + offsets[place], bits)
                    symbol = Symbol("parameter", key, 0, (1 << bits) - 1)
                    found = single(width, self.symbols.number(symbol))
                case _:
                    pass
            self.forms[value] = found

    def _operation(self, index: int, code: Opcode, bits: int) -> Form | None:
        """A symbol that equal operations on equal operands share; None where it is not sure that they are equal."""
        if not _is_function(code):
            return None
        operands = self._ssa.cfg.flow.steps[index].instruction.operands
        key: list[Hashable] = [code.text]
        loops = frozenset[int]()
        forms: list[Form | None] = []
        for place in range(1, len(operands)):
            value = self._operand_values[index][place]
            found = self.forms[value] if value != NONE else self.operand(index, place, bits)
            forms.append(found)
            if found is not None:
                loops |= self.symbols.loops(found)
                key.append(found)
            elif value != NONE and not self._ssa.is_entry(value):
                loops |= self._loops_of_block[self._ssa.values[value].block]
                key.append(value)
            else:
                return None
        (value,) = self._ssa.defines[index]
        width = 8 * bytes_of(code.types[0])
        low, high = result_bounds(code, width, forms, self.bounds_anywhere)
        if width > bits or (width < bits and code.types[0][0] == "s"):
            low, high = 0, (1 << bits) - 1
        if not 0 <= low <= high:
            low, high = 0, (1 << bits) - 1
        if width != bits:
            return None
        return single(bits, self.symbols.number(Symbol("operation", tuple(key), low, high, loops, value)))

    def window(self, memory: str) -> int:
        """The symbol for what a generic address has more."""
        return self.symbols.number(Symbol("window", (memory,), 0, (1 << 64) - 1))

    def low_bits(self, value: Form, count: int, bits: int) -> Form:
        """The number that its last bits are."""
        if count == 0 or count >= bits:
            return value if count else constant(bits, 0)
        least, most = self.symbols.bounds(value)
        if least >= 0 and most < 1 << count:
            return value
        return self.extended(truncated(value, count), bits, False)

    def both(self, index: int, bits: int, places: Sequence[int] = (1, 2)) -> list[Form] | None:
        found = [self.operand(index, place, bits) for place in places]
        return [f for f in found if f is not None] if None not in found else None


_PURE = frozenset(
    {
        "add",
        "sub",
        "mul",
        "mad",
        "mul24",
        "mad24",
        "sad",
        "div",
        "rem",
        "abs",
        "neg",
        "min",
        "max",
        "popc",
        "clz",
    }
    | {"bfind", "bfe", "bfi", "brev", "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr", "prmt"}
    | {"selp", "slct", "cvt", "dp4a", "dp2a", "fns", "szext", "bmsk"}
)


@cache
def _is_function(code: Opcode) -> bool:
    """Return whether an instruction gives equal integers where its operands are equal integers."""
    return (
        code.base in _PURE
        and code.is_known
        and code.effect == Effect.NONE
        and not code.has_side_effects
        and not code.is_convergent
        and not code.reads_carry
        and bool(code.types)
        and all(t[0] in "sub" for t in code.types)
    )
