"""Validation finds a pass that changes results, and lets all others pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.operands import Immediate
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.ptx_pass import PtxPass
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.statements import Instruction
from comprehensive.ptx.validate import validated
from tests.ptx.corpus import FOLDER, compiled, is_quick, sources
from tests.ptx.runs import Buffer, Run, agree, drawn

ALL = "memory-space,vectorize-accesses{assume_pointer_align=16},pre,dce"
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 .ptr .global .align 16 out, .param .u32 n)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 16;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	ld.global.u32 %r4, [%rd3+4];
	mad.lo.s32 %r5, %r1, %r1, 7;
	add.s32 %r6, %r3, %r5;
	mad.lo.s32 %r7, %r1, %r1, 7;
	add.s32 %r8, %r4, %r7;
	st.global.u32 [%rd3+8], %r6;
	st.global.u32 [%rd3+12], %r8;
	ret;
}
"""


@dataclass(frozen=True)
class _Sevens(PtxPass):
    """Exchanges literals for others."""

    by: str
    name = "sevens"
    summary = ""

    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        function = module.functions["f"]
        body = [
            s._replace(
                operands=tuple(Immediate(self.by) if str(o) == "7" else o for o in s.operands),
                start=-1,
                end=-1,
            )
            if isinstance(s, Instruction)
            else s
            for s in function.body
        ]
        return module.with_functions({"f": function.with_body(body)}), ()


def test_a_pass_that_changes_results_is_found() -> None:
    module = parse(SourceFile("a.ptx", PTX))
    with pytest.raises(
        CompileError, match=r"CF1025|changed what 'f' computes: byte \d+ of what 'out' points to"
    ):
        run(module, (_Sevens("8"),), (validated(),))
    assert run(module, (_Sevens("0x7"),), (validated(),))


def test_passes_that_change_no_result_are_let_through() -> None:
    stages = run(parse(SourceFile("a.ptx", PTX)), passes_of(ALL), (validated(),))
    applied = {r.pass_name for stage in stages for r in stage.remarks if r.kind is Kind.APPLIED}
    assert applied == {"vectorize-accesses", "pre"}


def test_what_no_launch_could_run_is_told() -> None:
    told: list[Remark] = []
    run(parse(SourceFile("a.ptx", PTX)), passes_of(ALL), (validated(told=told.append),))
    assert told == []
    far = parse(SourceFile("a.ptx", PTX.replace("%r2, 16;", "%r2, 16; add.s64 %rd2, %rd2, 1048576;")))
    run(far, (_Sevens("8"),), (validated(told=told.append),))
    assert len(told) == 1
    assert told[0].function == "f"
    assert "was not validated: no launch ended well" in told[0].text


def test_blocks_have_several_dimensions() -> None:
    text = PTX.replace("%tid.x;", "%tid.y; setp.eq.u32 %p1, %r2, 0; @%p1 ret;").replace(
        "\t.reg .b32", "\t.reg .pred %p<2>;\n\t.reg .b32"
    )
    with pytest.raises(CompileError, match="changed what 'f' computes"):
        run(parse(SourceFile("a.ptx", text)), (_Sevens("8"),), (validated(),))


def _arguments(launch: Run) -> list[np.ndarray | bytes]:
    return [
        np.frombuffer(contents, np.uint8).copy() if isinstance(argument, Buffer) else contents
        for argument, contents in zip(launch.arguments, drawn(launch), strict=True)
    ]


def _results(module: Module, launch: Run) -> list[np.ndarray | bytes]:
    arguments = _arguments(launch)
    interpret(module, launch.kernel, launch.grid, launch.block, arguments, shared_bytes=launch.smem_bytes)
    return arguments


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("source", "arch"),
    [
        pytest.param(s, arch, id=f"{s.name}-{arch}", marks=() if is_quick(s, arch) else pytest.mark.slow)
        for s in sources()
        for arch in ("sm_90", "sm_100")
        if arch in s.archs
    ],
)
def test_kernels_of_the_corpus_compute_the_same_before_and_after(
    source, arch, corpus_cache, tmp_path
) -> None:
    """The output of nvcc goes through all passes, in the launches that the source asks for."""
    path = compiled(source, arch, tmp_path, cache=corpus_cache)
    module = parse(SourceFile(path.name, path.read_text()))
    after = run(module, passes_of(ALL))[-1].after
    for launch in source.runs:
        if (
            launch.kernel not in module.kernels
            or module.kernels[launch.kernel] is after.kernels[launch.kernel]
        ):
            continue
        try:
            expected = _results(module, launch)
        except CompileError as error:
            # What the interpreter does not know cannot be compared.
            if error.diagnostics[0].code != "CF1011":
                raise
            continue
        got = _results(after, launch)
        for position, (one, other) in enumerate(zip(expected, got, strict=True)):
            if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
                assert agree(launch, position, one.tobytes(), other.tobytes()), (launch.kernel, position)


@pytest.mark.toolchain
def test_ptxas_takes_what_passes_make_of_the_files_by_hand(ptxas) -> None:
    """Odd forms of statements, of declarations and of layout."""
    from comprehensive.ptx.assembled import assembled

    for path in sorted((FOLDER / "assembly").glob("*.ptx")):
        try:
            module = parse(SourceFile(path.name, path.read_bytes().decode("utf-8")))
        except CompileError:
            # What is not parsed is passed on as it is.
            continue
        if any(stage.after is not stage.before for stage in run(module, passes_of(f"{ALL},lower-version"))):
            run(module, passes_of(f"{ALL},lower-version"), (assembled(ptxas),))
