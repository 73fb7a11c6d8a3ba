"""A Dask cluster measures as threads do, and a worker that is killed costs its candidate only."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.choices import Choices
from comprehensive.tuning.cluster import cluster
from comprehensive.tuning.store import Result, Store
from comprehensive.tuning.tune import tune
from tests.unit.tuning.programs import OPTIONS, Faulty, compiled

distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra 'distributed')")
pytestmark = [
    pytest.mark.skipif(
        find_c_compiler() is None or find_cxx_compiler() is None, reason="no C and C++ compilers"
    ),
    # Of Dask's own threads and sockets when a worker dies.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def scheduler(tmp_path: Path) -> Generator[Any]:
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.daemon": False,
        "temporary-directory": str(tmp_path / "dask"),
    }
    with dask.config.set(settings):
        local = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        )
        with local:
            yield local


def measured(
    scheduler: Any, folder: Path, faults: Mapping[int, str], blocks: tuple[int, ...]
) -> dict[int, Result]:
    program = compiled()
    choices = Choices(domains={"B": [1, *blocks]}, capped_leaves=0)
    with Store.open(folder / "tuning.sqlite") as store, cluster(scheduler.scheduler_address) as found:
        (each,) = tune(
            program,
            OPTIONS,
            [{"n": 500}],
            found.targets("cpu:2"),
            store,
            folder / "work",
            choices,
            measure_pool=found.pool,
            texts=Faulty(faults),
        )
    return {dict(r.candidate.parameters)["B"]: r for r in each.results}


def test_workers_of_a_cluster_measure_and_a_killed_one_costs_its_candidate_only(
    scheduler: Any, tmp_path: Path
) -> None:
    pids = f'char name[400]; snprintf(name, 400, "{tmp_path}/by%d", getppid()); fclose(fopen(name, "w"));'
    kill = "kill(getppid(), SIGKILL); pause();"
    results = measured(scheduler, tmp_path, {32: pids, 64: kill, 128: pids, 256: pids}, (32, 64, 128, 256))
    assert results[64].status == "lost"
    assert "KilledWorker" in results[64].reason
    assert all(results[b].status in ("ok", "hopeless") for b in (1, 32, 128, 256))
    workers = {int(path.name[2:]) for path in tmp_path.glob("by*")}
    assert os.getpid() not in workers


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_measures_is_replaced(scheduler: Any, tmp_path: Path) -> None:
    # The worker dies once, by the hand of the test; the second time the candidate is measured.
    mark = tmp_path / "pid"
    wait = (
        f'if (access("{mark}", F_OK) != 0) {{ FILE *f = fopen("{mark}.new", "w"); fprintf(f, "%d", getppid());'
        f'fclose(f); rename("{mark}.new", "{mark}"); pause(); }}'
    )
    import threading
    import time

    def hunt() -> None:
        while not mark.exists():
            time.sleep(0.02)
        os.kill(int(mark.read_text()), signal.SIGKILL)

    hunter = threading.Thread(target=hunt)
    hunter.start()
    results = measured(scheduler, tmp_path, {64: wait}, (32, 64))
    hunter.join()
    assert all(result.status in ("ok", "hopeless") for result in results.values())


def test_a_scheduler_that_is_not_there_is_a_missing_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    import comprehensive.tuning.cluster as module

    monkeypatch.setattr(module, "CONNECT_TIMEOUT_S", 0.5)
    with pytest.raises(ToolError, match="no Dask scheduler"), cluster("tcp://127.0.0.1:1"):
        pass


def test_without_dask_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ToolError, match="comprehensive\\[distributed\\]"), cluster("tcp://127.0.0.1:1"):
        pass
