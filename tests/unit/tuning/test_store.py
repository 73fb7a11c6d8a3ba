"""The store keeps everything, and refuses what is no store of its version without touching it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from comprehensive.diagnostics import CommandLineError
from comprehensive.records import replace
from comprehensive.tuning import database
from comprehensive.tuning.candidates import Candidate
from comprehensive.tuning.store import STATUSES, Observation, Result, Store, Subject
from comprehensive.tuning.winners import winners
from tests.examples import quick_of

SUBJECT = Subject("digest", "0.1.0", "{}", "NVIDIA H200", "9.0", "580.159")
SIZES = (("n", 1024),)


def candidate(block: int, pipeline: str = "") -> Candidate:
    return Candidate("f", SIZES, (("B", block), ("tile", 0)), pipeline)


def result(block: int, median_us: float, pipeline: str = "") -> Result:
    times = (median_us, median_us + 1, median_us - 1)
    return Result(
        candidate(block, pipeline), "ok", "", "equal", 3, times, median_us, 5, 40, 0, "2026-01-01T00:00:00Z"
    )


def refused(path: Path, code: str, *, lock_timeout_s: float = 0.1) -> str:
    """The text of the diagnostic; the file is what it was."""
    before = path.read_bytes()
    with pytest.raises(CommandLineError) as error:
        Store.open(path, lock_timeout_s)
    assert path.read_bytes() == before
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == code
    assert str(path) in diagnostic.message
    assert diagnostic.help
    return diagnostic.message


def filled(path: Path, count: int = 200) -> None:
    with Store.open(path) as store:
        for block in range(count):
            store.record(SUBJECT, result(block, 100.0 + block))


def test_what_is_recorded_comes_back_in_another_process_of_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tuning.sqlite"
    written = [result(16, 12.5), result(32, 11.5, pipeline="dce"), Result(candidate(64), "crash", "SIGSEGV")]
    with Store.open(path) as store:
        for each in written:
            store.record(SUBJECT, each)
    with Store.open(path) as store:
        assert list(store.results(SUBJECT, "f", SIZES).values()) == written
        assert store.results(SUBJECT, "f", (("n", 2048),)) == {}
        assert store.results(replace(SUBJECT, driver="other"), "f", SIZES) == {}


def test_the_last_result_of_a_candidate_counts_and_no_other_one_is_lost(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as store:
        store.record(SUBJECT, Result(candidate(16), "lost", "gone"))
        store.record(SUBJECT, result(16, 10.0))
        assert store.results(SUBJECT, "f", SIZES)[candidate(16).key] == result(16, 10.0)
        assert [r.status for _, r in store.everything("digest")] == ["lost", "ok"]


def test_a_process_that_is_killed_leaves_what_it_has_recorded(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from tests.unit.tuning.test_store import SUBJECT, result\nfrom comprehensive.tuning.store import Store\n"
        "store = Store.open(Path(sys.argv[1]))\n"
        "for block in range(7):\n    store.record(SUBJECT, result(block, 1.0 + block))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", program, str(path)], cwd=root, check=False)
    assert done.returncode == -9
    with Store.open(path) as store:
        assert len(store.results(SUBJECT, "f", SIZES)) == 7


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    filled(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 77")
    assert "version 77" in refused(path, "CF0911")


def _text(path: Path) -> None:
    path.write_text("n;time\n1;2\n" * 50)


def _other(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")


def _picture(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def _stub(path: Path) -> None:
    path.write_bytes(b"SQLite f")


@pytest.mark.parametrize("write", [_text, _other, _picture, _stub])
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "tuning.sqlite"
    write(path)
    refused(path, "CF0912")


@pytest.mark.parametrize("share", quick_of([0.1, 0.5, 0.9], {0.5}))
def test_a_store_that_is_cut_short_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "tuning.sqlite"
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path, "CF0913")


def test_a_store_with_pages_of_zeros_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    filled(path)
    whole = bytearray(path.read_bytes())
    whole[8192:24576] = bytes(16384)
    path.write_bytes(whole)
    refused(path, "CF0913")


def test_a_locked_store_is_refused_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    filled(path, 3)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused(path, "CF0914")
        other.execute("ROLLBACK")
    with Store.open(path, 0.1) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CommandLineError) as error:
            store.record(SUBJECT, result(99, 1.0))
        assert error.value.diagnostics[0].code == "CF0914"
        other.execute("ROLLBACK")
        store.record(SUBJECT, result(99, 1.0))
        assert len(store.results(SUBJECT, "f", SIZES)) == 4


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "tuning.sqlite", tmp_path):
        with pytest.raises(CommandLineError) as error:
            Store.open(path)
        assert error.value.diagnostics[0].code == "CF0915"


def test_an_empty_file_and_one_whose_making_was_interrupted_become_stores(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    path.write_bytes(b"")
    filled(path, 2)
    with Store.open(path) as store:
        assert len(store.results(SUBJECT, "f", SIZES)) == 2


def test_the_fastest_right_candidate_wins_and_ties_go_to_the_first_parameters(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as store:
        for each in (result(64, 10.0), result(32, 10.0), result(128, 11.0)):
            store.record(SUBJECT, each)
        for status in sorted(STATUSES.keys() - {"ok"}):
            store.record(SUBJECT, Result(candidate(1 + len(status)), status, times_us=(0.5,)))
        (winner,) = winners(store, "digest")
        assert dict(winner.parameters)["B"] == 32
        assert (winner.median_us, winner.runs, winner.leaf) == (10.0, 3, 3)
        assert winners(store, "another program") == ()
        assert winners(store, "digest", device="another device") == ()
        # A newer result takes the place of an older one.
        store.record(SUBJECT, Result(candidate(32), "wrong", "y[0]"))
        (winner,) = winners(store, "digest")
        assert dict(winner.parameters)["B"] == 64


def test_every_device_and_every_size_has_its_winner_in_order(tmp_path: Path) -> None:
    other = replace(SUBJECT, device="NVIDIA A100", compute_capability="8.0")
    with Store.open(tmp_path / "s") as store:
        for subject in (SUBJECT, other):
            for n in (2048, 512):
                sized = replace(candidate(16), sizes=(("n", n),))
                store.record(subject, replace(result(16, 1.0), candidate=sized))
        found = [(w.device, w.sizes) for w in winners(store, "digest")]
    assert found == [
        ("NVIDIA A100", (("n", 512),)),
        ("NVIDIA A100", (("n", 2048),)),
        ("NVIDIA H200", (("n", 512),)),
        ("NVIDIA H200", (("n", 2048),)),
    ]


def test_a_log_that_has_grown_is_read_again_without_counting_twice(tmp_path: Path) -> None:
    one = Observation("f", "NVIDIA H200", SIZES, (("B", 16),), 0, 12.5)
    two = replace(one, microseconds=13.0)
    with Store.open(tmp_path / "s") as store:
        assert store.observe("digest", [one, one], "a.log") == 2
        assert store.observe("digest", [one, one, two, one], "a.log") == 2
        assert store.observe("digest", [one], "b.log") == 1
        assert list(store.observations("digest")) == [one, one, two, one, one]
        assert list(store.observations("other")) == []


def test_the_tables_are_those_of_the_version() -> None:
    # Whoever changes them raises the version, or old files are read wrongly.
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(database.TABLES)
        columns = {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for table in ("subjects", "results", "observations")
        }
    assert database.VERSION == 2
    assert {table: len(names) for table, names in columns.items()} == {
        "subjects": 7,
        "results": 18,
        "observations": 11,
    }
