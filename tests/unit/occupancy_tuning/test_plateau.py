"""The level that is kept: of those within 2 % of the fastest, the one that takes the least."""

from __future__ import annotations

from comprehensive.machine.device import load_device
from comprehensive.machine.occupancy import occupancy
from comprehensive.occupancy_tuning.level import Level, Setting
from comprehensive.occupancy_tuning.plateau import plateau

DEVICE = load_device("h200")


def level(registers: int, threads: int = 256, resident: int | None = None) -> Level:
    held = occupancy(
        DEVICE, threads_per_block=threads, registers_per_thread=registers, shared_bytes_per_block=0
    )
    return Level(Setting("", threads, resident), registers, 0, 0, held, "")


def test_of_levels_as_fast_as_the_fastest_the_one_with_the_fewest_warps_is_kept() -> None:
    levels = (level(32), level(64), level(128), level(255))
    assert [each.warps for each in levels] == [64, 32, 16, 8]
    found = plateau(levels, (1.0, 1.01, 1.019, 1.03))
    assert found is not None
    assert (found.members, found.chosen) == ((0, 1, 2), 2)


def test_of_as_many_warps_fewer_registers_are_kept_and_then_the_first() -> None:
    found = plateau((level(40), level(33), level(33)), (1.0, 1.0, 1.0))
    assert found is not None
    assert found.chosen == 1


def test_persistent_blocks_count_as_many_as_stay() -> None:
    levels = (level(32), level(32, resident=2))
    assert [each.warps for each in levels] == [64, 16]
    assert [float(each.fraction) for each in levels] == [1.0, 0.25]
    found = plateau(levels, (1.0, 1.0))
    assert found is not None
    assert found.chosen == 1


def test_levels_without_a_time_are_none_of_it() -> None:
    assert plateau((level(32), level(64)), (None, None)) is None
    found = plateau((level(32), level(64)), (2.0, None))
    assert found is not None
    assert found.members == (0,)
