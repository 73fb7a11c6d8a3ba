"""Data that is exactly as large as the serial program needs it, found by running that.

In: a sample, whose shapes are a first guess.  Out: :class:`Sized`: arrays with every element that the serial C touches
for these contents, host code and conditions on data included, and none behind it::

    for (int t = 0; t < T; t++) { ... if (m[i] != 0) y[i] = x[i + s[t]]; ... }
        -->  s has T elements; x ends with the last element that some iteration does read

Declared extents are what they are.  Arrays that turn out to be too small are drawn again, larger.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from msgspec import Struct

from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Function
from comprehensive.records import replace
from comprehensive.runtime.guarded import GuardedProcess, Outside, TooLargeError
from comprehensive.runtime.serial import SerialLibrary
from comprehensive.soundness.index_data import TooFewIndicesError
from comprehensive.soundness.pointed import null_pointers
from comprehensive.soundness.sampling import MAX_BYTES, Sample, random_data


class Sized(Struct, frozen=True):
    """Data of the sizes that a program touches.

    ``drawn`` holds at least what every conditional reference could touch, as far as that is known; ``exact``
    its first elements, as many as the serial program touches, or None for data that is not there.
    """

    drawn: Mapping[str, Any]
    exact: Mapping[str, Any]


def sized(
    process: GuardedProcess,
    serial: SerialLibrary,
    function: Function,
    nests: tuple[Nest, ...],
    sample: Sample,
    seed: int,
    *,
    duplicates: bool = False,
) -> Sized | str:
    """The data of a sample, or why the serial program has no meaning there. CpuFaultError where it has no end.

    Indices that say where plain stores go are all different, unless with ``duplicates``.
    """
    open_arrays = {p.name for p in function.parameters if p.is_data and (not p.dims or p.dims[0] is None)}
    shapes = dict(sample.shapes)
    while True:
        try:
            data = random_data(function, nests, replace(sample, shapes=shapes), seed, duplicates=duplicates)
        except TooFewIndicesError:
            return "there are fewer places than indices that say where something is stored"
        try:
            passed: dict[str, Any] = {**data, **dict.fromkeys(null_pointers(function, sample.arguments))}
            found = process.extents(serial, function.name, {**sample.arguments, **passed}, open_arrays)
        except TooLargeError as error:
            for fault in error.faults:
                larger = _larger(shapes[fault.array], fault) if fault.array in open_arrays else None
                if larger is None or prod(larger) * data[fault.array].itemsize > MAX_BYTES:
                    return f"the serial program {fault}"
                shapes[fault.array] = larger
            continue
        rows = {name: -(-elements // max(1, prod(shapes[name][1:]))) for name, elements in found.items()}
        exact = {name: values[: rows[name]] if name in rows else values for name, values in passed.items()}
        return Sized(data, exact)


def _larger(shape: tuple[int, ...], fault: Outside) -> tuple[int, ...] | None:
    """A shape with more rows; None where rows do not help."""
    row = prod(shape[1:])
    if fault.element < 0 or row == 0:
        return None
    return (max(2 * shape[0], fault.farthest // row + 1), *shape[1:])
