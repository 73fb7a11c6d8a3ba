"""The problem that is measured: a function at given sizes, with the data that it works on.

In: a function's plan and the values of its scalar arguments.  Out: a :class:`Problem`, which a file in JSON takes to
other processes::

    {"function": "matmul", "seed": 1, "arguments": [
      {"name": "n", "dtype": "int32", "pointer": false, "value": 1024, ...},
      {"name": "a", "dtype": "float32", "pointer": true, "shape": [1024, 1024], ...}, ...]}

Where program parameters have a say in what a program computes (blocks that do not divide a size leave a rest), its
meaning is that of the *baseline*: all of them 1, or as near to that as asserts and fixed values let them be.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.diagnostics import Note
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Role
from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from comprehensive.soundness.columns import NotEvaluableError
from comprehensive.soundness.emulated import ROUNDING, rounding
from comprehensive.soundness.index_data import data_range, index_uses, limit_of, scattered
from comprehensive.soundness.pointed import behind_parameters
from comprehensive.soundness.reach import TooManyIterationsError, reach
from comprehensive.soundness.sampling import all_scalars, subscript_names
from comprehensive.tuning.candidates import admitted
from comprehensive.values import value_error

SEED = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """A function at given sizes, with its data.

    ``sizes`` are the integer arguments that are no program parameters, ``baseline`` is the program
    parameters.
    """

    function: str
    sizes: Mapping[str, int]
    baseline: Mapping[str, int]
    arguments: tuple[Mapping[str, Any], ...]
    tolerances: Mapping[str, float] = field(default_factory=lambda: ROUNDING)
    """The most that results may differ, by their types."""

    @property
    def bytes(self) -> int:
        """The number of bytes of all data."""
        return sum(
            math.prod(a["shape"]) * np.dtype(a["dtype"]).itemsize for a in self.arguments if a["pointer"]
        )

    def write(self, directory: Path) -> Path:
        """The file, named after what is in it."""
        document = {
            "function": self.function,
            "seed": SEED,
            "tolerances": dict(self.tolerances),
            "arguments": [dict(a) for a in self.arguments],
        }
        name = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:24]
        place = directory.absolute() / f"{name}.problem.json"
        document["reference"] = str(directory.absolute() / f"{name}.reference")
        directory.mkdir(parents=True, exist_ok=True)
        temporary = place.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(document), encoding="utf-8")
        os.replace(temporary, place)
        return place


def size_names(plan: FunctionPlan) -> tuple[str, ...]:
    """The integer arguments that are no program parameters."""
    return tuple(a.name for a in interface(plan).arguments if not a.pointer and a.type.is_integer)


def scaled_names(plan: FunctionPlan) -> frozenset[str]:
    """The sizes that make a problem smaller: all that regions know, but not how often these run."""
    known = {s.name for region in plan.regions for s in region.nest.scalars if s.role is not Role.HOST}
    return frozenset(size_names(plan)) & known


def problem(
    plan: FunctionPlan,
    sizes: Mapping[str, int],
    points: Iterable[Mapping[str, int]],
    scalars: Mapping[str, float],
) -> Problem:
    """The problem; ``points`` are program parameters, the first ones that asserts admit being the baseline.

    ``scalars`` are values of floating-point arguments; others are drawn.  CommandLineError (CF0902) where host code
    cannot compute with the sizes, (CF0903) where there is no such baseline, (CF0904) where the size of a buffer is not
    known, and (CF0905) where data does not fit into the memory of this machine.
    """
    name = plan.function.name
    shown = ", ".join(f"{key} = {value}" for key, value in sizes.items())
    baseline = next((point for point in points if admitted(plan, sizes, point)), None)
    if baseline is None:
        raise value_error(
            "CF0903",
            f"no program parameters of {name} are admitted at {shown}",
            "give other sizes, or program parameters with -D, that meet the asserts of the program",
        )
    values: dict[str, int | float] = {**sizes, **baseline}
    rng = random.Random(SEED)
    for parameter in plan.function.parameters:
        if not parameter.is_data and not parameter.type.is_integer:
            drawn = round(rng.uniform(0.1, 1), 3)
            values[parameter.name] = float(scalars.get(parameter.name, drawn))
    try:
        shapes = _shapes(plan, values)
    except UndefinedBehaviour as error:
        raise value_error(
            "CF0902", f"{name} cannot be run at {shown}: {error}", "give smaller or other sizes"
        ) from None
    except (NotEvaluableError, TooManyIterationsError) as error:
        raise value_error(
            "CF0904",
            f"how large the buffers of {name} must be depends on data: {error}",
            "give arrays their dimensions, as in float a[n][n]",
        ) from None
    found = Problem(
        name,
        dict(sizes),
        dict(baseline),
        tuple(_arguments(plan, values, shapes)),
        rounding(region.nest for region in plan.regions),
    )
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if 3 * found.bytes > room:  # as drawn, as expected, as computed
        raise value_error(
            "CF0905",
            f"{name} at {shown} has {found.bytes} bytes of data, {3 * found.bytes} while results are compared, which "
            "is more than the memory of this machine",
            "give smaller sizes",
            (Note(f"the memory of this machine has {room} bytes"),),
        )
    return found


def _shapes(plan: FunctionPlan, values: Mapping[str, int | float]) -> dict[str, tuple[int, ...]]:
    """Elements of all data; at sizes that cannot be counted through no fewer than are needed."""
    needed: dict[str, int] = {}
    for region in plan.regions:
        scalars = all_scalars(region.nest, values)
        try:
            found = reach(region.nest, scalars)
        except TooManyIterationsError:
            found = reach(region.nest, scalars, corners=True)
        for name, elements in found.items():
            needed[name] = max(elements, needed.get(name, 0))
    needed = behind_parameters(plan.function, needed, values)
    shapes: dict[str, tuple[int, ...]] = {}
    for parameter in plan.function.parameters:
        if parameter.is_data:
            dims = parameter.dims or (None,)
            first = () if dims[0] is not None else (needed.get(parameter.name, 0),)
            rest = (int(c_value(d, values)) for d in dims if d is not None)
            shapes[parameter.name] = tuple(max(0, extent) for extent in (*first, *rest))
    return shapes


def _arguments(
    plan: FunctionPlan, values: Mapping[str, int | float], shapes: Mapping[str, tuple[int, ...]]
) -> Iterable[dict[str, Any]]:
    """Yield the arguments in the order of the program.

    Integers that serve as subscripts are small and not negative.

    Those that say where something is written are inside of what they index, and differ where two equal ones would be
    a race.
    """
    nests = tuple(region.nest for region in plan.regions)
    subscripts, uses = subscript_names(nests), index_uses(nests)
    different = scattered(uses)
    host, added = interface(plan), {p.name for p in plan.function.parameters if p.added}
    for argument in host.everything:
        common: dict[str, Any] = {
            "name": argument.name,
            "dtype": argument.type.numpy_name,
            "pointer": argument.pointer,
            "program": argument.name in host.program_names,
        }
        if argument.name in added:
            common["added"] = True
        if argument.type is ScalarType.BFLOAT16:
            common["bits"] = True
        if not argument.pointer:
            yield {**common, "value": values[argument.name]}
            continue
        low, high = data_range(argument.type)
        low = 0 if argument.name in subscripts else low
        shape = list(shapes[argument.name])
        limit = limit_of(uses, argument.name, shapes)
        found = {**common, "written": not argument.const, "shape": shape, "low": low, "high": high + 1}
        if limit is not None:
            found |= {"low": 0, "high": max(1, limit), "distinct": argument.name in different}
        yield found
