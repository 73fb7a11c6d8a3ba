"""`bfloat16` in numpy, which has no such type: arrays of `uint16` hold the bits, the upper halves of those of floats.

    to_bits(np.array([1.0, 3.14159]))  -->  array([0x3f80, 0x4049], dtype=uint16)
    from_bits(np.array([0x3f80]))      -->  array([1.0], dtype=float32)

Needs nothing but numpy: measuring processes import it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

NAME = "bfloat16"


def from_bits(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The values, all of which are values of ``float``."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """The bits of the nearest values, ties to even, by way of ``float``; every NaN becomes that of CUDA."""
    with np.errstate(all="ignore"):
        single = values.astype(np.float32)
        bits = single.view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
        return np.where(np.isnan(single), np.uint32(0x7FFF), rounded).astype(np.uint16)
