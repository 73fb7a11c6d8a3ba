"""What a pass could get wrong is found: each of these modules is made as a faulty pass would make it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Expression, Immediate, Name
from comprehensive.ptx.passes.ptx_pass import PtxPass
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.statements import Declaration, Instruction, Label, Statement
from comprehensive.ptx.verify import problems

BEFORE = parse(
    SourceFile(
        "a.ptx",
        ".version 8.0\n.target sm_90\n.entry f()\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n"
        "A:\n\tadd.s32 %r1, %r2, 4;\n\tret;\n}\n",
    )
)


def _with(*added: Statement) -> Module:
    function = BEFORE.functions["f"]
    return BEFORE.with_functions({"f": function.with_body((*function.body, *added))})


def _add(*operands: str) -> Instruction:
    return Instruction(opcode("add.s32"), tuple(map(Name, operands)))


@pytest.mark.parametrize(
    ("added", "words"),
    [
        (_add("%r1", "%r2", "%q3"), "register '%q3' is not declared"),
        (Label("A"), "label 'A' is there twice"),
        (Instruction(opcode("bra"), (Name("B"),)), "there is no label 'B'"),
        (_add("%r1", "%r2", "%rd3"), "%rd3 has 8 bytes, not 4"),
        (_add("%r1", "%r2", "%p1"), "%p1 is a .pred"),
        (Instruction(opcode("mov.u32"), (Name("%r1"), Immediate("1;"))), "is not understood"),
        (
            Instruction(opcode("mov.u32"), (Name("%r1"), Expression("%r2", ()))),
            "when the text is parsed again",
        ),
        (Declaration(".reg", ".b32 }"), "not understood"),
    ],
)
def test_what_is_not_well_formed_is_found(added: Statement, words: str) -> None:
    (problem, *_) = problems(_with(added), BEFORE)
    assert words in problem


def test_what_is_well_formed_is_not() -> None:
    assert problems(_with(_add("%r1", "%r2", "%r3")), BEFORE) == ()


def test_what_was_wrong_before_is_no_fault_of_the_pass() -> None:
    wrong = _with(_add("%r1", "%r2", "%rd3"))
    function = wrong.functions["f"]
    moved = wrong.with_functions({"f": function.with_body((*function.body, _add("%r2", "%r2", "%rd3")))})
    assert problems(moved, wrong) == ()


@dataclass(frozen=True)
class _Faulty(PtxPass):
    name = "faulty"
    summary = ""

    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        return _with(Label("A")), ()


def test_the_pipeline_stops_at_a_faulty_pass_and_names_it() -> None:
    with pytest.raises(CompileError, match="'faulty' made what is not well formed: f: label 'A'"):
        run(BEFORE, (_Faulty(),))
