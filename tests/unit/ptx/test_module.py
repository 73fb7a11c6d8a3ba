"""Modules and bodies: what is found in them, and that everything prints back to the byte."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.body import token_start
from comprehensive.ptx.module import Function, Module, parse
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Name, operands_of
from comprehensive.ptx.printer import print_module, print_statement
from comprehensive.ptx.statements import Close, Declaration, Directive, Instruction, Label, Open

HEAD = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
TEXT = (
    "//\n// made by hand\n//\n"
    + HEAD
    + """
.file 1 "a { b.cu", 12, 34
.extern .func (.param .b32 func_retval0) other (.param .b64 p0, .param .align 8 .b8 p1[24]) ;
.global .align 8 .u64 table[2] = {generic(other)+4, 0}; // }
.extern .shared .align 16 .b8 dynamic[];
.const .b8 text[4] = { 1, 2, 3, 0x7d };
.section .debug_str
{
$L__info_string0:
.b8 95,90 // }
.b8 0
}
.visible .entry kernel(
	.param .u64 .ptr .global .align 16 kernel_param_0, // the first { one
	.param .u32 kernel_param_1
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .pred %p<3>;
	.reg .b32 %r<5>;
	.loc 1 5 3, function_name $L__info_string0, inlined_at 1 7 9
	ld.param.u32 	%r1, [kernel_param_1];
	@!%p1 bra $L__BB0_2; bra.uni $L__BB0_2;
$L__BB0_2: /* a ; comment */ add .s32 %r2, /* ; */ %r1, 4;
	{ // callseq 0, 0
	.param .b32 retval0;
	call.uni (retval0), other, (%r1);
	}
	.pragma "nounroll; really";
prototype_1 : .callprototype (.param .b32 _) _ (.param .b64 _);
ts: .branchtargets $L__BB0_2, done;
	brx.idx %r1, ts;
done:
	ret;

	// the end
}
.func empty() { }
"""
)


def module_of(text: str) -> Module:
    return parse(SourceFile("a.ptx", text))


def bodies(text: str) -> list[int]:
    return [len(function.body) for function in module_of(text).functions.values()]


def kernel() -> Function:
    return module_of(TEXT).functions["kernel"]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), HEAD, HEAD + "// end"])
def test_what_was_read_prints_back_to_the_byte(text: str) -> None:
    module = module_of(text)
    assert print_module(module) == text
    for function in module.functions.values():
        assert function.open is not None
        pieces = [text[s.start : s.end] for s in function.body]
        assert text[function.open : function.close].startswith("".join(pieces))


def test_a_module_knows_what_it_has() -> None:
    module = module_of(TEXT)
    assert (module.version, module.target, module.address_bits, module.sm) == (
        (8, 0),
        ("sm_90a", "debug"),
        64,
        90,
    )
    assert list(module.functions) == ["kernel", "empty"]
    assert list(module.kernels) == ["kernel"]
    assert list(module.declarations) == ["other", "kernel", "empty"]
    assert list(module.variables) == ["table", "dynamic", "text"]


def test_heads_of_functions() -> None:
    found = kernel()
    assert found.linkage == ("visible",)
    first, second = found.parameters
    assert (first.name, first.type, first.bytes, first.space, first.pointee_align) == (
        "kernel_param_0",
        "u64",
        8,
        "global",
        16,
    )
    assert (second.name, second.bytes, second.is_pointer) == ("kernel_param_1", 4, False)
    assert found.tuning("maxntid") == (256, 1, 1)
    assert found.tuning("maxnreg") == ()
    other = module_of(TEXT).declarations["other"]
    assert [(p.name, p.bytes, p.align) for p in other.parameters] == [("p0", 8, 8), ("p1", 24, 8)]
    assert [p.name for p in other.returns] == ["func_retval0"]


def test_statements_of_a_body() -> None:
    kinds = [type(s) for s in kernel().body]
    assert kinds == [
        Declaration,
        Declaration,
        Directive,
        Instruction,
        Instruction,
        Instruction,
        Label,
        Instruction,
        Open,
        Declaration,
        Instruction,
        Close,
        Directive,
        Directive,
        Directive,
        Instruction,
        Label,
        Instruction,
    ]
    instructions = [s for s in kernel().body if isinstance(s, Instruction)]
    assert [i.opcode.text for i in instructions] == [
        "ld.param.u32",
        "bra",
        "bra.uni",
        "add.s32",
        "call.uni",
        "brx.idx",
        "ret",
    ]
    assert str(instructions[1].guard) == "!%p1"
    assert [print_statement(i) for i in instructions[3:5]] == [
        "add.s32 %r2, %r1, 4;",
        "call.uni (retval0), other, (%r1);",
    ]


def test_directives_keep_names_and_texts() -> None:
    found = [s for s in kernel().body if isinstance(s, Directive)]
    assert [(d.name, d.label) for d in found] == [
        (".loc", None),
        (".pragma", None),
        (".callprototype", "prototype_1"),
        (".branchtargets", "ts"),
    ]
    assert found[1].text == '"nounroll; really"'


def test_a_statement_knows_where_it_begins() -> None:
    module = module_of(TEXT)
    (add,) = [
        s
        for s in module.functions["kernel"].body
        if isinstance(s, Instruction) and s.opcode.text == "add.s32"
    ]
    assert TEXT[token_start(module.file, add) :].startswith("add .s32")


def test_only_changed_statements_are_printed_anew() -> None:
    module = module_of(TEXT)
    body = list(kernel().body)
    position = next(
        i for i, s in enumerate(body) if isinstance(s, Instruction) and s.opcode.text == "add.s32"
    )
    body[position] = Instruction(opcode("sub.s32"), operands_of("%r2, %r1, 4"), Name("%p1"))
    printed = print_module(module.with_functions({"kernel": module.functions["kernel"].with_body(body)}))
    assert "\n\t@%p1 sub.s32 %r2, %r1, 4;\n\t{ // callseq 0, 0" in printed
    assert printed.startswith(TEXT[: TEXT.index("$L__BB0_2: /*")])
    again = module_of(printed)
    assert print_module(again) == printed
    assert again.variables.keys() == module.variables.keys()


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "CF1003", ""),
        ("#include <x>", "CF1002", "#include <x>"),
        (HEAD.replace(".version 8.0", ""), "CF1003", ""),
        (HEAD + ".func f() { ret;", "CF1001", ".func f() { ret;"),
        (HEAD + ".func f() { add.s32 %r1, %r2 }", "CF1002", "add.s32"),
        (HEAD + ".func f() { add.s32 %r1, ,%r2; }", "CF1002", "add.s32"),
        (HEAD + ".func f() { 1234; }", "CF1002", "1234"),
        (HEAD + ".func f() { ret; } }", "CF1002", "}"),
        (HEAD + "\0\1\2", "CF1002", "\0"),
    ],
)
def test_what_is_not_understood_is_told_with_its_place(text: str, code: str, place: str) -> None:
    with pytest.raises(CompileError) as raised:
        bodies(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.span is not None
    assert diagnostic.span.text.startswith(place)
    assert diagnostic.help


def test_long_lines_and_deep_nesting_are_read_in_one_go() -> None:
    many = "add.s32 %r1, %r2, 3; " * 40000
    nested = "{ " * 20000 + "} " * 20000
    module = module_of(HEAD + ".func f() { .reg .b32 %r<9>; " + many + nested + "}")
    assert len(module.functions["f"].body) == 80001
    with pytest.raises(CompileError):
        module_of(HEAD + ".func f() { " + "(" * 200000)
