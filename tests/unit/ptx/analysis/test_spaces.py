"""The laws of memory spaces, and into which memory small kernels point."""

from __future__ import annotations

from itertools import product

import pytest

from comprehensive.ptx.analysis.space import Space
from tests.ptx.random_programs import analysed

MEMORIES = [space for space in Space if space.is_one]


def space(body: str, register: str = "%rd1", **options: bool) -> Space:
    """Return the memory of the last definition of a register.

    %rd2 is an address in shared memory, %rd3 one in global memory, %rd4 is what was read from memory, %rd5 an
    offset, %r1 and %r2 are numbers.
    """
    analyses = analysed(f"{_GIVEN}{body}\nret;", **options)
    number = analyses.flow.names[register]
    last = max(v for v, value in enumerate(analyses.ssa.values) if value.register == number)
    return analyses.spaces.values[last]


_GIVEN = """mov.u64 %rd2, tile;
cvta.shared.u64 %rd2, %rd2;
ld.param.u64 %rd3, [a];
ld.global.u64 %rd4, [%rd3];
cvta.to.global.u64 %rd3, %rd3;
ld.global.u32 %r1, [%rd3];
mov.u32 %r2, %tid.x;
mul.wide.s32 %rd5, %r1, 4;
setp.eq.u32 %p1, %r2, 0;
"""


# Laws


@pytest.mark.parametrize("law", ["meet", "plus"])
def test_ways_and_sums_commute_and_associate(law: str):
    def of(one: Space, other: Space) -> Space:
        return getattr(one, law)(other)

    for one, other, third in product(Space, repeat=3):
        assert of(one, other) is of(other, one)
        assert of(of(one, other), third) is of(one, of(other, third))


def test_ways_that_meet_only_lead_down():
    order = {Space.NONE: 4, Space.ZERO: 3, **dict.fromkeys((Space.NUMBER, *MEMORIES), 2)}
    order |= {Space.DISTANCE: 1, Space.ANY: 0}
    for one, other in product(Space, repeat=2):
        met = one.meet(other)
        assert order[met] <= min(order[one], order[other])
        assert met.meet(one) is met
    assert all(one.meet(one) is one for one in Space)


def test_a_number_that_meets_a_memory_may_be_any_address_and_null_is_none():
    for memory in MEMORIES:
        assert memory.meet(Space.NUMBER) is Space.ANY
        assert memory.meet(Space.ZERO) is memory
        assert memory.meet(Space.DISTANCE) is Space.ANY
        assert memory.plus(Space.DISTANCE) is memory
        assert memory.plus(Space.NUMBER) is memory
        assert Space.NUMBER.minus(memory) is Space.ANY
        assert memory.plus(memory) is Space.ANY


def test_only_the_difference_of_two_addresses_of_one_memory_is_a_distance():
    for one, other in product(MEMORIES, repeat=2):
        assert one.minus(other) is (Space.DISTANCE if one is other else Space.ANY)
        if one is not other:
            assert one.minus(other).plus(other) is Space.ANY


# Instructions


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.param.u64 %rd1, [a];", Space.ANY),
        ("cvta.to.global.u64 %rd1, %rd4;", Space.GLOBAL),
        ("mad.wide.s32 %rd1, %r1, 4, %rd3;", Space.GLOBAL),
        ("mov.u64 %rd1, %rd2;", Space.SHARED),
        ("selp.b64 %rd1, %rd2, %rd2, %p1;", Space.SHARED),
        ("selp.b64 %rd1, %rd2, 0, %p1;", Space.SHARED),
        ("mov.u64 %rd1, tile;\nL: add.s64 %rd1, %rd1, 4;\n@%p1 bra L;", Space.SHARED),
        ("mov.u64 %rd1, 0;\n@%p1 mov.u64 %rd1, %rd2;", Space.SHARED),
        ("add.s64 %rd1, %rd5, %rd2;", Space.SHARED),
        ("sub.s64 %rd1, %rd2, %rd5;", Space.SHARED),
        ("and.b64 %rd1, %rd2, -128;", Space.SHARED),
        ("or.b64 %rd1, %rd2, 1;", Space.SHARED),
        ("xor.b64 %rd1, %rd2, %rd5;", Space.SHARED),
        ("xor.b64 %rd1, %rd2, 64;", Space.SHARED),
        ("cvt.s64.u64 %rd1, %rd2;", Space.SHARED),
        ("sub.s64 %rd1, %rd3, %rd3;\nadd.s64 %rd1, %rd1, %rd2;", Space.SHARED),
        ("mul.wide.u32 %rd1, %r1, 4;", Space.NUMBER),
        ("sub.s64 %rd1, %rd3, %rd3;\nshr.s64 %rd1, %rd1, 2;", Space.DISTANCE),
        ("cvt.s64.s32 %rd1, %r1;\nshl.b64 %rd1, %rd1, 4;", Space.NUMBER),
        ("mov.u64 %rd1, 4096;", Space.NUMBER),
    ],
)
def test_an_address_points_where_it_comes_from(body: str, expected: Space):
    assert space(body) is expected


