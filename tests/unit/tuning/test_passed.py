"""Candidates with passes: versions of one image, what cannot be compiled left out, measured and baked as others."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import comprehensive
from comprehensive.cli import cli
from comprehensive.driver import Compilation
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.records import replace
from comprehensive.runtime.choice import Choice
from comprehensive.toolchain.assembler import Assembler
from comprehensive.toolchain.compiled import Compiled, SourceRejectedError
from comprehensive.toolchain.host import find_c_compiler
from comprehensive.tuning.choices import Choices
from comprehensive.tuning.devices import Target
from comprehensive.tuning.passed import passed
from comprehensive.tuning.pools import Pool
from comprehensive.tuning.store import Store
from comprehensive.tuning.tune import tune
from comprehensive.tuning.winners import winners, write_winners
from tests import compiled_specs
from tests.unit.tuning.programs import OPTIONS, PAIRS, compiled

pytestmark = [
    pytest.mark.toolchain,
    pytest.mark.usefixtures("nvcc"),
    pytest.mark.skipif(find_c_compiler() is None, reason="no C compiler on the PATH"),
]
H200 = Target("NVIDIA H200", "9.0", "580.1", ("0",))
CAP, OTHER = "register-cap{registers=32}", "register-cap{registers=40}"
DEMOTED = "demote-registers{target=32}"


@dataclass(frozen=True)
class Picky:
    """An assembler that rejects a limit of 40 registers beside other kernels."""

    usual: Assembler

    @property
    def version(self) -> str:
        return self.usual.version

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        if ".maxnreg 40" in ptx and ".entry jacobi1d_leaf0(" in ptx:
            raise SourceRejectedError(("picky",), "ptxas error   : 40 is not liked\nptxas fatal   : at all")
        return self.usual.assemble(ptx, arch, flags)


def test_pipelines_become_versions_and_what_is_none_has_its_reason() -> None:
    plan = compiled_specs.compiled("jacobi1d").plan
    (function,) = plan.functions
    compiler = KernelCompiler.find("", None)
    picky = replace(compiler, assembler=Picky(compiler.assembler))
    leaves, tile = function.kernels_of(0), function.kernels_of(1)
    found = passed(plan, "jacobi1d", {CAP: (*leaves, *tile), OTHER: leaves, DEMOTED: tile}, picky, "sm_90")
    assert dict(found.numbers) == {CAP: 1}
    assert found.unusable[OTHER].status == "compile-error"
    assert found.unusable[OTHER].reason == "ptxas error   : 40 is not liked"
    assert found.unusable[DEMOTED].status == "unchanged"
    assert found.unusable[DEMOTED].reason
    name, text = found.image
    assert name == "jacobi1d_embedded.c"
    assert '{ .symbol = "cf_version1_jacobi1d_leaf0" }' in text
    assert "cf_version2_" not in text
    assert all(usage.registers_per_thread <= 32 for s, usage in found.usages.items() if s.startswith("cf_"))


class Scripted(Executor):
    """Stands in for a GPU: what is asked for is loaded, and takes as long as the number of its version says."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []

    def submit(self, fn: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        (job,) = arguments
        self.jobs.append(job)
        library = ctypes.CDLL(job["library"])
        assert library.cf_measure_choice_bytes() == ctypes.sizeof(Choice)
        version = job["parameters"][1] if len(job["parameters"]) > 1 else 0
        time = 100.0 - version
        answer = {
            "status": "ok",
            "reason": "",
            "times_us": [time],
            "median_us": time,
            "leaf": 0,
            "launches": 1,
        }
        done: Future[Any] = Future()
        done.set_result(answer)
        return done


def tuned(compilation: Compilation, folder: Path, choices: Choices) -> tuple[Any, Scripted]:
    measured = Scripted()
    with Store.open(folder / "tuning.sqlite") as store:
        found = tune(
            compilation,
            OPTIONS,
            [{"n": 1000}],
            [H200],
            store,
            folder / "work",
            choices,
            measure_pool=Pool.of(measured, 1),
        )
    return found, measured


def test_candidates_with_passes_are_measured_stored_and_baked(tmp_path: Path) -> None:
    compilation = compiled()
    choices = Choices(domains={"B": [128]}, capped_leaves=0, pipelines=(CAP, DEMOTED))
    ((found,), measured) = tuned(compilation, tmp_path, choices)
    assert {r.candidate.pipeline: r.status for r in found.results} == {
        "": "ok",
        CAP: "ok",
        DEMOTED: "unchanged",
    }
    # As it is, by nvcc, and as a version, by its number behind the parameters; both know what the kernel takes.
    assert [job["parameters"] for job in measured.jobs] == [[128], [128, 1]]
    assert [job["partner"] for job in measured.jobs] == [[128], [128, 0]]
    assert all(r.registers is not None for r in found.results if r.status == "ok")
    # A second run has it all from the store.
    ((again,), measured) = tuned(compilation, tmp_path, choices)
    assert (again.measured, again.results, measured.jobs) == (0, found.results, [])
    with Store.open(tmp_path / "tuning.sqlite") as store:
        best = winners(store, compilation.plan.source_digest)
    assert [w.pipeline for w in best] == [CAP]
    program = tmp_path / "pairs.mf"
    program.write_text(PAIRS)
    best = (replace(best[0], device="cpu"), replace(best[0], device="cpu", sizes=(("n", 7),), pipeline=""))
    digest = compilation.plan.source_digest
    path = write_winners(best, tmp_path, "pairs", "pairs.mf", digest, "tool")
    words = [
        "gen",
        str(program),
        "--registers",
        "estimate",
        "--tuned",
        str(path),
        "-o",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(cli, [*words, "--embed", "sm_90", "--passes", "none"])
    assert done.exit_code == 0, done.output
    assert "CF0917" not in done.output
    header = (tmp_path / "out" / "pairs.h").read_text()
    assert '{ "cpu", { 1000 }, { 128, 1 } }' in header
    assert '{ "cpu", { 7 }, { 128, 0 } }' in header
    assert f'case 1: return "{CAP}";' in header
    (function,) = json.loads((tmp_path / "out" / "pairs.json").read_text())["functions"]
    assert [v["name"] for v in function["versions"]] == ["", CAP]
    # The rows are chosen as they are tuned: on a processor, whose kernels have one version for all numbers.
    pairs = comprehensive.load(tmp_path / "out" / "pairs.json", device="cpu").pairs
    assert pairs.choose(1000).parameters == {"B": 128, "version": 1}
    assert pairs.choose(7).parameters == {"B": 128, "version": 0}
    assert pairs.choose(8).parameters["version"] == 0
    with pytest.raises(comprehensive.LaunchError, match="0 <= version <= 1"):
        pairs.choose(8, B=64, version=2)


@pytest.mark.slow
def test_caps_are_pipelines_of_the_best_leaves(tmp_path: Path) -> None:
    choices = Choices(order=lambda every: every[:2], domains={"B": [32, 128]}, capped_leaves=1)
    ((found,), measured) = tuned(compiled(), tmp_path, choices)
    capped = [r for r in found.results if r.candidate.pipeline]
    assert len({r.candidate.parameters for r in capped}) == 1
    assert len(capped) == 2
    assert all(r.candidate.pipeline.startswith("register-cap{registers=") for r in capped)
    numbers = sorted(job["parameters"][1] for job in measured.jobs if len(job["parameters"]) == 2)
    assert numbers == list(range(1, len(capped) + 1))
    assert len({job["library"] for job in measured.jobs}) == 2
