"""The everyday kernels that move data, compute elements one by one, or look them up."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.everyday.computation import Array, Computation, Values, kept, read, written

NEAR = 7
"""Rows of the sparse matrix have so many elements, two more or less."""
FAR = 0.01
"""Squared distance that is added between bodies, so that none is infinitely near."""
AT_A_TIME = 512
"""Bodies whose pulls the reference computes at once."""


def _forces(v: Values) -> Any:
    points = v.xp.stack((v.x, v.y, v.z), -1)
    parts: list[Any] = []
    for first in range(0, v.n, AT_A_TIME):
        between = points[None] - points[first : first + AT_A_TIME, None]
        pull = v.mass / ((between * between).sum(-1) + FAR) ** 1.5
        parts.append((pull[..., None] * between).sum(1))
    return v.xp.concatenate(parts)


def _energies(v: Values) -> Any:
    points = v.xp.stack((v.x, v.y, v.z), -1)
    parts: list[Any] = []
    for first in range(0, v.n, AT_A_TIME):
        square = ((points[None] - points[first : first + AT_A_TIME, None]) ** 2).sum(-1)
        power = (square + 0.5) ** -3.0
        parts.append(v.xp.where(square < 0.5, power * (power - 1), 0 * square).sum(1))
    # All distances but that of 0 from each to itself.
    return v.xp.concatenate(parts) - 8 * (8 - 1)


def _prices(v: Values) -> Any:
    deviation = v.volatility * v.xp.sqrt(v.years)
    first = (v.xp.log(v.price / v.strike) + (v.rate + v.volatility**2 / 2) * v.years) / deviation
    discounted = v.strike * v.xp.exp(-v.rate * v.years)
    return v.price * _normal(v.xp, first) - discounted * _normal(v.xp, first - deviation)


def _normal(xp: Any, x: Any) -> Any:
    """The normal distribution by its series, whose terms are gone after a hundred for |x| < 6."""
    term, total = x, x
    for k in range(1, 120):
        term = -term * x * x / (2 * k)
        total = total + term / (2 * k + 1)
    return 0.5 + total / (2 * 3.141592653589793) ** 0.5


def _sparse(m: int, n: int, q: int) -> dict[str, Array]:
    places: dict[str, Any] = {"dtype": "int32", "low": 0, "high": n - 1}
    row = read(m + 1, dtype="int32", rule=lambda index: NEAR * index + 2 * (index % 2))
    return {"row": row, "column": read(q, **places), "value": read(q), "x": read(n), "y": written(m)}


def _sparse_product(v: Values) -> Any:
    before = v.xp.concatenate((v.value[:1] * 0, v.xp.cumsum(v.value * v.x[v.column], 0)))
    return before[v.row[1:]] - before[v.row[:-1]]


def _collatz(v: Values) -> Any:
    x = v.xp.arange(1, v.n + 1)
    steps = x * 0
    while bool((x != 1).any()):
        steps = steps + v.xp.where(x != 1, 1, 0)
        x = v.xp.where(x == 1, 1, v.xp.where(x % 2 == 0, x // 2, 3 * x + 1))
    return steps


def _byte_pixels(n: int) -> dict[str, Array]:
    return {"in": read(3 * n, dtype="uint8", low=0, high=255), "out": written(n, dtype="uint8")}


def _brightness(v: Values) -> Any:
    pixels = getattr(v, "in")
    return (77 * pixels[::3] + 150 * pixels[1::3] + 29 * pixels[2::3]) >> 8


def _columns_of(wide: Any, n: int, other: Any) -> Any:
    changed = wide + 0
    changed[:, :n] = other[:, :n]
    return changed


def _options(n: int) -> dict[str, Array]:
    price = read(n, low=20, high=40)
    return {"price": price, "strike": price, "years": read(n, low=0.5, high=2), "call": written(n)}


MOVES = (
    Computation(
        "transpose",
        "m n",
        lambda m, n: {"a": read(m, n), "c": written(n, m)},
        "c",
        lambda v: v.a.T,
        tiny=(5, 6),
        points=((16384, 8192), (4097, 3001)),
    ),
    Computation(
        "hwc_to_chw",
        "h w",
        lambda h, w: {"in": read(h, w, 3), "out": written(3, h, w)},
        "out",
        lambda v: v.xp.moveaxis(getattr(v, "in"), -1, 0),
        tiny=(5, 6),
        points=((8192, 4096), (1001, 777)),
        threads=lambda h, w: (h, w),
    ),
    Computation(
        "permute",
        "p q r s",
        lambda p, q, r, s: {"a": read(p, q, r, s), "b": written(s, q, p, r)},
        "b",
        lambda v: v.xp.moveaxis(v.a, (3, 1, 0, 2), (0, 1, 2, 3)),
        tiny=(3, 4, 5, 6),
        points=((32, 16, 512, 512), (13, 7, 301, 101)),
        threads=lambda p, q, r, s: (q, s, p * r),
    ),
    Computation(
        "symmetric",
        "n",
        lambda n: {"a": read(n, n), "c": written(n, n)},
        "c",
        lambda v: 0.5 * (v.a + v.a.T),
        tiny=(6,),
        points=((8192,), (4099,)),
    ),
    Computation(
        "gather",
        "n m",
        lambda n, m: {
            "x": read(m),
            "at": read(n, dtype="int32", low=0, high=m - 1),
            "y": written(n),
        },
        "y",
        lambda v: v.x[v.at],
        tiny=(9, 5),
        points=((1 << 25, 1 << 20), (1000003, 5000)),
    ),
    Computation(
        "embedding",
        "n v d",
        lambda n, v, d: {
            "table": read(v, d),
            "at": read(n, dtype="int32", low=0, high=v - 1),
            "y": written(n, d),
        },
        "y",
        lambda v: v.table[v.at],
        tiny=(5, 4, 6),
        points=((131072, 32768, 512), (1001, 5000, 301)),
        traffic=lambda n, v, d: 8.0 * n * d + 4.0 * n,
    ),
)

ELEMENTS = (
    Computation(
        "channels",
        "b h w c",
        lambda b, h, w, c: {"in": read(b, h, w, c), "scale": read(c), "out": written(b, h, w, c)},
        "out",
        lambda v: getattr(v, "in") * v.scale,
        tiny=(2, 3, 4, 5),
        points=((8, 1024, 1024, 3), (32, 112, 112, 64), (3, 111, 113, 5)),
        threads=lambda b, h, w, c: (b * h, w, c),
    ),
    Computation(
        "saxpy",
        "n",
        lambda n: {"x": read(n), "y": read(n), "z": written(n)},
        "z",
        lambda v: v.alpha * v.x + v.y,
        tiny=(9,),
        points=((1 << 26,), (1000003,)),
        scalars={"alpha": 1.5},
    ),
    Computation(
        "silu",
        "n",
        lambda n: {"x": read(n, low=-6, high=6), "y": written(n)},
        "y",
        lambda v: v.x / (1 + v.xp.exp(-v.x)),
        tiny=(9,),
        points=((1 << 26,), (1000003,)),
    ),
    Computation(
        "bias_rows",
        "m n",
        lambda m, n: {"a": read(m, n), "bias": read(n), "c": written(m, n)},
        "c",
        lambda v: v.xp.where(v.a + v.bias > 0, v.a + v.bias, 0.0),
        tiny=(5, 6),
        points=((16384, 4096), (4099, 3001)),
    ),
    Computation(
        "submatrix",
        "m n p",
        lambda m, n, p: {"a": read(m, p), "b": read(m, p), "c": kept(m, p)},
        "c",
        lambda v: _columns_of(v.c, v.n, v.a + v.b),
        tiny=(5, 4, 7),
        points=((8192, 4096, 5000),),
        traffic=lambda m, n, p: 12.0 * m * n,
        threads=lambda m, n, p: (m, n),
    ),
    Computation(
        "rank1",
        "m n",
        lambda m, n: {"x": read(m), "y": read(n), "a": kept(m, n)},
        "a",
        lambda v: v.a + v.x[:, None] * v.y[None],
        tiny=(5, 6),
        points=((16384, 8192), (4099, 3001)),
        traffic=lambda m, n: 8.0 * m * n,
    ),
    Computation(
        "gray",
        "n",
        _byte_pixels,
        "out",
        _brightness,
        tiny=(9,),
        points=((1 << 27,),),
    ),
    Computation(
        "black_scholes",
        "n",
        _options,
        "call",
        _prices,
        tiny=(9,),
        points=((1 << 24,),),
        scalars={"rate": 0.02, "volatility": 0.4},
    ),
)

IRREGULAR = (
    Computation(
        "cutoff",
        "n",
        lambda n: {"x": read(n), "y": read(n), "z": read(n), "energy": written(n)},
        "energy",
        _energies,
        tiny=(5,),
        points=((32768,), (5001,)),
        operations=lambda n: 15.0 * n * n,
    ),
    Computation(
        "nbody",
        "n",
        lambda n: {
            "x": read(n),
            "y": read(n),
            "z": read(n),
            "mass": read(n, low=0, high=1),
            "force": written(n, 3),
        },
        "force",
        _forces,
        tiny=(5,),
        points=((32768,), (5001,)),
        operations=lambda n: 20.0 * n * n,
        threads=lambda n: (n,),
    ),
    Computation(
        "spmv",
        "m n q",
        _sparse,
        "y",
        _sparse_product,
        tiny=(8, 10, 56),
        points=((1 << 21, 1 << 21, 7 << 21),),
    ),
    Computation(
        "histogram",
        "n m",
        lambda n, m: {
            "x": read(n, dtype="int32", low=0, high=m - 1),
            "h": kept(m, dtype="int32", low=0, high=9),
        },
        "h",
        lambda v: v.h + v.xp.bincount(v.x, minlength=v.m),
        tiny=(9, 4),
        points=((1 << 25, 256), (1000003, 1000), (1 << 22, 100003)),
        threads=lambda n, m: (n,),
    ),
    Computation(
        "collatz",
        "n",
        lambda n: {"y": written(n, dtype="int32")},
        "y",
        _collatz,
        tiny=(9,),
        points=((1 << 22,),),
        operations=lambda n: 400.0 * n,
    ),
)
