"""The selection in C decides as the systems do in exact arithmetic, and its refusals cite what is missing."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, System, at_least, at_most, equal, less
from comprehensive.codegen.dispatch import MACHINE_FIELDS
from comprehensive.machine.device import load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from tests.examples import examples, seeds
from tests.unit.codegen.compiled import Selection
from tests.unit.codegen.plans import SYMBOLS, smooth_plan, smooth_systems, with_systems

OK, NO_VARIANT, PARAMETER, PRECONDITION, OVERFLOW = 0, 1, 2, 3, 4
H200 = {"R_B": 255, "Z_B": 58112, "T_B": 1024}


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> Selection:
    return Selection(smooth_plan(), tmp_path_factory.mktemp("smooth"), (), ("B", "s"))


def test_every_machine_parameter_has_a_field_in_the_same_order() -> None:
    assert tuple(MACHINE_FIELDS) == tuple(MACHINE_PARAMETERS)


limits = st.one_of(st.integers(0, 3000), st.integers(0, 2**63 - 1))
parameters = st.one_of(st.integers(1, 1024), st.integers(1, 2**31 - 1))


@settings(max_examples=examples(200), deadline=None)
@given(z=limits, t=limits, b=st.integers(1, 1024), s=parameters)
def test_selection_in_c_is_the_one_that_the_systems_give(
    smooth: Selection, z: int, t: int, b: int, s: int
) -> None:
    point = {"Z_B": z, "T_B": t, "B": b, "s": s, "n": 0}
    tiled, plain, dead_end = smooth_systems()
    expected = [number for number, system in ((1, tiled), (2, plain)) if system.holds(point)]
    found = smooth.select({"Z_B": z, "T_B": t}, {"B": b, "s": s})
    assert [found.leaf] == (expected or [-1])
    assert found.status == (NO_VARIANT if dead_end.holds(point) else OK)


def random_atom(source: Random) -> Atom:
    s, b, z = SYMBOLS["s"], SYMBOLS["B"], SYMBOLS["Z_B"]
    total = source.randint(-2, 2) * z
    for monomial in (s**2 * b, s * b, b, Polynomial(1)):
        bound = source.choice((0, 9, 9, 2**40))
        total = total + source.randint(-bound, bound) * monomial
    return source.choice((at_least, less, less, equal))(total, 0)


def holds_in_64_bit(system: System, point: dict[str, int]) -> bool | None:
    """Return what Python decides; None where both sides of some condition are beyond 64 bits."""
    sides = [
        (left.evaluate(point), right.evaluate(point))
        for left, right in (atom.positive_sides() for atom in system.atoms)
    ]
    if any(left >= 2**64 - 1 and right >= 2**64 - 1 for left, right in sides):
        return None
    return system.holds(point)


@pytest.mark.parametrize("seed", seeds(6))
def test_selection_is_exact_up_to_64_bits_and_says_where_it_is_not(seed: int, tmp_path: Path) -> None:
    source = Random(seed)
    found = [System((), tuple(random_atom(source) for _ in range(source.randint(1, 3)))) for _ in range(4)]
    plan = with_systems(smooth_plan(), tuple(found))
    selection = Selection(plan, tmp_path, (), ("B", "s"))

    @settings(max_examples=examples(60), deadline=None)
    @given(b=st.integers(1, 1024), s=parameters, z=limits)
    def agrees(b: int, s: int, z: int) -> None:
        point = {"B": b, "s": s, "Z_B": z}
        choice = selection.select({"Z_B": z}, {"B": b, "s": s})
        verdicts = [holds_in_64_bit(system, point) for system in found]
        if choice.status == OK:
            # An undecided leaf before it is passed over; the one that is chosen certainly holds.
            assert verdicts[choice.leaf - 1] is True
            assert True not in verdicts[: choice.leaf - 1]
        else:
            assert True not in verdicts
            if None not in verdicts:
                assert choice.status == NO_VARIANT

    agrees()


def test_conditions_beyond_64_bits_on_both_sides_are_an_overflow_and_on_one_side_are_decided(
    tmp_path: Path,
) -> None:
    s, b = SYMBOLS["s"], SYMBOLS["B"]
    system = System((), (at_most(2**40 * s * b + 1, 2**41 * s),))
    selection = Selection(with_systems(smooth_plan(), (system,)), tmp_path, (), ("B", "s"))
    assert selection.select({}, {"B": 1024, "s": 2**30}).status == OVERFLOW
    assert (
        selection.select({}, {"B": 1024, "s": 2**14}).status == NO_VARIANT
    )  # the left side alone is too large
    assert selection.select({}, {"B": 1, "s": 2**30}).status == OVERFLOW
    assert selection.select({}, {"B": 2, "s": 2**20}).status == NO_VARIANT
    assert selection.select({}, {"B": 1, "s": 2**20}).status == OK


def test_refusal_cites_the_limit_with_what_is_needed_and_what_is_there(smooth: Selection) -> None:
    refused = smooth.select({**H200, "T_B": 100}, {"B": 128, "s": 2})
    assert (refused.status, refused.leaf) == (NO_VARIANT, -1)
    assert refused.constraint == b"B <= T_B"
    assert (refused.needed, refused.available) == (128, 100)


def test_refusal_cites_the_nearest_way_in(tmp_path: Path) -> None:
    b, s, z, t = (SYMBOLS[name] for name in ("B", "s", "Z_B", "T_B"))
    far = System((), (at_most(100 * b * s, z),))
    near = System((), (at_most(2 * b * s + 2, z), at_most(b, t)))
    selection = Selection(with_systems(smooth_plan(), (far, near)), tmp_path, (), ("B", "s"))
    refused = selection.select({"Z_B": 1000, "T_B": 1024}, {"B": 512, "s": 1})
    assert refused.constraint == b"2*s*B + 2 <= Z_B"
    assert (refused.needed, refused.available) == (1026, 1000)


def test_parameters_below_one_and_violated_assertions_come_before_the_discussion(smooth: Selection) -> None:
    below = smooth.select(H200, {"B": 0, "s": 1})
    assert (below.status, below.constraint, below.needed, below.available) == (PARAMETER, b"B >= 1", 1, 0)
    asserted = smooth.select(H200, {"B": 1025, "s": 1})
    assert (asserted.status, asserted.constraint) == (PRECONDITION, b"B <= 1024")
    assert (asserted.needed, asserted.available) == (1025, 1024)


def test_explanation_of_a_leaf_has_its_system_and_its_decisions(smooth: Selection) -> None:
    assert smooth.explain(1) == "s*B + 2 <= Z_B, B <= T_B; caching: a in shared memory"
    assert smooth.explain(7) == "there is no such leaf"


@settings(max_examples=examples(50), deadline=None)
@given(z=st.integers(0, 4000), t=st.integers(0, 2000), b=parameters, s=parameters)
def test_nearest_choice_is_feasible_and_found_whenever_a_power_of_two_is(
    smooth: Selection, z: int, t: int, b: int, s: int
) -> None:
    machine = {"Z_B": z, "T_B": t}
    status, feasible = smooth.nearest(machine, {"B": b, "s": s})
    powers = [2**k for k in range(11)]
    possible = any(smooth.select(machine, {"B": x, "s": y}).status == OK for x, y in product(powers, powers))
    assert (status == OK) or not possible
    if status == OK:
        assert smooth.select(machine, feasible).status == OK


def test_nearest_choice_prefers_the_smallest_change(smooth: Selection) -> None:
    assert smooth.nearest({"Z_B": 0, "T_B": 1024}, {"B": 1025, "s": 3}) == (OK, {"B": 1024, "s": 3})
    assert smooth.nearest({"Z_B": 0, "T_B": 300}, {"B": 1024, "s": 3}) == (OK, {"B": 256, "s": 3})
    assert smooth.nearest(H200, {"B": 96, "s": 5}) == (OK, {"B": 96, "s": 5})


@pytest.mark.parametrize("words", [58112, 70, 0])
def test_defaults_can_be_launched_and_have_whole_warps(words: int, smooth: Selection) -> None:
    machine = {**load_device("h200").machine(), "Z_B": words}
    status, params = smooth.defaults(machine, {"n": 100000})
    assert status == OK
    assert smooth.select(machine, params).status == OK
    assert params["B"] % 32 == 0


def test_defaults_are_1_where_nothing_can_be_launched(smooth: Selection) -> None:
    machine = {**load_device("h200").machine(), "Z_B": 0, "T_B": 0}
    assert smooth.defaults(machine, {"n": 1000}) == (NO_VARIANT, {"B": 1, "s": 1})


def test_selection_takes_less_than_a_microsecond(smooth: Selection) -> None:
    # The best of several: the machine has other work to do.
    best = min(smooth.seconds(H200, {"B": 256, "s": 4}, 20000) for _ in range(5))
    assert best < 1e-6
