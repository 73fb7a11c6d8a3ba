"""A thread of PTX, step by step: the oracle of analyses.

In: a flow, what special registers and parameters hold.  Out: visits of steps with what they defined.  Integers and
predicates only; memory is a function of the address until it is written; undefined registers hold what a seed says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from comprehensive.ptx.flow import Flow, Step
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.operands import Address, Immediate, Name, Not, Operand, Sum


@dataclass
class Thread:
    """``run`` gives the number of each step as it is executed; registers and stores are as they are behind it."""

    flow: Flow
    special: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    most_steps: int = 400
    registers: list[int] = field(default_factory=list)
    stores: list[tuple[int, int]] = field(default_factory=list)
    address: int = 0
    memory: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        random = Random(self.seed)
        self.registers = [random.getrandbits(bits(r.type)) for r in self.flow.registers]

    def run(self) -> Iterator[int]:
        number = 0
        for _ in range(self.most_steps):
            if number >= len(self.flow.steps):
                return
            step = self.flow.steps[number]
            follow = number + 1
            guard = step.instruction.guard
            runs = guard is None or bool(self.registers[step.guard or 0]) != isinstance(guard, Not)
            if runs:
                base = step.instruction.opcode.base
                if base in ("ret", "exit", "trap"):
                    yield number
                    return
                if base == "bra":
                    (follow,) = step.targets
                elif base == "brx":
                    follow = step.targets[self.registers[step.uses[0]] % len(step.targets)]
                else:
                    self._execute(step)
            yield number
            number = follow

    def _execute(self, step: Step) -> None:
        instruction = step.instruction
        code, operands = instruction.opcode, instruction.operands
        if code.base == "st":
            self.stores.append(
                (self._address(step, operands[0]), self._read(step, operands[1], bits(code.types[0])))
            )
            return
        if code.base == "ld":
            address = operands[1]
            assert isinstance(address, Address)
            if code.space == "param":
                value = self.parameters[str(address.base)]
            else:
                value = self.loaded(self._address(step, address), "nc" in code.modifiers)
            result = value & mask(bits(code.types[0]))
        else:
            values = [
                self._read(step, o, width) for o, width in zip(operands[1:], widths(code.text), strict=False)
            ]
            result = operation(code.text, values)
        (register,) = step.defines
        self.registers[register] = result & mask(bits(self.flow.registers[register].type))

    def loaded(self, address: int, is_constant: bool) -> int:
        """64 bits; other warps may meanwhile have written what is not constant."""
        warp = 0 if is_constant else self.special.get("%tid.x", 0) // 32
        return Random(address * 1024 + warp).getrandbits(64)

    def _address(self, step: Step, operand: Operand) -> int:
        assert isinstance(operand, Address)
        self.address = (self._read(step, operand.base, 64) + operand.offset) & mask(64)
        return self.address

    def _read(self, step: Step, operand: Operand, width: int) -> int:
        match operand:
            case Immediate():
                assert isinstance(operand.value, int)
                return operand.value & mask(width)
            case Name(text):
                for register in step.uses:
                    if self.flow.registers[register].name == text:
                        return self.registers[register] & mask(width)
                return self.special[text] & mask(width)
            case Sum(base, offset):
                return (self._read(step, base, width) + offset) & mask(width)
            case _:
                raise NotImplementedError(operand)


def bits(type_: str) -> int:
    return 1 if type_ == "pred" else 8 * bytes_of(type_)


def mask(width: int) -> int:
    return (1 << width) - 1


def signed(value: int, width: int) -> int:
    value &= mask(width)
    return value - (1 << width) if value >> (width - 1) else value


def widths(text: str) -> list[int]:
    """Return the widths of the operands that are read."""
    base, *words = text.split(".")
    types = [bits(w) for w in words if w == "pred" or (w[0] in "sub" and w[1:].isdigit())]
    width = types[-1]
    if base == "selp":
        return [width, width, 1]
    if base in ("shl", "shr"):
        return [width, 32]
    if "wide" in words:
        return [width, width, 2 * width]
    return [width] * 3


def operation(text: str, values: list[int]) -> int:
    """The result of an instruction on numbers."""
    base, *words = text.split(".")
    types = [w for w in words if w == "pred" or (w[0] in "sub" and w[1:].isdigit())]
    width = bits(types[-1])
    is_signed = types[-1][0] == "s"
    numbers = [signed(v, width) if is_signed else v for v in values]
    if base in _SIMPLE:
        return _SIMPLE[base](*numbers)
    match base:
        case "mul" | "mad":
            return numbers[0] * numbers[1] + (values[2] if base == "mad" else 0)
        case "shl":
            return values[0] << values[1] if values[1] < width else 0
        case "shr":
            return numbers[0] >> min(values[1], width)
        case "selp":
            return values[0] if values[2] else values[1]
        case "rem" | "div":
            if not numbers[1]:
                return 0
            quotient = abs(numbers[0]) // abs(numbers[1])
            quotient = -quotient if (numbers[0] < 0) != (numbers[1] < 0) else quotient
            return quotient if base == "div" else numbers[0] - numbers[1] * quotient
        case "cvt":
            # To fewer bits the low ones; then as the result's type says, for a wider register.
            to = bits(types[0])
            return signed(numbers[0], to) if types[0][0] == "s" else numbers[0] & mask(to)
        case "setp":
            return int(_COMPARED[words[0]](numbers[0], numbers[1]))
        case _:
            raise NotImplementedError(text)


_SIMPLE: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "cvta": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "neg": lambda a: -a,
    "min": min,
    "max": max,
}
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
