"""Workers that end early, say nothing or never end: every case gets an outcome, in order."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.running import DEVICE_LOST, outcomes

WORKER = f"""
import json, os, sys, time
peer, *cases = sys.argv[1:]
for case in cases:
    if case == "crash":
        print("what went wrong", file=sys.stderr)
        os._exit(7)
    if case == "hang":
        time.sleep(600)
    reason = "device lost" if case == "lost" else ""
    told = dict(case=case, peer=peer, times=[] if reason else [1.0], reason=reason)
    print(json.dumps(told), flush=True)
    if reason:
        os._exit({DEVICE_LOST})
"""


@pytest.fixture
def worker(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "worker.py").write_text(WORKER, encoding="utf-8")
    return (sys.executable, str(tmp_path / "worker.py"))


def test_all_cases_run_in_one_process(worker: tuple[str, ...]) -> None:
    found = list(outcomes("peer", ["a", "b"], 60, worker))
    assert found == [Outcome("a", "peer", (1.0,)), Outcome("b", "peer", (1.0,))]


def test_a_crash_costs_its_case_and_the_others_run(worker: tuple[str, ...]) -> None:
    found = list(outcomes("peer", ["a", "crash", "b"], 60, worker))
    assert [each.case for each in found] == ["a", "crash", "b"]
    assert [each.ran for each in found] == [True, False, True]
    assert found[1].reason == "the process ended with status 7: what went wrong"


def test_behind_a_lost_device_another_process_goes_on(worker: tuple[str, ...]) -> None:
    found = list(outcomes("peer", ["lost", "b"], 60, worker))
    assert [(each.case, each.reason) for each in found] == [("lost", "device lost"), ("b", "")]


def test_what_takes_too_long_is_ended_and_said_so(worker: tuple[str, ...]) -> None:
    found = list(outcomes("peer", ["a", "hang", "b"], 2, worker))
    assert [each.case for each in found] == ["a", "hang", "b"]
    assert [each.reason for each in found[1:]] == ["not done within the 2 s of this peer"] * 2
