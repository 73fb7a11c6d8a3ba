"""Speeds are medians of runs, and what is no measurement is refused."""

from __future__ import annotations

import pytest

from comprehensive.calibration.measured import PLAUSIBLE, RULES, measured
from comprehensive.calibration.samples import read_samples
from comprehensive.diagnostics import CompileError
from comprehensive.machine.device import devices
from comprehensive.machine.speeds import SPEEDS
from tests.unit.calibration.answers import KEPT_BYTES, L2_BYTES, answer, rereads


def test_every_speed_is_measured_in_the_order_of_the_table() -> None:
    found = {speed.name: speed.value for speed in measured(read_samples(answer()))}
    kept = found.pop("kept_bytes")
    assert list(found) == [name for name in SPEEDS if name != "kept_bytes"]
    assert found == {
        "multiprocessors": 132,
        "issued_per_cycle": 4,
        "wide_lanes": 64,
        "wide_tensor_lanes": 128,
        "half_tensor_lanes": 1252,
        "l2_bytes_per_kilocycle": 16970,  # 0.7 of 24240
        "dram_bytes_per_kilocycle": 2146000,
        "global_latency_cycles": 508,  # half way between 305 and 710
        "shared_latency_cycles": 23,
        "barrier_cycles": 26,
        "warp_start_cycles": 39,
        "block_cycles": 412,
        "turn_cycles": 625,
        "launch_cycles": 2300,  # without the block
    }
    # Half way between the last size that is read fast and the first one that is not.
    sizes = sorted(int(L2_BYTES * 2 ** (step / 4)) for step in range(-12, 13))
    last = max(size for size in sizes if size <= KEPT_BYTES)
    first = min(size for size in sizes if size > KEPT_BYTES)
    assert kept == pytest.approx((last + first) / 2, rel=1e-3)


def test_the_rules_and_what_is_plausible_have_the_names_of_the_speeds() -> None:
    assert list(RULES) == list(PLAUSIBLE) == list(SPEEDS)


def test_what_the_table_has_of_any_device_is_plausible() -> None:
    for device in devices():
        for name, value in device.machine().items():
            if name in SPEEDS:
                least, most = PLAUSIBLE[name]
                assert least <= value <= most, (device.name, name, value)


def test_the_spread_is_that_of_all_runs() -> None:
    (turn,) = [speed for speed in measured(read_samples(answer())) if speed.name == "turn_cycles"]
    assert turn.spread == pytest.approx(10 / 625)


def test_one_run_that_is_out_of_the_way_does_not_matter() -> None:
    others = {name: "1 1 1 1 1".replace("1", numbers.split()[0]) for name, numbers in RUNS_OF_ONE.items()}
    curve = "\n".join(f"{line} {line.split()[2]} {line.split()[2]}" for line in rereads().splitlines()) + "\n"
    text = answer(curve=curve, **{**others, "turn": "600 610 9000 620 605"})
    (turn,) = [speed for speed in measured(read_samples(text)) if speed.name == "turn_cycles"]
    assert turn.value == 610
    assert turn.spread > 10


RUNS_OF_ONE = {line.split()[1]: line.split()[2] for line in answer().splitlines() if line.startswith("runs ")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (answer(warp_start="-3 -3 -3"), "warp_start_cycles is -3, and not between"),
        (answer(dram="0 0 0"), "dram_bytes_per_kilocycle is 0"),
        (answer(launch="400 400 400"), "launch_cycles is -12"),
        (answer(turn="300 600 900"), "turn_cycles is 300 in one run and 900 in another one"),
        (answer(curve=rereads(kept=2400)), "kept_bytes is not to be seen: 2400 bytes"),
        (answer(curve=rereads(most_step=3)), "much more or much less"),
        (answer(curve=rereads(least_step=0)), "much more or much less"),
        (
            answer(curve=rereads() + "reread 9999999999 3200 3200 3200\n"),
            "the most that is read again is as fast as a little",
        ),
    ],
)
def test_what_is_no_measurement_is_refused(text: str, words: str) -> None:
    with pytest.raises(CompileError) as refused:
        measured(read_samples(text))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "CF0956"
    assert words in diagnostic.message
    assert diagnostic.help is not None
    assert "try again" in diagnostic.help
