"""The occupancy calculator against first principles and against an independent simulation."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.machine.device import Device, devices, load_device
from comprehensive.machine.occupancy import occupancy, register_cliffs
from tests.examples import examples


def _simulate(device: Device, threads: int, registers: int, shared: int, barriers: int) -> int:
    """Fills a multiprocessor block by block until the next one does not fit."""
    warps = (threads + 31) // 32
    per_warp = next(r for r in range(0, 1 << 20, device.register_unit_per_warp) if r >= registers * 32)
    if threads > device.max_threads_per_block or registers > device.max_registers_per_thread:
        return 0
    if shared > device.optin_shared_bytes_per_block:
        return 0
    # A block must be launchable with its warps spread evenly over the schedulers.
    if per_warp * 4 * ((warps + 3) // 4) > device.registers_per_block:
        return 0
    unit = device.shared_granularity_bytes
    per_block = (shared + device.reserved_shared_bytes_per_block + unit - 1) // unit * unit
    warp_slots = sum(
        1
        for _ in range(device.sub_partitions)
        for slot in range(device.max_warps_per_sm)
        if (slot + 1) * per_warp <= device.registers_per_sm // device.sub_partitions
    )
    blocks = 0
    while (
        blocks + 1 <= device.max_blocks_per_sm
        and (blocks + 1) * warps <= min(device.max_warps_per_sm, warp_slots)
        and (blocks + 1) * per_block <= device.shared_bytes_per_sm
        and (blocks + 1) * barriers <= device.barrier_slots_per_sm
    ):
        blocks += 1
    return blocks


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from(devices()),
    st.integers(1, 1100),
    st.integers(1, 260),
    st.integers(0, 240_000),
    st.integers(0, 16),
)
def test_occupancy_is_what_filling_a_multiprocessor_block_by_block_gives(
    device, threads, registers, shared, barriers
):
    held = occupancy(
        device,
        threads_per_block=threads,
        registers_per_thread=registers,
        shared_bytes_per_block=shared,
        barriers_per_block=barriers,
    )
    assert held.blocks_per_sm == _simulate(device, threads, registers, shared, barriers)
    assert 0 <= held.fraction <= 1


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limits"),
    [
        # 65536 registers / (256 threads * 32 registers) = 8 blocks, which are all 64 warps too.
        ("sm_90", 256, 32, 0, 8, ("threads", "registers")),
        # 33 registers round up to 40: 16384 // 1280 = 12 warps a sub-partition, 48 warps, 6 blocks.
        ("sm_90", 256, 33, 0, 6, ("registers",)),
        # 227 KiB and the reserved one fill the 228 KiB.
        ("sm_90", 128, 32, 227 * 1024, 1, ("shared memory",)),
        ("sm_90", 128, 32, 227 * 1024 + 1, 0, ("shared memory",)),
        # 48 KiB + 1 KiB reserved go 4 times into 228 KiB.
        ("sm_90", 64, 32, 48 * 1024, 4, ("shared memory",)),
        ("sm_75", 64, 16, 0, 16, ("threads", "blocks")),
        ("sm_90", 32, 16, 0, 32, ("blocks",)),
        # 1024 * 72 > 65536
        ("sm_90", 1024, 65, 0, 0, ("registers",)),
        ("sm_90", 1025, 16, 0, 0, ("threads",)),
    ],
)
def test_occupancy_names_the_limits_that_bind(arch, threads, registers, shared, blocks, limits):
    held = occupancy(
        load_device(arch),
        threads_per_block=threads,
        registers_per_thread=registers,
        shared_bytes_per_block=shared,
    )
    assert held.blocks_per_sm == blocks
    assert held.limits == limits


def test_the_fraction_is_exact():
    held = occupancy(
        load_device("sm_86"), threads_per_block=160, registers_per_thread=40, shared_bytes_per_block=0
    )
    assert held.fraction == Fraction(45, 48)


def test_one_register_beyond_a_cliff_loses_a_block():
    device = load_device("sm_90")
    cliffs = register_cliffs(device, threads_per_block=256, shared_bytes_per_block=0)
    assert cliffs == ((255, 1), (128, 2), (80, 3), (64, 4), (48, 5), (40, 6), (32, 8))
    for registers, blocks in cliffs[1:]:
        beyond = occupancy(
            device, threads_per_block=256, registers_per_thread=registers + 1, shared_bytes_per_block=0
        )
        assert beyond.blocks_per_sm < blocks


def test_there_is_no_cliff_where_no_block_fits():
    assert register_cliffs(load_device("sm_75"), threads_per_block=64, shared_bytes_per_block=1 << 20) == ()


@pytest.mark.parametrize(("threads", "registers"), [(0, 32), (-1, 32), (32, -1)])
def test_an_impossible_question_is_an_error(threads, registers):
    with pytest.raises(ValueError):
        occupancy(
            load_device("sm_90"),
            threads_per_block=threads,
            registers_per_thread=registers,
            shared_bytes_per_block=0,
        )
