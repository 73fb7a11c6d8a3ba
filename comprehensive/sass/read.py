"""The bytes of a cubin to functions.

In: a cubin by nvcc or ptxas, and the name of a kernel.  Out: :class:`SassFunction`::

    function = read(cubin, "matmul_0")
    function.instructions[3].control.stall
    [block.successors for block in function.procedures[0].flow.blocks]

Mnemonics come from the JSON of nvdisasm, registers from its life ranges, control bits from the code itself; the
three are put together by address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from comprehensive.diagnostics import Note
from comprehensive.sass.control import OLDEST_ARCHITECTURE, WORD_BYTES, control_of, words_of
from comprehensive.sass.errors import SassError
from comprehensive.sass.flow import falls_through, flow_of
from comprehensive.sass.function import Procedure, SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.life_ranges import Ranges, life_ranges
from comprehensive.sass.listing import Printed, printed_functions
from comprehensive.toolchain.cubin import Code, CubinError, architecture_of, code_of
from comprehensive.toolchain.disassembler import NotDisassembledError, find_disassembler

# From sm_90 on the section of shared memory has, besides the kernel's own, what the system takes.
_SYSTEM_IN_SECTION = 90
_SYSTEM_BYTES = 1024


def cubin_in(path: Path) -> bytes:
    """Return the contents of a file. SassError (CF1201) where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise SassError(
            "CF1201", f"cannot read '{path}': {problem.strerror}", "give the path of a cubin"
        ) from None


def write_cubin(path: Path, cubin: bytes) -> None:
    """Write a cubin, whole or not at all. SassError (CF1201) where it cannot be written."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.exists() and not target.is_file():
            # A device stays one; a directory is an error.
            target.write_bytes(cubin)
            return
        beside.write_bytes(cubin)
        beside.replace(target)
    except OSError as problem:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise SassError(
            "CF1201", f"cannot write '{path}': {problem.strerror}", "name a file in a directory that exists"
        ) from None


def read(cubin: bytes, function: str, cuda_path: str | None = None) -> SassFunction:
    """Return one function of a cubin.

    Raises SassError for what is no cubin (CF1201), for another architecture (CF1202), for what nvdisasm does not take
    (CF1203) and for a name that is not in it (CF1204); ToolError where there is no nvdisasm.
    """
    return select(read_all(cubin, cuda_path), (function,))[0]


def select(functions: Mapping[str, SassFunction], names: Sequence[str]) -> tuple[SassFunction, ...]:
    """Return the functions of those names, or all where none is given. SassError (CF1204) for a name without one."""
    for name in names:
        if name not in functions:
            raise SassError(
                "CF1204",
                f"the cubin has no function '{name}'",
                f"name one of {', '.join(functions)}" if functions else "it has no code at all",
            )
    return tuple(functions[name] for name in names or functions)


def read_all(cubin: bytes, cuda_path: str | None = None) -> Mapping[str, SassFunction]:
    """Return every function of a cubin, by name in alphabetical order; errors as for :func:`read`."""
    try:
        architecture = architecture_of(cubin)
        if architecture < OLDEST_ARCHITECTURE:
            raise SassError(
                "CF1202",
                f"the cubin is for sm_{architecture}, whose instructions are not known here",
                f"compile it for sm_{OLDEST_ARCHITECTURE} or a later architecture",
            )
        codes = code_of(cubin)
    except CubinError as problem:
        raise SassError("CF1201", str(problem), "give a cubin, as `nvcc -cubin` writes it") from None
    used = find_disassembler(cuda_path)
    try:
        printed = printed_functions(used.instructions(cubin))
        ranges = life_ranges(used.life_ranges(cubin))
        return {
            name: _function(name, architecture, code, printed[name], ranges[name])
            for name, code in codes.items()
            if code.instructions
        }
    except NotDisassembledError as problem:
        raise SassError(
            "CF1203",
            str(problem),
            "compile it anew with the nvcc of CUDA 13, which nvdisasm 13 belongs to",
            (Note(f"this is nvdisasm {used.tool.version}"),),
        ) from None
    except (KeyError, ValueError) as problem:
        raise SassError(
            "CF1203",
            f"what nvdisasm {used.tool.version} prints of the cubin is not understood: {problem}",
            "use nvdisasm of CUDA 13",
        ) from None


def system_shared_bytes(architecture: int) -> int:
    """Return what the system takes of shared memory in the section of a kernel, in front of the kernel's own."""
    return _SYSTEM_BYTES if architecture >= _SYSTEM_IN_SECTION else 0


def _function(
    name: str, architecture: int, code: Code, printed: Sequence[Printed], ranges: Ranges
) -> SassFunction:
    words = words_of(code.instructions)
    if len(words) != len(printed):
        raise ValueError(f"{len(words)} instructions in '{name}', and {len(printed)} of them printed")
    # The life ranges leave out what fills the section.
    instructions = [
        Instruction(
            address,
            one.guard,
            one.opcode,
            one.operands,
            control_of(words[address // WORD_BYTES]),
            (row := ranges.rows[address]).defines,
            row.uses,
            row.live,
        )
        for address, one in _without_padding(printed)
    ]
    return SassFunction(
        name,
        architecture,
        tuple(_procedures(name, instructions, ranges)),
        code.registers,
        max(0, code.shared_bytes - system_shared_bytes(architecture)),
        code.frame_bytes,
    )


def _procedures(name: str, instructions: Sequence[Instruction], ranges: Ranges) -> Iterator[Procedure]:
    """Cut the code where functions begin; other labels are targets of branches."""
    names = {
        address: next((label for label in labels if not label.startswith(".L_")), None)
        for address, labels in ranges.labels.items()
    }
    starts = [
        index for index, each in enumerate(instructions) if index == 0 or names.get(each.address) is not None
    ]
    for start, end in zip(starts, [*starts[1:], len(instructions)], strict=True):
        own = names.get(instructions[start].address) if start else name
        yield Procedure(own or name, flow_of(instructions[start:end], ranges.jumps))


def _without_padding(printed: Sequence[Printed]) -> Sequence[tuple[int, Printed]]:
    """Give instructions their addresses, without what fills the section behind the last one that can be reached.

    That is a branch to itself, and no-operations.
    """
    code = [(index * WORD_BYTES, one) for index, one in enumerate(printed)]
    while code and code[-1][1] == Printed("", "NOP", ""):
        code.pop()
    if len(code) > 1 and code[-1][1] == Printed("", "BRA", f"{code[-1][0]:#x}"):
        before = code[-2][1]
        if not falls_through(before.guard, before.opcode, before.operands):
            code.pop()
    return code
