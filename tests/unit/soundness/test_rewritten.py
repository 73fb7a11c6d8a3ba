"""Kernels behind passes over their PTX: tried in the interpreter, and told where a pass changes what they compute."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.data import spec_directory
from comprehensive.diagnostics import SourceFile
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.ptx import pipeline as pipeline_module
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.ptx_pass import PtxPass
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.pipeline import Check, Stage
from comprehensive.records import replace
from comprehensive.soundness.rewritten import Rewritten, rewritten
from comprehensive.soundness.state import State
from comprehensive.toolchain.nvcc import Tool
from tests import compiled_specs

JACOBI = spec_directory() / "jacobi1d.mf"
SHUFFLES = "synthesize-shuffles{always=true}"


@pytest.mark.slow
@pytest.mark.toolchain
def test_kernels_with_shuffles_compute_what_they_did(nvcc: Tool) -> None:
    plan = compiled_specs.compiled("jacobi1d").plan
    found = rewritten(plan, KernelCompiler.find(SHUFFLES, None), "sm_90")
    assert nvcc.path
    assert found.state is State.HOLDS
    assert {"jacobi1d_leaf0", "jacobi1d_leaf3"} & set(found.tried)


@pytest.mark.toolchain
def test_a_pass_that_changes_what_is_computed_fails(nvcc: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nvcc.path

    def spoilt(
        text: str, pipeline: str, *, name: str, build: Build, checks: Sequence[Check]
    ) -> tuple[str, tuple[Remark, ...]]:
        before = parse(SourceFile(name, text))
        after: Module = parse(SourceFile(name, text.replace("add.s32", "sub.s32")))
        wrong: PtxPass = passes_of(pipeline)[0]
        assert build.assembler is not None
        for check in checks:
            check(Stage(wrong, before, after, (), 0.0))
        return text, ()

    monkeypatch.setattr(pipeline_module, "rewrite", spoilt)
    plan = compiled_specs.compiled("jacobi1d").plan
    found = rewritten(plan, KernelCompiler.find("dce", None), "sm_90")
    assert found.state is State.FAILS
    assert "changed what 'jacobi1d" in found.failures[0]


def test_one_that_could_not_be_tried_is_not_checked() -> None:
    found = Rewritten("dce", ("f",), ("g",), reasons=("no launch ended well",))
    assert found.state is State.NOT_CHECKED
    assert replace(found, untried=()).state is State.HOLDS
    assert replace(found, failures=("changed what 'f' computes",)).state is State.FAILS


@pytest.mark.toolchain
def test_check_tells_of_passes(nvcc: Tool) -> None:
    assert nvcc.path
    words = [
        "check",
        str(JACOBI),
        "--points",
        "1",
        "--no-run",
        "--registers",
        "estimate",
        "--json",
        "--passes",
    ]
    done = CliRunner().invoke(cli, [*words, SHUFFLES])
    document = json.loads(done.output)
    assert (done.exit_code, document["passes"]["pipeline"]) == (0, SHUFFLES)
    assert (document["passes"]["state"], document["passes"]["not_tried"]) == ("holds", [])
    assert document["passes"]["tried"]
    assert "no pass 'foo'" in CliRunner().invoke(cli, [*words, "foo"]).output
