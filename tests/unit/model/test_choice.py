"""The choice in Python is the choice of the generated header: same costs, same tile or the leaf, on random machines."""

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
from comprehensive.codegen.tile_view import tile_costs
from comprehensive.loops.interpreter import scalar_values
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.device import device_names, load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS
from comprehensive.model.choice import candidates, chosen, sweeps_at_once
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import RegionPlan
from tests.compiled_specs import compiled, texts
from tests.examples import examples
from tests.unit.codegen.compiled import WARNINGS, compile_text
from tests.unit.schedule.tile_runs import compilation_of, numbers_of, texts_of

NAMES = (
    "matmul",
    "gemm",
    "matvec",
    "transpose",
    "matadd",
    "reverse",
    "blur5x5",
    "jacobi1d",
    "jacobi2d",
    "heat3d",
)
BESIDE = """void beside(int m, int n, int p, int q, const float *a, const float *b, const float *c, float *y,
            int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < p; k++) s += a[i * p + k] * b[j * p + k];
        for (int k = 0; k < q; k++) s -= c[i * q + k] * c[j * q + k];
        y[i * n + j] = s;
      }
  }
}
"""
"""Points with loops beside each other, whose steps add up."""
ROWS = """void rows(int m, int n, int d, const float *x, const float *y, float *s, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float sum = 0;
      for (int c = 0; c < n; c++) {
        float product = 0;
        for (int j = 0; j < d; j++) product += x[i * d + j] * y[c * d + j];
        sum += expf(-product);
      }
      s[i] = sum;
    }
  }
}
"""
"""Points of whose outermost loop threads share the turns, and each does all that are inside."""
SOURCES = {"beside": BESIDE, "rows": ROWS}


@dataclass(frozen=True)
class Header:
    """The choice of the first region of a spec, compiled as C."""

    region: RegionPlan
    library: ctypes.CDLL
    sizes: tuple[str, ...]

    def cost(
        self, number: int, machine: Mapping[str, int], values: Mapping[str, int], together: int, sweeps: int
    ) -> int:
        return self.library.t_cost(number, machine_numbers(machine), *self._sizes(values), together, sweeps)

    def tile(
        self, machine: Mapping[str, int], values: Mapping[str, int], together: int, left: int, leaf: int
    ) -> tuple[int, int]:
        """``leaf`` is what the leaf costs."""
        sweeps = ctypes.c_int()
        number = self.library.t_tile(
            machine_numbers(machine),
            *self._sizes(values),
            together,
            ctypes.c_longlong(left),
            ctypes.c_ulonglong(leaf),
            ctypes.byref(sweeps),
        )
        return number, sweeps.value

    def _sizes(self, values: Mapping[str, int]) -> list[ctypes.c_int]:
        return [ctypes.c_int(values[name]) for name in self.sizes]


def machine_numbers(machine: Mapping[str, int]) -> ctypes.Array[ctypes.c_longlong]:
    numbers = (*MACHINE_PARAMETERS, *SPEEDS)
    return (ctypes.c_longlong * len(numbers))(*(machine[name] for name in numbers))


@cache
def header_of(spec: str) -> Header:
    compilation = compiled(spec) if spec in NAMES else compilation_of(SOURCES[spec])
    function = compilation.plan.functions[0]
    region = function.regions[0]
    costs = tile_costs(region, dispatch(region, interface(function)))
    assert costs is not None
    folder = Path(mkdtemp())
    for name, text_of in (texts(spec) if spec in NAMES else texts_of(SOURCES[spec])).items():
        (folder / name).write_text(text_of)
    declared = "".join(f"{a.declaration}, " for a in costs.sizes)
    passed = "".join(f"{a.name}, " for a in costs.sizes)
    text = f"""#include "{compilation.plan.stem}.h"
unsigned long long t_cost(int number, const cf_machine *cf_on, {declared}int together, int sweeps)
{{ return {region.name}_tile_cost(number, cf_on, {passed}together, sweeps); }}
int t_tile(const cf_machine *cf_on, {declared}int together, long long left, unsigned long long leaf, int *sweeps)
{{
  const cf_tiling found = {region.name}_tile(cf_on, {passed}together, left, -1, leaf);
  *sweeps = found.sweeps;
  return found.number;
}}
"""
    library = ctypes.CDLL(str(compile_text(text, ".c", ("-std=c99", "-O2", *WARNINGS), folder)))
    library.t_cost.restype = ctypes.c_ulonglong
    return Header(region, library, tuple(a.name for a in costs.sizes))


