"""Cubins with spills in shared memory, read by nvdisasm: nothing but accesses and the stack pointer is another."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

import pytest

from comprehensive.sass.control import WORD_BYTES
from comprehensive.sass.errors import SassError
from comprehensive.sass.function import SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.read import read, system_shared_bytes
from comprehensive.sass.spills.patch import Patched, patch_all_spills, patch_spills
from comprehensive.toolchain.cubin import code_of, records, sections
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from tests.examples import quick_of
from tests.sass.test_read import SOURCE as OTHERS

SOURCE = OTHERS.with_name("spilling.cu")
THREADS = 64
OPERANDS = re.compile(r"\[R1(?:\.X(\d+))?(?:\+(0x[0-9a-f]+))?\]")

pytestmark = pytest.mark.toolchain


@pytest.fixture(scope="module")
def cubins(nvcc: Tool, nvdisasm: Tool) -> Mapping[str, bytes]:
    """The source compiled for an architecture when the first test asks for it."""

    class Compiled(dict[str, bytes]):
        def __missing__(self, arch: str) -> bytes:
            self[arch] = compile_cubin(nvcc, SOURCE, arch).output
            return self[arch]

    return Compiled()


read_once = cache(read)
patch_once = cache(patch_spills)


def place(instruction: Instruction) -> tuple[int, int]:
    """The offset and the scale of an access at R1."""
    found = OPERANDS.search(instruction.operands)
    assert found is not None, instruction.text
    return int(found[2] or "0", 16), int(found[1] or "1")


def width(instruction: Instruction) -> int:
    sizes = {"64": 8, "128": 16, "U16": 2, "S16": 2, "U8": 1, "S8": 1}
    return next((sizes[each] for each in instruction.modifiers if each in sizes), 4)


CASES = [("sm_75", "words"), ("sm_80", "words"), ("sm_90", "words"), ("sm_90", "widths")]


def both(
    cubins: Mapping[str, bytes], arch: str, name: str, shared_bytes: int = 0
) -> tuple[SassFunction, SassFunction, Patched]:
    cubin, patched = patch_once(cubins[arch], name, threads=THREADS, shared_bytes=shared_bytes)
    return read_once(cubins[arch], name), read_once(cubin, name), patched


@pytest.mark.parametrize(("arch", "name"), quick_of(CASES, {("sm_75", "words"), ("sm_90", "widths")}))
def test_accesses_are_of_shared_memory_and_the_rest_is_as_it_was(
    cubins: Mapping[str, bytes], arch: str, name: str
) -> None:
    before, after, patched = both(cubins, arch, name)
    assert not {"STL", "LDL"} & {each.base for each in after.instructions}
    assert after.frame_bytes == 0
    assert (after.registers_per_thread, after.shared_bytes) == (
        before.registers_per_thread,
        before.shared_bytes,
    )
    assert [loop.address for loop in after.loops] == [loop.address for loop in before.loops]
    changed = 0
    for old, new in zip(before.instructions[1:], after.instructions[1:], strict=False):
        assert (new.address, new.guard, new.control) == (old.address, old.guard, old.control)
        if old.base in ("STL", "LDL"):
            changed += 1
            assert new.base == old.base[:2] + "S"
            assert width(new) == width(old)
            assert OPERANDS.sub("", new.operands) == OPERANDS.sub("", old.operands)
            assert (new.defines, new.uses) == (old.defines, old.uses)
        elif "R1" in old.defines.names:
            assert new.operands in ("R1,R1,0x0,RZ", "R1,R1,0x0")
        else:
            assert (new.opcode, new.operands) == (old.opcode, old.operands)
    assert changed == patched.accesses > 20


@pytest.mark.parametrize(
    ("arch", "name", "shared_bytes"),
    quick_of(
        [*((*case, 0) for case in CASES), ("sm_90", "widths", 1000)],
        {("sm_75", "words", 0), ("sm_90", "widths", 0), ("sm_90", "widths", 1000)},
    ),
)
def test_slots_are_behind_the_memory_of_the_kernel_and_no_two_of_them_meet(
    cubins: Mapping[str, bytes], arch: str, name: str, shared_bytes: int
) -> None:
    before, after, patched = both(cubins, arch, name, shared_bytes)
    own = system_shared_bytes(after.architecture) + after.shared_bytes + shared_bytes
    scale = own_scale(after, arch)
    slots: dict[int, tuple[int, int]] = {}
    for old, new in zip(before.instructions, after.instructions, strict=False):
        if old.base not in ("STL", "LDL"):
            continue
        (offset, _), (shared, scaled) = place(old), place(new)
        for thread in range(THREADS):
            for byte in range(width(old)):
                address = shared + byte + thread * (scale or scaled)
                assert slots.setdefault(address, (thread, offset + byte)) == (thread, offset + byte)
    assert len(slots) == len(set(slots.values()))
    assert own <= min(slots)
    assert max(slots) < own - shared_bytes + patched.dynamic_bytes <= own + patched.slot_bytes + 16


def own_scale(function: SassFunction, arch: str) -> int | None:
    """Return the factor by which the prologue multiplies the number of a thread; None where instructions do."""
    if arch != "sm_90":
        return None
    return numbers(function, (1, 0, 0), (THREADS, 1, 1)) - numbers(function, (0, 0, 0), (THREADS, 1, 1))


def numbers(function: SassFunction, thread: Sequence[int], block: Sequence[int], rank: int = 0) -> int:
    """R1 where the kernel begins, by the text of the prologue."""
    entry = function.instructions[0]
    assert entry.opcode == "BRA"
    by_address = {each.address: each for each in function.instructions}
    special = {**{f"SR_TID.{axis}": thread[n] for n, axis in enumerate("XYZ")}, "SR_CgaCtaId": rank}
    constants = {"c[0x0][RZ]": block[0], "c[0x0][0x4]": block[1]}
    registers = {"RZ": 0}
    at = int(entry.operands, 16)
    while at != WORD_BYTES:
        each = by_address[at]
        result, *operands = each.operands.split(",")
        known = {**special, **constants, **registers}
        values = [known[text] if text in known else int(text, 16) for text in operands]
        match each.base:
            case "S2R" | "LDC":
                registers[result] = values[0]
            case "IMAD":
                registers[result] = values[0] * values[1] + values[2]
            case "BRA":
                at = int(result, 16) - WORD_BYTES
            case other:
                raise AssertionError(other)
        at += WORD_BYTES
    return registers["R1"]


@pytest.mark.parametrize(("arch", "name"), quick_of(CASES, {("sm_75", "words"), ("sm_90", "widths")}))
def test_the_prologue_numbers_the_threads_of_a_block_of_any_shape(
    cubins: Mapping[str, bytes], arch: str, name: str
) -> None:
    after = both(cubins, arch, name)[1]
    scale = own_scale(after, arch) or 1
    assert scale in ((4, 8) if arch == "sm_90" else (1,))
    block = (5, 3, 4)
    found = [numbers(after, (x, y, z), block) for z in range(4) for y in range(3) for x in range(5)]
    assert found == [scale * number for number in range(60)]
    if arch == "sm_90":
        assert numbers(after, (0, 0, 0), block, rank=3) == 3 << 24


def test_results_of_unknown_time_are_awaited_in_the_prologue(cubins: Mapping[str, bytes]) -> None:
    after = both(cubins, "sm_90", "words")[1]
    start = int(after.instructions[0].operands, 16)
    prologue = [each for each in after.instructions if each.address >= start]
    raised = {each.control.write for each in prologue if each.control.write is not None}
    first = next(each for each in prologue if each.base == "IMAD")
    assert set(first.control.waits) == raised == {0, 1}
    assert all(each.control.stall >= 5 for each in prologue if each.base in ("IMAD", "BRA"))


@pytest.mark.parametrize("arch", quick_of(["sm_80", "sm_90"], {"sm_90"}))
def test_other_sections_and_kernels_are_as_they_were(cubins: Mapping[str, bytes], arch: str) -> None:
    cubin, _ = patch_once(cubins[arch], "words", threads=THREADS, shared_bytes=0)
    before, after = sections(cubins[arch]), sections(cubin)
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {".text.words", ".nv.info", ".nv.info.words", ".symtab", ".shstrtab"}
    assert set(after) - set(before) <= {".nv.shared.words"}
    others = {name: code for name, code in code_of(cubin).items() if name != "words"}
    assert others == {name: code for name, code in code_of(cubins[arch]).items() if name != "words"}


@pytest.mark.parametrize("arch", quick_of(["sm_80", "sm_90"], {"sm_90"}))
def test_tables_of_the_file_agree_with_its_sections(cubins: Mapping[str, bytes], arch: str) -> None:
    cubin, _ = patch_once(cubins[arch], "words", threads=THREADS, shared_bytes=0)
    header = struct.unpack_from("<16sHHIQQQIHHHHHH", cubin)
    rows = [struct.unpack_from("<IIQQQQIIQQ", cubin, header[6] + 64 * n) for n in range(header[12])]
    spans = sorted((row[4], row[4] + row[5]) for row in rows if row[1] not in (0, 8) and row[5])
    tables = [(header[6], header[6] + 64 * header[12]), (header[5], header[5] + 56 * header[10])]
    ordered = sorted([*spans, *tables])
    assert all(end <= start for (_, end), (start, _) in pairwise(ordered))
    assert ordered[-1][1] <= len(cubin)
    assert all(row[4] % max(1, row[8]) == 0 for row in rows if row[1] != 8)
    segments = [struct.unpack_from("<IIQQQQQQ", cubin, header[5] + 56 * n) for n in range(header[10])]
    loaded = [(each[2], each[2] + each[5]) for each in segments if each[0] == 1]
    for row in rows:
        if row[2] & 4:  # code
            assert any(start <= row[4] and row[4] + row[5] <= end for start, end in loaded)
    assert writable_beside_shared(cubin) == writable_beside_shared(cubins[arch])


def writable_beside_shared(cubin: bytes) -> int:
    """Return the bytes of written segments beside sections without contents: shared memory is one of them."""
    header = struct.unpack_from("<16sHHIQQQIHHHHHH", cubin)
    rows = [struct.unpack_from("<IIQQQQIIQQ", cubin, header[6] + 64 * n) for n in range(header[12])]
    segments = [struct.unpack_from("<IIQQQQQQ", cubin, header[5] + 56 * n) for n in range(header[10])]
    loaded = sum(each[6] for each in segments if each[0] == 1 and each[1] & 2)
    return loaded - sum(row[5] for row in rows if row[1] == 8)


def bound(cubin: bytes, name: str) -> list[tuple[int, ...]]:
    info = sections(cubin)[f".nv.info.{name}"].content
    return [struct.unpack("<III", each.value) for each in records(info) if each.kind == 5]


def test_larger_blocks_are_refused_by_launch_bounds(cubins: Mapping[str, bytes]) -> None:
    original = cubins["sm_90"]
    assert bound(original, "words") == [(1024, 1, 1)]
    assert bound(original, "unbounded") == []
    for name in ("words", "unbounded"):
        cubin, patched = patch_spills(original, name, threads=96)
        assert patched.threads == 96
        assert bound(cubin, name) == [(96, 1, 1)]
    assert patch_spills(original, "exact")[1].threads == 128


def test_the_same_bytes_come_out_again_and_several_kernels_are_patched(cubins: Mapping[str, bytes]) -> None:
    once = patch_all_spills(cubins["sm_90"], ("words", "widths"), threads=THREADS)
    assert once == patch_all_spills(cubins["sm_90"], ("words", "widths", "words"), threads=THREADS)
    assert [each.name for each in once[1]] == ["words", "widths"]
    assert {name: code.frame_bytes for name, code in code_of(once[0]).items()}["widths"] == 0


@pytest.mark.parametrize(
    ("arch", "name", "options", "code", "said"),
    [
        ("sm_90", "array", {}, "CF1211", "takes an address on the stack"),
        ("sm_90", "calls", {}, "CF1211", "calls what needs the stack"),
        ("sm_90", "divides", {}, "CF1211", "slowpath stands behind it in its section"),
        ("sm_90", "nothing", {}, "CF1211", "nothing is spilled"),
        ("sm_100", "words", {}, "CF1211", "it is for sm_100"),
        ("sm_90", "none", {}, "CF1204", "no function 'none'"),
        ("sm_90", "unbounded", {}, "CF1212", "nothing says how many threads"),
        ("sm_90", "words", {"threads": 0}, "CF1212", "no block of 0 threads"),
        ("sm_90", "words", {"threads": 1025}, "CF1212", "at most 1024"),
        ("sm_90", "exact", {"threads": 64}, "CF1212", "the kernel's have 128"),
        ("sm_90", "words", {}, "CF1213", "a block has 232448"),
        ("sm_90", "words", {"threads": 64, "shared_bytes": 230_000}, "CF1213", "230000 of the kernel's own"),
        ("sm_90", "words", {"threads": 64, "shared_bytes": -1}, "CF1213", "-1 of the kernel's own"),
    ],
)
def test_what_cannot_be_moved_stays_with_a_reason(
    cubins: Mapping[str, bytes], arch: str, name: str, options: dict[str, int], code: str, said: str
) -> None:
    with pytest.raises(SassError, match=re.escape(said)) as error:
        patch_spills(
            cubins[arch], name, threads=options.get("threads"), shared_bytes=options.get("shared_bytes", 0)
        )
    assert error.value.diagnostics[0].code == code


def test_a_patched_kernel_has_nothing_left_to_patch(cubins: Mapping[str, bytes]) -> None:
    cubin, _ = patch_once(cubins["sm_90"], "words", threads=THREADS, shared_bytes=0)
    with pytest.raises(SassError, match="nothing is spilled"):
        patch_spills(cubin, "words")
