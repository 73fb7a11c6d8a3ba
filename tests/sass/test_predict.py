"""Predictions: bounds by hand, what makes them larger and smaller, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.machine.device import load_device
from comprehensive.records import replace
from comprehensive.sass.errors import SassError
from comprehensive.sass.frequencies import frequencies
from comprehensive.sass.function import SassFunction
from comprehensive.sass.launch import Launch
from comprehensive.sass.paper import stalls_of_paper
from comprehensive.sass.predict import ISSUE, Prediction, predict
from tests.sass.code import function

H200 = load_device("h200")
# One block on every multiprocessor.
ONE = Launch(threads_per_block=128, blocks=132)

LOOP = """
    stall=2 | MOV R1,R2
    stall=2 write=0 | LDG.E R4,[R2.64]
    stall=4 wait=0 | FADD R5,R4,R5
    stall=5 | @P0 BRA 0x10
    stall=5 | EXIT
"""


def predicted(text: str, launch: Launch = ONE, **takes: int) -> Prediction:
    return predict(function(text, **takes), H200, launch)


def test_the_bounds_of_one_block_on_each_multiprocessor() -> None:
    found = predicted(LOOP, Launch(128, 132, trips={"L0": 64}))
    # Of a round: 692 cycles until the value is there, 4 and 5 behind it.
    assert found.warp_cycles == 2 + 64 * (692 + 4 + 5) + 5
    # The turn to the next block takes 400.
    assert found.latency_cycles == found.warp_cycles + 400
    assert found.rounds == 1
    # Four warps on four schedulers; 32 lanes of the load-store pipe take one cycle each.
    assert found.pipe_cycles[ISSUE] == 2 + 64 * 3
    assert found.pipe_cycles["load_store"] == 4 * 64
    assert found.issue_cycles == 4 * 64
    assert found.memory_cycles == 0
    assert found.binds == "latency"
    assert found.cycles == pytest.approx(found.latency_cycles)
    assert found.global_bytes_in_flight == pytest.approx(4 * 64 * 128 * 692 / found.warp_cycles)


def test_loops_of_which_nothing_is_known_run_ten_times_a_level() -> None:
    assert predicted(LOOP) == predicted(LOOP, Launch(128, 132, trips={"L0": 10}))


def test_wide_accesses_and_those_beside_a_row_take_the_pipe_longer() -> None:
    def pipe(access: str) -> float:
        return predicted(f"write=0 | {access}\n| EXIT").pipe_cycles["load_store"] / 4

    assert pipe("LDG.E R4,[R2.64]") == 1
    assert pipe("LDG.E.64 R4,[R2.64]") == 2
    assert pipe("LDS.128 R4,[R2]") == 4
    assert pipe("LDG.E R4,desc[UR4][R2.64+0x4]") == pytest.approx(1.08)
    assert pipe("LDG.E R4,desc[UR4][R2.64+-0x80]") == 1
    assert pipe("LDS R4,[R2+0x4]") == 1
    assert pipe("SHFL.DOWN PT,R4,R2,0x1,0x1f") == 1
    assert pipe("LDSM.16.M88.4 R4,[R2]") == 4


def test_more_warps_at_once_hide_waiting_until_issue_binds() -> None:
    launch = Launch(128, 132 * 16)
    few, many = predicted(LOOP, launch, registers=255), predicted(LOOP, launch, registers=32)
    assert (few.occupancy.blocks_per_sm, many.occupancy.blocks_per_sm) == (2, 16)
    assert (few.rounds, many.rounds) == (8, 1)
    assert few.latency_cycles == 8 * many.latency_cycles
    assert few.issue_cycles == many.issue_cycles


def test_loads_that_are_under_way_together_are_worth_as_much_as_warps() -> None:
    together = "write=0 | LDG.E R4,[R2]\nwrite=0 | LDG.E R5,[R3]\nwait=0 | FADD R5,R4,R5\n| EXIT"
    apart = (
        "write=0 | LDG.E R4,[R2]\nwait=0 | MOV R6,R4\nwrite=0 | LDG.E R5,[R3]\nwait=0 | FADD R5,R6,R5\n| EXIT"
    )
    assert predicted(apart).warp_cycles > 1.9 * predicted(together).warp_cycles


def test_local_stores_are_paid_at_the_rate_of_the_second_level_cache() -> None:
    spilled = predicted("read=0 | STL [R1],R2\n| EXIT", frame_bytes=4)
    shared = predicted("read=0 | STS [R1],R2\n| EXIT")
    cycles = 4 * 128 * 1000 / 17200
    assert spilled.local_cycles == pytest.approx(cycles)
    assert spilled.latency_cycles - shared.latency_cycles == pytest.approx(cycles)
    assert spilled.memory_cycles == pytest.approx(cycles)


def test_local_loads_cost_more_where_frames_do_not_fit_the_first_level_cache() -> None:
    text = "write=0 | LDL R4,[R1]\nwait=0 | FADD R5,R4,R4\n| EXIT"
    launch = Launch(128, 132 * 16)
    fits = predicted(text, launch, frame_bytes=64)
    beyond = predicted(text, launch, frame_bytes=1024)
    assert fits.local_cycles == 0
    assert fits.warp_cycles == 34 + 1 + 1
    # 2 MB of frames; 256 KB of cache, of which each of 16 blocks takes 1 KB for the system.
    missed = 1 - 240 / 2048
    assert beyond.warp_cycles == pytest.approx(34 + (285 - 34) * missed + 2)
    assert beyond.local_cycles == pytest.approx(64 * 128 * 1000 / 22000 * missed)
    carved = predicted(text, launch, frame_bytes=64, shared_bytes=13 * 1024)
    assert carved.local_cycles > 0, "shared memory leaves less of the cache"


def test_traffic_that_the_caller_knows_bounds_the_launch_and_places_its_loads() -> None:
    text = "write=0 | LDG.E R4,[R2]\nwait=0 | FADD R5,R4,R4\n| EXIT"
    asked = 132 * 4 * 128
    cold, warm, half = (predicted(text, Launch(128, 132, global_bytes=n)) for n in (asked, 0, asked // 2))
    assert cold.warp_cycles == 692 + 2
    assert warm.warp_cycles == 32 + 2
    assert half.warp_cycles == (692 + 32) / 2 + 2
    assert predicted(text, Launch(128, 132, global_bytes=10**9)).binds == "memory"
    assert cold.memory_cycles == pytest.approx(asked * 1000 / 2146000)


def test_what_ptxas_puts_aside_counts_nothing() -> None:
    text = "@P0 BRA 0x30\nMOV R4,0x30\nCALL.REL $__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath\nEXIT"
    assert frequencies(function(text), {})[0] == (1, 0, 1)
    assert frequencies(function("BRA.DIV UR4,0x20\nEXIT\nSHFL.IDX PT,R1,R2\nBRA 0x10"), {})[0] == (1, 1, 0)


def test_a_procedure_runs_as_often_as_it_is_called() -> None:
    kernel = "MOV R4,0x20\nCALL.REL f1\n@P0 BRA 0x0\nCALL.REL f2\nEXIT"
    found = frequencies(
        function(kernel, "CALL.REL f2\nRET.REL R4", "@P1 BRA 0x0\nRET.REL R4"), {"L0": 3, "L1": 5}
    )
    assert found == ((3, 3, 1, 1), (3, 3), (4 * 5, 4))


def test_recursion_ends() -> None:
    assert frequencies(function("CALL.REL f1\nEXIT", "@P0 CALL.REL f1\nRET.REL R4"), {})[1] == (1, 1)


def test_the_paper_counts_stalls_contention_and_what_is_left_of_waits() -> None:
    def stalls(text: str, launch: Launch = ONE) -> float:
        return stalls_of_paper(function(text), H200, launch).cycles

    # 16 blocks of 4 warps: full occupancy. The most are 128 results a clock; loads have 32, special functions 16.
    assert stalls("stall=4 | FADD R1,R2,R3\nstall=1 | EXIT") == 5
    assert stalls("stall=4 | MUFU.RCP R1,R2\nstall=1 | EXIT") == 4 * 8 + 1
    load = "stall=2 write=0 | LDG.E R4,[R2]\nstall=10 | FADD R1,R2,R3\n"
    assert stalls(load + "wait=0 stall=1 | FADD R1,R4,R4\nstall=1 | EXIT") == 8 + 10 + (200 - 18) + 1 + 1
    stored = "stall=1 read=1 | STS [R1],R2\nwait=1 stall=1 | MOV R2,R3\nwait=1 stall=1 | EXIT"
    assert stalls(stored) == 4 + (24 - 4) + 2 + 1
    assert stalls(LOOP) - stalls(LOOP, Launch(128, 132, trips={"L0": 9})) == 8 + 4 + 5 + 192
    half = stalls_of_paper(function("stall=4 | FADD R1,R2,R3\nstall=2 | EXIT", registers=64), H200, ONE)
    assert (half.cycles, half.occupancy) == (3, 0.5)


@pytest.mark.parametrize(
    ("launch", "code", "said"),
    [
        (Launch(128, trips={"L7": 3}), "CF1205", "has no loop L7"),
        (Launch(128, trips={"L0": -1}), "CF1206", "-1 rounds of loop L0"),
        (Launch(0), "CF1206", "0 threads"),
        (Launch(1025), "CF1206", "no block of 1025 threads"),
        (Launch(128, 0), "CF1206", "0 blocks"),
        (Launch(128, shared_bytes=1 << 20), "CF1206", "shared memory"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(launch: Launch, code: str, said: str) -> None:
    for predictor in (predict, stalls_of_paper):
        with pytest.raises(SassError, match=said) as error:
            predictor(function(LOOP), H200, launch)
        assert error.value.diagnostics[0].code == code


@pytest.mark.parametrize(
    ("architecture", "device", "said"),
    [
        (100, "sm_100", "sm_100 has no throughput"),
        (90, "sm_80", "compiled for sm_90, and sm_80 runs code for sm_80"),
        (80, "h200", "compiled for sm_80, and NVIDIA H200 runs code for sm_90"),
        (86, "sm_80", "compiled for sm_86"),
    ],
)
def test_a_device_that_does_not_run_the_code_or_is_not_known_is_refused(
    architecture: int, device: str, said: str
) -> None:
    code = replace(function(LOOP), architecture=architecture)
    with pytest.raises(SassError, match=said) as error:
        predict(code, load_device(device), ONE)
    assert error.value.diagnostics[0].code == "CF1207"


def test_code_runs_on_later_devices_of_its_generation(tmp_path: Path) -> None:
    later = tmp_path / "later.toml"
    later.write_text('name = "later"\nbase = "sm_90"\ncompute_capability = 91\n')
    assert predict(function(LOOP), load_device(later), ONE) == predict(
        function(LOOP), load_device("sm_90"), ONE
    )


def test_a_function_is_not_changed_by_being_predicted() -> None:
    one, other = function(LOOP), function(LOOP)
    assert predict(one, H200, ONE) == predict(other, H200, ONE)
    assert isinstance(one, SassFunction)
    assert one == other
