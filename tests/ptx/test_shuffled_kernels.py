"""The kernels that shuffles are made in: as many as are expected, and the results stay, bit for bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.pipeline import rewrite
from comprehensive.ptx.symbolic.emulator import emulate
from comprehensive.ptx.symbolic.neighbours import Neighbours
from comprehensive.ptx.symbolic.solver import Solver
from comprehensive.toolchain.cache import Cache
from tests.examples import quick_of
from tests.ptx.corpus import Source, compiled, sources
from tests.ptx.launched import launched
from tests.ptx.test_shuffle_kernels import EXPECTED

SOURCES = sources("shuffles")
ARCHS = ("sm_90", pytest.param("sm_100", marks=pytest.mark.slow))


def deltas(remarks: Sequence[Remark]) -> list[int]:
    found = (re.match(r"delta (-?\d+): ", each.text) for each in remarks)
    return [int(each[1]) for each in found if each]


# Kernels that take long, most of whose patterns a shorter one has.
LONG = {"derivative", "rhs4th3fort", "separable17_float4", "separable7_float4", "tricubic", "tricubic2"}
LONG |= {"hypterm", "lapgsrb", "jacobi_float4", "wave13pt", "sincos", "separable7", "laplacian"}


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    "source",
    [pytest.param(s, id=s.name, marks=[pytest.mark.slow] if s.name in LONG else []) for s in SOURCES],
)
def test_as_many_shuffles_as_are_expected_and_the_same_results(
    source: Source, arch: str, tmp_path: Path, corpus_cache: Cache
) -> None:
    ptx = compiled(source, arch, tmp_path, cache=corpus_cache)
    text, expected = ptx.read_text(encoding="utf-8"), EXPECTED[source.name]
    modes = {"sound": "", "no_alias": "assume_noalias=true", "within_1": "max_delta=1"}
    made: set[str] = set()
    for mode, options in modes.items():
        if mode not in expected:
            continue
        output, remarks = rewrite(text, f"synthesize-shuffles{{always=true {options}}}", name=ptx.name)
        found = deltas(remarks)
        assert len(found) == expected[mode]["shuffles"]
        if found:
            mean = sum(map(abs, found)) / len(found)
            assert mean == pytest.approx(expected[mode]["mean_delta"], abs=0.005)
        made.add(output)
        rings, remarks = rewrite(
            text, f"synthesize-shuffles{{always=true shape=rings {options}}}", name=ptx.name
        )
        assert deltas(remarks) == found
        made.add(rings)
    before = [launched(each, ptx) for each in source.runs]
    for number, output in enumerate(sorted(made - {text})):
        path = tmp_path / f"{number}.ptx"
        path.write_text(output, encoding="utf-8")
        assert [launched(each, path) for each in source.runs] == before


# Faster on an H200, and about as much as is estimated.
WORTH_IT = {"row17", "separable7"}


@pytest.mark.toolchain
@pytest.mark.parametrize(
    "source",
    quick_of(SOURCES, {s.name for s in SOURCES} - LONG, lambda s: s.name),
    ids=lambda source: source.name,
)
def test_what_is_worth_it_on_an_h200(source: Source, tmp_path: Path, corpus_cache: Cache) -> None:
    ptx = compiled(source, "sm_90", tmp_path, cache=corpus_cache)
    output, remarks = rewrite(ptx.read_text(encoding="utf-8"), "synthesize-shuffles", name=ptx.name)
    assert bool(deltas(remarks)) == (source.name in WORTH_IT)
    assert ("shfl.sync.idx" in output) == (source.name in WORTH_IT)


@pytest.mark.toolchain
@pytest.mark.parametrize(
    "name", quick_of(["jacobi", "gameoflife", "laplacian", "row5_float4"], {"jacobi", "row5_float4"})
)
def test_z3_finds_no_input_for_which_a_lane_has_something_else(
    name: str, tmp_path: Path, corpus_cache: Cache
) -> None:
    source = next(each for each in SOURCES if each.name == name)
    ptx = compiled(source, "sm_90", tmp_path, cache=corpus_cache)
    module = parse(SourceFile(ptx.name, ptx.read_text(encoding="utf-8")))
    (function,) = module.kernels.values()
    emulation = emulate(Analyses(function, module))
    neighbours = Neighbours(emulation)
    solver = Solver(emulation.arithmetic, emulation.lanes, queries=1000)
    answers: list[bool | None] = []
    for step, (sighting, *_) in emulation.sightings.items():
        for each in neighbours.of(step)[:1]:
            (element,) = each.elements
            source_address = next(e.address for e in sighting.earlier if e.step == element.step)
            assert sighting.address is not None
            apart = element.index * neighbours.shape(step)[0]
            given = source_address, sighting.address, each.lanes, apart
            answers.append(solver.proves(*given, each.wraps, sighting.facts))
            if each.wraps:
                # That no index wraps has to be said.
                assert solver.proves(*given, (), sighting.facts) is not True
    assert False not in answers
    assert answers.count(True) > 0
