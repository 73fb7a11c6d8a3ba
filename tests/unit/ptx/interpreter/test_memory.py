"""Memory: what is out of bounds, misaligned, unwritten; atomics; asynchronous copies; variables; the launch itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.interpreter.variables import Declared, Value, declared
from comprehensive.ptx.module import parse
from tests.examples import examples
from tests.unit.ptx.interpreter.launches import HEAD, fault, launch, module

PLACE = "    mad.lo.u64 %rd1, %wide, 4, %rd16;\n"


def failing(body: str, arrays: list[np.ndarray], **options: object) -> tuple[str, str]:
    with pytest.raises(CompileError) as caught:
        launch(body, arrays, **options)
    assert caught.value.diagnostics[0].span is not None
    return fault(caught.value)


def test_a_read_behind_an_array_names_thread_address_and_array() -> None:
    code, message = failing(f"{PLACE}    ld.global.u32 %r0, [%rd1+8];\n", [np.zeros(32, np.uint32)])
    assert code == "CF1014"
    assert message.startswith("kernel 'k': thread (30, 0, 0) of block (0, 0, 0) reads 4 bytes at 0x7f")
    assert "128 bytes from the beginning of argument 0 'a0' (global, 128 bytes from" in message


@pytest.mark.parametrize("offset", [-4, -(1 << 27), 128, 1 << 27])
def test_no_distance_leads_into_another_array(offset: int) -> None:
    arrays = [np.zeros(32, np.uint32), np.zeros(1 << 12, np.uint32)]
    code, message = failing(f"    ld.global.u8 %r0, [%rd16+{offset}];\n", arrays)
    assert code == "CF1014"
    assert "argument 0" in message


def test_an_access_that_is_only_partly_within_is_out_of_bounds() -> None:
    code, message = failing("    ld.global.u64 %rd1, [%rd16+8];\n", [np.zeros(3, np.uint32)])
    assert code == "CF1014"
    assert "8 bytes from the beginning" in message


@pytest.mark.parametrize(
    ("body", "space"),
    [
        ("st.shared.u32 [word+4], 1;", "shared"),
        ("mov.u32 %r1, word; ld.shared.u32 %r0, [%r1+-4];", "shared"),
        ("ld.const.u32 %r0, [fixed+4];", "const"),
        ("cvta.shared.u64 %rd1, %rd2; ld.u32 %r0, [%rd1];", "shared"),
        ("ld.u32 %r0, [16];", "global"),
    ],
)
def test_other_spaces_are_checked_too(body: str, space: str) -> None:
    before = ".shared .u32 word;\n.const .u32 fixed = 5;\n"
    code, message = failing(f"    mov.u64 %rd2, 64;\n    {body}\n", [np.zeros(1, np.uint32)], before=before)
    assert code == "CF1014"
    assert f"({space}, " in message or f"in {space} memory" in message


def test_what_is_only_read_is_not_written() -> None:
    array = np.zeros(4, np.uint32)
    array.flags.writeable = False
    code, message = failing("    st.global.u32 [%rd16], 1;\n", [array])
    assert code == "CF1014"
    assert "which is only read" in message


def test_an_access_must_be_aligned() -> None:
    code, message = failing("    ld.global.v2.u32 {%r0, %r1}, [%rd16+4];\n", [np.zeros(8, np.uint32)])
    assert code == "CF1015"
    assert "8 bytes" in message


def test_what_nobody_has_written_is_poison() -> None:
    out = np.zeros(4, np.uint32)
    body = """
    .local .u32 mine;
    ld.shared.u32 %r1, [word]; ld.local.u32 %r2, [mine];
    st.global.v4.u32 [%rd16], {%r1, %r2, %r3, %r4};
