"""Files that are broken, strange, or newer than the tool: a diagnostic with a caret, or the same bytes and a remark."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile, render
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.registry import PASSES
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import rewrite
from comprehensive.ptx.printer import print_module
from tests.ptx.test_opt_fuzz import examined

ALL = ",".join(PASSES)
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ENTRY = ".visible .entry f(.param .u64 out)\n{\n"
BODY = """\
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 7;
	st.global.u32 [%rd1], %r1;
"""
END = "\tret;\n}\n"
PTX = HEAD + ENTRY + BODY + END


def within(statements: str) -> str:
    """A kernel in which `dce` finds something, with more statements at the end."""
    return HEAD + ENTRY + BODY + statements + END


def stays(text: str, why: str) -> None:
    """The bytes of the text, and a remark with its reason for each pass."""
    again, remarks = rewrite(text, ALL, name="bad.ptx")
    assert again == text
    for name in PASSES:
        (remark,) = [r for r in remarks if r.pass_name == name]
        assert remark.kind is Kind.MISSED
        if name != "lower-version":
            assert why in remark.text
            assert remark.span is not None


def refused(text: str, code: str, line: int) -> str:
    """What the diagnostic shows, with a caret below the line."""
    with pytest.raises(CompileError) as raised:
        rewrite(text, ALL, name="bad.ptx")
    (diagnostic,) = raised.value.diagnostics
    shown = render(diagnostic)
    assert shown.startswith(f"bad.ptx:{line}:")
    assert f"[{code}]" in shown
    assert "^" in shown
    assert len(shown) < 2000
    return shown


def test_the_kernel_here_is_one_that_passes_change() -> None:
    assert "mov.u32 %r2, 7;" not in rewrite(PTX, "dce", name="good.ptx")[0]


def test_a_newer_version_stays() -> None:
    for version in ("9.1", "10.0", "99.99"):
        stays(PTX.replace("8.0", version), f".version {version} is newer than 9.0, the newest that is known")


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ("\tL: L: bra L;\n", "label 'L' is there twice"),
        ("\tbra M;\n", "there is no label 'M'"),
        ("\tmov.u32 %r9, 1;\n", "register '%r9' is not declared"),
        ("\t@%p7 mov.u32 %r1, 1;\n", "register '%p7' is not declared"),
        ("\tmov.u32 x, 1;\n", "'x' is not declared"),
        ("\tadd.s32 %r3, %r1, x;\n", "'x' is not declared"),
        ("\tmov.b32 v.x, %r1;\n", "'v.x' is not declared"),
        ("\tld.global.u32 %r3, [x+4];\n", "'x' is not declared"),
        ("\tcall f_of_another_file, (%r1);\n", "'f_of_another_file' is not declared"),
        ("\t.frobnicate 3;\n", "'.frobnicate' is not known"),
        ("\t.frobnicate.b32 %r1, %r2;\n", "'.frobnicate' is not known"),
        ("\tfrobnicate.b32 %r1, %r2;\n", "'frobnicate.b32' is not known"),
        ("\tadd.s32 %r1, %r2;\n", "'add.s32' has not so many operands"),
        ("\tcall;\n", "'call' has not so many operands"),
        ("\tret; ?;\n", "this statement of PTX is not understood"),
    ],
)
def test_a_function_with_something_strange_stays(statements: str, why: str) -> None:
    stays(within(statements), why)


def test_a_brace_too_many_is_told_where_ptx_ends() -> None:
    assert "this is not understood as PTX" in refused(within("}\n"), "CF1002", 14)


def test_names_of_the_module_and_of_scopes_are_declared() -> None:
    module = ".global .u32 g, h;\n.extern .func e (.param .b32 p);\n.alias a, e;\n"
    statements = (
        "\tmov.u64 %rd2, h;\n\tcall e, (%r1);\n\tcall a, (%r1);\n{ .local .b32 l; st.local.u32 [l], %r1; }\n"
    )
    text = within(statements).replace(ENTRY, module + ENTRY)
    after, remarks = rewrite(text, "dce", name="good.ptx")
    assert "mov.u32 %r2, 7;" not in after
    assert all(remark.kind is Kind.APPLIED for remark in remarks)


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ("\tmov.u32 %r3, %r1\n\tmov.u32 %r4, %r3;\n", "an operand goes on where it should end"),
        ("\tbra L\n\tret;\nL:\n", "an operand goes on where it should end"),
        ("\tmov.u32 %r3, 5\n\t@%p1 bra L;\nL:\n", "an operand goes on where it should end"),
        (
            "\tst.global.u32 [%rd1], [%rd1]\n\tst.global.u32 [%rd1], 1;\n",
            "an operand goes on where it should end",
        ),
        ("\t.reg .b32 %x\n\tst.global.u32 [%rd1], %r2;\n", "this declaration is not understood"),
        ("\t.reg .b32 %x, %y<3>z;\n", "this declaration is not understood"),
        ("\t.shared .b32 x[4]\n\tst.global.u32 [%rd1], %r2;\n", "this declaration is not understood"),
        ("\t.loc 1 5\n\tst.global.u32 [%rd1], %r2;\n", "this statement of PTX is not understood"),
        ("\t.file 1\n\tst.global.u32 [%rd1], %r2;\n", "this statement of PTX is not understood"),
    ],
)
def test_a_semicolon_that_is_missing_hides_no_statement(statements: str, why: str) -> None:
    stays(within(statements), why)


@pytest.mark.parametrize(
    "text",
    [
        PTX.replace(ENTRY, ".frobnicate 1, 2;\n" + ENTRY),
        PTX.replace(ENTRY, ".frobnicate f;\n" + ENTRY),
        PTX.replace(")\n{", ")\n.frobnicate 3\n{"),
        PTX.replace(".u64 out", ".u64 .frobnicate out"),
    ],
)
def test_what_an_unknown_directive_speaks_of_stays(text: str) -> None:
    stays(text, "'.frobnicate' is not known")


def test_of_two_functions_with_one_name_both_stay() -> None:
    stays(PTX + ENTRY + BODY + "\ttrap;\n" + END, "'f' is there twice")


@pytest.mark.parametrize("seed", range(8))
def test_binary_garbage_is_no_ptx(seed: int) -> None:
    garbage = random.Random(seed).randbytes(1 << 14).decode("utf-8", "surrogateescape")
    refused(garbage, "CF1002", 1)
    text = HEAD + ENTRY + BODY + garbage
    with pytest.raises(CompileError) as raised:
        rewrite(text, ALL, name="bad.ptx")
    assert "^" in render(raised.value.diagnostics[0])


@pytest.mark.parametrize(
    "text",
    [
        "\x7fELF\x02\x01\x01" + "\0" * 57,
        "\0" * 1000,
        "\xff\xfe.\0v\0",
        "\ufeff" + PTX,
        "\x1f\x8b\x08",
    ],
)
def test_files_of_other_kinds_are_no_ptx(text: str) -> None:
    refused(text, "CF1002", 1)


def test_an_empty_file_is_no_ptx() -> None:
    for text in ("", "\n", "// nothing\n", "/* nothing */"):
        with pytest.raises(CompileError) as raised:
            rewrite(text, ALL, name="bad.ptx")
        assert "CF1003" in render(raised.value.diagnostics[0])


def test_a_file_that_ends_anywhere_gets_an_answer() -> None:
    ends = [match.end() for match in re.finditer(r'[.%$\w]+|\s+|"[^"]*"|.', PTX, re.DOTALL)]
    for end in ends:
        module = examined(PTX[:end])
        if module is None:
            with pytest.raises(CompileError):
                rewrite(PTX[:end], ALL, name="bad.ptx")
        else:
            # Only where nothing is missing, or a head is all there is.
            assert PTX[end:].strip() == "" or end <= len(HEAD)


MEGABYTE = 1 << 20
LONG = {
    "comment": within("// " + "x" * MEGABYTE + "\n"),
    "many instructions": within("add.u32 %r1, %r1, %r1; " * (MEGABYTE // 50)),
    "a name": within("mov.u32 %" + "x" * MEGABYTE + ", 1;"),
    "a number": within("mov.u32 %r1, " + "9" * MEGABYTE + ";"),
    "an octal number": within("mov.u32 %r1, " + "0" * MEGABYTE + ";"),
    "a float": within("mov.f32 %r1, 1." + "9" * MEGABYTE + ";"),
    "an offset": within("st.global.u32 [%rd1+" + "9" * MEGABYTE + "], 1;"),
    "registers": within(".reg .b32 %q<" + "9" * MEGABYTE + ">;"),
    "a register": within("mov.u32 %r" + "1" * MEGABYTE + ", 1;"),
    "an opcode": within("add" + ".s32" * (MEGABYTE // 4) + " %r1, %r1, 1;"),
    "operands": within("add.s32 %r1" + ", %r1" * (MEGABYTE // 5) + ";"),
    "an operand": within("add.s32 %r1, 1" + "+1" * (MEGABYTE // 2) + ", 1;"),
    "white space": within(" " * MEGABYTE),
    "a string": within('.pragma "' + "x" * MEGABYTE + '";'),
    "what is no PTX": within("? " * (MEGABYTE // 2)),
    "a table": PTX.replace(ENTRY, ".global .u8 t[] = {" + "1," * (MEGABYTE // 2) + "1};" + ENTRY),
    "alignment": PTX.replace(".u64 out", ".align " + "8" * MEGABYTE + " .b8 out[8]"),
    "tuning": PTX.replace(")\n{", ") .maxntid " + "1" * MEGABYTE + "\n{"),
    "version": PTX.replace("8.0", "8." + "0" * MEGABYTE),
    "target": PTX.replace("sm_90", "sm_" + "9" * MEGABYTE),
}


@pytest.mark.parametrize("kind", LONG)
def test_a_line_of_a_megabyte_gets_an_answer(kind: str) -> None:
    begin = time.monotonic()
    module = examined(LONG[kind])
    if module is not None:
        after, _ = rewrite(LONG[kind], ALL, name="bad.ptx")
        assert "st.global.u32 [%rd1], %r1;" in after
    assert time.monotonic() - begin < 60


DEEP = 20_000
NESTED = {
    "scopes": within("{ " * DEEP + "} " * DEEP),
    "scopes with registers": within("{ .reg .b32 %x; mov.u32 %x, %r1; " * 2000 + "} " * 2000),
    "parentheses": within("mov.u32 %r1, " + "(" * DEEP + "1" + ")" * DEEP + ";"),
    "brackets": within("st.global.u32 " + "[" * DEEP + "%rd1" + "]" * DEEP + ", 1;"),
    "braces": within("mov.b64 %rd1, " + "{" * DEEP + "%r1" + "}" * DEEP + ";"),
    "arguments": within("call " + "(" * DEEP + "%r1" + ")" * DEEP + ", f;"),
    "addresses in lists": within("tex.1d.v4.f32.s32 " + "[{" * DEEP + "%r1" + "}]" * DEEP + ";"),
    "signs": within("mov.u32 %r1, " + "-" * DEEP + "1;"),
    "negations": within("mov.u32 %r1, " + "!" * DEEP + "1;"),
    "initialisers": PTX.replace(ENTRY, ".global .u8 t[] = " + "{" * DEEP + "1" + "}" * DEEP + ";" + ENTRY),
    "comments": within("/* " * DEEP + "*/"),
    "branches": within(
        "".join(f"@%p1 bra L{n};\n" for n in range(3000)) + "".join(f"L{n}:\n" for n in range(3000))
    ),
    "loops": within(
        "".join(f"L{n}:\n" for n in range(500)) + "".join(f"@%p1 bra L{n};\n" for n in reversed(range(500)))
    ),
}


@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting_gets_an_answer(kind: str) -> None:
    begin = time.monotonic()
    module = examined(NESTED[kind])
    if module is not None:
        after, _ = rewrite(NESTED[kind], ALL, name="bad.ptx")
        assert "st.global.u32 [%rd1], %r1;" in after
    assert time.monotonic() - begin < 60


# What fuzzing found.


def module_of(text: str) -> Module:
    return parse(SourceFile("bad.ptx", text))


@pytest.mark.parametrize(
    "statement",
    [
        "shl.b32 %r1, %r2;",
        "cvta.to.global.u64 %rd1;",
        "add.s32 %r1;",
        "mad.lo.s32 %r1, %r2;",
        "mov.u32;",
        "setp.lt.s32 %p1;",
        "selp.b32 %r1;",
        "ld.param.u32;",
        "st.global.u32;",
        "cvta.u64;",
        "call;",
        "bra;",
        "vote.sync.any.pred;",
    ],
)
def test_analyses_take_instructions_with_too_few_operands(statement: str) -> None:
    assert examined(within(statement)) is not None


def test_a_function_that_is_there_twice_is_printed_as_it_was_where_the_other_changes() -> None:
    text = PTX + ENTRY + "\ttrap;\n" + END
    module = module_of(text)
    last = module.functions["f"]
    changed = print_module(module.with_functions({"f": last.with_body(last.body[:1])}))
    assert changed.startswith(PTX)
    assert changed.endswith("\ttrap;\n}\n")


def test_generic_addresses_of_32_bits_stay() -> None:
    text = within("\t.shared .b32 s[4];\n\tmov.u32 %r3, s;\n\tst.u32 [%r3], %r1;\n")
    after, remarks = rewrite(text, "memory-space", name="bad.ptx")
    assert after == text
    assert any("has not as many bits as the module's" in remark.text for remark in remarks)


def test_counts_that_no_barrier_in_memory_holds_are_no_error_of_the_interpreter() -> None:
    barrier = "\t.shared .b64 b;\n\tmbarrier.init.shared.b64 [b], -1;\n\tmbarrier.arrive.shared.b64 %rd2, [b], -1;\n"
    out = np.zeros(256, np.uint8)
    interpret(module_of(within(barrier)), "f", 1, 1, [out])


def test_special_registers_need_versions_too() -> None:
    text = PTX.replace("8.0", "9.0").replace("%tid.x", "%aggr_smem_size")
    assert rewrite(text, "lower-version", name="a.ptx")[0].startswith(".version 8.1\n")


def test_analyses_raise_nothing_else_than_diagnostics_of_flows() -> None:
    analyses = Analyses(module_of(within("bra M;")).functions["f"])
    with pytest.raises(CompileError, match="CF1004"):
        _ = analyses.pressure
