"""`comprehensive tune` from the command line: winners, bad input, logs, and missing devices."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from comprehensive.cli.progress import CommandWatch
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.schemas import schema_faults
from tests.unit.tuning.programs import PAIRS

needs_compilers = pytest.mark.skipif(
    find_c_compiler() is None or find_cxx_compiler() is None, reason="no C and C++ compilers on the PATH"
)


def tune(folder: Path, *options: str, text: str = PAIRS, device: str | None = "cpu") -> Result:
    source = folder / "pairs.mf"
    source.write_text(text, encoding="utf-8")
    on = () if device is None else ("--device", device)
    words = ["tune", str(source), "-o", str(folder / "out"), "--registers", "estimate", *on, *options]
    return CliRunner().invoke(cli, words)


def refused(result: Result, exit_code: int, *words: str) -> None:
    assert result.exit_code == exit_code, result.output
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.output


@needs_compilers
def test_winners_are_printed_and_written_and_the_second_run_measures_nothing(tmp_path: Path) -> None:
    options = ("-D", "n=300", "-D", "n=500", "-D", "B=32", "-D", "B=2048")
    first = tune(tmp_path, *options)
    assert first.exit_code == 0, first.output
    assert "n = 300" in first.stdout
    assert "n = 500" in first.stdout
    assert "1 refused: B <= T_B: needed 2048, available 1024 (B = 2048)" in first.stdout
    file = tmp_path / "out" / "pairs.tuned.json"
    written = file.read_bytes()
    document = json.loads(written)
    assert schema_faults("tuned", document) == []
    assert [w["sizes"] for w in document["winners"]] == [{"n": 300}, {"n": 500}]
    second = tune(tmp_path, *options)
    assert second.stdout == first.stdout
    assert file.read_bytes() == written
    assert "compiling" not in second.stderr


@needs_compilers
def test_a_run_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "pairs.mf").write_text(PAIRS, encoding="utf-8")
    options = ("-D", "n=300", "--points", "B=multiples:32:640")
    command = [sys.executable, "-m", "comprehensive", "tune", str(tmp_path / "pairs.mf"), *options]
    command += ["--device", "cpu", "--registers", "estimate", "-o", str(tmp_path / "out")]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.search(r"B = \d+: ", line):
                break
        process.kill()
    resumed = tune(tmp_path, *options, "--json")
    assert resumed.exit_code == 0, resumed.output
    (result,) = json.loads(resumed.stdout)["results"]
    assert sorted(c["parameters"]["B"] for c in result["candidates"]) == list(range(32, 641, 32))
    assert result["measured"] < 20


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[int], None]:
    """Ends the time of `tune` when the store has so many results."""

    def after(results: int) -> None:
        begun = iter([0.0])

        def clock() -> float:
            return next(begun, 1000.0 if _stored(tmp_path / "out" / "tuning.sqlite") >= results else 0.0)

        def watched(limit_s: float | None = None, *, stoppable: bool = False) -> CommandWatch:
            return CommandWatch(sys.stderr, clock, limit_s, draws=False, stoppable=stoppable)

        monkeypatch.setattr("comprehensive.cli.tune.command_watch", watched)

    return after


def _stored(store: Path) -> int:
    if not store.is_file():
        return 0
    with closing(sqlite3.connect(store)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM results").fetchone()[0]
        except sqlite3.OperationalError:  # the tables are not there yet
            return 0


@needs_compilers
def test_a_limit_of_time_keeps_what_was_measured_and_says_what_is_missing(
    tmp_path: Path, limited: Callable[[int], None]
) -> None:
    options = ("-D", "n=300", "-D", "n=500", "--points", "B=multiples:32:160")
    limited(2)
    part = tune(tmp_path, *options, "--time-limit", "10")
    assert part.exit_code == 4, part.output
    first, second = part.stdout.split("  n = 500 ")
    assert " us  B = " in first
    assert "2 candidates: " in first
    assert "3 more not measured: there was no time left for them" in first
    assert "no candidate is right so far" in second
    assert "not begun: there was no time left for it" in second
    assert "warning: the time limit of 10 s was reached" in part.stderr
    document = json.loads((tmp_path / "out" / "pairs.tuned.json").read_text())
    assert [w["sizes"] for w in document["winners"]] == [{"n": 300}]
    limited(6)
    later = tune(tmp_path, *options, "--time-limit", "10", "--json")
    assert later.exit_code == 4
    results = json.loads(later.stdout)["results"]
    assert [(r["measured"], r["missing"], len(r["candidates"])) for r in results] == [(3, 0, 5), (1, 4, 1)]
    limited(1000)
    whole = tune(tmp_path, *options, "--time-limit", "10", "--json")
    assert whole.exit_code == 0, whole.output
    results = json.loads(whole.stdout)["results"]
    assert [(r["measured"], r["missing"], len(r["candidates"])) for r in results] == [(0, 0, 5), (4, 0, 5)]


def test_nothing_is_measured_for_a_part_of_a_tree(tmp_path: Path, limited: Callable[[int], None]) -> None:
    limited(0)
    part = tune(tmp_path, "-D", "n=300", "--time-limit", "10")
    refused(part, 4, "a tree is not decided to its end, and nothing was measured")


@needs_compilers
def test_json_has_every_result(tmp_path: Path) -> None:
    found = tune(tmp_path, "--sizes", "n=300", "--points", "B=multiples:96:192", "--json")
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    (result,) = document["results"]
    assert sorted(c["parameters"]["B"] for c in result["candidates"]) == [96, 192]
    assert {c["verified"] for c in result["candidates"]} == {"equal to the serial C"}
    assert result["measured"] == 2


@needs_compilers
def test_where_no_candidate_is_right_the_exit_code_says_so(tmp_path: Path) -> None:
    found = tune(tmp_path, "-D", "n=300", "-D", "B=2048")
    refused(found, 1, "no candidate is right", "1 refused")
    assert json.loads((tmp_path / "out" / "pairs.tuned.json").read_text())["winners"] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ("CF0907", "n has no value", "-D n=1024")),
        (("-D", "n=-5"), ("CF0908", "n cannot be -5")),
        (("-D", "n=99999999999"), ("CF0908", "to 2147483647")),
        (("-D", "n=1/2"), ("CF0908", "n cannot be 1/2")),
        (("-D", "n=2000000000"), ("CF0902", "n = 2000000000")),
        (("-D", "m=5", "-D", "n=5"), ("CF0906", "no function takes m", "the arguments are n, B")),
        (("-D", "n=5", "--sizes", "n=6"), ("CF0906", "n in --sizes")),
        (("--sizes", "B=6"), ("CF0906", "B in --sizes")),
        (("-D", "n=5", "-D", "B=0"), ("CF0908", "B cannot be 0")),
        (("-D", "n=5", "--points", "B=0:3"), ("CF0908", "B cannot be 0")),
        (("-D", "n"), ("expected NAME=NUMBER",)),
        (("--sizes", "n=5,n=6"), ("given twice",)),
        (("-D", "n=5", "--top", "0"), ("--top",)),
        (("-D", "n=5", "--device", "tpu"), ("CF0901", "'tpu' is not known")),
        (("-D", "n=5", "--passes", "no-such"), ("CF1022", "there is no pass 'no-such'")),
        (("-D", "n=5", "--passes", "auto"), ("CF1022", "there is no pass 'auto'")),
        (("-D", "n=5", "--passes", "dce", "--passes", "dce{"), ("CF1021", "this brace is not closed")),
        (("-D", "n=5", "--passes", "register-cap{registers=300}"), ("CF1023", "24 to 255")),
        (("-D", "n=5", "--passes", " "), ("--passes names no pass",)),
        (("-D", "n=5", "--passes", "dce"), ("CF0918", "the device cpu runs no PTX")),
        (("-D", "n=5", "--caps", "2"), ("CF0918", "leave --passes and --caps out")),
        (("-D", "n=5", "--device", "cpu:0"), ("CF0901",)),
    ],
)
def test_a_wrong_command_line_is_told_what_is_wrong(
    tmp_path: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(tune(tmp_path, *options), 2, *words)


def test_data_that_does_not_fit_into_memory_is_refused_before_anything_runs(tmp_path: Path) -> None:
    text = PAIRS.replace("int n,", "long n,").replace("int dim", "long dim").replace("int i =", "long i =")
    refused(tune(tmp_path, "-D", "n=1000000000000", text=text), 2, "CF0905", "16000000000000 bytes")


def test_without_a_gpu_one_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(tune(tmp_path, "-D", "n=5", device=None), 3, "no GPU", "--device cpu")


@needs_compilers
def test_a_gpu_that_nvidia_smi_cannot_reach_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(tune(tmp_path, "-D", "n=5", device="gpu:0"), 3, "NVIDIA-SMI has failed")


@needs_compilers
def test_without_nvcc_a_gpu_is_of_no_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho '0, GPU-1, NVIDIA H200, 9.0, 580.1'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    empty = tmp_path / "cuda"
    empty.mkdir()
    result = tune(tmp_path, "-D", "n=5", "--cuda-path", str(empty), device="gpu")
    refused(result, 3, "nvcc")
    refused(tune(tmp_path, "-D", "n=5", device="gpu:3"), 2, "CF0901", "there is no GPU 3")


def test_a_damaged_database_is_left_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "mine.sqlite"
    store.write_text("not a database, and dear to its owner")
    refused(tune(tmp_path, "-D", "n=5", "--store", str(store)), 2, "CF0912")
    assert store.read_text() == "not a database, and dear to its owner"


@needs_compilers
def test_a_source_that_is_no_c_is_told_with_its_place(tmp_path: Path) -> None:
    text = PAIRS.replace("int dim =", "int other = UNKNOWN; int dim =")
    refused(tune(tmp_path, "-D", "n=5", text=text), 1, "CF0707", "pairs.mf:3")


def test_a_log_is_read_and_its_bad_lines_are_told_and_skipped(tmp_path: Path) -> None:
    lines = [
        "# from the machine in the corner",
        "pairs; NVIDIA H200; n=1024; B=64; 0; 12.5",
        "",
        "pairs; NVIDIA H200; n=1024; B=64; 0; fast",
        "pairs; NVIDIA H200; n=1024",
        "other; NVIDIA H200; n=1024; B=64; 0; 12.5",
        "pairs; NVIDIA H200; n=1024; B=; 0; 12.5",
        "pairs; NVIDIA H200; m=1024; B=64; 0; 12.5",
        "pairs; NVIDIA H200; n=1024; B=64; none; 12.5",
        "pairs; ; n=1024; B=64; 0; 12.5",
        "pairs; NVIDIA H200; n=1024; B=64; 0; 0",
        "pairs; NVIDIA H200; n=2048; B=64; 0; 2.5e1",
    ]
    log = tmp_path / "times.log"
    log.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    result = tune(tmp_path, "--import", str(log), device=None)
    assert result.exit_code == 0, result.output
    assert result.stdout == "2 new observations, 9 lines skipped\n"
    for number in (4, 5, 6, 7, 8, 9, 10, 11, 13):
        assert f"times.log:{number}:1: warning: line skipped" in result.stderr
    with closing(sqlite3.connect(tmp_path / "out" / "tuning.sqlite")) as connection:
        rows = connection.execute("SELECT sizes, microseconds FROM observations ORDER BY id").fetchall()
    assert rows == [('[["n", 1024]]', 12.5), ('[["n", 2048]]', 25.0)]
    again = tune(tmp_path, "--import", str(log), "-W", "error", device=None)
    refused(again, 1, "0 new observations")


def test_a_log_that_is_not_there_is_told(tmp_path: Path) -> None:
    refused(tune(tmp_path, "--import", str(tmp_path / "none.log")), 2, "CF0922", "none.log")
