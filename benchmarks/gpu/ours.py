"""The generated kernels: every point of a case through the generated launcher, and the launcher's own choice."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from torch import Tensor

from benchmarks.gpu import native
from benchmarks.gpu.cases import Launch, Point
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.header import Launcher, launcher
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem
from comprehensive.runtime.choice import Choice


def attempts(problem: Problem) -> Iterator[Attempt]:
    ours = problem.case.ours
    if isinstance(ours, str):
        raise PeerError(ours)
    native.load(ours.spec)
    yield Attempt("without parameters", lambda: _ready(problem, ours, None), reported=True)
    for point in ours.points:
        if point["tile"] > len(instances(ours.spec)):
            continue
        label = " ".join(f"{name}={value}" for name, value in point.items())
        yield Attempt(label, lambda point=point: _ready(problem, ours, point))


def _ready(problem: Problem, ours: Launch, point: Point | None) -> Ready:
    launch, what, _ = launching(problem, ours, point)
    return Ready(lambda: launch(None), problem.result, what)


def launching(
    problem: Problem, ours: Launch, point: Point | None
) -> tuple[Callable[[int | None], None], Callable[[], str], Callable[[], int]]:
    """A launch on a stream, which raises PeerError where the launcher refuses; what tells then what ran, and how many
    cycles the launcher expected, 0 for leaves."""
    read = _launcher(ours.spec)
    values: Mapping[str, int | float | Tensor] = {**ours.scalars, **problem.arrays}
    missing = [argument.name for argument in read.arguments if argument.name not in values]
    if missing:
        raise PeerError(f"{ours.spec} has arguments that the case does not give: {', '.join(missing)}")
    arguments = [_argument(values[argument.name]) for argument in read.arguments]
    params = None if point is None else ctypes.byref(_params(read, point))
    why = Choice()
    call = _function(ours.spec)

    def run(stream: int | None) -> None:
        status = call(None, *arguments, params, stream, ctypes.byref(why))
        if status != 0:
            raise PeerError(
                f"refused with status {status}: {why.constraint.decode()} "
                f"({why.needed} needed, {why.available} there)"
            )

    return run, lambda: _leaf(ours.spec, why.leaf), lambda: why.cycles


def parameter_names(spec: str) -> tuple[str, ...]:
    """Return the members of the parameters of a launcher, in order."""
    return tuple(member.name for member in _launcher(spec).parameters)


def _params(read: Launcher, point: Point) -> ctypes.Structure:
    if set(point) != {member.name for member in read.parameters}:
        there = ", ".join(member.name for member in read.parameters)
        raise PeerError(f"the parameters of {read.function} are {there}")
    fields = [(member.name, member.ctype) for member in read.parameters]
    kind = type("Params", (ctypes.Structure,), {"_fields_": fields})
    return kind(**point)


def _argument(value: int | float | Tensor) -> int | float:
    return value.data_ptr() if isinstance(value, Tensor) else value


@cache
def _launcher(spec: str) -> Launcher:
    text = (native.GENERATED / spec / f"{spec}.h").read_text(encoding="utf-8")
    return launcher(text, spec)


@cache
def _function(spec: str) -> ctypes._NamedFuncPointer:
    function = native.load(spec)[f"{spec}_launch_explained"]
    types = [argument.ctype for argument in _launcher(spec).arguments]
    function.argtypes = [ctypes.c_void_p, *types, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    function.restype = ctypes.c_int
    return function


@cache
def _region(spec: str) -> Mapping[str, Any]:
    """Return the manifest's entry for the kernel; for several regions that of the last one."""
    manifest = json.loads((native.GENERATED / spec / f"{spec}.json").read_text(encoding="utf-8"))
    return manifest["functions"][0]["regions"][-1]


def instances(spec: str) -> Sequence[Mapping[str, Any]]:
    """Register tiles of the kernel, then its time tiles."""
    tiles = [each for each in _region(spec)["tiles"] if each["because"] is None]
    return [instance for tile in tiles if tile is not None for instance in tile["instances"]]


def _leaf(spec: str, number: int) -> str:
    """Return a text for what ran: a tile by its sizes, a leaf by its decisions and what it caches."""
    for instance in instances(spec):
        if instance["leaf"] == number:
            sizes = " ".join(f"{name}={value}" for name, value in instance["sizes"].items())
            return f"tile {instance['number']}: {sizes}"
    for leaf in _region(spec)["leaves"]:
        if leaf["index"] == number:
            decisions = dict.fromkeys(f"({each['text']})" for each in leaf["decisions"] if each["text"])
            return f"leaf {number} {' '.join(decisions)}, cached: {', '.join(leaf['cached']) or 'nothing'}"
    return f"leaf {number}"
