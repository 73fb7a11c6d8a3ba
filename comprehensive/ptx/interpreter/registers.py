"""Registers of a function as arrays over all lanes: bits in the width of the declaration, seen as any type.

file = RegisterFile(flow.registers, lanes=1024)
file.view(3, "f32")[lanes.at]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from comprehensive.ptx.flow import Register
from comprehensive.ptx.interpreter.faults import Unsupported
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.values import DTYPES, POISON, Array, bytes_of_type, is_float


class RegisterFile:
    """Registers are made when they are first asked for; those of 128 bits are two rows of words.

    ``place`` is the element of a vector register (``.reg .v4 .b32``).
    """

    def __init__(self, registers: Sequence[Register], lanes: int) -> None:
        self._registers = registers
        self._lanes = lanes
        self._arrays: dict[tuple[int, int], Array] = {}
        self._saved: list[dict[tuple[int, int], Array]] = []

    def name_of(self, number: int) -> str:
        return self._registers[number].name

    def number_of(self, name: str) -> int:
        """Return the number of a register parameter; it has the scope of the function."""
        return next(r.number for r in self._registers if r.name == name and r.scope == 0)

    def bytes_of(self, number: int) -> int:
        return bytes_of_type(self._registers[number].type)

    def array(self, number: int, place: int = 0) -> Array:
        """The bits."""
        found = self._arrays.get((number, place))
        if found is None:
            size = self.bytes_of(number)
            if self._registers[number].type == "pred":
                found = np.ones(self._lanes, np.bool_)
            elif size == 16:
                found = np.full((2, self._lanes), -1, np.int64).view(np.uint64)
            else:
                found = np.full(self._lanes, -1, f"int{8 * size}").view(f"uint{8 * size}")
            self._arrays[number, place] = found
        return found

    def view(self, number: int, type_: str, place: int = 0) -> Array:
        """Return a register as an array to read as this type; of a wider register these are the lower bits."""
        array = self.array(number, place)
        dtype = DTYPES[type_]
        self._see(number, array, dtype)
        if array.dtype.itemsize == dtype.itemsize:
            return array.view(dtype)
        return array.view(dtype)[:: array.dtype.itemsize // dtype.itemsize]

    def target(self, number: int, type_: str, place: int = 0) -> Array:
        """Return the array to write as this type. A wider register is filled with zeros, or with the sign."""
        array = self.array(number, place)
        dtype = DTYPES[type_]
        self._see(number, array, dtype)
        if array.dtype.itemsize == dtype.itemsize:
            return array.view(dtype)
        kind = "i" if dtype.kind == "i" else "u"
        if is_float(type_) and dtype.kind == "f":
            raise Unsupported(
                f"a result of type .{type_} in the wider register '{self._registers[number].name}'"
            )
        return array.view(f"{kind}{array.dtype.itemsize}")

    def _see(self, number: int, array: Array, dtype: np.dtype[np.generic]) -> None:
        fits = array.ndim == 1 and (array.dtype == np.bool_) == (dtype == np.bool_)
        if not fits or array.dtype.itemsize < dtype.itemsize:
            name = self._registers[number].name
            raise Unsupported(f"register '{name}' of type .{self._registers[number].type} in this place")

    def poison(self) -> None:
        for array in self._arrays.values():
            array.view(np.uint8)[...] = 1 if array.dtype == np.bool_ else POISON

    def save(self, depth: int, lanes: Lanes) -> None:
        """Save what the registers of lanes hold, for the activation at a depth."""
        while len(self._saved) <= depth:
            self._saved.append({})
        for key, array in self._arrays.items():
            kept = self._saved[depth].get(key)
            if kept is None:
                kept = self._saved[depth][key] = np.empty_like(array)
            kept[..., lanes.at] = array[..., lanes.at]

    def restore(self, depth: int, lanes: Lanes) -> None:
        for key, kept in self._saved[depth].items():
            self._arrays[key][..., lanes.at] = kept[..., lanes.at]
