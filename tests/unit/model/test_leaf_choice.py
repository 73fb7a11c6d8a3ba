"""The cost of a leaf, what parameters leave out, and the choice of parameters: in Python as in the generated header."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.codegen.dispatch import dispatch
from comprehensive.codegen.header_view import function_view
from comprehensive.codegen.host import header_text
from comprehensive.codegen.leaf_view import leaf_costs
from comprehensive.driver import Options, compile_file
from comprehensive.loops.interpreter import scalar_values
from comprehensive.loops.ir import Nest
from comprehensive.machine.cost import Cost
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.device import load_device
from comprehensive.model.choice import leaf_candidate
from comprehensive.model.defaults import defaults, left_out
from comprehensive.model.leaf_cost import leaf_cost
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, RegionPlan
from comprehensive.records import replace
from tests.examples import examples, quick_of
from tests.unit.codegen.compiled import WARNINGS, compile_text
from tests.unit.model.test_choice import machine_numbers, machines

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = (
    ROOT / "benchmarks/gpu/leaves/linear_matmul.mf",
    ROOT / "benchmarks/gpu/leaves/convolution.mf",
    ROOT / "benchmarks/gpu/leaves/floors.mf",
    ROOT / "tests/golden/programs/double.mf",
    ROOT / "specs/matmul.mf",
)


@dataclass(frozen=True)
class Header:
    """The choice of the only region of a program, compiled as C."""

    function: FunctionPlan
    region: RegionPlan
    library: ctypes.CDLL
    sizes: tuple[str, ...]
    program: tuple[str, ...]

    def cost(self, leaf: int, machine: Mapping[str, int], values: Mapping[str, int]) -> int:
        return self.library.t_cost(leaf, *self._arguments(machine, values))

    def left_out(self, machine: Mapping[str, int], values: Mapping[str, int]) -> int:
        return self.library.t_left_out(*self._arguments(machine, values))

    def defaults(
        self, machine: Mapping[str, int], arguments: Mapping[str, int]
    ) -> tuple[int, dict[str, int]]:
        params = (ctypes.c_int * max(1, len(self.program) + 1))()
        given = [ctypes.c_int(arguments[a.name]) for a in function_view(self.function).sizes]
        status = self.library.t_defaults(machine_numbers(machine), *given, params)
        return status, dict(zip(self.program, params, strict=False))

    def _arguments(self, machine: Mapping[str, int], values: Mapping[str, int]) -> list[object]:
        params = (ctypes.c_int * (len(self.program) + 1))(*(values[name] for name in self.program))
        return [machine_numbers(machine), *(ctypes.c_int(values[name]) for name in self.sizes), params]


@cache
def header_of(path: Path) -> Header:
    plan = compile_file(path, Options(registers="estimate")).plan
    (function,) = plan.functions
    (region,) = function.regions
    host = interface(function)
    costs, view = leaf_costs(region, dispatch(region, host)), function_view(function)
    folder = Path(mkdtemp())
    (folder / f"{plan.stem}.h").write_text(header_text(replace(plan, single_file=True), "0.1.0"))
    declared = "".join(f"{a.declaration}, " for a in costs.sizes)
    passed = "".join(f"{a.name}, " for a in costs.sizes)
    given_ = "".join(f"{a.declaration}, " for a in view.sizes)
    names = "".join(f"{a.name}, " for a in view.sizes)
    params = f"{host.name}_params *t_p"
    text = f"""#include "{plan.stem}.h"
