"""Random kernels in which addresses hide: tagged, cut to pieces, packed, in memory, as distances, in doubles.

In: a source of random numbers.  Out: the text of a module with several kernels, and what a kernel computes::

    text = hidden_pointers(Random(1), kernels=4)
    results(parse(SourceFile("a.ptx", text)), "k0")            # the contents of all arrays
    results(parse(SourceFile("a.ptx", text)), "k0", drawn=7)   # the same in a drawn order, with late writes

Every pointer (``%q0`` and on) always leads to 128 bytes of the thread's own, in global, shared or local memory, at a
multiple of 8 below 64; no thread reads what another one writes but behind a barrier.  So every order gives the same,
and a generic access may be any of them.  What nobody writes is written by the grid before: a thread reads poison there
until it has executed ``griddepcontrol.wait``.
"""

from __future__ import annotations

from random import Random

import numpy as np

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import Module
from tests.ptx.nested import nested

THREADS = 40
"""One warp, and a part of one."""
POINTERS = 6
_SLOTS = 6
_REGION = 128
_ROW = 256

_MODULE = f""".version 8.1
.target sm_90
.address_size 64
.global .align 128 .b8 spare[{THREADS * _REGION}];
.const .align 16 .b32 fixed[{THREADS + 8}] = {{{", ".join(str(3 * i + 1) for i in range(THREADS + 8))}}};
.func (.param .b64 out) same(.param .b64 in)
{{
.reg .b64 %t;
ld.param.b64 %t, [in];
st.param.b64 [out], %t;
ret;
}}
"""
_HEAD = f"""(.param .u64 .ptr .global .align 256 g, .param .u64 a, .param .u64 .ptr .global .align 16 c,
 .param .u64 o, .param .u32 n)
{{
.shared .align 128 .b8 tile[{THREADS * _REGION}];
.shared .align 16 .b32 swap[{THREADS + 8}];
.local .align 128 .b8 own[{_REGION}];
.reg .pred %p<6>;
.reg .b16 %h<3>;
.reg .b32 %r<16>;
.reg .u32 %u<3>;
.reg .s32 %s<3>;
.reg .f32 %f<3>;
.reg .f64 %d<4>;
.reg .b64 %x<6>;
.reg .b64 %w<3>;
.reg .b64 %q<{POINTERS}>;
.reg .b64 %b<12>;
ld.param.u64 %b0, [g];
ld.param.u64 %b1, [a];
ld.param.u64 %b2, [c];
ld.param.u64 %b3, [o];
ld.param.u32 %r7, [n];
mov.u32 %r8, %tid.x;
mul.wide.u32 %x0, %r8, {_ROW};
add.s64 %b0, %b0, %x0;
mad.wide.u32 %b1, %r8, {_REGION}, %b1;
mad.wide.u32 %b2, %r8, 4, %b2;
mad.wide.u32 %b3, %r8, {_ROW}, %b3;
mul.wide.u32 %x0, %r8, {_REGION};
mov.u64 %b4, tile;
add.s64 %b4, %b4, %x0;
cvta.shared.u64 %b5, %b4;
mov.u64 %b6, own;
cvta.local.u64 %b7, %b6;
mov.u64 %b8, spare;
cvta.global.u64 %b8, %b8;
add.s64 %b8, %b8, %x0;
mov.u64 %b9, swap;
mad.wide.u32 %b9, %r8, 4, %b9;
mov.u64 %b10, fixed;
mad.wide.u32 %b10, %r8, 4, %b10;
cvta.const.u64 %b11, %b10;
"""
_BASES = ("%b0", "%b1", "%b5", "%b7", "%b8")
"""Generic addresses of the thread's own bytes."""


def hidden_pointers(draw: Random, kernels: int = 4) -> str:
    return _MODULE + "".join(_kernel(draw, f"k{number}") for number in range(kernels))


