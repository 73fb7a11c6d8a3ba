"""Elements of 16 bits, computed with in single precision: a product, a stencil, elements, and sums of rows."""

from __future__ import annotations

from benchmarks.gpu.everyday.computation import Computation, kept, read, written
from benchmarks.gpu.everyday.grids import five, inside

ROUNDED_ONCE = 2e-3
"""The share of the largest element by which results of 11 significant bits may differ."""
ROUNDED_OFTEN = 8e-3
"""The same where torch rounds every part of a sum, or results have 8 significant bits."""

HALVES = (
    Computation(
        "half_matmul",
        "m n k",
        lambda m, n, k: {
            "a": read(m, k, dtype="float16"),
            "b": read(k, n, dtype="float16"),
            "c": written(m, n, dtype="float16"),
        },
        "c",
        lambda v: v.a @ v.b,
        tiny=(5, 7, 6),
        points=((4096, 4096, 4096), (2048, 2048, 2048), (1000, 1021, 777)),
        operations=lambda m, n, k: 2.0 * m * n * k,
        tolerance=ROUNDED_ONCE,
    ),
    Computation(
        "half_saxpy",
        "n",
        lambda n: {
            "x": read(n, dtype="float16"),
            "y": read(n, dtype="float16"),
            "z": written(n, dtype="float16"),
        },
        "z",
        lambda v: v.alpha * v.x + v.y,
        tiny=(9,),
        points=((1 << 26,), (1000003,)),
        scalars={"alpha": 1.5},
        tolerance=ROUNDED_ONCE,
    ),
    Computation(
        "half_five_point",
        "h w",
        lambda h, w: {"a": read(h, w, dtype="float16"), "b": kept(h, w, dtype="float16")},
        "b",
        lambda v: inside(v.b, five(v.a)),
        tiny=(5, 6),
        points=((8192, 8192), (3001, 2047)),
        tolerance=ROUNDED_OFTEN,
    ),
    Computation(
        "bfloat16_row_sums",
        "m n",
        lambda m, n: {"a": read(m, n, dtype="bfloat16"), "y": written(m, dtype="bfloat16")},
        "y",
        lambda v: v.a.sum(-1),
        tiny=(6, 9),
        points=((16384, 8192), (4099, 3001)),
        tolerance=ROUNDED_OFTEN,
    ),
)
