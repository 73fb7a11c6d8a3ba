"""Elements of arrays as numpy has them in memory, and as the numbers that they stand for.

stored(np.array([0.1]), ScalarType.HALF)                        -->  array([0.1], dtype=float16)
numbers(np.array([0x3f80], np.uint16), ScalarType.BFLOAT16)     -->  array([1.0], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from comprehensive.loops.bfloat16 import from_bits, to_bits
from comprehensive.metafork.ast import ScalarType


def numbers(elements: npt.NDArray[Any], type: ScalarType) -> npt.NDArray[Any]:
    """The values of elements in memory; those of storage types as ``float32``, which has them all."""
    if type is ScalarType.BFLOAT16:
        return from_bits(elements)
    return elements.astype(np.float32) if type is ScalarType.HALF else elements


def stored(values: npt.NDArray[Any], type: ScalarType) -> npt.NDArray[Any]:
    """Numbers as elements in memory, rounded to the nearest value of the type, ties to even."""
    if type is ScalarType.BFLOAT16:
        return to_bits(values)
    with np.errstate(all="ignore"):
        return values.astype(type.numpy_name)