@pytest.mark.parametrize(
    "body",
    [
        "selp.b64 %rd1, %rd2, %rd3, %p1;",
        "selp.b64 %rd1, %rd2, %rd5, %p1;",
        "max.u64 %rd1, %rd2, %rd5;",
        "mov.u64 %rd1, %rd5;\n@%p1 mov.u64 %rd1, %rd2;",
        "ld.global.u64 %rd1, [%rd2];",
        "ld.global.f64 %rd1, [%rd2];",
        "ld.global.v2.b64 {%rd1, %rd6}, [%rd2];",
        "atom.global.exch.b64 %rd1, [%rd3], %rd2;",
        "mov.f64 %rd1, %rd4;",
        "shr.u64 %rd1, %rd2, 1;\nshl.b64 %rd1, %rd1, 1;",
        "bfe.u64 %rd1, %rd2, 0, 48;",
        "bfi.b64 %rd1, %rd5, %rd5, 32, 32;",
        "and.b64 %rd1, %rd2, -68719476736;",
        "and.b64 %rd1, %rd2, %rd5;",
        "or.b64 %rd1, %rd2, %rd3;",
        "xor.b64 %rd1, %rd2, %rd4;",
        "or.b64 %rd1, %rd2, 281474976710656;",
        "mov.b64 {%r3, %r4}, %rd2;\nmov.b64 %rd1, {%r3, %r4};",
        "cvt.u32.u64 %r3, %rd2;\ncvt.u64.u32 %rd1, %r3;",
        "cvt.u64.u32 %rd1, %r1;\nshl.b64 %rd1, %rd1, 32;",
        "mul.lo.s64 %rd1, %rd2, 1;",
        "sub.s64 %rd1, %rd3, %rd2;",
        "sub.s64 %rd1, %rd5, %rd2;\nadd.s64 %rd1, %rd1, %rd3;",
        "add.s64 %rd1, %rd4, %rd2;",
        "add.s64 %rd1, %rd2, 281474976710656;",
        "sub.s64 %rd1, %rd3, %rd2;\nshr.s64 %rd1, %rd1, 2;\nmad.lo.s64 %rd1, %rd1, 4, %rd2;",
        "add.rn.f64 %rd1, %rd2, 0d0000000000000000;",
        "unheard.of.u64 %rd1, %rd2;",
        "add.s64 %rd1, %rd2;",
        "selp.b64 %rd1;",
        "mov.u64 %rd1;",
    ],
)
def test_what_may_hide_an_address_may_point_anywhere(body: str):
    assert space(body) is Space.ANY


def test_the_halves_of_an_address_are_no_numbers():
    assert space("cvt.u32.u64 %r3, %rd2;", "%r3") is Space.ANY
    assert space("mov.b64 {%r3, %r4}, %rd4;\nadd.u32 %r3, %r3, 4;", "%r3") is Space.ANY
    assert space("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;", "%r3") is Space.NUMBER


def test_pointers_that_are_passed_are_global_where_the_user_says_so():
    assert space("ld.param.u64 %rd1, [a];", parameters_are_global=True) is Space.GLOBAL


def test_an_access_through_a_number_may_go_anywhere():
    analyses = analysed(f"{_GIVEN}ld.u32 %r3, [%rd5];\nret;")
    assert analyses.spaces.accesses[-2] is Space.ANY
