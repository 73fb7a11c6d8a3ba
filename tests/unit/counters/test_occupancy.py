"""Occupancy as a symbolic value: with the numbers of a device put in it is what the calculator says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial, RationalFunction, at_least, with_quotients
from comprehensive.counters.occupancy import Occupancy
from comprehensive.counters.residency import Limit, Residency
from comprehensive.loops.ir import Variant
from comprehensive.machine.device import Device, devices
from comprehensive.machine.occupancy import occupancy
from comprehensive.optimize.protocols import Evaluation, Kind
from tests.examples import examples
from tests.unit.counters.programs import SMOOTH, first

T, R, Z = (Polynomial.symbol(name) for name in ("threads", "registers", "words"))
KNOWN = tuple(at_least(symbol, 1) for symbol in (T, R, Z))


def share(limit: Limit, words: Polynomial) -> Evaluation:
    residency = Residency(T, R, words, "exact", KNOWN)
    value = RationalFunction(residency.blocks(limit) * residency.warps(), residency.of_machine("W_SM"))
    return residency.evaluation(value)


WITH_SHARED = tuple(share(limit, Z) for limit in Limit)
WITHOUT_SHARED = tuple(share(limit, Polynomial(0)) for limit in Limit)


@settings(max_examples=examples(400), deadline=None)
@given(
    st.sampled_from(devices()),
    st.integers(1, 1024),
    st.integers(1, 255),
    st.one_of(st.just(0), st.integers(1, 3000), st.integers(1, 60_000)),
)
def test_the_least_of_the_shares_is_the_exact_occupancy_on_every_device(
    device: Device, threads: int, registers: int, words: int
) -> None:
    shares = WITH_SHARED if words else WITHOUT_SHARED
    point = {**device.parameters(), "threads": threads, "registers": registers, "words": words}
    if words > point["Z_B"]:
        return  # refused by the resource counter before
    values: list[Fraction] = []
    for evaluation in shares:
        at = with_quotients(point, evaluation.quotients)
        assert all(atom.holds(at) for atom in evaluation.assumed)
        values.append(evaluation.value.evaluate(at))
    held = occupancy(
        device, threads_per_block=threads, registers_per_thread=registers, shared_bytes_per_block=4 * words
    )
    assert min(values) == held.fraction


@pytest.mark.parametrize("device", devices(), ids=lambda device: device.name)
def test_what_the_shares_leave_out_limits_no_known_device(device: Device) -> None:
    assert device.barrier_slots_per_sm >= device.max_blocks_per_sm
    assert device.registers_per_block == device.registers_per_sm
    assert device.warp_threads == 32


@dataclass(frozen=True, slots=True)
class Told:
    """A counter of registers that is told their number."""

    count: int
    name: str = "registers_per_thread"
    limit: str = "R_B"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        return Evaluation(Polynomial(self.count), "told")


def test_a_share_names_the_limits_of_the_machine_and_says_where_its_registers_come_from() -> None:
    found = Occupancy("registers", Told(14)).evaluate(first(SMOOTH))
    assert found.source == "told"
    assert found.value.format() == (
        "ceil(B/32)*floor(floor(R_SM/(ceil(448/R_U)*Q_SM*R_U))*Q_SM/ceil(B/32))/W_SM"
    )
    assert Occupancy("blocks").evaluate(first(SMOOTH)).value.format() == "B_SM*ceil(B/32)/W_SM"
    assert Occupancy("warps").evaluate(first(SMOOTH)).source == "exact"
