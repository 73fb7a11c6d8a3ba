"""C and Python select the same: `choose` of the compiled launcher beside systems of leaves and the model of tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import comprehensive
from comprehensive.bindings.function import GeneratedFunction
from comprehensive.loops.interpreter import holds_preconditions, scalar_values
from comprehensive.machine.device import device_names, load_device
from comprehensive.model.choice import candidates, chosen
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from tests.compiled_specs import compiled, texts
from tests.examples import examples, quick_of

ONE_REGION = ("matmul", "gemm", "matvec", "transpose", "matadd", "reverse", "blur5x5")


@dataclass(frozen=True)
class Both:
    plan: FunctionPlan
    compiled: GeneratedFunction


@cache
def both(spec: str) -> Both:
    out = Path(mkdtemp())
    for name, text in texts(spec).items():
        (out / name).write_text(text, encoding="utf-8")
    module = comprehensive.load(out / f"{spec}.json", device="cpu")
    return Both(compiled(spec).plan.functions[0], module[spec])


@st.composite
def machines(draw: st.DrawFn) -> dict[str, int]:
    """A device of the table, some of its numbers larger or much smaller."""
    machine = dict(load_device(draw(st.sampled_from(device_names()))).machine())
    for name in draw(st.lists(st.sampled_from(sorted(machine)), max_size=6)):
        machine[name] = max(
            1, machine[name] * draw(st.integers(1, 64)) // draw(st.sampled_from((1, 16, 4096)))
        )
    return machine


@pytest.mark.parametrize("spec", quick_of(ONE_REGION, {"matadd"}))
@given(data=st.data())
@settings(max_examples=examples(30), deadline=None)
def test_the_launcher_takes_what_python_says(spec: str, data: st.DataObject) -> None:
    subject = both(spec)
    (region,) = subject.plan.regions
    host = interface(subject.plan)
    machine = data.draw(machines())
    sizes = {
        a.name: data.draw(st.one_of(st.integers(1, 70), st.integers(1, 20000)))
        for a in host.arguments
        if not a.pointer
    }
    program = {a.name: data.draw(st.sampled_from((1, 2, 3, 8, 16, 32, 100))) for a in host.program}
    values = scalar_values(region.nest, {**sizes, **program})
    for tile, wanted in (
        (-1, _expected(subject.plan, machine, values, has_tiles=True)),
        (0, _expected(subject.plan, machine, values, has_tiles=False)),
    ):
        try:
            found: int | None = subject.compiled.choose(**sizes, machine=machine, **program, tile=tile).leaf
        except comprehensive.LaunchError:
            found = None
        assert found == wanted


def _expected(
    plan: FunctionPlan, machine: Mapping[str, int], values: Mapping[str, int | float], *, has_tiles: bool
) -> int | None:
    """The number of a leaf or tile, -1 where there is nothing to do, None where the call is refused."""
    (region,) = plan.regions
    integers = {name: int(value) for name, value in values.items()}
    if not holds_preconditions(region.nest, values):
        return None
    if any(value <= 0 for name, value in integers.items() if name.startswith("dim")):
        return -1
    tile = _tile(plan, machine, integers) if has_tiles else None
    return _leaf(plan, machine, integers) if tile is None else tile


def _tile(plan: FunctionPlan, machine: Mapping[str, int], values: Mapping[str, int]) -> int | None:
    (region,) = plan.regions
    best = chosen(candidates(region, machine, values, addresses={}, sweeps_left=1), sweeps_left=1)
    if best is None or best.number == 0:
        return None  # the leaf is expected to be faster
    return region.tilings[0].first + best.number - 1


def _leaf(plan: FunctionPlan, machine: Mapping[str, int], values: Mapping[str, int]) -> int | None:
    (region,) = plan.regions
    point = {**machine, **values}
    return next((leaf.index for leaf in region.leaves if leaf.system.holds(point)), None)
