"""Kernels with versions: compiled beside the originals, and launched by number."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import Embedded, embedded
from comprehensive.embedding.targets import AUTO, targets_of
from comprehensive.generate import outputs, source_texts
from comprehensive.plan.plan import ProgramPlan, TunedRow
from comprehensive.plan.versions import ORIGINAL, PLAIN, Version
from comprehensive.records import replace
from comprehensive.toolchain.nvcc import Tool
from tests import compiled_specs
from tests.unit.embedding.recorded import launches

CAP = "register-cap{registers=32}"
OTHER = "register-cap{registers=40}"
SHUFFLES = "synthesize-shuffles{always=true}"


def planned() -> ProgramPlan:
    """jacobi1d: the first version has its leaves, the second one a leaf and the first register tile."""
    plan = compiled_specs.compiled("jacobi1d").plan
    (function,) = plan.functions
    leaf, tile = ("jacobi1d_leaf0", ()), function.kernels_of(1)
    versions = (
        ORIGINAL,
        Version.of(CAP, function.kernels_of(0)),
        Version("both", ((leaf, OTHER), *((kernel, CAP) for kernel in tile))),
    )
    row = TunedRow(
        "recorder",
        (("T", 2), ("N", 1026)),
        (("s", 2), ("B", 64), ("tile", 0), ("version", 2)),
        12.5,
    )
    return replace(plan, functions=(replace(function, versions=versions, tuned=(row,)),))


@cache
def made() -> tuple[Embedded, dict[str, str]]:
    plan = planned()
    return embedded(plan, targets_of("sm_90"), KernelCompiler.find("", None), "0"), source_texts(plan)


@pytest.mark.toolchain
def test_a_launcher_runs_the_version_that_is_asked_for_where_its_kernel_has_one(
    nvcc: Tool, tmp_path: Path
) -> None:
    call = "jacobi1d_launch_explained(0, 2, 1026, 0, &(jacobi1d_params){{ 2, 64, {} }}, 0, &why)"
    asked = ["0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2", "2, 2", "0, 3", "0, -1"]
    calls = [
        *map(call.format, asked),
        "jacobi1d_launch(2, 1026, 0, 0, 0)",
        "jacobi1d_launch(2, 1027, 0, 0, 0)",
    ]
    lines = launches(made(), nvcc, tmp_path, calls)
    found: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("launch"):
            found[-1].append(line.split()[1])
        elif line.startswith("status"):
            found[-1].append(line)
            found.append([])
    leaf, tile, other = "jacobi1d_leaf0", "_Z13jacobi1d_tileILi256E", "_Z13jacobi1d_tileILi128E"
    expected = [leaf, f"cf_version1_{leaf}", f"cf_version2_{leaf}", tile, tile, f"cf_version2_{tile}", other]
    for (first, second, status), symbol in zip(found, expected, strict=False):
        assert first == second
        assert first.startswith(symbol)
        assert status == "status 0"
    assert found[7:9] == [["status 2"], ["status 2"]]
    # The row of tuned parameters asks for the second version, at its sizes alone.
    assert found[9] == [f"cf_version2_{leaf}"] * 2 + ["status 0"]
    assert not any("version" in symbol for symbol in found[10])


@pytest.mark.toolchain
def test_the_version_that_ran_is_in_logs_of_launches(
    nvcc: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "times.log"
    monkeypatch.setenv("CF_OBSERVE", str(log))
    call = "jacobi1d_launch(2, 1026, 0, &(jacobi1d_params){{ 2, 64, {} }}, 0)"
    calls = [call.format(asked) for asked in ("0, 0", "0, 1", "2, 2")]
    launches(made(), nvcc, tmp_path, calls, "-DCF_OBSERVE")
    head = "jacobi1d; recorder; T=2 N=1026; s=2 B=64"
    leaves = len(planned().functions[0].regions[0].leaves)
    assert log.read_text().splitlines() == [
        f"{head} tile=0; 0; 1000.000",
        f"{head} tile=0; 0; 1000.000; {CAP}",
        # That tile has no such version: what ran counts.
        f"{head} tile=2; {leaves + 1}; 1000.000",
    ]


@pytest.mark.toolchain
def test_versions_are_what_nvcc_made_through_their_passes_alone(nvcc: Tool) -> None:
    assert nvcc.path
    image, _ = made()
    for kernels in image.kernels:
        originals = {symbol for symbol in kernels.usages if not symbol.startswith("cf_version")}
        assert {original for original, _ in kernels.copied.values()} <= originals
        assert set(kernels.copied) == set(kernels.usages) - originals
        applied = {r.function: r.pass_name for r in kernels.remarks if r.kind.value == "applied"}
        assert applied == {symbol: passes.split("{")[0] for symbol, (_, passes) in kernels.copied.items()}
    # What all kernels go through is not for versions; one without passes is what nvcc has made.
    (function,) = planned().functions
    leaf = ("jacobi1d_leaf3", ())
    alone = replace(planned(), functions=(replace(function, versions=(ORIGINAL, Version.of("", [leaf]))),))
    (kernels,) = embedded(alone, targets_of("sm_90"), KernelCompiler.find(SHUFFLES, None), "0").kernels
    assert alone.functions[0].versions[1].name == PLAIN
    before, _, copy = kernels.ptx.partition("cf_version1_jacobi1d_leaf3")
    assert "shfl" in before
    assert copy
    assert "shfl" not in copy


@pytest.mark.toolchain
def test_versions_stand_beside_passes_that_are_chosen(nvcc: Tool) -> None:
    assert nvcc.path
    image = embedded(planned(), targets_of("sm_90"), KernelCompiler.find("", None), "0", automatic=True)
    document = image.document()
    assert document["passes"] == AUTO
    for kernel in document["kernels"]:
        assert ("chosen" in kernel) != ("version_of" in kernel)


@pytest.mark.toolchain
def test_the_manifest_tells_versions(nvcc: Tool) -> None:
    assert nvcc.path
    compilation = compiled_specs.compiled("jacobi1d")
    text = outputs(compilation, plan=planned(), image=made()[0])["jacobi1d.json"]
    document = json.loads(text)
    (function,) = document["functions"]
    assert function["version"] == "version"
    assert [v["name"] for v in function["versions"]] == ["", CAP, "both"]
    assert function["versions"][2]["kernels"][0] == {
        "name": "jacobi1d_leaf0",
        "constants": [],
        "passes": OTHER,
    }
    assert function["tuned"][0]["parameters"]["version"] == 2
    kernels = {(k["arch"], k["symbol"]): k for k in document["embedded"]["kernels"]}
    assert kernels["sm_90", "cf_version2_jacobi1d_leaf0"]["version_of"] == "jacobi1d_leaf0"
    assert kernels["sm_90", "cf_version2_jacobi1d_leaf0"]["passes"] == OTHER
    assert "version" not in json.loads(compiled_specs.texts("jacobi1d")["jacobi1d.json"])["functions"][0]