unsigned long long t_cost(int t_leaf, const cf_machine *t_m, {declared}const {params})
{{ return {region.name}_leaf_cost(t_leaf, t_m, {passed}t_p, CF_SATURATED); }}
unsigned long long t_left_out(const cf_machine *t_m, {declared}const {params})
{{ return {region.name}_left_out(t_m, {passed}t_p); }}
int t_defaults(const cf_machine *t_m, {given_}{params})
{{ return {host.name}_defaults(t_m, {names}t_p); }}
"""
    library = ctypes.CDLL(str(compile_text(text, ".c", ("-std=c99", "-O2", *WARNINGS), folder)))
    library.t_cost.restype = library.t_left_out.restype = ctypes.c_ulonglong
    program = tuple(a.name for a in host.program)
    return Header(function, region, library, tuple(a.name for a in costs.sizes), program)


@st.composite
def values_of(draw: st.DrawFn, region: RegionPlan) -> dict[str, int]:
    """Values of all integer scalars."""
    sizes = st.one_of(st.integers(1, 70), st.integers(1, 5000), st.sampled_from((64, 1024, 4095, 4096)))
    blocks = st.one_of(st.sampled_from((1, 2, 4, 8, 16, 32, 64)), st.integers(1, 100))
    nest = region.nest
    given_: dict[str, int | float] = {
        s.name: draw(blocks if s.role.name == "PROGRAM" else sizes) if s.type.is_integer else 1.0
        for s in nest.scalars
        if s.value is None
    }
    known = scalar_values(nest, given_)
    return {s.name: int(known[s.name]) for s in nest.scalars if s.type.is_integer}


def cycles_of(cost: Cost | None) -> int:
    return SATURATED if cost is None else cost.cycles


@pytest.mark.parametrize(
    "path", quick_of(PROGRAMS, {"double"}, lambda path: path.stem), ids=lambda path: path.stem
)
@given(data=st.data())
@settings(max_examples=examples(8), deadline=None)
def test_header_and_python_find_the_same_costs_of_leaves(path: Path, data: st.DataObject) -> None:
    header = header_of(path)
    machine, values = data.draw(machines()), data.draw(values_of(header.region))
    for leaf in header.region.leaves:
        assert header.cost(leaf.index, machine, values) == cycles_of(leaf_cost(leaf, machine, values))
    assert header.left_out(machine, values) == left_out(header.region.nest, values)


@pytest.mark.parametrize(
    "path", quick_of(PROGRAMS, {"double"}, lambda path: path.stem), ids=lambda path: path.stem
)
@given(data=st.data())
@settings(max_examples=examples(2), deadline=None)
def test_header_and_python_choose_the_same_parameters_and_they_can_be_launched(
    path: Path, data: st.DataObject
) -> None:
    header = header_of(path)
    machine, values = data.draw(machines()), data.draw(values_of(header.region))
    arguments = {name: value for name, value in values.items() if name not in header.program}
    found = defaults(header.function, machine, arguments)
    status, params = header.defaults(machine, arguments)
    assert params == dict(found.parameters)
    assert (status == 0) == (found.chosen is not None)
    if found.chosen is None:
        return
    nest = header.region.nest
    others = {s.name: 1.0 for s in nest.scalars if not s.type.is_integer}
    known = scalar_values(nest, {**arguments_of(nest, arguments), **others, **params})
    chosen = {s.name: int(known[s.name]) for s in nest.scalars if s.type.is_integer}
    leaf = leaf_candidate(header.region, machine, chosen)
    assert leaf is not None
    assert leaf.number == found.chosen.leaves[0]
    assert left_out(nest, chosen) == found.chosen.left_out


def arguments_of(nest: Nest, values: Mapping[str, int]) -> dict[str, int]:
    """Return the arguments that callers pass of the values."""
    return {s.name: values[s.name] for s in nest.scalars if s.value is None and s.name in values}


@pytest.mark.parametrize("n", [1, 7, 12, 64, 1000, 1024, 4093, 4095])
def test_floors_leave_out_no_point_without_parameters(n: int) -> None:
    header = header_of(ROOT / "benchmarks/gpu/leaves/floors.mf")
    status, params = header.defaults(load_device("h200").machine(), {"n": n})
    assert status == 0
    assert n % (params["B0"] * params["s"]) == 0
    assert n % params["B1"] == 0


def test_sizes_that_no_power_of_two_divides_have_large_blocks() -> None:
    """4095 is 63 * 65, and so on; no block of one thread."""
    header = header_of(ROOT / "benchmarks/gpu/leaves/floors.mf")
    _, params = header.defaults(load_device("h200").machine(), {"n": 4095})
    assert 64 <= params["B0"] * params["B1"] <= 1024


def test_a_prime_has_one_complete_choice_only() -> None:
    """Blocks of one thread leave nothing out, and no others do: 4093 has no divisor that a block could have."""
    header = header_of(ROOT / "benchmarks/gpu/leaves/floors.mf")
    _, params = header.defaults(load_device("h200").machine(), {"n": 4093})
    assert params == {"B0": 1, "B1": 1, "s": 1}


def test_points_that_floors_leave_out_are_counted() -> None:
    header = header_of(ROOT / "benchmarks/gpu/leaves/floors.mf")
    values = {"n": 100, "B0": 8, "B1": 32, "s": 2, "dim0": 100 // 16, "dim1": 100 // 32}
    assert left_out(header.region.nest, values) == 100 * 100 - 96 * 96
