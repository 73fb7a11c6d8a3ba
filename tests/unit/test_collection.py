"""Passes leave the garbage collector as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from comprehensive.collection import seldom_collected
from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import Stage, run

TEXT = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{\nret;\n}\n"


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_thresholds_are_higher_while_passes_run_and_as_before_behind_them() -> None:
    gc.set_threshold(700, 10, 10)
    seen: list[tuple[int, ...]] = []

    def look(_: Stage) -> None:
        seen.append(gc.get_threshold())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run(parse(SourceFile("k.ptx", TEXT)), passes_of("dce"), (look,))
    assert seen[0][0] > 700
    assert seen[0][1:] == (10, 10)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("threshold", [0, 10**7])
def test_a_collector_that_is_off_or_seldom_runs_stays_so(threshold: int) -> None:
    gc.set_threshold(threshold, 10, 10)
    with seldom_collected():
        assert gc.get_threshold() == (threshold, 10, 10)
    assert gc.get_threshold() == (threshold, 10, 10)
