"""Spills of ptxas in shared memory, in the cubin itself: no value gets another register, no instruction another place.

    STL [R1+0x8], R4             -->   STS [R1+0x1400], R4
    LDL.LU R4, [R1+0x8]          -->   LDS R4, [R1+0x1400]

In: the bytes of a cubin, a kernel, and the threads of its blocks.  Out: another cubin, and what the kernel takes::

    cubin, patched = patch_spills(cubin, "box27", threads=128)
    patched.dynamic_bytes        # a launch has to state so much dynamic shared memory

Loads and stores of both memories go the same way through a multiprocessor and raise the same scoreboards, so that the
schedule of ptxas holds.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from comprehensive.machine.device import Device, device_of
from comprehensive.sass.control import WORD_BYTES, code_of_words, words_of
from comprehensive.sass.errors import SassError
from comprehensive.sass.function import SassFunction
from comprehensive.sass.read import read, read_all, select, system_shared_bytes
from comprehensive.sass.spills.layout import Layout, layout_of
from comprehensive.sass.spills.local_access import LocalAccess, shared_word
from comprehensive.sass.spills.prologue import branch, filling, prologue
from comprehensive.sass.spills.stack import Frame, frame_of, without_adjustment
from comprehensive.toolchain.cubin import (
    FRAME_SIZE,
    RECORD,
    SYMBOL,
    TEXT,
    WITH_LENGTH,
    code_of,
    records,
    sections,
    text_at,
)
from comprehensive.toolchain.cubin_edits import (
    SHARED_ALIGNMENT,
    alignment_of,
    with_content,
    with_empty_section,
    with_function_bytes,
)

ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90)
"""The architectures whose cubins can be patched: from sm_100 on a cubin holds its code a second time, in
another form."""
SCALED = frozenset({75, 80, 86, 87, 88, 89})
"""The architectures on which ptxas lets ``LDS`` and ``STS`` scale a register. nvdisasm knows that of sm_90, too; ptxas
does not use it."""

_MAX_THREADS, _REQUIRED_THREADS = 0x05, 0x10
_MIN_STACK_SIZE, _MAX_STACK_SIZE = 0x12, 0x23
_OF_STACK = frozenset({FRAME_SIZE, _MIN_STACK_SIZE, _MAX_STACK_SIZE})
_CODE_ALIGNMENT = 128
_INFO, _SHARED = ".nv.info", ".nv.shared."


@dataclass(frozen=True, slots=True)
class Patched:
    """A kernel that has no local memory any more.

    ``threads`` are the most that a block may have, ``dynamic_bytes`` the dynamic shared memory that a launch has to
    state: the kernel's own, and ``slot_bytes`` in which ``accesses`` instructions have their operands.
    """

    name: str
    threads: int
    dynamic_bytes: int
    slot_bytes: int
    accesses: int


def patch_spills(
    cubin: bytes,
    name: str,
    *,
    threads: int | None = None,
    shared_bytes: int = 0,
    cuda_path: str | None = None,
) -> tuple[bytes, Patched]:
    """Return the cubin with the local memory of a kernel moved to shared memory, and what the kernel takes then.

    ``threads`` are the most of a block, by default what the kernel's launch bounds say; ``shared_bytes`` is the dynamic
    shared memory that launches give the kernel already, in front of the slots.

    Errors as for :func:`comprehensive.sass.read.read`; SassError where the kernel has to stay as it is (CF1211), where
    the size of a block is not known or not possible (CF1212), and where shared memory does not suffice (CF1213).
    """
    function = read(cubin, name, cuda_path)
    words = words_of(code_of(cubin)[name].instructions)
    device = device_of(f"sm_{function.architecture}")
    if function.architecture not in ARCHITECTURES or device is None:
        known = ", ".join(f"sm_{each}" for each in ARCHITECTURES)
        raise _stays(name, f"it is for sm_{function.architecture}; those known are {known}")
    frame = frame_of(function, words)
    if isinstance(frame, str):
        raise _stays(name, frame)
    most = _threads(cubin, name, threads, device)
    section = function.shared_bytes + system_shared_bytes(function.architecture)
    start = _up(_up(section, _alignment(cubin, name)) + shared_bytes, SHARED_ALIGNMENT)
    layout = layout_of(
        ((access.offset, access.width) for access in frame.accesses.values()),
        threads=most,
        start=start,
        scaled=function.architecture in SCALED,
    )
    dynamic = start - section + layout.bytes_per_block
    room = device.optin_shared_bytes_per_block - function.shared_bytes
    if shared_bytes < 0 or dynamic > room:
        raise SassError(
            "CF1213",
            f"{name}: {layout.bytes_per_thread} bytes for each of {most} threads and {shared_bytes} of the kernel's "
            f"own are {dynamic} bytes of dynamic shared memory; a block has {room}",
            "launch smaller blocks, with launch bounds that say so, or let fewer registers be spilled",
        )
    code = _code(function, words, frame, layout)
    patched = _with_code(cubin, name, code, section)
    patched = _with_threads(_without_stack(patched, name), name, most)
    return patched, Patched(name, most, dynamic, layout.bytes_per_block, len(frame.accesses))


def patch_all_spills(
    cubin: bytes,
    names: Sequence[str] = (),
    *,
    threads: int | None = None,
    shared_bytes: int = 0,
    cuda_path: str | None = None,
) -> tuple[bytes, tuple[Patched, ...]]:
    """The same for several kernels; without names, for all that have local memory, of which there is one at least."""
    functions = read_all(cubin, cuda_path)
    chosen = names or tuple(name for name, each in functions.items() if each.frame_bytes)
    if not chosen:
        raise SassError("CF1211", "nothing is spilled: no kernel has local memory", "use the cubin as it is")
    found: list[Patched] = []
    for function in select(functions, tuple(dict.fromkeys(chosen))):
        cubin, patched = patch_spills(
            cubin, function.name, threads=threads, shared_bytes=shared_bytes, cuda_path=cuda_path
        )
        found.append(patched)
    return cubin, tuple(found)


def _code(function: SassFunction, words: Sequence[int], frame: Frame, layout: Layout) -> bytes:
    """The section of code: accesses in their places, the prologue behind the kernel."""
    architecture = function.architecture
    scaled = architecture in SCALED
    changed = {
        index: _shared(words[index], access, layout, scaled) for index, access in frame.accesses.items()
    }
    changed[frame.adjustment] = without_adjustment(words[frame.adjustment])
    behind = (function.instructions[-1].address // WORD_BYTES + 1) * WORD_BYTES
    changed[0] = branch(architecture, 0, behind)
    kept = [changed.get(index, word) for index, word in enumerate(words[: behind // WORD_BYTES])]
    kept += prologue(behind, WORD_BYTES, architecture, scale=None if scaled else layout.widest)
    end = len(kept) * WORD_BYTES
    whole = max(_up(end + WORD_BYTES, _CODE_ALIGNMENT), len(words) * WORD_BYTES)
    return code_of_words((*kept, *filling(architecture, end, whole)))


def _shared(word: int, access: LocalAccess, layout: Layout, scaled: bool) -> int:
    place = layout.place(access.offset)
    return shared_word(word, place.offset, scale=place.scale if scaled else 1)


def _with_code(cubin: bytes, name: str, code: bytes, section: int) -> bytes:
    grown = with_function_bytes(with_content(cubin, TEXT + name, code), name, len(code))
    if _SHARED + name in sections(grown):
        return grown
    return with_empty_section(grown, _SHARED + name, section, of=TEXT + name)


def _without_stack(cubin: bytes, name: str) -> bytes:
    """The same with no frame, for which the driver would allocate local memory."""
    found = sections(cubin)
    info = bytearray(found[_INFO].content)
    symbols, texts = found[".symtab"].content, found[".strtab"].content
    for record in records(bytes(info)):
        if record.kind in _OF_STACK:
            symbol, _ = struct.unpack("<II", record.value)
            if text_at(texts, SYMBOL.unpack_from(symbols, symbol * SYMBOL.size)[0]) == name:
                struct.pack_into("<I", info, record.position + 4, 0)
    return with_content(cubin, _INFO, bytes(info))


def _with_threads(cubin: bytes, name: str, threads: int) -> bytes:
    """The same with launch bounds: the driver refuses larger blocks, which would share slots."""
    section = f"{_INFO}.{name}"
    info = sections(cubin)[section].content
    bound = struct.pack("<III", threads, 1, 1)
    for record in records(info):
        if record.kind == _REQUIRED_THREADS:
            return cubin
        if record.kind == _MAX_THREADS:
            end = record.position + len(bound)
            return with_content(cubin, section, info[: record.position] + bound + info[end:])
    return with_content(cubin, section, info + RECORD.pack(WITH_LENGTH, _MAX_THREADS, len(bound)) + bound)


def _threads(cubin: bytes, name: str, wanted: int | None, device: Device) -> int:
    """The most threads of a block. SassError (CF1212) where that is not known, or not possible."""
    bounds = _bounds(cubin, name)
    required, most = bounds.get(_REQUIRED_THREADS), bounds.get(_MAX_THREADS)
    known = required or most
    threads = wanted if wanted is not None else known
    if threads is None:
        raise SassError(
            "CF1212",
            f"{name}: nothing says how many threads a block has, and each has words of its own",
            "compile with __launch_bounds__(N), or give --threads N",
        )
    limit = device.max_threads_per_block if known is None else known
    if not 0 < threads <= limit or (required is not None and threads != required):
        raise SassError(
            "CF1212",
            f"{name}: no block of {threads} threads: the kernel's have {'' if required else 'at most '}{limit}",
            f"give --threads {limit}",
        )
    return threads


def _bounds(cubin: bytes, name: str) -> Mapping[int, int]:
    info = sections(cubin)[f"{_INFO}.{name}"].content
    return {
        record.kind: prod(struct.unpack("<III", record.value))
        for record in records(info)
        if record.kind in (_MAX_THREADS, _REQUIRED_THREADS)
    }


def _alignment(cubin: bytes, name: str) -> int:
    return alignment_of(cubin, _SHARED + name) if _SHARED + name in sections(cubin) else SHARED_ALIGNMENT


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _stays(name: str, why: str) -> SassError:
    return SassError(
        "CF1211",
        f"{name}: its local memory stays where it is: {why}",
        "keep this cubin as it is, or have values kept in shared memory by the PTX pass demote-registers",
    )