"""
    launch(body, [out], block=1, before=".shared .u32 word;\n")
    assert out.tolist() == [0xFFFFFFFF] * 4


def test_generic_addresses_lead_to_every_space() -> None:
    out = np.zeros(8, np.uint32)
    body = """
    .local .u32 mine;
    mov.u64 %rd2, word; cvta.shared.u64 %rd2, %rd2;
    mov.u64 %rd3, mine; cvta.local.u64 %rd3, %rd3;
    mov.u64 %rd4, kept; cvta.global.u64 %rd4, %rd4;
    mov.u32 %r5, %thread; setp.eq.u32 %p1, %r5, 0; selp.b64 %rd5, %rd2, %rd3, %p1;
    setp.eq.u32 %p2, %r5, 1; selp.b64 %rd5, %rd4, %rd5, %p2;
    add.u32 %r6, %r5, 50; st.u32 [%rd5], %r6; ld.u32 %r7, [%rd5];
    isspacep.shared %p3, %rd5; selp.u32 %r8, 1000, 0, %p3; add.u32 %r7, %r7, %r8;
    mad.lo.u64 %rd1, %wide, 4, %rd16; st.global.u32 [%rd1], %r7;
"""
    launch(body, [out], block=8, before=".shared .u32 word;\n.global .u32 kept;\n")
    assert out.tolist() == [1050, *range(51, 58)]


OPERATIONS = {
    "add": lambda old, b: (old + b) % (1 << 32),
    "min": min,
    "max": max,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "exch": lambda old, b: b,
    "inc": lambda old, b: 0 if old >= b else old + 1,
    "dec": lambda old, b: b if old == 0 or old > b else old - 1,
}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=examples(12))
@given(data=st.data())
def test_atomics_go_one_after_the_other(name: str, data: st.DataObject) -> None:
    small = st.integers(0, 7) | st.integers(0, 2**32 - 1)
    places = data.draw(st.lists(st.integers(0, 3), min_size=64, max_size=64))
    values = data.draw(st.lists(small, min_size=64, max_size=64))
    if data.draw(st.booleans()):
        values = values[:1] * 64
    memory = data.draw(st.lists(small, min_size=4, max_size=4))
    type_ = "b32" if name in ("and", "or", "xor", "exch") else "u32"
    body = f"""
    mul.lo.u64 %rd0, %wide, 4; add.u64 %rd1, %rd17, %rd0; ld.global.u32 %r1, [%rd1];
    add.u64 %rd1, %rd18, %rd0; ld.global.u32 %r2, [%rd1];
    mad.wide.u32 %rd2, %r1, 4, %rd16; atom.global.{name}.{type_} %r3, [%rd2], %r2;
    add.u64 %rd1, %rd19, %rd0; st.global.u32 [%rd1], %r3;
"""
    cells, old = np.array(memory, np.uint32), np.zeros(64, np.uint32)
    launch(body, [cells, np.array(places, np.uint32), np.array(values, np.uint32), old], block=64)
    wanted = []
    for place, value in zip(places, values, strict=True):
        wanted.append(memory[place])
        memory[place] = OPERATIONS[name](memory[place], value)
    assert old.tolist() == wanted
    assert cells.tolist() == memory


@settings(max_examples=examples(20))
@given(data=st.data())
def test_compare_and_swap_goes_one_after_the_other(data: st.DataObject) -> None:
    few = st.integers(0, 3)
    rows = data.draw(st.lists(st.tuples(st.integers(0, 1), few, few), min_size=40, max_size=40))
    memory = data.draw(st.lists(few, min_size=2, max_size=2))
    body = """
    mad.lo.u64 %rd1, %wide, 12, %rd17; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4];
    ld.global.u32 %r3, [%rd1+8];
    mad.wide.u32 %rd2, %r1, 4, %rd16; atom.global.cas.b32 %r4, [%rd2], %r2, %r3;
    mad.lo.u64 %rd1, %wide, 4, %rd18; st.global.u32 [%rd1], %r4;
