"""A check behind every pass: that kernels compute the same before and after, on small random launches.

    run(module, passes, (validated(seed=0),))      # CompileError (CF1025) where one does not

Only kernels that the pass has changed are run, by the interpreter, with buffers of random bytes for 64-bit parameters
and small numbers for others.  Where nobody says which parameters are pointers or how long arrays are, many launches
end in a wrong access: what such a launch says is nothing, and is tried again with other numbers.  Where all do, a
remark says that the kernel was not run::

    validated(told=remarks.append, pointers={"axpy": (True, True, False)}.get)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Function, Module, Parameter
from comprehensive.ptx.passes.remark import DYNAMIC_BYTES_PER_WARP, GRID_PARAMETERS, Kind, Remark, fact_of
from comprehensive.ptx.pipeline import Check, Stage, pass_error
from comprehensive.ptx.statements import Instruction

CHANGED = "CF1025"
"""The code of an error for a pass that changed what a kernel computes."""
_LAUNCHES = 8
_BLOCKS = ((1,), (32,), (40,), (64,), (16, 4), (32, 2), (8, 8, 2))
_BUFFER_BYTES = 1 << 16
_ENDS = (6, 20, 100)
"""The ends of the ranges of numbers: those drawn for a launch are below one of these."""
_MOST_TURNS = 20_000
_SHARED_BYTES = 1 << 17
_ORDERS = 4
"""Orders of threads in which a launch is tried whose blocks may come to run in another order."""

Argument = int | bytes | NDArray[np.uint8]


Pointers = Callable[[str], Sequence[bool] | None]
"""The function that says which parameters of a kernel are pointers, by its symbol; None where that is not known."""


def validated(
    seed: int = 0,
    told: Callable[[Remark], object] = lambda _: None,
    pointers: Pointers = lambda _: None,
) -> Check:
    """Return the check that kernels compute the same before and after a pass, on small random launches.

    The check raises CompileError (CF1025) where one does not; what could not be tried is ``told``.
    """

    def check(stage: Stage) -> None:
        for name, kernel in stage.after.kernels.items():
            before = stage.before.kernels[name]
            if kernel is before or kernel.symbol not in stage.before.kernels:
                continue
            known = pointers(name) or tuple(_may_point(parameter) for parameter in before.parameters)
            faults = [
                _fault(stage, before, known, np.random.default_rng((seed, n))) for n in range(_LAUNCHES)
            ]
            if None not in faults:
                text = f"'{name}' is changed, but was not validated: no launch ended well, the first with '{faults[0]}'"
                told(Remark(Kind.MISSED, stage.ptx_pass.name, name, None, text))

    return check


def _fault(stage: Stage, kernel: Function, pointers: Sequence[bool], draw: np.random.Generator) -> str | None:
    """Return why one launch did not end well before the pass; None where it did and computes the same after.

    CompileError (CF1025) where it computes something else.
    """
    block = kernel.tuning("reqntid") or kernel.tuning("maxntid") or _BLOCKS[int(draw.integers(len(_BLOCKS)))]
    grid = (int(draw.integers(1, 4)), *(int(draw.integers(1, 3)) for _ in block[1:]))
    arguments = _arguments(kernel, pointers, draw)
    again, original = _copies(arguments), _copies(arguments)
    fault = _run(stage.before, kernel.symbol, grid, block, arguments)
    if fault is not None:
        return fault
    problem = _run_after(stage, kernel, grid, block, again, _launches(stage, kernel, grid, draw))
    is_numbered = problem is None and fact_of(GRID_PARAMETERS, stage.remarks, kernel.symbol) > 0
    if is_numbered and _shows_order(stage, kernel, grid, block, original, arguments, again, draw):
        return "blocks read or write what others write, so that their order shows"
    if problem is not None:
        problem = f"it ends with '{problem}'"
    elif (found := _difference(arguments, again)) is not None:
        position, byte = found
        parameter = kernel.parameters[position].name
        problem = (
            f"byte {byte} of what '{parameter}' points to, with a grid of {grid} blocks of {block} threads"
        )
    if problem is not None:
        raise pass_error(CHANGED, stage, f"changed what '{kernel.symbol}' computes: {problem}")
    return None


def _shows_order(
    stage: Stage,
    kernel: Function,
    grid: Sequence[int],
    block: Sequence[int],
    original: Sequence[Argument],
    before: Sequence[Argument],
    after: Sequence[Argument],
    draw: np.random.Generator,
) -> bool:
    """Return whether blocks in another order, or threads in a drawn one, leave other arguments."""
    turned = _copies(original)
    _run_after(stage, kernel, grid, block, turned, _one_by_one(grid, reversed(range(prod(grid)))))
    if _difference(turned, after) is not None:
        return True
    for _ in range(_ORDERS):
        drawn = _copies(original)
        _run(stage.before, kernel.symbol, grid, block, drawn, drawn=int(draw.integers(1 << 30)))
        if _difference(drawn, before) is not None:
            return True
    return False


def _copies(arguments: Sequence[Argument]) -> list[Argument]:
    return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]


def _difference(one: Sequence[Argument], other: Sequence[Argument]) -> tuple[int, int] | None:
    """Return the first argument that two launches leave different, and its first such byte; None where none does."""
    for position, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        if (
            isinstance(mine, np.ndarray)
            and isinstance(theirs, np.ndarray)
            and not np.array_equal(mine, theirs)
        ):
            return position, int(np.flatnonzero(mine != theirs)[0])
    return None


_Launches: TypeAlias = Iterable[tuple[Sequence[int], tuple[bytes, ...]]]
"""Grids, and what is passed beside the arguments."""


def _run_after(
    stage: Stage,
    kernel: Function,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Argument],
    launches: _Launches,
) -> str | None:
    """Return what is wrong with the launches behind the pass, which change the arguments; None where all end well."""
    added = _added_shared_bytes(stage, kernel, block)
    for part, more in launches:
        # Threads of blocks that are numbers run as many as there are, and the loop.
        turns = 2 * prod(grid) * _MOST_TURNS if more else _MOST_TURNS
        problem = _run(stage.after, kernel.symbol, part, block, [*arguments, *more], added, turns)
        if problem is not None:
            return problem
    return None


def _launches(stage: Stage, kernel: Function, grid: Sequence[int], draw: np.random.Generator) -> _Launches:
    """Return one launch, or where blocks are numbers two for parts of them."""
    if not fact_of(GRID_PARAMETERS, stage.remarks, kernel.symbol):
        return ((grid, ()),)
    count = prod(grid)
    # With such arguments a block may read shared memory that it has not written: no other one shall have, either.
    if any(isinstance(each, Instruction) and "shared" in each.opcode.modifiers for each in kernel.body):
        return _one_by_one(grid, range(count))
    cut = int(draw.integers(0, count + 1))
    return tuple(_numbered(grid, first, end) for first, end in ((0, cut), (cut, count)))


def _one_by_one(grid: Sequence[int], blocks: Iterable[int]) -> _Launches:
    return (_numbered(grid, block, block + 1) for block in blocks)


def _numbered(grid: Sequence[int], first: int, end: int) -> tuple[Sequence[int], tuple[bytes, ...]]:
    """Return a launch of some blocks, one after the other."""
    numbers = (first, end, *(*grid, 1, 1)[:3])
    return (1,), tuple(number.to_bytes(4, "little") for number in numbers)


def _added_shared_bytes(stage: Stage, kernel: Function, block: Sequence[int]) -> int:
    """Return the bytes that a launch adds to the dynamic shared memory of a block, by the remarks of the pass."""
    return fact_of(DYNAMIC_BYTES_PER_WARP, stage.remarks, kernel.symbol) * -(-prod(block) // 32)


def _run(
    module: Module,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Argument],
    added_shared_bytes: int = 0,
    turns: int = _MOST_TURNS,
    drawn: int | None = None,
) -> str | None:
    """Return what is wrong with a run of the kernel; None where it ends well."""
    shared = _SHARED_BYTES + added_shared_bytes
    try:
        interpret(module, kernel, grid, block, arguments, shared_bytes=shared, max_turns=turns, drawn=drawn)
    except CompileError as error:
        return error.diagnostics[0].message
    return None


def _may_point(parameter: Parameter) -> bool:
    return parameter.is_pointer or (parameter.bytes == 8 and parameter.type in ("u64", "b64"))


def _arguments(kernel: Function, pointers: Sequence[bool], draw: np.random.Generator) -> list[Argument]:
    found: list[Argument] = []
    # Products of small numbers, as of the sides of a block, leave shared memory large enough.
    end = int(draw.choice(_ENDS))
    for parameter, points in zip(kernel.parameters, pointers, strict=True):
        if points:
            # Floats between 1 and 2, and small integers: few NaN, few indices far out.
            words = draw.integers(0, 16, _BUFFER_BYTES // 4, dtype=np.uint32)
            floats = draw.random(_BUFFER_BYTES // 4, dtype=np.float32) + np.float32(1)
            chosen = words if draw.random() < 0.5 else floats.view(np.uint32)
            found.append(chosen.view(np.uint8).copy())
        elif parameter.type[0] == "f":
            value = draw.random()
            found.append(np.array(value, f"f{parameter.bytes}").tobytes())
        else:
            value = int(draw.integers(0, end))
            found.append(value.to_bytes(max(2, parameter.bytes), "little")[: parameter.bytes])
    return found
