"""The kernels that shuffles are made in: they load as often as is said, and compute what numpy does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.toolchain.cache import Cache
from tests.ptx.corpus import FOLDER, Source, compiled, sources
from tests.ptx.launched import launched
from tests.ptx.runs import DTYPES, Buffer, Run, Scalar, drawn
from tests.ptx.shuffles_numpy import IN_NUMPY
from tests.ptx.shuffles_reference import Count, accesses, counted

SOURCES = sources("shuffles")
LONG = {"rhs4th3fort", "separable7_float4", "separable17_float4", "jacobi_float4"}
LONG |= {"tricubic", "lapgsrb", "sincos", "wave13pt", "laplacian", "separable7", "derivative", "gameoflife"}
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads(
    (FOLDER / "shuffles" / "expected.toml").read_text("utf-8")
)

ARCHS = ("sm_90", pytest.param("sm_100", marks=pytest.mark.slow))


def said(count: Count) -> dict[str, Any]:
    """Return the count as the file has it."""
    if count.mean_delta is None:
        return {"shuffles": 0}
    return {"shuffles": count.shuffles, "mean_delta": count.mean_delta}


def given(run: Run) -> list[Any]:
    """The arguments before a run: arrays, and numbers as the kernel gets them."""
    found: list[Any] = []
    for argument, contents in zip(run.arguments, drawn(run), strict=True):
        assert isinstance(argument, Buffer | Scalar)
        array = np.frombuffer(contents, DTYPES[argument.type])
        found.append(array if isinstance(argument, Buffer) else array[0].item())
    return found


def test_every_kernel_has_its_facts():
    names = {source.name for source in SOURCES}
    assert len(names) == 26
    assert names == set(EXPECTED) == set(accesses()) == set(IN_NUMPY)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_counts_by_hand_are_those_of_the_accesses(name: str):
    thread, facts = accesses()[name], EXPECTED[name]
    assert sum(access.kind != "store" for access in thread) == facts["loads"] - facts.get("tables", 0)
    assert said(counted(thread)) == facts["sound"]
    assert said(counted(thread, no_alias=True)) == facts["no_alias"]
    if "within_1" in facts:
        assert said(counted(thread, max_delta=1)) == facts["within_1"]


@pytest.mark.parametrize("name", [name for name, facts in EXPECTED.items() if "published" in facts])
def test_as_many_shuffles_as_are_published(name: str):
    facts = EXPECTED[name]
    published, ours = facts["published"], facts.get("within_1", facts["no_alias"])
    assert published["shuffles"] == ours["shuffles"]
    assert published["loads"] == facts["loads"] - facts.get("tables", 0)


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    "source",
    [pytest.param(s, id=s.name, marks=[pytest.mark.slow] if s.name in LONG else []) for s in SOURCES],
)
def test_nvcc_writes_every_load_and_the_results_are_right(
    source: Source, arch: str, tmp_path: Path, corpus_cache: Cache
):
    ptx = compiled(source, arch, tmp_path, cache=corpus_cache)
    loads = re.findall(r"\bld\.global[.\w]*", ptx.read_text(encoding="utf-8"))
    assert len(loads) == EXPECTED[source.name]["loads"]
    read_only = sum(access.kind == "nc" for access in accesses()[source.name])
    assert sum(".nc" in load for load in loads) == read_only + EXPECTED[source.name].get("tables", 0)
    for run in source.runs:
        before, after = given(run), launched(run, ptx)
        wanted = IN_NUMPY[source.name](before)
        written = {
            p for p, argument in enumerate(run.arguments) if getattr(argument, "direction", "in") != "in"
        }
        assert set(wanted) == written
        for position, values in wanted.items():
            found, untouched = np.frombuffer(after[position], np.float32), np.isnan(values)
            assert np.count_nonzero(~untouched) > 0
            assert np.array_equal(found[untouched], before[position][untouched])
            close = 2e-6 * np.abs(values[~untouched]).max()
            assert np.allclose(found[~untouched], values[~untouched], rtol=1e-5, atol=close), run


def test_runs_have_partial_warps():
    widths = {run.block[0] for source in SOURCES for run in source.runs}
    assert {31, 32, 33, 48, 96} <= widths
    assert all(len(source.runs) >= 2 for source in SOURCES)
    assert all(np.prod(run.grid) * np.prod(run.block) <= 4096 for source in SOURCES for run in source.runs)