def _kernel(draw: Random, name: str) -> str:
    lines = [f"add.u32 %r{i}, %r{draw.choice((7, 8))}, {i};" for i in range(6)]
    lines += [f"mov.b32 %{kind}{i}, %r{i + 1};" for kind in "usf" for i in range(2)]
    lines += ["mov.b16 %h0, 1;", "mov.b16 %h1, 2;", "mov.b64 %w0, 5;", "mov.b64 %w1, %w0;"]
    lines += [_placed(draw, f"%q{i}") for i in range(POINTERS)]
    lines += [f"st.global.u64 [%b0+{_slot(i)}], %q{draw.randrange(POINTERS)};" for i in range(_SLOTS)]
    lines += ["setp.gt.u32 %p1, %r8, 7;", "setp.gt.u32 %p2, %r7, 2;", "setp.lt.u32 %p3, %r8, 20;"]
    labels = [0]
    for _ in range(draw.randrange(1, 4)):
        lines += nested(draw, 3, labels, _statement)
        lines.append(_exchange(draw))
    lines += [f"st.global.b32 [%b3+{4 * i}], %{r};" for i, r in enumerate(_WORDS)]
    lines += [f"st.global.b16 [%b3+{64 + 2 * i}], %h{i};" for i in range(2)]
    lines += [f"st.global.b64 [%b3+{72 + 8 * i}], %w{i};" for i in range(2)]
    # What local and shared memory hold in the end shows, too.
    for i, base in enumerate(("%b5", "%b7", "%b8")):
        lines += [
            f"ld.u32 %r{i}, [{base}+{4 * draw.randrange(32)}];",
            f"st.global.u32 [%b3+{96 + 4 * i}], %r{i};",
        ]
    return f".visible .entry {name}{_HEAD}" + "\n".join(lines) + "\nret;\n}\n"


_WORDS = (*(f"r{i}" for i in range(6)), *(f"{kind}{i}" for kind in "usf" for i in range(2)))


def _slot(number: int) -> int:
    return 128 + 8 * number


def _placed(draw: Random, to: str) -> str:
    """A pointer to somewhere in the thread's own bytes."""
    base = draw.choice(_BASES)
    offset = 8 * draw.randrange(8)
    return draw.choice((f"add.s64 {to}, {base}, {offset};", f"mov.u64 {to}, {base};"))


def _statement(draw: Random) -> str:
    kinds = (_access, _hidden, _mistaken, _row, _constant, _merged, _computed, _ordered)
    (kind,) = draw.choices(kinds, (28, 12, 18, 8, 10, 8, 8, 6))
    return kind(draw)


def _ordered(draw: Random) -> str:
    return draw.choice(_ORDERS)


_ORDERS = (
    "griddepcontrol.wait;",
    "griddepcontrol.launch_dependents;",
    "membar.cta;",
    "fence.acq_rel.gpu;",
    "nanosleep.u32 1;",
)


def _guard(draw: Random) -> str:
    return draw.choice(("", "", "", "@%p1 ", "@!%p2 ", "@%p3 "))


def _pointer(draw: Random) -> str:
    return f"%q{draw.randrange(POINTERS)}"


_TYPES = {
    "u32": (*(f"%r{i}" for i in range(6)), "%u0", "%u1", "%s0"),
    "s32": ("%r0", "%s0", "%s1", "%u1"),
    "b32": ("%r1", "%u0", "%s1", "%f0", "%f1"),
    "f32": ("%f0", "%f1", "%r2"),
    "u16": ("%h0", "%r3", "%r4"),
    "b16": ("%h0", "%h1"),
    "u8": ("%r0", "%h1", "%s0"),
    "s8": ("%s1", "%h0"),
    "u64": ("%w0", "%w1"),
    "b64": ("%w0", "%w1"),
}
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}
_LOADS = (
    "",
    "",
    "",
    "",
    ".volatile",
    ".relaxed.gpu",
    ".acquire.cta",
    ".L1::no_allocate",
    ".L2::128B",
    ".cg",
    ".cv",
    ".weak",
)
_STORES = ("", "", "", "", ".volatile", ".relaxed.cta", ".release.gpu", ".L1::evict_first", ".cs", ".weak")  # fmt: skip


def _access(draw: Random) -> str:
    """Return an access of the thread's own bytes: by a pointer of which nobody knows, or in a named memory."""
    type_ = draw.choice(("u32", "u32", "u32", "b32", "f32", *_TYPES))
    register = draw.choice(_TYPES[type_])
    size = _BYTES[type_[1:]]
    space, base = draw.choice(
        (
            *[("", _pointer(draw))] * 5,
            (".shared", "%b4"),
            (".global", "%b0"),
            (".local", "own"),
            ("", "%b5"),
            ("", "%b7"),
        )
    )
    address = f"[{base}+{size * draw.randrange(48 // size)}]"
    is_load = draw.random() < 0.6
    word = draw.choice(_LOADS if is_load else _STORES) if not space else ""
    guard = _guard(draw)
    if is_load:
        return f"{guard}ld{space}{word}.{type_} {register}, {address};"
    return f"{guard}st{space}{word}.{type_} {address}, {register};"


