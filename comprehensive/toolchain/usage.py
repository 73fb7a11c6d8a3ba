"""Reads what ptxas says about the kernels it has assembled.

In: the log of ``ptxas -v`` (nvcc: ``-Xptxas -v``).  Out: one :class:`Usage` a kernel, by symbol::

    ptxas info    : Compiling entry function '_Z4axpyPf' for 'sm_90'
    ptxas info    : Function properties for _Z4axpyPf
        8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
    ptxas info    : Used 10 registers, used 1 barriers, 512 bytes smem

    resource_usage(log)["_Z4axpyPf"].registers_per_thread        # 10
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

MOST_REGISTERS = 255
"""No thread of any device has more."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources of a kernel, as ptxas counts them; bytes of stack and spills are per thread.

    Of a build with ``--compile-only`` what is called is not known to belong to a kernel, and counts as nothing.
    """

    symbol: str
    arch: str
    registers_per_thread: int
    barriers: int
    shared_bytes: int
    """Static shared memory of a block, without what the system reserves."""
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    called_spill_store_bytes: int = 0
    called_spill_load_bytes: int = 0
    """The spills of the functions that the kernel calls, which ptxas compiles for each kernel anew."""

    @property
    def spill_bytes(self) -> int:
        """Return the bytes of registers that are stored to local memory and loaded again."""
        return self.spill_store_bytes + self.spill_load_bytes

    @property
    def called_spill_bytes(self) -> int:
        """The same of the functions that the kernel calls."""
        return self.called_spill_store_bytes + self.called_spill_load_bytes

    @property
    def needed_registers(self) -> int:
        """The registers of a thread; where it has all there are, an estimate: one more for each word that spills."""
        spilled = self.spill_store_bytes // 4 if self.registers_per_thread >= MOST_REGISTERS else 0
        return self.registers_per_thread + spilled

    @property
    def name(self) -> str:
        """The name in the source: the symbol itself for ``extern "C"``, else without scopes and types."""
        return simple_name(self.symbol)

    @property
    def template_arguments(self) -> tuple[int, ...]:
        """The integers and truth values that a template was given; empty where it is none."""
        return template_arguments(self.symbol)


_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")


def resource_usage(log: str) -> Mapping[str, Usage]:
    """The usage of every kernel in the log, by symbol, in the order of the log.

    Other lines may stand anywhere between; a log without kernels gives an empty mapping.  Where a log holds a
    kernel for several architectures, the last one stays.
    """
    usages: dict[str, Usage] = {}
    entry: tuple[str, str] | None = None
    is_counted = False
    function = ""
    frames: dict[str, tuple[int, int, int]] = {}
    for line in log.splitlines():
        if found := _ENTRY.search(line):
            entry, frames, is_counted = (found[1], found[2]), {}, False
        elif found := _PROPERTIES.search(line):
            function = found[1]
        elif (found := _STACK.search(line)) and entry:
            frames[function] = (int(found[1]), int(found[2]), int(found[3]))
            # Those that the kernel calls stand before it or behind it.
            if is_counted:
                usages[entry[0]] = replace(usages[entry[0]], **_called(entry[0], frames))
        elif (found := _REGISTERS.search(line)) and entry and not is_counted:
            is_counted = True
            symbol, arch = entry
            # Functions that the kernel calls have frames of their own; the kernel's is the one of its name.
            stack, stores, loads = frames.get(symbol, (0, 0, 0))
            usages[symbol] = Usage(
                symbol=symbol,
                arch=arch,
                registers_per_thread=int(found[1]),
                barriers=_number(_BARRIERS, line),
                shared_bytes=_number(_SHARED, line),
                stack_bytes=stack,
                spill_store_bytes=stores,
                spill_load_bytes=loads,
                **_called(symbol, frames),
            )
    return usages


def _called(symbol: str, frames: Mapping[str, tuple[int, int, int]]) -> dict[str, int]:
    called = [each for name, each in frames.items() if name != symbol]
    return {
        "called_spill_store_bytes": sum(stores for _, stores, _ in called),
        "called_spill_load_bytes": sum(loads for _, _, loads in called),
    }


def _number(pattern: re.Pattern[str], line: str) -> int:
    found = pattern.search(line)
    return int(found[1]) if found else 0


def usage_of(name: str, usages: Mapping[str, Usage]) -> tuple[Usage, ...]:
    """The usages of the kernel with that symbol, or else of every kernel with that name in the source.

    Several instances of a template share a name.
    """
    if name in usages:
        return (usages[name],)
    return tuple(usage for usage in usages.values() if usage.name == name)


def simple_name(symbol: str) -> str:
    """Return the name of a kernel: ``_ZN2ns6kernelILi4EEEvPf --> kernel``.

    A symbol that is not mangled (or not understood) is its own name.

    Follows the source names of the Itanium C++ ABI, section 5.1, as far as kernels have them: a kernel is a
    function in namespaces, never an operator or a constructor.
    """
    if not symbol.startswith("_Z"):
        return symbol
    nested = symbol.startswith("_ZN")
    position = 3 if nested else 2
    # Functions local to a file carry an L before the length.
    if symbol[position : position + 1] == "L":
        position += 1
    name = ""
    while found := re.compile(r"\d+").match(symbol, position):
        start, length = found.end(), int(found[0])
        if start + length > len(symbol):
            return symbol
        name = symbol[start : start + length]
        position = start + length
        if not nested:
            break
    return name or symbol


def template_arguments(symbol: str) -> tuple[int, ...]:
    """The integers and truth values that a template was given; empty where the symbol is none of one.

    ``_Z4tileILi16ELb1EEvPf --> (16, 1)``; Itanium C++ ABI, section 5.1.5.
    """
    found = re.search(r"\d" + re.escape(simple_name(symbol)) + r"I((?:L[a-z]n?\d+E)+)E", symbol)
    if found is None:
        return ()
    return tuple(
        -int(digits) if sign else int(digits) for sign, digits in re.findall(r"L[a-z](n?)(\d+)E", found[1])
    )
