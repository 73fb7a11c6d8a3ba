"""Files that are broken, strange, or newer than the tool: a diagnostic with a caret, or the same bytes and a remark."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from functools import cache

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
    """Return the diagnostic as it is shown, with a caret below the line."""
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


@cache
def long(length: int) -> Mapping[str, str]:
    """Files of one line each that is about as long, by what the line consists of."""
    return {
        "comment": within("// " + "x" * length + "\n"),
        "many instructions": within("add.u32 %r1, %r1, %r1; " * (length // 50)),
        "a name": within("mov.u32 %" + "x" * length + ", 1;"),
        "a number": within("mov.u32 %r1, " + "9" * length + ";"),
        "an octal number": within("mov.u32 %r1, " + "0" * length + ";"),
        "a float": within("mov.f32 %r1, 1." + "9" * length + ";"),
        "an offset": within("st.global.u32 [%rd1+" + "9" * length + "], 1;"),
        "registers": within(".reg .b32 %q<" + "9" * length + ">;"),
        "a register": within("mov.u32 %r" + "1" * length + ", 1;"),
        "an opcode": within("add" + ".s32" * (length // 4) + " %r1, %r1, 1;"),
        "operands": within("add.s32 %r1" + ", %r1" * (length // 5) + ";"),
        "an operand": within("add.s32 %r1, 1" + "+1" * (length // 2) + ", 1;"),
        "white space": within(" " * length),
        "a string": within('.pragma "' + "x" * length + '";'),
        "what is no PTX": within("? " * (length // 2)),
        "a table": PTX.replace(ENTRY, ".global .u8 t[] = {" + "1," * (length // 2) + "1};" + ENTRY),
        "alignment": PTX.replace(".u64 out", ".align " + "8" * length + " .b8 out[8]"),
        "tuning": PTX.replace(")\n{", ") .maxntid " + "1" * length + "\n{"),
        "version": PTX.replace("8.0", "8." + "0" * length),
        "target": PTX.replace("sm_90", "sm_" + "9" * length),
    }


@pytest.mark.parametrize("length", [MEGABYTE // 8, pytest.param(MEGABYTE, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", long(1))
def test_a_long_line_gets_an_answer(kind: str, length: int) -> None:
    text = long(length)[kind]
    begin = time.monotonic()
    module = examined(text)
    if module is not None:
        after, _ = rewrite(text, ALL, name="bad.ptx")
        assert "st.global.u32 [%rd1], %r1;" in after
    assert time.monotonic() - begin < 60


DEEP = 20_000


@cache
def nested(depth: int) -> Mapping[str, str]:
    """Files in which something stands in itself about as often, or in which branches cross."""
    return {
        "scopes": within("{ " * depth + "} " * depth),
        "scopes with registers": within(
            "{ .reg .b32 %x; mov.u32 %x, %r1; " * (depth // 4) + "} " * (depth // 4)
        ),
        "parentheses": within("mov.u32 %r1, " + "(" * depth + "1" + ")" * depth + ";"),
        "brackets": within("st.global.u32 " + "[" * depth + "%rd1" + "]" * depth + ", 1;"),
        "braces": within("mov.b64 %rd1, " + "{" * depth + "%r1" + "}" * depth + ";"),
        "arguments": within("call " + "(" * depth + "%r1" + ")" * depth + ", f;"),
        "addresses in lists": within("tex.1d.v4.f32.s32 " + "[{" * depth + "%r1" + "}]" * depth + ";"),
        "signs": within("mov.u32 %r1, " + "-" * depth + "1;"),
        "negations": within("mov.u32 %r1, " + "!" * depth + "1;"),
        "initialisers": PTX.replace(
            ENTRY, ".global .u8 t[] = " + "{" * depth + "1" + "}" * depth + ";" + ENTRY
        ),
        "comments": within("/* " * depth + "*/"),
        "branches": within(
            "".join(f"@%p1 bra L{n};\n" for n in range(3 * depth // 20))
            + "".join(f"L{n}:\n" for n in range(3 * depth // 20))
        ),
        "loops": within(
            "".join(f"L{n}:\n" for n in range(depth // 40))
            + "".join(f"@%p1 bra L{n};\n" for n in reversed(range(depth // 40)))
        ),
    }


# Deeper than Python's stack in both tiers.
@pytest.mark.parametrize("depth", [DEEP // 5, pytest.param(DEEP, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", nested(1))
def test_deep_nesting_gets_an_answer(kind: str, depth: int) -> None:
    text = nested(depth)[kind]
    begin = time.monotonic()
    module = examined(text)
    if module is not None:
        after, _ = rewrite(text, ALL, name="bad.ptx")
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
