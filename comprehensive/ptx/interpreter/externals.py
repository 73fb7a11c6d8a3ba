"""Functions that a module calls without having them: vprintf, malloc, free, __assertfail.

    FUNCTIONS["malloc"](machine, lanes, (sizes,))      # addresses, one a lane

Arguments and the result are arrays of 64 bits, one element a lane.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import numpy as np

from comprehensive.ptx.interpreter.faults import Fault
from comprehensive.ptx.interpreter.lanes import Lanes, lanes_of
from comprehensive.ptx.interpreter.machine import Machine
from comprehensive.ptx.interpreter.values import Array

External = Callable[[Machine, Lanes, tuple[Array, ...]], Array]

_LONGEST = 1 << 16
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")


def _bytes(machine: Machine, lane: int, address: int, count: int) -> bytes:
    one = lanes_of(np.array([lane]))
    places = [
        int(machine.memory.generic(np.array([address + k], np.uint64), 1, one, writes=False)[0])
        for k in range(count)
    ]
    return bytes(machine.memory.bytes[places].tolist())


def _string(machine: Machine, lane: int, address: int) -> str:
    found = bytearray()
    while len(found) < _LONGEST:
        byte = _bytes(machine, lane, address + len(found), 1)
        if byte == b"\0":
            break
        found += byte
    return found.decode("utf-8", "replace")


def vprintf(machine: Machine, lanes: Lanes, arguments: tuple[Array, ...]) -> Array:
    """Appends a text for each thread; gives the number of arguments that the text asks for."""
    formats, buffers = arguments
    results = np.zeros(lanes.count, np.uint64)
    for turn, lane in enumerate(lanes.index.tolist()):
        text, count = _formatted(
            machine, lane, _string(machine, lane, int(formats[turn])), int(buffers[turn])
        )
        machine.printed.append(text)
        results[turn] = count
    return results


def _formatted(machine: Machine, lane: int, text: str, buffer: int) -> tuple[str, int]:
    """Arguments lie as in a structure: ints of 4 bytes, everything else of 8."""
    offset, count = 0, 0

    def next_value(size: int) -> bytes:
        nonlocal offset, count
        offset += -offset % size
        found = _bytes(machine, lane, buffer + offset, size)
        offset += size
        count += 1
        return found

    def replaced(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        if width == "*":
            width = str(struct.unpack("<i", next_value(4))[0])
        if precision == "*":
            precision = str(struct.unpack("<i", next_value(4))[0])
        form = f"%{flags or ''}{width or ''}{'.' + precision if precision is not None else ''}"
        if kind in "eEfFgGaA":
            value = struct.unpack("<d", next_value(8))[0]
            return value.hex() if kind in "aA" else f"{form}{kind}" % value
        if kind == "s":
            return f"{form}s" % _string(machine, lane, struct.unpack("<Q", next_value(8))[0])
        if kind == "p":
            return f"0x{struct.unpack('<Q', next_value(8))[0]:x}"
        is_long = length in ("l", "ll", "j", "z", "t")
        code = {"d": "q" if is_long else "i", "i": "q" if is_long else "i"}.get(kind, "Q" if is_long else "I")
        value = struct.unpack(f"<{code}", next_value(8 if is_long else 4))[0]
        if kind == "c":
            return f"{form}c" % chr(value & 0xFF)
        return f"{form}{'d' if kind in 'iu' else kind}" % value

    return _DIRECTIVE.sub(replaced, text), count


def malloc(machine: Machine, lanes: Lanes, arguments: tuple[Array, ...]) -> Array:
    """Allocate memory on the heap for each lane, and return the addresses; null where it is too small."""
    (sizes,) = arguments
    space, memory = machine.memory.spaces["global"], machine.memory
    results = np.zeros(lanes.count, np.uint64)
    for turn, size in enumerate(sizes.tolist()):
        if size and space.bytes_used + size + 16 <= memory.private[0]:
            found = space.allocate(f"malloc({size})", size)
            memory.bytes[found.place : found.place + size] = 0xFF
            results[turn] = found.start
    return results


def free(machine: Machine, lanes: Lanes, arguments: tuple[Array, ...]) -> Array:
    (addresses,) = arguments
    for turn, address in enumerate(addresses.tolist()):
        if address and not machine.memory.spaces["global"].release(address):
            raise Fault(
                "CF1014",
                f"frees {address:#x}, where no allocation begins",
                int(lanes.index[turn]),
                "free what malloc has given, once",
            )
    return np.zeros(lanes.count, np.uint64)


def assert_fail(machine: Machine, lanes: Lanes, arguments: tuple[Array, ...]) -> Array:
    lane = int(lanes.index[0])
    message, file, line, function = (int(argument[0]) for argument in arguments[:4])
    where = f"{_string(machine, lane, file)}:{line & 0xFFFFFFFF}: {_string(machine, lane, function)}"
    raise Fault(
        "CF1016",
        f"fails an assertion: {where}: {_string(machine, lane, message)}",
        lane,
        "see why the condition does not hold",
    )


FUNCTIONS: dict[str, External] = {
    "vprintf": vprintf,
    "malloc": malloc,
    "free": free,
    "__assertfail": assert_fail,
}
