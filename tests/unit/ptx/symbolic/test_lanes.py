"""The distance of addresses between lanes."""

from __future__ import annotations

import pytest

from comprehensive.ptx.symbolic.emulator import Emulation, emulate
from comprehensive.ptx.symbolic.neighbours import Neighbours
from comprehensive.ptx.symbolic.solver import Solver
from tests.ptx.random_programs import analysed

START = "ld.param.u64 %rd0, [a]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;"


def of_two_loads(body: str, tuning: str = "") -> tuple[Emulation, int, int]:
    """Addresses in %rd1 and %rd2."""
    text = f"{START}{body} ld.global.nc.u32 %r8, [%rd1]; ld.global.nc.u32 %r9, [%rd2]; st.global.u32 [%rd0], %r9; ret;"
    emulation = emulate(analysed(text, tuning))
    first, second = (
        n for n, s in enumerate(emulation.analyses.flow.steps) if "nc" in s.instruction.opcode.modifiers
    )
    return emulation, first, second


@pytest.mark.parametrize(
    ("one", "other", "lanes", "wraps"),
    [
        ("mul.wide.u32 %rd1, %r2, 4;", "add.s64 %rd2, %rd1, 12;", 3, 0),
        ("mul.wide.u32 %rd1, %r2, 4;", "add.s64 %rd2, %rd1, -4;", -1, 0),
        ("mul.wide.u32 %rd1, %r2, 4;", "add.s64 %rd2, %rd1, 0;", 0, 0),
        ("mul.wide.u32 %rd1, %r2, 4;", "add.s64 %rd2, %rd1, 2;", None, 0),
        ("mul.wide.u32 %rd1, %r2, 4;", "add.s64 %rd2, %rd1, 128;", None, 0),
        ("mul.wide.u32 %rd1, %r2, 4;", "mov.u64 %rd2, %rd0;", None, 0),
        # Both indices wrap alike: what is the same number modulo 2^32 is the same number.
        (
            "add.s32 %r3, %r2, %r1; mul.wide.s32 %rd1, %r3, 4;",
            "add.s32 %r4, %r3, 2; mul.wide.s32 %rd2, %r4, 4;",
            2,
            0,
        ),
        ("add.s32 %r3, %r2, %r1; mul.wide.s32 %rd1, %r3, 4;", "add.s64 %rd2, %rd1, 8;", 2, 1),
        # The number of a sum beside the sum of numbers.
        (
            "mul.lo.s32 %r5, %r2, 3; add.s32 %r5, %r5, %r1; add.s32 %r3, %r5, %r1; mul.wide.s32 %rd1, %r3, 4;",
            "mul.wide.s32 %rd2, %r5, 4; mul.wide.s32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;",
            0,
            1,
        ),
        ("shr.u32 %r3, %r2, 1; mul.wide.u32 %rd1, %r3, 4;", "add.s64 %rd2, %rd1, 4;", 2, 0),
        ("shr.u32 %r3, %r2, 1; mul.wide.u32 %rd1, %r3, 4;", "add.s64 %rd2, %rd1, 8;", 4, 0),
        ("div.u32 %r3, %r2, 3; mul.wide.u32 %rd1, %r3, 4;", "add.s64 %rd2, %rd1, 4;", 3, 0),
        ("and.b32 %r3, %r2, 7; mul.wide.u32 %rd1, %r3, 4;", "add.s64 %rd2, %rd1, 4;", 1, 1),
        ("xor.b32 %r3, %r2, 1; mul.wide.u32 %rd1, %r3, 4;", "mul.wide.u32 %rd2, %r2, 4;", None, 0),
    ],
)
def test_the_nearest_lane_that_has_it(one: str, other: str, lanes: int | None, wraps: int) -> None:
    emulation, first, second = of_two_loads(f"{one} {other}")
    found = Neighbours(emulation).of(second)
    if lanes is None:
        assert found == ()
        return
    assert found[0].lanes == lanes
    assert found[0].elements[0].step == first
    assert len(found[0].wraps) == wraps
    if wraps:
        assert Neighbours(emulation, assume_no_wrap=True).of(second)[0].wraps == ()


def test_what_a_branch_says_is_known_of_both_lanes() -> None:
    body = "add.s32 %r3, %r2, %r1; setp.gt.s32 %p1, %r3, 100; @%p1 ret; mul.wide.s32 %rd1, %r3, 4; add.s64 %rd2, %rd1, "
    for bytes_, wraps in ((4, 0), (-4, 0)):
        emulation, _, second = of_two_loads(f"{body}{bytes_};")
        assert len(Neighbours(emulation).of(second)[0].wraps) == wraps
    # Of a number that may be anything but the greatest, one less does not wrap in both lanes; two less may.
    body = body.replace("%r3, 100", "%r3, 2147483646")
    for bytes_, wraps in ((4, 0), (-4, 0), (8, 1), (-8, 1)):
        emulation, _, second = of_two_loads(f"{body}{bytes_};")
        assert len(Neighbours(emulation).of(second)[0].wraps) == wraps


