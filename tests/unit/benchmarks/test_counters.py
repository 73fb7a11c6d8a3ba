"""The log of ncu is read: its numbers, metrics and launches."""

from __future__ import annotations

from benchmarks.gpu.counters import COUNTERS, cells, launches, read

LOG = """==PROF== Connected to process 7
"ID","Kernel Name","dram__bytes_read.sum","gpu__time_duration.sum","other"
"","","byte","nsecond",""
"0","f","1,073,600,000","250,000","x"
"""


def test_numbers_have_commas_and_messages_stand_between() -> None:
    assert read(LOG) == {"dram__bytes_read.sum": 1073.6e6, "gpu__time_duration.sum": 250e3}
    found = list(cells(read(LOG)))
    assert found[:3] == ["250.0", "1074", ""]
    assert len(found) == len(COUNTERS)


def test_a_metric_that_the_device_does_not_have_is_left_out() -> None:
    assert read(LOG.replace('"250,000"', '"n/a"')) == {"dram__bytes_read.sum": 1073.6e6}


def test_a_run_without_a_launch_says_so() -> None:
    assert read("==WARNING== No kernels were profiled.\n") == "ncu has seen no launch"
    assert next(iter(cells("no permission"))) == "did not run: no permission"


def test_every_launch_is_of_a_case() -> None:
    assert len(launches()) == 8
