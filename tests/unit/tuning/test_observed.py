"""Times observed in production: written by launchers that are asked to, and counted among those of winners."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.driver import Compilation
from comprehensive.generate import source_texts
from comprehensive.plan.interface import interface
from comprehensive.runtime.cpu import CpuLibrary, build
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.tuning.candidates import Candidate
from comprehensive.tuning.observations import read_log
from comprehensive.tuning.store import Observation, Result, Store, Subject
from comprehensive.tuning.winners import FEWEST_OBSERVATIONS, winners
from tests.compiled_specs import compiled

needs_compiler = pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")
SIZES = (("m", 8), ("n", 12), ("k", 4))
FIRST, SECOND = (("B0", 1), ("B1", 1), ("tile", 1)), (("B0", 4), ("B1", 8), ("tile", 0))


@pytest.fixture(scope="module")
def compilation() -> Compilation:
    return compiled("gemm")


def observing(compilation: Compilation, folder: Path) -> CpuLibrary:
    for name, text in source_texts(compilation.plan).items():
        (folder / name).write_text("#define CF_OBSERVE\n" + text if name.endswith(".cu") else text)
    compiler = find_cxx_compiler()
    assert compiler is not None
    hosts = [interface(function) for function in compilation.plan.functions]
    return build(folder / "gemm.cu", folder, hosts, sanitize=False, compiler=compiler)


def launch(built: CpuLibrary) -> int:
    a, b = np.ones((8, 4), np.float32), np.ones((4, 12), np.float32)
    c = np.zeros((8, 12), np.float32)
    found = built.call("gemm", {**dict(SIZES), "a": a, "b": b, "c": c}, dict(SECOND))
    assert np.all(c == 4)
    return found.leaf


@needs_compiler
def test_launchers_write_what_tune_reads_where_they_are_asked_to(
    compilation: Compilation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "observed.log"
    built = observing(compilation, tmp_path)
    monkeypatch.delenv("CF_OBSERVE", raising=False)
    launch(built)
    assert not log.exists()
    monkeypatch.setenv("CF_OBSERVE", str(log))
    leaf = launch(built)
    launch(built)
    read = read_log(SourceFile(str(log), log.read_text()), compilation.plan)
    assert read.diagnostics == ()
    assert [(o.function, o.device, o.sizes, o.parameters, o.leaf) for o in read.observations] == [
        ("gemm", "cpu", SIZES, SECOND, leaf)
    ] * 2


def test_what_was_observed_counts_instead_of_what_was_measured(tmp_path: Path) -> None:
    subject = Subject("digest", "tool", "options", "GPU", "9.0", "1")
    with Store.open(tmp_path / "tuning.sqlite") as store:
        for parameters, leaf, time in ((FIRST, 3, 10.0), (SECOND, 0, 12.0)):
            candidate = Candidate("gemm", SIZES, parameters)
            store.record(subject, Result(candidate, "ok", leaf=leaf, times_us=(time,), median_us=time))
        (best,) = winners(store, "digest")
        assert (best.parameters, best.median_us) == (FIRST, 10.0)
        slow = [Observation("gemm", "GPU", SIZES, FIRST, 3, 20.0 + k) for k in range(FEWEST_OBSERVATIONS)]
        store.observe("digest", slow[:-1], "few")
        (best,) = winners(store, "digest")
        assert best.parameters == FIRST
        store.observe("digest", slow[-1:], "enough")
        (best,) = winners(store, "digest")
        assert (best.parameters, best.median_us) == (SECOND, 12.0)


def test_times_of_a_version_count_for_candidates_with_its_passes(
    compilation: Compilation, tmp_path: Path
) -> None:
    line = "gemm; GPU; m=8 n=12 k=4; B0=4 B1=8 tile=0; 0; "
    log = "".join(
        f"{line}{end}\n" for end in ["20", "21; none", *["5; register-cap{registers=64}"] * 3, "7;;"]
    )
    read = read_log(SourceFile("log", log), compilation.plan)
    assert [o.pipeline for o in read.observations] == ["", "", *["register-cap{registers=64}"] * 3]
    assert len(read.diagnostics) == 1
    subject = Subject("digest", "tool", "options", "GPU", "9.0", "1")
    with Store.open(tmp_path / "tuning.sqlite") as store:
        for pipeline, time in (("", 10.0), ("register-cap{registers=64}", 12.0)):
            candidate = Candidate("gemm", SIZES, SECOND, pipeline)
            store.record(subject, Result(candidate, "ok", leaf=0, times_us=(time,), median_us=time))
        assert [w.pipeline for w in winners(store, "digest")] == [""]
        store.observe("digest", read.observations, "log")
        (best,) = winners(store, "digest")
        assert (best.pipeline, best.median_us) == ("register-cap{registers=64}", 5.0)
