"""The sliders of a page: what somebody has to give a value in, where each slider starts and stops out.

    start = start_of(compilation, device, {"n": 4096})
    start.values                # {"n": 4096, "B0": 16, "ub1": 32, "s": 8}
    start.assumed               # {"B0": "as the launcher chooses it", ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from comprehensive.codegen.header_view import LARGEST_EXPONENT
from comprehensive.driver import Compilation
from comprehensive.explanation import explain
from comprehensive.loops.ir import Role, Scalar
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.report.page import Control
from comprehensive.report.page_selection import given
from comprehensive.values import Rational

USUAL_SIZE = 1024
"""Where the slider of a size starts that has no value."""
USUAL_BLOCK = 16
"""Where that of a program parameter starts to which neither the user nor the launcher gives a value."""
SIZE_DIGITS = 16
"""Sliders of sizes end at this power of two, or beyond."""

_MEANINGS = {
    Role.PROGRAM: "program parameter",
    Role.DATA: "size of data",
    Role.SCALAR: "argument",
    Role.HOST: "of host code",
    Role.TILE: "size of a tile",
}


@dataclass(frozen=True, slots=True)
class Start:
    """Where the sliders start: values by name, and in words where those come from that nobody gave."""

    values: Mapping[str, int]
    assumed: Mapping[str, str]


def start_of(compilation: Compilation, device: Device, values: Mapping[str, Rational]) -> Start:
    """Return where all sliders start. CommandLineError as of `explain`."""
    regions = [region for function in compilation.plan.functions for region in function.regions]
    scalars = {s.name: s for region in regions for s in given(region)}
    filled: dict[str, Rational] = dict(values)
    assumed: dict[str, str] = {}
    for scalar in scalars.values():
        if scalar.name not in values and scalar.role is not Role.PROGRAM:
            filled[scalar.name] = 0 if scalar.role is Role.HOST else min(USUAL_SIZE, scalar.type.highest)
            assumed[scalar.name] = "no value was given"
    for region in explain(compilation, device, filled):
        for name, value in {} if region.defaults is None else region.defaults.parameters.items():
            assumed.setdefault(name, "as the launcher chooses it")
            filled.setdefault(name, value)
    for scalar in scalars.values():
        if scalar.name not in filled:
            filled[scalar.name] = USUAL_BLOCK
            assumed[scalar.name] = "no value was given"
    return Start({name: int(filled[name]) for name in scalars}, assumed)


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