def _constant(draw: Random) -> str:
    """Return a load of what nobody writes, also of what the next lane reads."""
    register = f"%r{draw.randrange(6)}"
    space, base = draw.choice(
        (
            (".global.nc", "%b2"),
            (".global.nc", "%b2"),
            (".global", "%b2"),
            ("", "%b2"),
            (".const", "%b10"),
            ("", "%b11"),
        )
    )
    return f"{_guard(draw)}ld{space}.u32 {register}, [{base}+{4 * draw.randrange(4)}];"


def _computed(draw: Random) -> str:
    def r() -> str:
        return f"%r{draw.randrange(6)}"

    return draw.choice(
        (
            f"rem.u32 {r()}, %r{draw.choice((0, 1, 7))}, 7;",
            f"div.u32 {r()}, %r{draw.choice((0, 1, 7))}, 5;",
            f"mad.lo.u32 {r()}, {r()}, %r7, 3;",
            f"xor.b32 {r()}, {r()}, %r8;",
            f"setp.lt.u32 %p3, {r()}, {draw.randrange(60)};",
            f"mov.b32 %{draw.choice('usf')}{draw.randrange(2)}, {r()};",
        )
    )


def _merged(draw: Random) -> str:
    """One of several pointers."""
    to, one, other = _pointer(draw), _pointer(draw), _pointer(draw)
    return draw.choice(
        (
            f"selp.b64 {to}, {one}, {other}, %p{draw.randrange(1, 4)};",
            f"selp.f64 {to}, {one}, {other}, %p{draw.randrange(1, 4)};",
            f"slct.b64.s32 {to}, {one}, {other}, %r{draw.randrange(6)};",
            f"{draw.choice(('min', 'max'))}.u64 {to}, {one}, {other};",
            f"{_guard(draw)}mov.u64 {to}, {one};",
            _guard(draw) + _placed(draw, to),
            # With bits of a predicate in the place of a choice.
            f"selp.b64 %x0, -1, 0, %p1;\nand.b64 %x1, {one}, %x0;\nnot.b64 %x0, %x0;\nand.b64 %x2, {other}, %x0;\n"
            f"or.b64 {to}, %x1, %x2;",
            # Null, until it is no longer.
            f"selp.b64 %x0, {one}, 0, %p3;\nselp.b64 {to}, %x0, {other}, %p3;",
            f"mov.u64 %x0, 0;\n@%p3 mov.u64 %x0, {one};\n@!%p3 mov.u64 %x0, {other};\nmov.u64 {to}, %x0;",
            f"xor.b64 {one}, {one}, {other};\nxor.b64 {other}, {other}, {one};\nxor.b64 {one}, {one}, {other};"
            if one != other
            else f"and.b64 {to}, {one}, -{_REGION};",
        )
    )


def _row(draw: Random) -> str:
    """Neighbours, at multiples of their size, to and from registers of several kinds."""
    type_ = draw.choice(tuple(_TYPES))
    size = _BYTES[type_[1:]]
    space, base = draw.choice(
        ((".global", "%b0"), (".shared", "%b4"), (".local", "own"), ("", "%b5"), ("", "%b7"))
    )
    is_load = draw.random() < 0.6
    registers = [draw.choice(_TYPES[type_]) for _ in range(4)]
    lines: list[str] = []
    for place, register in enumerate(registers):
        address = f"[{base}+{size * (4 + place)}]"
        operands = f"{register}, {address}" if is_load else f"{address}, {register}"
        lines.append(f"{'ld' if is_load else 'st'}{space}.{type_} {operands};")
    return "\n".join(lines)