def test_what_lanes_load_from_neighbouring_places_is_itself_a_neighbour() -> None:
    body = (
        "mul.wide.u32 %rd3, %r2, 4; add.s64 %rd3, %rd3, %rd0; ld.global.nc.u32 %r3, [%rd3]; "
        "ld.global.nc.u32 %r4, [%rd3+4]; mul.wide.u32 %rd1, %r3, 8; mul.wide.u32 %rd2, %r4, 8;"
    )
    emulation = emulate(
        analysed(f"{START}{body} ld.global.nc.u64 %rd4, [%rd1]; ld.global.nc.u64 %rd5, [%rd2]; ret;")
    )
    loads = [n for n, s in enumerate(emulation.analyses.flow.steps) if "u64" in s.instruction.opcode.types]
    (first, second) = (
        n for n in loads if "nc" in emulation.analyses.flow.steps[n].instruction.opcode.modifiers
    )
    forms = [emulation.sightings[n][0].address for n in (first, second)]
    assert None not in forms
    assert forms[0] is not None
    assert emulation.lanes.shifted(forms[0], 1) == forms[1]


@pytest.mark.parametrize(
    ("inside", "behind"),
    [
        ("", "add.s32 %r6, %r2, %r4;"),
        ("shr.u32 %r5, %r4, 1;", "shr.u32 %r5, %r4, 1; add.s32 %r6, %r2, %r5;"),
        ("mul.lo.s32 %r5, %r5, 3; add.s32 %r7, %r5, 1;", "add.s32 %r6, %r2, %r7;"),
        ("ld.global.u32 %r7, [%rd0];", "add.s32 %r6, %r2, %r7;"),
    ],
)
@pytest.mark.parametrize(("bound", "lanes"), [("%r1", [1]), ("%r3", [])])
def test_what_a_loop_has_left_differs_where_lanes_leave_it_in_different_rounds(
    inside: str, behind: str, bound: str, lanes: list[int]
) -> None:
    body = (
        "and.b32 %r3, %r2, 7; mov.u32 %r4, 0; mov.u32 %r5, 1;\n"
        f"AGAIN: {inside} add.s32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {bound}; @%p1 bra AGAIN;\n"
        f"{behind} mul.wide.u32 %rd1, %r6, 4; add.s64 %rd2, %rd1, 4;"
    )
    emulation, _, second = of_two_loads(body)
    found = Neighbours(emulation, assume_no_wrap=True).of(second)
    assert [each.lanes for each in found] == lanes


def test_the_solver_knows_that_what_lanes_have_loaded_differs() -> None:
    body = (
        "mul.wide.u32 %rd3, %r2, 4; add.s64 %rd3, %rd3, %rd0; ld.global.u32 %r3, [%rd3]; "
        "ld.global.u32 %r4, [%rd3+4]; and.b32 %r3, %r3, 5; mul.wide.u32 %rd3, %r2, 4; "
        "mad.wide.u32 %rd1, %r3, 4, %rd3; add.s64 %rd2, %rd1, 4;"
    )
    emulation, _, second = of_two_loads(body)
    assert Neighbours(emulation).of(second) == ()


def test_the_solver_has_a_limit() -> None:
    emulation, first, second = of_two_loads(
        "div.u32 %r3, %r2, 3; mul.wide.u32 %rd1, %r3, 4; add.s64 %rd2, %rd1, 4;"
    )
    addresses = [emulation.sightings[n][0].address for n in (first, second)]
    assert addresses[0] is not None
    assert addresses[1] is not None
    solver = Solver(emulation.arithmetic, emulation.lanes, queries=2)
    assert solver.proves(addresses[0], addresses[1], 3, 0) is True
    assert solver.proves(addresses[0], addresses[1], 2, 0) is False
    assert solver.proves(addresses[0], addresses[1], 3, 0) is None


def test_the_solver_asks_no_more_where_z3_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    emulation, first, second = of_two_loads(
        "div.u32 %r3, %r2, 3; mul.wide.u32 %rd1, %r3, 4; add.s64 %rd2, %rd1, 4;"
    )
    addresses = [emulation.sightings[n][0].address for n in (first, second)]
    assert addresses[0] is not None
    assert addresses[1] is not None
    monkeypatch.setattr("comprehensive.ptx.symbolic.solver.RESOURCES", 1)
    solver = Solver(emulation.arithmetic, emulation.lanes)
    assert [solver.proves(addresses[0], addresses[1], by, 100) for by in range(4, 6)] == [None, None]
    assert solver.is_exhausted
    monkeypatch.undo()
    assert solver.proves(addresses[0], addresses[1], 3, 0) is None
