"""Integers and bits against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.unit.ptx.interpreter.launches import computed, launch

EDGES = (0, 1, 2, 7, 31, 32, 33, 63, 64)


def words(bits: int) -> st.SearchStrategy[int]:
    top = 1 << bits
    edges = sorted({e % top for e in (*EDGES, top - 1, top - 2, top >> 1, (top >> 1) - 1, (top >> 1) + 1)})
    return st.one_of(st.sampled_from(edges), st.integers(0, top - 1))


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(a: int, b: int) -> int:
    """Towards zero; by zero all bits set."""
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    return -1 if b == 0 else a - b * quotient(a, b)


BINARY: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, n: a + b,
    "sub": lambda a, b, n: a - b,
    "mul.lo": lambda a, b, n: a * b,
    "mul.hi": lambda a, b, n: a * b >> n,
    "div": lambda a, b, n: quotient(a, b),
    "rem": lambda a, b, n: rest(a, b),
    "min": lambda a, b, n: min(a, b),
    "max": lambda a, b, n: max(a, b),
}


@pytest.mark.parametrize("type_", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("base", BINARY)
@settings(max_examples=examples(10))
@given(data=st.data())
def test_two_integers(base: str, type_: str, data: st.DataObject) -> None:
    bits = int(type_[1:])
    rows = data.draw(st.lists(st.tuples(words(bits), words(bits)), min_size=20, max_size=60))
    found = computed(f"{base}.{type_}", bits, [(bits, [a for a, _ in rows]), (bits, [b for _, b in rows])])
    read = (lambda v: signed(v, bits)) if type_[0] == "s" else (lambda v: v)
    assert found == [BINARY[base](read(a), read(b), bits) % (1 << bits) for a, b in rows]


def reverse(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


@pytest.mark.parametrize(
    ("opcode", "bits", "result", "function"),
    [
        ("popc.b32", 32, 32, lambda a: a.bit_count()),
        ("popc.b64", 64, 32, lambda a: a.bit_count()),
        ("clz.b32", 32, 32, lambda a: 32 - a.bit_length()),
        ("clz.b64", 64, 32, lambda a: 64 - a.bit_length()),
        ("brev.b32", 32, 32, lambda a: reverse(a, 32)),
        ("brev.b64", 64, 64, lambda a: reverse(a, 64)),
        ("bfind.u32", 32, 32, lambda a: a.bit_length() - 1),
        ("bfind.s32", 32, 32, lambda a: (~a % (1 << 32) if a >> 31 else a).bit_length() - 1),
        ("bfind.shiftamt.u64", 64, 32, lambda a: 64 - a.bit_length() if a else -1),
        ("not.b32", 32, 32, lambda a: ~a),
        ("cnot.b32", 32, 32, lambda a: int(a == 0)),
        ("abs.s32", 32, 32, lambda a: abs(signed(a, 32))),
        ("neg.s64", 64, 64, lambda a: -a),
    ],
)
@settings(max_examples=examples(10))
@given(data=st.data())
def test_one_integer(
    opcode: str, bits: int, result: int, function: Callable[[int], int], data: st.DataObject
) -> None:
    values = data.draw(st.lists(words(bits), min_size=20, max_size=60))
    assert computed(opcode, result, [(bits, values)]) == [function(v) % (1 << result) for v in values]


def shifted(a: int, by: int, bits: int, opcode: str) -> int:
    if opcode.startswith("shl"):
        return a << by
    return (signed(a, bits) if ".s" in opcode else a) >> by


@pytest.mark.parametrize(
    "opcode", ["shl.b16", "shr.u16", "shr.s16", "shl.b32", "shr.u32", "shr.s32", "shl.b64", "shr.s64"]
)
@settings(max_examples=examples(10))
@given(data=st.data())
def test_shifts_are_clamped(opcode: str, data: st.DataObject) -> None:
    bits = int(opcode[5:])
    amounts = st.one_of(st.integers(0, 70), st.sampled_from([255, 256, 1 << 31, (1 << 32) - 1]))
    rows = data.draw(st.lists(st.tuples(words(bits), amounts), min_size=20, max_size=60))
    found = computed(opcode, bits, [(bits, [a for a, _ in rows]), (32, [b for _, b in rows])])
    assert found == [shifted(a, min(by, 200), bits, opcode) % (1 << bits) for a, by in rows]


def field(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    """The pseudocode of the PTX ISA, bfe; of 64 bits ptxas makes shifts, which take all bits of an amount."""
    if bits == 32:
        position, length = position & 0xFF, length & 0xFF
    sign = a >> min(position + length - 1, bits - 1) & 1 if is_signed and length else 0
    found = 0
    for i in range(bits):
        inside = i < length and position + i < bits
        found |= (a >> (position + i) & 1 if inside else sign) << i
    return found


def inserted(a: int, b: int, position: int, length: int, bits: int) -> int:
    """The pseudocode of the PTX ISA, bfi; of 64 bits as above."""
    if bits == 32:
        position, length = position & 0xFF, length & 0xFF
    for i in range(min(length, bits)):
        if position + i < bits:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


@pytest.mark.parametrize("type_", ["u32", "s32", "u64", "s64"])
@settings(max_examples=examples(15))
@given(data=st.data())
def test_fields(type_: str, data: st.DataObject) -> None:
    bits = int(type_[1:])
    small = st.one_of(st.integers(0, 70), st.sampled_from([255, 256, 300]))
    rows = data.draw(st.lists(st.tuples(words(bits), words(bits), small, small), min_size=20, max_size=60))
    a, b, position, length = (list(column) for column in zip(*rows, strict=True))
    extracted = computed(f"bfe.{type_}", bits, [(bits, a), (32, position), (32, length)])
    assert extracted == [field(x, p, n, bits, type_[0] == "s") for x, _, p, n in rows]
    put = computed(f"bfi.b{bits}", bits, [(bits, a), (bits, b), (32, position), (32, length)])
    assert put == [inserted(x, y, p, n, bits) for x, y, p, n in rows]


@pytest.mark.parametrize("opcode", ["shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32"])
@settings(max_examples=examples(10))
@given(data=st.data())
def test_funnel_shifts(opcode: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(words(32), words(32), st.integers(0, 80)), min_size=20, max_size=60))
    low, high, by = (list(column) for column in zip(*rows, strict=True))
    wanted = []
    for a, b, c in rows:
        amount = min(c, 32) if "clamp" in opcode else c & 31
        pair = b << 32 | a
        wanted.append((pair << amount >> 32 if ".l." in opcode else pair >> amount) % (1 << 32))
    assert computed(opcode, 32, [(32, low), (32, high), (32, by)]) == wanted


@settings(max_examples=examples(15))
@given(rows=st.lists(st.tuples(words(32), words(32), words(32)), min_size=20, max_size=60))
def test_bytes_are_permuted_and_bits_looked_up(rows: list[tuple[int, int, int]]) -> None:
    columns = [(32, list(column)) for column in zip(*rows, strict=True)]

    def permuted(a: int, b: int, selector: int) -> int:
        found = 0
        for place in range(4):
            nibble = selector >> (4 * place) & 15
            byte = (b << 32 | a) >> (8 * (nibble & 7)) & 255
            found |= ((255 if byte & 128 else 0) if nibble & 8 else byte) << (8 * place)
        return found

    assert computed("prmt.b32", 32, columns) == [permuted(*row) for row in rows]
    for table in (0, 0xFF, 0x96, 0xE8, 0xCA, 0x1B):
        wanted = []
        for a, b, c in rows:
            bits = (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1 for i in range(32))
            wanted.append(sum(bit << i for i, bit in enumerate(bits)))
        assert computed("lop3.b32", 32, columns, f", {table}") == wanted


@settings(max_examples=examples(15))
@given(rows=st.lists(st.tuples(words(32), words(32), words(32)), min_size=20, max_size=60))
def test_products_of_parts(rows: list[tuple[int, int, int]]) -> None:
    columns = [(32, list(column)) for column in zip(*rows, strict=True)]

    def parts(word: int, bits: int, is_signed: bool) -> list[int]:
        found = [word >> place & (1 << bits) - 1 for place in range(0, 32, bits)]
        return [signed(part, bits) for part in found] if is_signed else found

    def dot(a: int, b: int, c: int, kinds: tuple[bool, bool]) -> int:
        pairs = zip(parts(a, 8, kinds[0]), parts(b, 8, kinds[1]), strict=True)
        return (c + sum(x * y for x, y in pairs)) % (1 << 32)

    for left, right in (("u32", "u32"), ("s32", "u32"), ("s32", "s32")):
        kinds = left == "s32", right == "s32"
        assert computed(f"dp4a.{left}.{right}", 32, columns) == [dot(*row, kinds) for row in rows]
    halves = [
        (c + sum(x * y for x, y in zip(parts(a, 16, True), parts(b, 8, True)[2:], strict=True))) % (1 << 32)
        for a, b, c in rows
    ]
    assert computed("dp2a.hi.s32.s32", 32, columns) == halves
    assert computed("mad.hi.s32", 32, columns) == [
        ((signed(a, 32) * signed(b, 32) >> 32) + c) % (1 << 32) for a, b, c in rows
    ]
    low = [
        ((signed(a << 8 & 0xFFFFFFFF, 32) >> 8) * (signed(b << 8 & 0xFFFFFFFF, 32) >> 8) + c)
        for a, b, c in rows
    ]
    assert computed("mad24.lo.s32", 32, columns) == [value % (1 << 32) for value in low]
    wide = computed("mad.wide.s32", 64, [columns[0], columns[1], (64, [c << 20 for _, _, c in rows])])
    assert wide == [(signed(a, 32) * signed(b, 32) + (c << 20)) % (1 << 64) for a, b, c in rows]


@settings(max_examples=examples(15))
@given(rows=st.lists(st.tuples(words(64), words(64)), min_size=8, max_size=32))
def test_carries_go_through_a_chain_of_additions_and_products(rows: list[tuple[int, int]]) -> None:
    import numpy as np

    count = len(rows)
    a = np.array([a for a, _ in rows], np.uint64)
    b = np.array([b for _, b in rows], np.uint64)
    sums, differences, products = (np.zeros(count, np.uint64) for _ in range(3))
    launch(
        """
    shl.b64 %rd0, %wide, 3;
    add.u64 %rd1, %rd16, %rd0; ld.global.v2.b32 {%r0, %r1}, [%rd1];
    add.u64 %rd2, %rd17, %rd0; ld.global.v2.b32 {%r2, %r3}, [%rd2];
    add.cc.u32 %r4, %r0, %r2; addc.u32 %r5, %r1, %r3;
    add.u64 %rd3, %rd18, %rd0; st.global.v2.b32 [%rd3], {%r4, %r5};
    sub.cc.u32 %r4, %r0, %r2; subc.u32 %r5, %r1, %r3;
    add.u64 %rd3, %rd19, %rd0; st.global.v2.b32 [%rd3], {%r4, %r5};
    mul.lo.u32 %r4, %r0, %r2; mul.hi.u32 %r5, %r0, %r2;
    mad.lo.cc.u32 %r5, %r0, %r3, %r5; madc.hi.u32 %r6, %r0, %r3, 0;
    mad.lo.cc.u32 %r5, %r1, %r2, %r5;
    add.u64 %rd3, %rd20, %rd0; st.global.v2.b32 [%rd3], {%r4, %r5};
""",
        [a, b, sums, differences, products],
        block=count,
    )
    top = 1 << 64
    assert sums.tolist() == [(x + y) % top for x, y in rows]
    assert differences.tolist() == [(x - y) % top for x, y in rows]
    assert products.tolist() == [x * y % top for x, y in rows]


def test_division_by_zero_and_of_the_smallest_number() -> None:
    smallest, minus = 1 << 31, (1 << 32) - 1
    assert computed("div.s32", 32, [(32, [smallest, 5, 0]), (32, [minus, 0, 0])]) == [smallest, minus, minus]
    assert computed("rem.s32", 32, [(32, [smallest, 5]), (32, [minus, 0])]) == [0, minus]
    assert computed("div.u64", 64, [(64, [7]), (64, [0])]) == [(1 << 64) - 1]


def test_saturated_sums() -> None:
    largest, smallest = (1 << 31) - 1, 1 << 31
    assert computed("add.sat.s32", 32, [(32, [largest, smallest]), (32, [1, (1 << 32) - 1])]) == [
        largest,
        smallest,
    ]