def _mistaken(draw: Random) -> str:
    """A pointer of which all is known, put away, where it meets one into another memory; and what is written there
    while it is read."""
    base, other = draw.sample(_BASES, 2)
    offset = 8 * draw.randrange(4)
    placed = f"add.s64 %x4, {base}, {offset};\nadd.s64 %x5, {other}, {offset};"
    way = _put_away(draw, "%x4", "%x3", "%x5")
    to = _pointer(draw)
    guard = draw.choice(("%p1", "%p2", "%p3"))
    met = draw.choice(
        (
            f"selp.b64 {to}, %x3, %x5, {guard};",
            f"selp.b64 {to}, %x5, %x3, {guard};",
            f"mov.u64 {to}, %x5;\n@{guard} mov.u64 {to}, %x3;",
            f"mov.u64 {to}, %x3;\n@!{guard} mov.u64 {to}, %x5;",
            f"max.u64 {to}, %x3, %x5;",
            f"mov.u64 {to}, %x3;",
        )
    )
    first, second, value = (f"%r{draw.randrange(6)}" for _ in range(3))
    place = 4 * draw.randrange(2)
    written = draw.choice(
        (f"st.u32 [{base}+{offset + place}], {value};", f"st.u32 [{other}+{offset + place}], {value};", "")
    )
    lines = (f"ld.u32 {first}, [{to}+{place}];", written, f"ld.u32 {second}, [{to}+{place}];")
    return "\n".join((placed, way, met, *filter(None, lines)))


def _hidden(draw: Random) -> str:
    return _put_away(draw, *(_pointer(draw) for _ in range(3)))


def _put_away(draw: Random, of: str, to: str, other: str) -> str:
    """A pointer that is put away, and comes back."""
    put, backs = draw.choice(_WAYS)
    values = {
        "of": of,
        "to": to,
        "other": other,
        "slot": f"[%b0+{_slot(draw.randrange(_SLOTS))}]",
        "distances": f"[%b0+{_slot(_SLOTS)}]",
        "halves": f"[%b0+{_slot(_SLOTS + 1)}]",
        "second": f"[%b0+{_slot(_SLOTS + 1) + 4}]",
        "low": draw.randrange(1, 8),
        "high": draw.randrange(1, 1 << 16),
        "far": 0x5A5A << 40,
    }
    between = [draw.choice((_access, _constant))(draw)] if draw.random() < 0.3 else []
    return "\n".join((put.format_map(values), *between, draw.choice(backs).format_map(values)))