"""
    cells, old = np.array(memory, np.uint32), np.zeros(40, np.uint32)
    launch(body, [cells, np.array(rows, np.uint32), old], block=40)
    wanted = []
    for place, expected, value in rows:
        wanted.append(memory[place])
        if memory[place] == expected:
            memory[place] = value
    assert (old.tolist(), cells.tolist()) == (wanted, memory)


def test_sums_of_floats_go_by_lane() -> None:
    total, values = np.array([1e8], np.float32), np.linspace(0.1, 9.9, 32, dtype=np.float32)
    launch(
        "    mad.lo.u64 %rd1, %wide, 4, %rd17; ld.global.f32 %f0, [%rd1]; red.global.add.f32 [%rd16], %f0;\n",
        [total, values],
    )
    expected = np.float32(1e8)
    for value in values:
        expected = np.float32(expected + value)
    assert total[0] == expected != np.float32(1e8)


COPY = """
    mov.u32 %r1, tile; mad.lo.u32 %r1, %thread, 16, %r1; mad.lo.u64 %rd1, %wide, 16, %rd17;
    cp.async.cg.shared.global [%r1], [%rd1], 16{bytes};
    cp.async.commit_group;
    {wait}
    ld.shared.v4.u32 {{%r2, %r3, %r4, %r5}}, [%r1];
    mad.lo.u64 %rd1, %wide, 16, %rd16; st.global.v4.u32 [%rd1], {{%r2, %r3, %r4, %r5}};
"""


@pytest.mark.parametrize(
    ("wait", "is_there"),
    [
        ("cp.async.wait_group 0;", True),
        ("cp.async.wait_all;", True),
        ("cp.async.wait_group 1;", False),
        ("", False),
    ],
)
def test_a_copy_is_there_only_when_it_has_been_waited_for(wait: str, is_there: bool) -> None:
    out, source = np.zeros(128, np.uint32), np.arange(128, dtype=np.uint32)
    launch(COPY.format(wait=wait, bytes=""), [out, source], before=".shared .align 16 .b8 tile[512];\n")
    assert out.tolist() == (source.tolist() if is_there else [0xFFFFFFFF] * 128)


def test_a_copy_of_fewer_bytes_is_filled_with_zeros() -> None:
    out, source = np.zeros(128, np.uint32), np.arange(128, dtype=np.uint32)
    launch(
        COPY.format(wait="cp.async.wait_all;", bytes=", 8"),
        [out, source],
        before=".shared .align 16 .b8 tile[512];\n",
    )
    assert out.reshape(-1, 4).tolist() == [[4 * i, 4 * i + 1, 0, 0] for i in range(32)]


def test_declarations_are_read() -> None:
    assert declared(".global", ".align 8 .u64 table[2] = {generic(x)+4, 7}") == (
        Declared("table", "global", "u64", 16, 8, (Value("x", 4, "", True), Value(None, 0, "7"))),
    )
    assert declared(".shared", ".v4 .f32 a, b[2][3]") == (
        Declared("a", "shared", "f32", 16, 16),
        Declared("b", "shared", "f32", 96, 16),
    )


def test_a_part_of_an_address_and_an_expression_begin_a_variable() -> None:
    before = """
.global .u32 word = 5;
.global .align 8 .b8 parts[8] = {0xFF(word), 0xFF00(word), 0xFF0000(word), 0xFF000000(word),
    0xFF00000000(word), 0xFF0000000000(word), 0xFF000000000000(word), 0};
.global .s32 number = (3 + 4) * 5 - -7 / 2;
"""
    body = """
    ld.global.u64 %rd1, [parts]; ld.global.u32 %r0, [%rd1]; ld.global.u32 %r1, [number];
    st.global.v2.u32 [%rd16], {%r0, %r1};
"""
    out = np.zeros(2, np.uint32)
    launch(body, [out], block=1, before=before)
    assert out.tolist() == [5, 38]


def test_variables_begin_as_they_are_initialised() -> None:
    before = """
.const .align 4 .f32 numbers[3] = {0f3F800000, 2.5, -1};
.global .align 8 .u64 pointers[2] = {generic(second)+4, first};
.global .u32 first[2] = {7, 8};
.global .u32 second[3] = {1, 2};
"""
    body = """
    ld.const.f32 %f0, [numbers+4]; cvt.rzi.u32.f32 %r0, %f0;
    ld.global.u64 %rd1, [pointers]; ld.u32 %r1, [%rd1];
    ld.global.u64 %rd1, [pointers+8]; ld.global.u32 %r2, [%rd1+4]; ld.global.u32 %r3, [second+8];
    st.global.v4.u32 [%rd16], {%r0, %r1, %r2, %r3};
