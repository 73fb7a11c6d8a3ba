"""The bounds of special registers, by the language and by what a kernel says of its launches.

In: a function, a name.  Out: least and greatest::

    special_bounds(function, "%tid.x")      # (0, 1023); (0, 255) under .maxntid 256

Limits of the grid and the block: CUDA programming guide, technical specifications per compute capability.
"""

from __future__ import annotations

from math import prod

from comprehensive.ptx.module import Function

MOST_THREADS = {"x": 1024, "y": 1024, "z": 64}
MOST_BLOCKS = {"x": 2**31 - 1, "y": 65535, "z": 65535}
_OTHERS = {"%laneid": (0, 31), "%warpid": (0, 63), "%nwarpid": (1, 64), "%dynamic_smem_size": (0, 2**20)}


def special_bounds(function: Function, name: str) -> tuple[int, int] | None:
    """Return the least and the greatest value of a special register; None where nothing is known.

    ``.maxntid`` limits the product of the three only.
    """
    base, _, axis = name.partition(".")
    if axis not in MOST_THREADS:
        return _OTHERS.get(name)
    if base in ("%tid", "%ntid"):
        required = function.tuning("reqntid")
        if required:
            exact = (*required, 1, 1)["xyz".index(axis)]
            return (exact, exact) if base == "%ntid" else (0, exact - 1)
        stated = function.tuning("maxntid")
        most = min(MOST_THREADS[axis], prod(stated)) if stated else MOST_THREADS[axis]
        return (1, most) if base == "%ntid" else (0, most - 1)
    if base == "%nctaid":
        return (1, MOST_BLOCKS[axis])
    if base == "%ctaid":
        return (0, MOST_BLOCKS[axis] - 1)
    return None