@st.composite
def machines(draw: st.DrawFn) -> dict[str, int]:
    """A device of the table with some numbers changed by up to a factor of four."""
    machine = dict(load_device(draw(st.sampled_from(device_names()))).machine())
    for name in draw(st.lists(st.sampled_from(sorted(machine)), max_size=6)):
        machine[name] = max(1, machine[name] * draw(st.integers(1, 16)) // 4)
    return machine


@st.composite
def arguments(draw: st.DrawFn, region: RegionPlan) -> dict[str, int]:
    """Values of all scalars that callers pass: sizes of any order of magnitude, and what host code computes."""
    sizes = st.one_of(
        st.integers(1, 70), st.integers(1, 20000), st.sampled_from((64, 512, 1024, 4096, 16384, 40000))
    )
    nest = region.tilings[0].nest
    given = {s.name: draw(sizes) for s in nest.scalars if s.value is None and s.type.is_integer}
    given |= {s.name: 1.0 for s in nest.scalars if not s.type.is_integer}
    program = {s.name for s in nest.scalars if s.role.name == "PROGRAM"}
    given |= {name: draw(st.sampled_from((1, 2, 4, 8, 16, 32))) for name in sorted(program)}
    values = scalar_values(nest, given)
    return {s.name: int(values[s.name]) for s in nest.scalars if s.name in values and s.type.is_integer}


@pytest.mark.parametrize("spec", [*NAMES, *SOURCES])
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_header_and_python_find_the_same_costs_and_the_same_tile(spec: str, data: st.DataObject) -> None:
    header = header_of(spec)
    machine = data.draw(machines())
    values = data.draw(arguments(header.region))
    left = data.draw(st.integers(1, 60))
    addresses = {
        a.name: data.draw(st.sampled_from((0, 0, 0, 4, 8))) for a in header.region.tilings[0].nest.arrays
    }
    found = candidates(header.region, machine, values, addresses=addresses, sweeps_left=left)
    together = max((c.together for c in found), default=0)
    leaf = SATURATED
    for candidate in found:
        cycles = SATURATED if candidate.cost is None else candidate.cost.cycles
        if candidate.kind == "leaf":
            leaf = cycles
        else:
            assert header.cost(candidate.number, machine, values, together, candidate.sweeps) == cycles
    best = chosen(found, sweeps_left=left)
    number = 0 if best is None or best.kind == "leaf" else best.number
    assert header.tile(machine, values, together, left, leaf) == (number, 1 if best is None else best.sweeps)


def test_a_tile_says_itself_how_many_sweeps_a_launch_of_it_does() -> None:
    region = compiled("jacobi2d").plan.functions[0].regions[0]
    assert {plan.most_sweeps(i) for plan in region.single for i in plan.instances} == {1}
    assert {plan.turns((), 7) for plan in region.single} == {()}
    (several,) = region.several
    assert all(several.most_sweeps(i) > 1 for i in several.instances)
    assert several.turns((), 7) == (7,)
    assert [sweeps_at_once(20, most) for most in (1, 3, 5)] == [1, 3, 5]


DOUBLES = """void f(int m, int n, int k, const double a[m][k], const double b[k][n], double c[m][n], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int l = 0; l < k; l++) sum += a[i][l] * b[l][j];
        c[i][j] = sum;
      }
  }
}
"""


def test_odd_rows_of_doubles_go_to_tensor_cores() -> None:
    """Elsewhere their multiply-adds wait for accesses: 0.103 ms and not 0.043 on an H200."""
    (region,) = compilation_of(DOUBLES).plan.functions[0].regions
    machine, values = load_device("h200").machine(), {"m": 1000, "n": 1021, "k": 777, "B0": 16, "B1": 16}
    best = chosen(candidates(region, machine, values, addresses={}, sweeps_left=1), sweeps_left=1)
    assert best is not None
    assert best.number in numbers_of(DOUBLES, "tensor-core product")
