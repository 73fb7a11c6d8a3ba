"""Kernels with shuffles in the place of loads, against themselves, in the interpreter.

Kernels are drawn: indices of 16, 32 and 64 bits that may wrap, guards that threads take differently, loops, stores to
what was loaded; and rows of words, vectors among them, around pointers that move.  Blocks are of all shapes: lines and
boxes, whole warps and not.  A warp must not read what it did not read before, even if it does not use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.interpreter.lanes import WARP, Lanes
from comprehensive.ptx.interpreter.memory import Space
from comprehensive.ptx.interpreter.values import Array
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.synthesize_shuffles import SHAPES
from comprehensive.ptx.pipeline import rewrite
from tests.examples import quick_of

BLOCKS = (
    (1,),
    (16,),
    (31,),
    (32,),
    (33,),
    (48,),
    (64,),
    (96,),
    (16, 4),
    (32, 3),
    (48, 2),
    (8, 8, 2),
    (64, 1, 2),
    (5, 7),
)
WORDS = 1 << 17
"""The words of each buffer, 32 bits each; indices of 16 bits with a sign reach half of it."""

_WAYS = ("s16", "u16", "s32", "s32", "u32", "s64")
"""The ways in which indices become addresses. Those of 16 bits are drawn so that they wrap within a warp."""


class Drawn:
    """PTX of a kernel that adds up what it loads."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lines: list[str] = []
        self._count = 0
        self.exchanges = False
        self._way = random.choice(_WAYS)
        self._index()
        self._guard = random.choice(("none", "none", "upper", "both", "lanes"))
        self._open_guard()
        for _ in range(random.randint(3, 12)):
            self._piece()
        self._close()

    @property
    def text(self) -> str:
        head = (
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
        )
        head += ".param .u64 out, .param .u32 n, .param .u32 m)\n{\n"
        head += "".join(
            f".reg .{t} %{p}<200>;\n" for t, p in (("pred", "p"), ("b16", "h"), ("b32", "r"), ("b64", "d"))
        )
        return head + "\n".join(self._lines) + "\n}\n"

    def _new(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def _add(self, text: str) -> None:
        self._lines.append(text)

    def _index(self) -> None:
        self._add("ld.param.u64 %d100, [a]; ld.param.u64 %d101, [b]; ld.param.u64 %d102, [out];")
        self._add("ld.param.u32 %r100, [n]; ld.param.u32 %r101, [m];")
        self._add("mov.u32 %r102, %tid.x; mov.u32 %r103, %ntid.x; mov.u32 %r104, %ctaid.x;")
        self._add(
            "mov.u32 %r105, %tid.y; mov.u32 %r106, %ntid.y; mov.u32 %r107, %tid.z; mov.u32 %r108, %ntid.z;"
        )
        self._add("mad.lo.s32 %r109, %r107, %r106, %r105; mad.lo.s32 %r110, %r109, %r103, %r102;")
        self._add("mul.lo.u32 %r111, %r103, %r106; mul.lo.u32 %r111, %r111, %r108;")
        # The number of the thread, where its result goes, and the index of its column.
        self._add(
            "mad.lo.s32 %r112, %r104, %r111, %r110; mul.wide.u32 %d103, %r112, 8; add.s64 %d104, %d102, %d103;"
        )
        self._add("mad.lo.s32 %r113, %r104, %r103, %r102;")
        kind = self._random.choice(("column", "row", "lane", "strided", "linear"))
        match kind:
            case "column":
                self._add("mov.b32 %r114, %r113;")
            case "row":
                self._add("mad.lo.s32 %r114, %r109, %r101, %r113;")
            case "lane":
                self._add("mov.u32 %r114, %laneid; mad.lo.s32 %r114, %r104, 32, %r114;")
            case "strided":
                self._add(f"mul.lo.s32 %r114, %r113, {self._random.choice((2, 3, -1))};")
            case _:
                self._add("mov.b32 %r114, %r112;")
        self._add(f"add.s32 %r114, %r114, {self._random.choice((0, 1, 32767 - 20, 1000))};")
        self._add("cvt.u16.u32 %h100, %r114;")
        self._add("mov.b64 %d110, 0;")

    def _open_guard(self) -> None:
        match self._guard:
            case "upper":
                self._add("setp.ge.s32 %p100, %r113, %r100; @%p100 bra DONE;")
            case "both":
                self._add("setp.ge.s32 %p100, %r113, %r100; setp.lt.s32 %p101, %r113, 1;")
                self._add("or.pred %p100, %p100, %p101; @%p100 bra DONE;")
            case "lanes":
                self._add("and.b32 %r115, %r102, 3; setp.eq.u32 %p100, %r115, 1; @%p100 bra DONE;")
            case _:
                pass

    def _piece(self) -> None:
        choice = self._random.random()
        if choice < 0.72:
            self._load("%d100" if self._random.random() < 0.7 else "%d101")
        elif choice < 0.8:
            self._store()
        elif choice < 0.85:
            self._loop()
        elif choice < 0.9:
            self._branch()
        elif self._guard == "none":
            self._exchange()

    def _load(self, base: str) -> None:
        offset, size = self._random.randint(-5, 5), self._random.choice((4, 4, 4, 4, 4, 4, 8, 2))
        address, extra = (
            self._address(base, offset, size),
            self._random.choice(("", ".nc" if base == "%d101" else "")),
        )
        match size:
            case 8:
                value = self._new("d")
                self._add(f"ld.global{extra}.b64 {value}, {address};")
            case 2:
                half, word, value = self._new("h"), self._new("r"), self._new("d")
                self._add(f"ld.global{extra}.u16 {half}, {address}; cvt.u32.u16 {word}, {half};")
                self._add(f"cvt.u64.u32 {value}, {word};")
            case _:
                word, value = self._new("r"), self._new("d")
                if self._random.random() < 0.2:
                    other = self._new("r")
                    aligned = self._address(base, offset & ~1, 4, even=True)
                    self._add(
                        f"ld.global{extra}.v2.b32 {{{word}, {other}}}, {aligned}; xor.b32 {word}, {word}, {other};"
                    )
                else:
                    self._add(f"ld.global{extra}.b32 {word}, {address};")
                self._add(f"cvt.u64.u32 {value}, {word};")
        self._add(f"mul.lo.s64 %d110, %d110, 31; add.s64 %d110, %d110, {value};")

    def _address(self, base: str, offset: int, size: int, even: bool = False) -> str:
        """Return an address in the middle of the buffer; the index wraps at 16 bits, or stays small."""
        middle = 4 * (WORDS // 2)
        wide, sum_ = self._new("d"), self._new("d")
        inside, outside = (offset, 0) if self._random.random() < 0.4 else (0, offset)
        index = "%r114"
        way = self._way if self._random.random() < 0.8 else self._random.choice(_WAYS)
        if way[1:] == "16":
            narrow, index = self._new("h"), self._new("r")
            self._add(f"add.s16 {narrow}, %h100, {inside}; cvt.{way[0]}32.{way} {index}, {narrow};")
        elif inside:
            index = self._new("r")
            self._add(f"add.s32 {index}, %r114, {inside};")
        scale = 8 if even or size == 8 else size
        if scale == 8:
            half = self._new("r")
            self._add(f"and.b32 {half}, {index}, 16383;" if way != "s64" else f"mov.b32 {half}, {index};")
            index = half if way != "s64" else index
        self._add(
            f"mul.wide.{'u32' if way == 'u32' else 's32'} {wide}, {index}, {scale};"
            if way != "s64"
            else f"cvt.s64.s32 {wide}, {index}; mul.lo.s64 {wide}, {wide}, {scale};"
        )
        self._add(f"add.s64 {sum_}, {base}, {wide};")
        return f"[{sum_}+{middle + scale * outside}]"

    def _store(self) -> None:
        """Store to an element of its own, which no other thread reads or writes."""
        wide, sum_ = self._new("d"), self._new("d")
        self._add(f"mul.wide.u32 {wide}, %r112, 4; add.s64 {sum_}, %d102, {wide};")
        self._add(f"st.global.b32 [{sum_}+{4 * (WORDS - 8192)}], %r112;")

    def _loop(self) -> None:
        self._count += 1
        count, label, predicate = f"%r{self._count}", f"L{self._count}", f"%p{self._count}"
        self._add(f"mov.u32 {count}, 0;\n{label}:")
        before = self._random.random() < 0.3
        for _ in range(self._random.randint(1, 3)):
            self._load("%d100")
        if before:
            self._add(f"add.s32 %r114, %r114, {self._random.randint(1, 2)};")
        most = self._random.choice(("3", "%r101", "%r115" if self._guard == "lanes" else "2"))
        self._add(
            f"add.s32 {count}, {count}, 1; setp.lt.s32 {predicate}, {count}, {most}; @{predicate} bra {label};"
        )

    def _branch(self) -> None:
        """Threads, or all of them, take one of two ways and load on one."""
        self._count += 1
        label, predicate = f"E{self._count}", f"%p{self._count}"
        left = self._random.choice(("%r102", "%r104", "%r113"))
        self._add(
            f"setp.gt.s32 {predicate}, {left}, {self._random.randint(0, 40)}; @{predicate} bra {label};"
        )
        for _ in range(self._random.randint(1, 2)):
            if self._random.random() < 0.3:
                self._add("add.s32 %r114, %r114, 1;")
            self._load("%d100")
        self._add(f"{label}:")

    def _exchange(self) -> None:
        """All threads of the only block write an element each, between barriers."""
        self.exchanges = True
        wide, sum_ = self._new("d"), self._new("d")
        self._add(f"bar.sync 0; mul.wide.u32 {wide}, %r112, 4; add.s64 {sum_}, %d100, {wide};")
        self._add(f"cvt.u32.u64 %r116, %d110; st.global.b32 [{sum_}+{4 * (WORDS // 2)}], %r116; bar.sync 0;")

    def _close(self) -> None:
        self._add("st.global.b64 [%d104], %d110;\nDONE: ret;")


class DrawnRows:
    """PTX of a kernel that adds up rows of words; only ``launches`` are without races.

    Where all offsets are one way, only the first thread reads the end of the array, and may write there.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = 20
        self._width = random.choice((1, 1, 2, 4))
        self._offsets = random.choice(((0, 3), (0, 24), (-3, 3), (-6, 2), (-24, 6), (-3, 28), (-31, 0)))
        self._writes = self._offsets[0] == 0 and random.random() < 0.5
        self.launches = (
            (((32,), (1,)), ((64,), (1,)), ((48,), (1,)))
            if self._writes
            else (((32,), (2,)), ((64, 2), (1,)), ((96,), (2,)), ((48, 2), (1,)), ((8, 8), (1,)))
        )
        self._lines = [
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.y;",
            "mov.u32 %r5, %ntid.y; mad.lo.s32 %r6, %r2, %r5, %r4; mad.lo.s32 %r6, %r6, %r3, %r1;",
            "mad.lo.s32 %r7, %r2, %r3, %r1;",
            "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [out]; ld.param.u32 %r8, [m];",
            f"mul.wide.u32 %d4, %r6, 8; add.s64 %d4, %d3, %d4; mul.wide.s32 %d5, %r7, {4 * self._width};",
            "add.s64 %d6, %d1, %d5; add.s64 %d6, %d6, 65536; add.s64 %d7, %d2, %d5; add.s64 %d7, %d7, 65536;",
            "and.b32 %r9, %r1, 3; mov.b64 %d8, 0;",
        ]
        for _ in range(random.randint(1, 2)):
            self._loop() if random.random() < 0.4 else self._row()
        self._lines.append("st.global.b64 [%d4], %d8; ret;")

    @property
    def text(self) -> str:
        head = (
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
        )
        head += ".param .u64 out, .param .u32 n, .param .u32 m)\n{\n"
        kinds = (("pred", "p"), ("b32", "r"), ("b64", "d"))
        head += "".join(f".reg .{t} %{p}<{self._count + 1}>;\n" for t, p in kinds)
        return head + "\n".join(self._lines) + "\n}\n"

    def _new(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def _loop(self) -> None:
        """Some lanes go round again before the row, so that they come to it in other rounds."""
        random, count, label = self._random, self._new("r"), f"L{self._count}"
        step = 0 if self._writes else random.choice((0, 1, -1, 32)) * 4 * self._width
        grown = f"add.s64 %d6, %d6, {step}; add.s32 {count}, {count}, 1;"
        self._lines.append(f"mov.u32 {count}, 0;\n{label}:")
        if random.random() < 0.4:
            again = self._new("p")
            limit = random.choice(("%r8", "%r9"))
            self._lines.append(f"{grown} setp.lt.s32 {again}, {count}, {limit}; @{again} bra {label};")
        self._row()
        again, limit = self._new("p"), random.choice(("2", "%r8", "%r9"))
        self._lines.append(f"{grown} setp.lt.s32 {again}, {count}, {limit}; @{again} bra {label};")

    def _row(self) -> None:
        random = self._random
        if random.random() < 0.5:
            # A row begins before what may be loaded earlier.
            self._load("%d7", 8192, 1)
        for _ in range(random.randint(2, 8)):
            if self._writes and random.random() < 0.2:
                first = self._new("p")
                self._lines.append(
                    f"setp.eq.u32 {first}, %r6, 0; @{first} st.global.b32 [%d6], %r{random.choice((3, 8))};"
                )
            elif random.random() < 0.1:
                self._lines.append("st.global.b32 [%d4+65536], %r1;")
            width = self._width if random.random() < 0.6 else 1
            base = "%d6" if random.random() < 0.8 else "%d7"
            place = random.randint(*self._offsets) * 4 * self._width + 4 * random.randrange(
                self._width // width
            )
            if random.random() < 0.3:
                self._lines.append(f"add.s64 %d9, {base}, {place};")
                base, place = "%d9", 0
            self._load(base, place, width)

    def _load(self, base: str, place: int, width: int) -> None:
        """Load to a register to which other loads went, often."""
        words = [f"%r{11 + n}" if self._random.random() < 0.3 else self._new("r") for n in range(width)]
        data = words[0] if width == 1 else "{" + ", ".join(words) + "}"
        vector = "" if width == 1 else f".v{width}"
        self._lines.append(f"ld.global{vector}.b32 {data}, [{base}+{place}];")
        for word in words:
            wide = self._new("d")
            self._lines.append(
                f"cvt.u64.u32 {wide}, {word}; mul.lo.s64 %d8, %d8, 31; add.s64 %d8, %d8, {wide};"
            )


def _results(
    text: str, grid: Sequence[int], block: Sequence[int], seed: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """The arrays, and what each warp has read, by byte."""
    draw = np.random.default_rng(seed)
    arrays = [draw.integers(0, 2**32, WORDS, dtype=np.uint32) for _ in range(3)]
    read: list[np.ndarray] = []
    places = Space.places

    def watched(space: Space, addresses: Array, width: int, lanes: Lanes, *, writes: bool) -> Array:
        if space.name == "global" and not writes:
            warps = (lanes.index // WARP).astype(np.uint64) << np.uint64(48)
            read.extend(np.unique((addresses + np.uint64(n)) ^ warps) for n in range(width))
        return places(space, addresses, width, lanes, writes=writes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Space, "places", watched)
        run(parse(SourceFile("k.ptx", text)), "k", grid, block, [*arrays, 40 + seed % 50, 2 + seed % 3])
    return arrays, np.unique(np.concatenate(read)) if read else np.zeros(0, np.uint64)


def _shuffled(text: str, options: str = "") -> tuple[str, int]:
    found, remarks = rewrite(text, f"synthesize-shuffles{{always=true {options}}}", name="k.ptx")
    return found, sum(remark.kind.value == "applied" for remark in remarks)


def _check(
    text: str, options: str, seed: int, launches: Iterable[tuple[Sequence[int], Sequence[int]]]
) -> int:
    """Compare the kernel with and without shuffles in launches; return how many loads are shuffled."""
    shuffled, count = _shuffled(text, options)
    if count == 0:
        assert shuffled == text
        return 0
    for block, grid in launches:
        try:
            before, read_before = _results(text, grid, block, seed)
        except CompileError:
            # An index without a sign that is negative: the kernel itself leaves its arrays.
            continue
        after, read_after = _results(shuffled, grid, block, seed)
        where = f"seed {seed}, block {block}, grid {grid}\n{shuffled}"
        for one, other in zip(before, after, strict=True):
            assert np.array_equal(one, other), where
        assert np.isin(read_after, read_before).all(), where
    return count


def _check_indices(seed: int, shape: str) -> int:
    drawn, random = Drawn(Random(seed)), Random(seed)
    launches = [
        (block, (1,) if drawn.exchanges else (random.choice((1, 2, 3)),))
        for block in random.sample(BLOCKS, 2)
    ]
    return _check(drawn.text, f"shape={shape}", seed, launches)


def _check_rows(seed: int, shape: str) -> int:
    random = Random(seed)
    drawn = DrawnRows(random)
    options = f"shape={shape} assume_noalias={random.choice(('true', 'false'))}"
    return _check(drawn.text, options, seed, random.sample(drawn.launches, 1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first", quick_of(range(0, 80, 10), {0}))
def test_kernels_compute_the_same(first: int, shape: str) -> None:
    assert sum(_check_indices(seed, shape) for seed in range(first, first + 10)) > 3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first", quick_of(range(0, 32, 4), {0}))
def test_kernels_with_rows_of_words_compute_the_same(first: int, shape: str) -> None:
    assert sum(_check_rows(seed, shape) for seed in range(first, first + 4)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("check", [_check_indices, _check_rows])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first", range(1000, 21000, 1000))
def test_many_kernels_compute_the_same(first: int, shape: str, check: Callable[[int, str], int]) -> None:
    assert sum(check(seed, shape) for seed in range(first, first + 1000)) > 500
