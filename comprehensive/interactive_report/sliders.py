"""The sliders of a page: what somebody has to give a value in, where each slider starts and stops out.

start = start_of(compilation, device, {"n": 4096})
start.values                # {"n": 4096, "B0": 16, "ub1": 32, "s": 8}
start.assumed               # {"B0": "as the launcher chooses it", ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from comprehensive.loops.ir import Role, Scalar
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.metafork.ast import ScalarType
from comprehensive.model.defaults import defaults
from comprehensive.plan.default_search import LARGEST_EXPONENT
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from comprehensive.report.page import Control
from comprehensive.report.page_selection import given
from comprehensive.values import Rational, demand_computed

USUAL_SIZE = 1024
"""The start of the slider of a size that has no value."""
USUAL_BLOCK = 16
"""The start of the slider of a program parameter to which neither the user nor the launcher gives a value."""
SIZE_DIGITS = 16
"""Sliders of sizes end at this power of two, or beyond."""

_MEANINGS = {
    Role.PROGRAM: "program parameter",
    Role.DATA: "size of data",
    Role.SCALAR: "argument",
    Role.HOST: "of host code",
    Role.TILE: "size of a tile",
}


class Start(Struct, frozen=True):
    """The start of the sliders: values by name, and in words the origin of those that nobody gave."""

    values: Mapping[str, int]
    assumed: Mapping[str, str]


def start_of(function: FunctionPlan, device: Device, values: Mapping[str, Rational]) -> Start:
    """Return where the sliders of a function start. CommandLineError (CF0705) as of `demand_computed`."""
    scalars = {s.name: s for region in function.regions for s in given(region)}
    filled: dict[str, Rational] = dict(values)
    assumed: dict[str, str] = {}

    def assume(found: Mapping[str, int], why: str) -> None:
        for name, value in found.items():
            if name in scalars and name not in filled:
                filled[name], assumed[name] = value, why

    sizes = [s for s in scalars.values() if s.role is not Role.PROGRAM]
    assume({s.name: 1 for s in sizes if s.pointer is not None}, _NOBODY)
    assume({s.name: 0 if s.role is Role.HOST else _usual(s.type) for s in sizes}, _NOBODY)
    if not any(argument.name in values for argument in interface(function).program):
        assume(_chosen(function, device, filled), "as the launcher chooses it")
    assume(dict.fromkeys(scalars, USUAL_BLOCK), _NOBODY)
    for region in function.regions:
        demand_computed(region.nest, filled)
    return Start({name: int(filled[name]) for name in scalars}, assumed)


_NOBODY = "no value was given"


def _usual(type: ScalarType) -> int:
    return min(USUAL_SIZE, type.highest)


def _chosen(function: FunctionPlan, device: Device, known: Mapping[str, Rational]) -> Mapping[str, int]:
    """Return the parameters that the launcher takes by itself; none where it finds none that can be launched."""
    arguments = [a for a in interface(function).arguments if not a.pointer and a.type.is_integer]
    found = defaults(
        function, device.machine(), {a.name: int(known.get(a.name, _usual(a.type))) for a in arguments}
    )
    return {} if found.chosen is None else found.parameters


def sliders_of(scalars: Iterable[Scalar], start: Start) -> tuple[Control, ...]:
    """The sliders of scalars, in order."""
    return tuple(_slider(scalar, start.values[scalar.name]) for scalar in scalars)


def _slider(scalar: Scalar, value: int) -> Control:
    is_program = scalar.role is Role.PROGRAM
    low, largest = int(is_program), 1 << (LARGEST_EXPONENT + 1 if is_program else SIZE_DIGITS)
    high = min(scalar.type.highest, max(largest, 4 * value))
    meaning = f"{scalar.type.value}, {_MEANINGS[scalar.role]}"
    return Control(scalar.name, meaning, value, low, high, _stops(low, high, value))


def slider_of_limit(name: str, value: int) -> Control:
    """The slider of a limit of the device, up to twice as much as it has."""
    high = max(2 * value, 1)
    return Control(name, MACHINE_PARAMETERS[name].meaning, value, 0, high, _stops(0, high, value))


def _stops(low: int, high: int, start: int) -> tuple[int, ...]:
    """The ends, the start, powers of two and what is halfway between these: the sizes that people try."""
    powers = [1 << k for k in range(high.bit_length())]
    found = {low, high, start, *powers, *(power + power // 2 for power in powers[1:])}
    return tuple(sorted(stop for stop in found if low <= stop <= high))
