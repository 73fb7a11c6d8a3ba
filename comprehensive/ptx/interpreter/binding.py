"""Operands of one instruction as arrays over all lanes: where a function reads and writes.

    binding = Binding(frame, step)
    a = binding.source(step.instruction.operands[1], "f32")        # indexed by Lanes.at

Literals and addresses of symbols are arrays too, of one element that numpy repeats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from comprehensive.ptx.flow import Step
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.machine import CLOCKS, Machine
from comprehensive.ptx.interpreter.memory import Allocation
from comprehensive.ptx.interpreter.registers import RegisterFile
from comprehensive.ptx.interpreter.values import DTYPES, Array, Computation, callable_of, integer, literal
from comprehensive.ptx.module import Function
from comprehensive.ptx.operands import SINK, Address, Expression, Immediate, Name, Not, Operand, Sum, Vector

_PARTED = re.compile(r"([%$]?[A-Za-z_$][\w$]*)\s*\.\s*([xyzwrgba])")
_ELEMENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}

NOWHERE = Name(SINK)
"""The destination that nobody reads."""

Action = Callable[[Lanes], None]
"""An instruction, ready to be executed for some lanes."""


@dataclass
class Frame:
    """A function in a batch: its registers, the symbols that it sees, how deep its recursion is.

    ``scopes`` are, by the position of a statement, the variables of the function that it sees.  ``depth`` is what is
    added to the addresses of local variables, one number a lane; None without recursion.
    """

    function: Function
    machine: Machine
    registers: RegisterFile
    symbols: Mapping[str, Allocation]
    scopes: Mapping[int, Mapping[str, Allocation]]
    depth: Array | None


class Binding:
    """An instruction in a frame: its operands as arrays over all lanes.

    ``names`` maps the registers of the instruction, in the scope where it stands, to their numbers.
    """

    def __init__(self, frame: Frame, step: Step) -> None:
        self.frame = frame
        self.step = step
        self.opcode = step.instruction.opcode
        self.operands = step.instruction.operands
        self.machine = frame.machine
        self.lanes = frame.machine.shape.lanes
        numbers = (*step.defines, *step.uses, *(() if step.guard is None else (step.guard,)))
        self.names = {frame.registers.name_of(n): n for n in numbers}

    def register(self, operand: Operand) -> int | None:
        """The number of a register; None for anything else."""
        return self.names.get(operand.text) if isinstance(operand, Name) else None

    def _element(self, text: str) -> tuple[int, int] | None:
        """The number of a register, and which of its elements is meant: ``%v.y`` is (7, 1)."""
        number = self.names.get(text)
        if number is not None:
            return number, 0
        whole, _, part = text.rpartition(".")
        number = self.names.get(whole) if part in _ELEMENTS else None
        return None if number is None else (number, _ELEMENTS[part])

    def vector(self, operand: Operand) -> Vector | None:
        """The operand of an instruction on ``.v2`` or ``.v4`` by its elements, also where it is one register."""
        if isinstance(operand, Vector):
            return operand
        words = self.opcode.modifiers
        count = next((int(word[1:]) for word in words if word in ("v2", "v4")), 0)
        if not count or not isinstance(operand, Name):
            return None
        return Vector(tuple(Name(f"{operand.text}.{axis}") for axis in "xyzw"[:count]))

    def source(self, operand: Operand, type_: str) -> Array:
        """Return the operand as an array to read, with the dtype of the type."""
        operand = _joined(operand)
        if isinstance(operand, Name):
            element = self._element(operand.text)
            if element is not None:
                return self.frame.registers.view(element[0], type_, element[1])
            special = self.machine.specials.constant(operand.text)
            if special is not None:
                return self._sized(special, type_)
        if isinstance(operand, Immediate) or (isinstance(operand, Expression) and not operand.names):
            return self._repeated(literal(operand.text, type_))
        address = self.address_of(operand)
        if address is None or type_ not in DTYPES:
            raise Unsupported(f"the operand '{operand}'")
        return self._repeated(integer(address[1], type_))

    def address_of(self, operand: Operand) -> tuple[Allocation, int] | None:
        """Return the allocation of a symbol and its address in its space, with an offset added to it.

        None for other operands.
        """
        if isinstance(operand, Sum):
            base, offset = operand.base, operand.offset
        elif isinstance(operand, Name):
            base, offset = operand, 0
        else:
            return None
        found = self.symbol(base.text)
        return None if found is None else (found, found.start + offset)

    def symbol(self, name: str) -> Allocation | None:
        scope = self.frame.scopes.get(self.step.position, {})
        return scope.get(name) or self.frame.symbols.get(name)

    def sources(self, operands: tuple[Operand, ...], types: tuple[str, ...]) -> tuple[list[Array], list[int]]:
        """Return the operands as arrays to read, and the places of those that are negated predicates."""
        arrays, negated = list[Array](), list[int]()
        for place, (operand, type_) in enumerate(zip(operands, types, strict=True)):
            if isinstance(operand, Not):
                negated.append(place)
                operand = operand.operand
            arrays.append(self.source(operand, type_))
        return arrays, negated

    def truth(self, operand: Operand) -> Callable[[Lanes], Array]:
        """Return the function that reads a predicate, which may be negated, for lanes."""
        array = self.source(operand.operand if isinstance(operand, Not) else operand, "pred")
        if isinstance(operand, Not):
            return lambda lanes: ~array[lanes.at]
        return lambda lanes: array[lanes.at]

    def target(self, operand: Operand, type_: str) -> Array:
        """Return the array into which results of an operand go, one that nobody reads for the sink ``_``."""
        operand = _joined(operand)
        if isinstance(operand, Name):
            if operand == NOWHERE:
                return np.empty(self.lanes, DTYPES[type_])
            element = self._element(operand.text)
            if element is not None:
                return self.frame.registers.target(element[0], type_, element[1])
        raise Unsupported(f"the destination '{operand}'")

    def wide(self, operand: Operand) -> Array:
        """A register of 128 bits: two rows of words, the lower one first."""
        number = self.register(operand)
        array = None if number is None else self.frame.registers.array(number)
        if array is None or array.ndim != 2:
            raise Unsupported(f"the operand '{operand}' of 128 bits")
        return array

    def address(self, operand: Operand) -> Callable[[Lanes], Array]:
        """Return the function that computes an operand's addresses, 64 bits each, for lanes."""
        if not isinstance(operand, Address):
            raise Unsupported(f"the address '{operand}'")
        offset = np.uint64(operand.offset % (1 << 64))
        if isinstance(operand.base, Immediate):
            fixed = self._repeated(integer(int(operand.base.value) + operand.offset, "u64"))
            return lambda lanes: fixed[lanes.at]
        number = self.names.get(operand.base.text)
        if number is not None:
            if self.frame.registers.bytes_of(number) == 4:
                short = self.frame.registers.view(number, "u32")
                # 32 bits of a shared address wrap around.
                by = np.uint32(operand.offset % (1 << 32))
                return lambda lanes: (short[lanes.at] + by).astype(np.uint64)
            base = self.frame.registers.view(number, "u64")
            if offset == 0:
                return lambda lanes: base[lanes.at]
            return lambda lanes: base[lanes.at] + offset
        found = self.symbol(operand.base.text)
        if found is None:
            raise Unsupported(f"the address '{operand}'")
        fixed = self._repeated(integer(found.start + operand.offset, "u64"))
        depth = self.frame.depth
        if found.space == "local" and depth is not None:
            return lambda lanes: fixed[lanes.at] + depth[lanes.at]
        return lambda lanes: fixed[lanes.at]

    def space_of(self, operand: Operand) -> str | None:
        """The space of the symbol that an address names; None where it names none."""
        if isinstance(operand, Address) and isinstance(operand.base, Name):
            found = self.symbol(operand.base.text)
            if found is not None and operand.base.text not in self.names:
                return found.space
        return None

    def clock(self, operand: Operand) -> str | None:
        """The type of a special register that counts; None for anything else."""
        return CLOCKS.get(operand.text) if isinstance(operand, Name) else None

    def _repeated(self, value: Array) -> Array:
        return np.broadcast_to(value, self.lanes)

    def _sized(self, special: Array, type_: str) -> Array:
        dtype = DTYPES[type_]
        if dtype.itemsize == special.dtype.itemsize:
            return (
                special.view(dtype) if special.strides != (0,) else self._repeated(special[:1].view(dtype)[0])
            )
        if special.strides == (0,):
            return self._repeated(special[0].astype(dtype))
        if dtype.itemsize < special.dtype.itemsize:
            return special.view(dtype)[:: special.dtype.itemsize // dtype.itemsize]
        return special.astype(dtype)


def _joined(operand: Operand) -> Operand:
    """White space may stand before the point of ``%tid.x``; the parser then sees an expression."""
    if isinstance(operand, Expression):
        found = _PARTED.fullmatch(operand.text)
        return Name(f"{found[1]}.{found[2]}") if found else operand
    return operand


def with_negated(function: Computation, negated: list[int]) -> Callable[..., Any]:
    """The function, with some of its sources inverted."""
    call = callable_of(function)
    if not negated:
        return call

    def inverted(*sources: Array) -> Any:
        return call(*(~s if place in negated else s for place, s in enumerate(sources)))

    return inverted
