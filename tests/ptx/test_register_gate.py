"""The gate behind every pass: kernels that ptxas gives too many registers, or spills of, are put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import rewrite
from comprehensive.toolchain.assembler import find_assembler
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.compiled import Compiled
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import compile_ptx, load_tool

VECTORIZE = "vectorize-accesses{assume_pointer_align=16}"
PAIR = """.version 8.0
.target sm_90
.address_size 64
.visible .entry pair(.param .u64 .ptr .global .align 16 in, .param .u64 .ptr .global .align 16 out)
{
	.reg .f32 %f<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.global.f32 %f1, [%rd1];
	ld.global.f32 %f2, [%rd1+4];
	st.global.f32 [%rd2], %f1;
	st.global.f32 [%rd2+8], %f2;
	ret;
}
"""


@dataclass(frozen=True)
class _Counting:
    """An assembler that says that kernels with vectors take other registers, and spill."""

    registers: int
    spilled: int
    version: str = "13.0"

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        registers, spilled = (self.registers, self.spilled) if ".v2" in ptx else (32, 0)
        return Compiled(
            b"",
            f"ptxas info    : Compiling entry function 'pair' for '{arch}'\n"
            "ptxas info    : Function properties for pair\n"
            f"    0 bytes stack frame, {spilled} bytes spill stores, 0 bytes spill loads\n"
            f"ptxas info    : Used {registers} registers, used 0 barriers\n",
        )


@pytest.mark.parametrize(
    ("registers", "spilled", "threads", "is_kept"),
    [
        (32, 0, 256, True),
        # 6, 5 and 4 blocks of 8 warps are enough, 3 are not.
        (40, 0, 256, True),
        (64, 0, 256, True),
        (72, 0, 256, False),
        (168, 0, 256, False),
        (72, 0, 1024, False),
        (72, 0, 32, False),
        (32, 4, 256, False),
    ],
)
def test_a_kernel_that_loses_blocks_or_spills_is_put_back(
    registers: int, spilled: int, threads: int, is_kept: bool
) -> None:
    build = Build(_Counting(registers, spilled), threads=threads)
    output, remarks = rewrite(PAIR, VECTORIZE, name="pair.ptx", build=build)
    assert (output != PAIR) == is_kept
    assert [each.kind is Kind.APPLIED for each in remarks if each.kind is not Kind.MISSED] == [True] * is_kept
    assert any("'pair' is as it was" in each.text for each in remarks) != is_kept


def test_without_an_assembler_the_number_of_live_values_decides() -> None:
    assert rewrite(PAIR, VECTORIZE, name="pair.ptx")[0] != PAIR


PRODUCTS = """
extern "C" __global__ void nearest(const float *a, const float *b, float *score, int n) {
    int p = threadIdx.x + blockIdx.x * 16;
    float best = 0;
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int d = 0; d < 128; d++) s += a[p * 128 + d] * b[j * 128 + d];
        if (s > best) best = s;
    }
    score[p] = best;
}
"""


@pytest.mark.toolchain
def test_what_ptxas_makes_of_vectors_is_seen(
    tmp_path: Path, corpus_cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptxas loads the row of ``a`` before the loop over ``j`` where that goes by vectors: 168 registers, not 32."""

    def all_of_them(_: object, vectors: Sequence[object], __: object) -> tuple[list[object], list[object]]:
        return list(vectors), []

    monkeypatch.setattr("comprehensive.ptx.passes.vectorize_accesses._apart_from_hoisted", all_of_them)
    source = tmp_path / "nearest.cu"
    source.write_text(PRODUCTS)
    nvcc = find_tool("nvcc")
    assert isinstance(nvcc, Found)
    text = compile_ptx(load_tool(nvcc), source, "sm_90", (), cache=corpus_cache).output.decode()
    build = Build(find_assembler())
    for options in ("assume_pointer_align=256 assume_noalias=true", "assume_pointer_align=16"):
        passes = f"vectorize-accesses{{{options}}}"
        bare, _ = rewrite(text, passes, name="nearest.ptx")
        output, _ = rewrite(text, passes, name="nearest.ptx", build=build)
        assert _registers(build, bare) > 100
        assert _registers(build, output) <= 64


def _registers(build: Build, text: str) -> int:
    module = parse(SourceFile("nearest.ptx", text))
    return build.usages(module)["nearest"].registers_per_thread
