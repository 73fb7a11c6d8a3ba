"""A check behind every pass: that kernels compute the same before and after, on small random launches.

    run(module, passes, (validated(seed=0),))      # CompileError (CF1025) where one does not

Only kernels that the pass has changed are run, by the interpreter, with buffers of random bytes for 64-bit parameters
and small numbers for others.  Nobody says which parameters are pointers or how long arrays are, so many launches end
in a wrong access: what such a launch says is nothing, and is tried again with other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.pipeline import Check, Stage, pass_error

_LAUNCHES = 4
_BUFFER_BYTES = 1 << 16
_MOST_TURNS = 20_000
_SHARED_BYTES = 1 << 14

Argument = int | bytes | NDArray[np.uint8]


def validated(seed: int = 0) -> Check:
    """CompileError (CF1025)."""

    def check(stage: Stage) -> None:
        for name, kernel in stage.after.kernels.items():
            before = stage.before.kernels[name]
            if kernel is before or kernel.symbol not in stage.before.kernels:
                continue
            for launch in range(_LAUNCHES):
                problem = _difference(stage, before, np.random.default_rng((seed, launch)))
                if problem is not None:
                    raise pass_error("CF1025", stage, f"changed what '{name}' computes: {problem}")

    return check


def _difference(stage: Stage, kernel: Function, draw: np.random.Generator) -> str | None:
    """What differs in one launch; None where nothing does, or the launch does not end well before."""
    block = kernel.tuning("reqntid") or (int(draw.choice((1, 32, 40, 64))),)
    grid = (int(draw.integers(1, 4)),)
    arguments = _arguments(kernel, draw)
    again = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    if _run(stage.before, kernel.symbol, grid, block, arguments) is not None:
        return None
    fault = _run(stage.after, kernel.symbol, grid, block, again)
    if fault is not None:
        return f"it ends with '{fault}'"
    for position, (one, other) in enumerate(zip(arguments, again, strict=True)):
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and not np.array_equal(one, other):
            byte = int(np.flatnonzero(one != other)[0])
            parameter = kernel.parameters[position].name
            return f"byte {byte} of what '{parameter}' points to, with {grid[0]} blocks of {block[0]} threads"
    return None


def _run(
    module: Module, kernel: str, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Argument]
) -> str | None:
    """What is wrong, None where it ends well."""
    try:
        interpret(module, kernel, grid, block, arguments, shared_bytes=_SHARED_BYTES, max_turns=_MOST_TURNS)
    except CompileError as error:
        return error.diagnostics[0].message
    return None


def _arguments(kernel: Function, draw: np.random.Generator) -> list[Argument]:
    found: list[Argument] = []
    for parameter in kernel.parameters:
        if parameter.is_pointer or (parameter.bytes == 8 and parameter.type in ("u64", "b64")):
            # Floats between 1 and 2, and small integers: few NaN, few indices far out.
            words = draw.integers(0, 16, _BUFFER_BYTES // 4, dtype=np.uint32)
            floats = draw.random(_BUFFER_BYTES // 4, dtype=np.float32) + np.float32(1)
            chosen = words if draw.random() < 0.5 else floats.view(np.uint32)
            found.append(chosen.view(np.uint8).copy())
        elif parameter.type[0] == "f":
            value = draw.random()
            found.append(np.array(value, f"f{parameter.bytes}").tobytes())
        else:
            value = int(draw.integers(0, 100))
            found.append(value.to_bytes(max(2, parameter.bytes), "little")[: parameter.bytes])
    return found