_JOINED = (
    "mov.b64 {to}, {{%r10, %r11}};",
    "cvt.u64.u32 %x1, %r11;\nshl.b64 %x1, %x1, 32;\ncvt.u64.u32 %x2, %r10;\nor.b64 {to}, %x1, %x2;",
    "cvt.u64.u32 %x1, %r10;\nmul.wide.u32 %x2, %r11, 65536;\nshl.b64 %x2, %x2, 16;\nadd.s64 {to}, %x2, %x1;",
    "cvt.u64.u32 %x1, %r11;\ncvt.u64.u32 %x2, %r10;\nbfi.b64 {to}, %x1, %x2, 32, 32;",
)
_WAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # A tag in the low bits, or in the high ones.
    (
        "or.b64 %x0, {of}, {low};",
        (
            "and.b64 {to}, %x0, -8;",
            "sub.s64 {to}, %x0, {low};",
            "shr.u64 %x1, %x0, 3;\nshl.b64 {to}, %x1, 3;",
        ),
    ),
    (
        "mov.u64 %x1, {high};\nshl.b64 %x1, %x1, 48;\nor.b64 %x0, {of}, %x1;",
        (
            "and.b64 {to}, %x0, 281474976710655;",
            "bfe.u64 {to}, %x0, 0, 48;",
            "shl.b64 %x2, %x0, 16;\nshr.u64 {to}, %x2, 16;",
            "xor.b64 {to}, %x0, %x1;",
        ),
    ),
    (
        "shl.b64 %x0, {of}, 16;\nor.b64 %x0, %x0, {high};",
        ("shr.u64 {to}, %x0, 16;", "shr.s64 {to}, %x0, 16;"),
    ),
    # Halves.
    ("mov.b64 {{%r10, %r11}}, {of};", _JOINED),
    ("cvt.u32.u64 %r10, {of};\nshr.u64 %x0, {of}, 32;\ncvt.u32.u64 %r11, %x0;", _JOINED),
    ("st.u64 {halves}, {of};\nld.v2.u32 {{%r10, %r11}}, {halves};", _JOINED),
    ("st.global.u64 {halves}, {of};\nld.u32 %r10, {halves};\nld.volatile.u32 %r11, {second};", _JOINED),
    (
        "mov.b64 {{%r10, %r11}}, {of};\nactivemask.b32 %r12;\nmov.u32 %r13, %laneid;\n"
        "shfl.sync.idx.b32 %r10, %r10, %r13, 31, %r12;\nprmt.b32 %r11, %r11, 0, 0x3210;",
        _JOINED,
    ),
    # A double.
    ("mov.b64 %d0, {of};\nmov.f64 %d1, %d0;", ("mov.b64 {to}, %d1;",)),
    ("mov.b64 %d0, {of};\nst.f64 {slot}, %d0;\nld.f64 %d1, {slot};", ("mov.b64 {to}, %d1;",)),
    # Memory.
    (
        "st.u64 {slot}, {of};",
        ("ld.u64 {to}, {slot};", "ld.volatile.b64 {to}, {slot};", "ld.global.s64 {to}, {slot};"),
    ),
    ("atom.exch.b64 %x0, {slot}, {of};", ("atom.exch.b64 {to}, {slot}, %x0;", "mov.u64 {to}, %x0;")),
    ("ld.global.u64 %x0, {slot};", ("mov.u64 {to}, %x0;",)),
    # A distance, perhaps to another memory.
    (
        "sub.s64 %x0, {of}, {other};",
        (
            "add.s64 {to}, {other}, %x0;",
            "mad.lo.s64 {to}, %x0, 1, {other};",
            "shr.s64 %x1, %x0, 3;\nshl.b64 %x1, %x1, 3;\nadd.s64 {to}, {other}, %x1;",
            "shr.s64 %x1, %x0, 3;\nmad.lo.s64 {to}, %x1, 8, {other};",
        ),
    ),
    (
        "sub.s64 %x0, {of}, %b5;\nst.u64 {distances}, %x0;\nld.u64 %x1, {distances};",
        ("add.s64 {to}, %x1, %b5;", "add.s64 {to}, %b5, %x1;"),
    ),
    # Sums and products that cancel.
    ("mul.lo.s64 %x0, {of}, 3;", ("div.u64 {to}, %x0, 3;",)),
    ("neg.s64 %x0, {of};", ("neg.s64 {to}, %x0;", "mov.u64 %x1, 0;\nsub.s64 {to}, %x1, %x0;")),
    ("not.b64 %x0, {of};", ("not.b64 {to}, %x0;", "xor.b64 {to}, %x0, -1;")),
    (
        "add.s64 %x0, {of}, {far};",
        ("sub.s64 {to}, %x0, {far};", "mov.u64 %x1, {far};\nsub.s64 {to}, %x0, %x1;"),
    ),
    # A function that is called.
    (
        "{{\n.param .b64 a0;\n.param .b64 r0;\nst.param.b64 [a0], {of};\ncall.uni (r0), same, (a0);\n"
        "ld.param.b64 %x0, [r0];\n}}",
        ("mov.u64 {to}, %x0;",),
    ),
    # Within its bytes.
    ("add.s64 %x0, {of}, 24;", ("and.b64 {to}, %x0, -128;", "sub.s64 {to}, %x0, 24;")),
    ("and.b64 %x0, {of}, -128;", ("xor.b64 {to}, %x0, 8;", "or.b64 {to}, %x0, 32;", "mov.u64 {to}, %x0;")),
)
"""The ways to put a pointer away, and to get it back."""


def _exchange(draw: Random) -> str:
    """Threads read what others have written before a barrier; all of them are there."""
    lines = ["bar.sync 0;", f"st.shared.u32 [%b9], %r{draw.randrange(6)};", "bar.sync 0;"]
    lines += [f"ld.shared.u32 %r{draw.randrange(6)}, [%b9+{4 * draw.randrange(5)}];" for _ in range(3)]
    return "\n".join((*lines, "bar.sync 0;"))


def arguments() -> list[np.ndarray | int]:
    """The arrays and the number that kernels are given."""
    sizes = (THREADS * _ROW, THREADS * _REGION, 4 * (THREADS + 8), THREADS * _ROW)
    arrays = [np.arange(size // 4, dtype=np.uint32) * (7 + i) for i, size in enumerate(sizes)]
    return [*arrays, 3]


def results(module: Module, kernel: str, drawn: int | None = None) -> bytes | str:
    """The contents of all arrays behind a kernel; what went wrong where it did not come to its end."""
    given = arguments()
    try:
        run(module, kernel, 1, THREADS, given, max_turns=100_000, drawn=drawn, from_before=(2,))
    except CompileError as error:
        return error.diagnostics[0].message
    return b"".join(each.tobytes() for each in given if isinstance(each, np.ndarray))
