"""Analyses of what nvcc makes of a file of kernels, in both dialects; ptxas takes what comes out of SSA."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import parse
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.nvcc import assemble, compile_ptx
from tests.examples import quick_of
from tests.ptx.destruction import destructed

KERNELS = Path(__file__).resolve().parent.parent / "kernels.cu"
NAMES = (
    *("cfg", "dominators", "postdominators", "frontiers", "control_dependence", "loops", "liveness", "ssa"),
    *("operand_values", "spaces", "variance", "affine", "accesses", "alias", "pressure"),
)


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", quick_of(["sm_90a", "sm_100"], {"sm_90a"}))
def test_all_analyses_understand_what_nvcc_writes(nvcc, ptxas, tmp_path, arch):
    text = compile_ptx(nvcc, KERNELS, arch, ("-std=c++17",)).output.decode()
    module = parse(SourceFile("kernels.ptx", text))
    changed = {}
    for name, function in module.functions.items():
        analyses = Analyses(function, module)
        for each in NAMES:
            getattr(analyses, each)
        assert len(analyses.affine.addresses) == len(analyses.flow.steps)
        changed[name] = destructed(analyses.ssa)
    path = tmp_path / "changed.ptx"
    path.write_text(print_module(module.with_functions(changed)))
    assert assemble(ptxas, path, arch).output