"""
    out = np.zeros(4, np.uint32)
    launch(body, [out], block=1, before=before)
    assert out.tolist() == [2, 2, 8, 0]


def test_arguments_of_all_kinds() -> None:
    text = f"""{HEAD}.entry k(.param .u64 out, .param .f64 d, .param .b8 small, .param .align 4 .b8 both[8])
{{ .reg .b64 %rd<4>; .reg .f64 %fd<2>; .reg .b32 %r<4>;
   ld.param.u64 %rd0, [out]; ld.param.f64 %fd0, [d]; st.global.f64 [%rd0], %fd0;
   ld.param.s8 %r0, [small]; cvt.s64.s32 %rd1, %r0; st.global.u64 [%rd0+8], %rd1;
   ld.param.u32 %r1, [both]; ld.param.u32 %r2, [both+4]; st.global.v2.u32 [%rd0+16], {{%r1, %r2}}; ret; }}"""
    out = np.zeros(3, np.int64)
    run(parse(SourceFile("a.ptx", text)), "k", 1, 1, [out, 2.5, -3, b"\1\0\0\0\2\0\0\0"])
    assert out.view(np.float64)[0] == 2.5
    assert out[1:].tolist() == [-3, 2 << 32 | 1]


@pytest.mark.parametrize(
    ("arguments", "grid", "block", "message"),
    [
        ([], 1, 1, "the number of arguments, 0, is not that of the parameters of kernel 'k', 1"),
        ([2.5], 1, 1, "does not fit parameter 'a0'"),
        ([1], (1, 0), 1, "the grid is (1, 0)"),
        ([1], 1, (64, 32), "has 2048 threads"),
    ],
)
def test_a_launch_must_fit_the_kernel(
    arguments: list[object], grid: object, block: object, message: str
) -> None:
    with pytest.raises(CompileError) as caught:
        run(module("ret;", ["u32"]), "k", grid, block, arguments)  # type: ignore[arg-type]
    code, text = fault(caught.value)
    assert code == "CF1017"
    assert message in text


def test_a_kernel_must_be_there() -> None:
    with pytest.raises(CompileError, match="CF1017"):
        run(module("ret;"), "other", 1, 1, [])


def test_a_trap_names_its_thread() -> None:
    code, message = failing("    setp.eq.u32 %p1, %thread, 9; @%p1 trap;\n", [])
    assert (code, message) == ("CF1016", "kernel 'k': thread (9, 0, 0) of block (0, 0, 0) executes 'trap'")


def test_an_unknown_instruction_is_named() -> None:
    with pytest.raises(CompileError) as caught:
        launch("    wgmma.fence.sync.aligned;\n", [])
    code, message = fault(caught.value)
    assert code == "CF1011"
    assert "'wgmma.fence.sync.aligned'" in message
    assert caught.value.diagnostics[0].span is not None


EXTERNAL = """
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.global .align 1 .b8 text[20] = {37, 100, 32, 37, 46, 50, 102, 33, 0};
"""


def test_printing_and_the_heap() -> None:
    body = """
    .local .align 8 .b8 arguments[16];
    st.local.u32 [arguments], %thread; st.local.f64 [arguments+8], 0d3FF8000000000000;
    mov.u64 %rd2, text; cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, arguments; cvta.local.u64 %rd3, %rd3;
    { .param .b64 p0; .param .b64 p1; .param .b32 r;
      st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd3; call (r), vprintf, (p0, p1); }
    { .param .b64 p; .param .b64 r; st.param.b64 [p], 12; call (r), malloc, (p); ld.param.b64 %rd4, [r]; }
    st.u32 [%rd4], %thread; ld.u32 %r1, [%rd4+4]; ld.u32 %r0, [%rd4];
    mad.lo.u64 %rd1, %wide, 4, %rd16; st.global.u32 [%rd1], %r0;
    { .param .b64 p; st.param.b64 [p], %rd4; call free, (p); }
"""
    out = np.zeros(3, np.uint32)
    report = launch(body, [out], block=3, before=EXTERNAL)
    assert report.printed == ("0 1.50!", "1 1.50!", "2 1.50!")
    assert out.tolist() == [0, 1, 2]
    after = body + "    ld.u32 %r1, [%rd4];\n"
    assert failing(after, [out], block=3, before=EXTERNAL)[0] == "CF1014"
