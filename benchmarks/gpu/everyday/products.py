"""Matrix products, and matrices times vectors."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.everyday.computation import Array, Computation, Values, kept, read, written

CUBE = (2048, 2048, 2048)
ODD = (1000, 1021, 777)
LARGE, AWKWARD = (16384, 16384), (4099, 3001)


def _cubic(m: int, n: int, k: int) -> float:
    return 2.0 * m * n * k


def _product(m: int, n: int, k: int, dtype: str = "float32") -> dict[str, Array]:
    how: dict[str, Any] = {"dtype": dtype, "low": -100, "high": 100} if dtype == "int32" else {"dtype": dtype}
    return {"a": read(m, k, **how), "b": read(k, n, **how), "c": written(m, n, dtype=dtype)}


def _lower(v: Values) -> Any:
    return v.xp.tril(v.a @ v.a.T) + v.xp.triu(v.c, 1)


def _distances(v: Values) -> Any:
    return (v.a * v.a).sum(1)[:, None] + (v.b * v.b).sum(1)[None] - 2 * (v.a @ v.b.T)


def _nearest(v: Values) -> Any:
    return v.xp.amin(_distances(v), 1)


def _kernel_sums(v: Values) -> Any:
    return v.xp.exp(_distances(v) * -v.width) @ v.w


def _trailing(v: Values) -> Any:
    changed, behind = v.a + 0, v.k + v.q
    changed[behind:, behind:] -= v.a[behind:, v.k : behind] @ v.a[v.k : behind, behind:]
    return changed


PRODUCTS = (
    Computation(
        "matmul",
        "m n k",
        _product,
        "c",
        lambda v: v.a @ v.b,
        tiny=(5, 7, 6),
        points=(CUBE, ODD, (16384, 256, 512), (256, 256, 256), (4095, 4095, 4095), (4097, 4097, 4097)),
        operations=_cubic,
    ),
    Computation(
        "matmul_bias_relu",
        "m n k",
        lambda m, n, k: {"a": read(m, k), "b": read(k, n), "bias": read(n), "c": written(m, n)},
        "c",
        lambda v: v.xp.where(v.a @ v.b + v.bias > 0, v.a @ v.b + v.bias, 0.0),
        tiny=(5, 7, 6),
        points=(CUBE, (512, 8192, 512)),
        operations=_cubic,
    ),
    Computation(
        "matmul_abt",
        "m n k",
        lambda m, n, k: {"a": read(m, k), "b": read(n, k), "c": written(m, n)},
        "c",
        lambda v: v.a @ v.b.T,
        tiny=(5, 7, 6),
        points=(CUBE, ODD),
        operations=_cubic,
    ),
    Computation(
        "matmul_atb",
        "m n k",
        lambda m, n, k: {"a": read(k, m), "b": read(k, n), "c": written(m, n)},
        "c",
        lambda v: v.a.T @ v.b,
        tiny=(5, 7, 6),
        points=(CUBE, ODD),
        operations=_cubic,
    ),
    Computation(
        "looked_up",
        "m n k v",
        lambda m, n, k, v: {
            "a": read(m, k),
            "table": read(v, n),
            "at": read(k, dtype="int32", low=0, high=v - 1),
            "c": written(m, n),
        },
        "c",
        lambda v: v.a @ v.table[v.at],
        tiny=(5, 7, 6, 9),
        points=((2048, 2048, 2048, 8192), (1000, 1021, 777, 5000)),
        operations=lambda m, n, k, v: 2.0 * m * n * k,
        traffic=lambda m, n, k, v: 4.0 * (m * k + k * n + k + m * n),
    ),
    Computation(
        "gathered",
        "m n k v",
        lambda m, n, k, v: {
            "table": read(v, k),
            "b": read(k, n),
            "at": read(m, dtype="int32", low=0, high=v - 1),
            "c": written(m, n),
        },
        "c",
        lambda v: v.table[v.at] @ v.b,
        tiny=(5, 7, 6, 9),
        points=((2048, 2048, 2048, 8192), (1000, 1021, 777, 5000)),
        operations=lambda m, n, k, v: 2.0 * m * n * k,
        traffic=lambda m, n, k, v: 4.0 * (m * k + k * n + m + m * n),
    ),
    Computation(
        "aat",
        "n k",
        lambda n, k: {"a": read(n, k), "c": written(n, n)},
        "c",
        lambda v: v.a @ v.a.T,
        tiny=(5, 7),
        points=((2048, 1024), (1001, 333)),
        operations=lambda n, k: 2.0 * n * n * k,
    ),
    Computation(
        "aat_lower",
        "n k",
        lambda n, k: {"a": read(n, k), "c": kept(n, n)},
        "c",
        _lower,
        tiny=(5, 7),
        points=((2048, 1024), (1001, 333)),
        operations=lambda n, k: 1.0 * n * (n + 1) * k,
    ),
    Computation(
        "batched",
        "q m n k",
        lambda q, m, n, k: {"a": read(q, m, k), "b": read(q, k, n), "c": written(q, m, n)},
        "c",
        lambda v: v.a @ v.b,
        tiny=(3, 4, 6, 5),
        points=((64, 256, 256, 256), (64, 512, 512, 512), (1024, 64, 64, 64), (333, 65, 67, 33)),
        operations=lambda q, m, n, k: 2.0 * q * m * n * k,
    ),
    Computation(
        "layer_of_tokens",
        "q t n k",
        lambda q, t, n, k: {"x": read(q, t, k), "w": read(n, k), "bias": read(n), "y": written(q, t, n)},
        "y",
        lambda v: v.x @ v.w.T + v.bias,
        tiny=(3, 4, 6, 5),
        points=((64, 16, 1024, 1024), (8, 512, 1024, 1024), (333, 7, 509, 301)),
        operations=lambda q, t, n, k: 2.0 * q * t * n * k,
    ),
    Computation(
        "matmul_double",
        "m n k",
        lambda m, n, k: _product(m, n, k, "float64"),
        "c",
        lambda v: v.a @ v.b,
        tiny=(5, 7, 6),
        points=((1024, 1024, 1024), (4096, 4096, 4096), ODD),
        operations=_cubic,
        tolerance=1e-12,
    ),
    Computation(
        "matmul_int",
        "m n k",
        lambda m, n, k: _product(m, n, k, "int32"),
        "c",
        # Sums stay below 2^53, and torch has no integer products on a GPU.
        lambda v: (v.a * 1.0) @ (v.b * 1.0),
        tiny=(5, 7, 6),
        points=((1024, 1024, 1024), ODD),
        operations=_cubic,
    ),
    Computation(
        "byte_matmul",
        "m n k",
        lambda m, n, k: {
            "a": read(m, k, dtype="int8", low=-128, high=127),
            "b": read(n, k, dtype="int8", low=-128, high=127),
            "c": written(m, n, dtype="int32"),
        },
        "c",
        lambda v: (v.a * 1.0) @ (v.b * 1.0).T,
        tiny=(5, 7, 6),
        points=((4096, 4096, 4096), CUBE, (1000, 1021, 784)),
        operations=_cubic,
    ),
    Computation(
        "pairwise",
        "m n d",
        lambda m, n, d: {"a": read(m, d), "b": read(n, d), "c": written(m, n)},
        "c",
        _distances,
        tiny=(5, 7, 3),
        points=((4096, 4096, 64), (1001, 1503, 33)),
        operations=lambda m, n, d: 3.0 * m * n * d,
    ),
    Computation(
        "nearest",
        "m n d",
        lambda m, n, d: {"a": read(m, d), "b": read(n, d), "y": written(m)},
        "y",
        _nearest,
        tiny=(5, 7, 3),
        points=((65536, 256, 64), (5001, 133, 77)),
        operations=lambda m, n, d: 3.0 * m * n * d,
    ),
    Computation(
        "kernel_sums",
        "m n d",
        lambda m, n, d: {"a": read(m, d), "b": read(n, d), "w": read(n), "y": written(m)},
        "y",
        _kernel_sums,
        tiny=(5, 7, 3),
        points=((16384, 4096, 32), (1001, 1503, 33)),
        scalars={"width": 0.05},
        operations=lambda m, n, d: 3.0 * m * n * d,
    ),
)


def _twice(m: int, n: int) -> dict[str, Array]:
    return {"a": read(m, n), "b": read(m, n), "x": read(n), "y": written(m)}


VECTORS = (
    Computation(
        "mv",
        "m n",
        lambda m, n: {"a": read(m, n), "x": read(n), "y": written(m)},
        "y",
        lambda v: v.a @ v.x,
        tiny=(6, 9),
        points=(LARGE, AWKWARD, (262144, 64), (512, 512)),
    ),
    Computation(
        "mtv",
        "m n",
        lambda m, n: {"a": read(m, n), "x": read(m), "y": written(n)},
        "y",
        lambda v: v.a.T @ v.x,
        tiny=(6, 9),
        points=(LARGE, AWKWARD),
    ),
    Computation(
        "gesummv",
        "m n",
        _twice,
        "y",
        lambda v: v.alpha * (v.a @ v.x) + v.beta * (v.b @ v.x),
        tiny=(6, 9),
        points=((8192, 8192), AWKWARD),
        scalars={"alpha": 1.5, "beta": -0.5},
    ),
    Computation(
        "atax",
        "m n",
        lambda m, n: {"a": read(m, n), "x": read(n), "t": written(m), "y": written(n)},
        "y",
        lambda v: v.a.T @ (v.a @ v.x),
        tiny=(6, 9),
        points=((8192, 8192), AWKWARD),
        # It is read twice, and too large for the second-level cache.
        traffic=lambda m, n: 8.0 * m * n,
    ),
    Computation(
        "trmv",
        "n",
        lambda n: {"a": read(n, n), "x": read(n), "y": written(n)},
        "y",
        lambda v: v.xp.tril(v.a) @ v.x,
        tiny=(9,),
        points=((16384,), (4099,)),
        traffic=lambda n: 2.0 * n * (n + 1),
    ),
    Computation(
        "trailing",
        "n k q",
        lambda n, k, q: {"a": kept(n, n)},
        "a",
        _trailing,
        tiny=(7, 2, 2),
        points=((8192, 1024, 256), (3001, 101, 33)),
        operations=lambda n, k, q: 2.0 * q * (n - k - q) ** 2,
        traffic=lambda n, k, q: 8.0 * (n - k - q) ** 2 + 8.0 * q * (n - k - q),
        threads=lambda n, k, q: (n - k - q, n - k - q),
    ),
    Computation(
        "trmv_upper",
        "n",
        lambda n: {"a": read(n, n), "x": read(n), "y": written(n)},
        "y",
        lambda v: v.xp.triu(v.a) @ v.x,
        tiny=(9,),
        points=((16384,), (4099,)),
        traffic=lambda n: 2.0 * n * (n + 1),
    ),
    Computation(
        "low_rank",
        "m n k r",
        lambda m, n, k, r: {
            "x": read(m, k),
            "w": read(n, k),
            "p": read(m, r),
            "q": read(r, n),
            "y": written(m, n),
        },
        "y",
        lambda v: v.x @ v.w.T + v.scale * (v.p @ v.q),
        tiny=(5, 7, 6, 3),
        points=((2048, 4096, 2048, 64), (1000, 1021, 777, 33)),
        scalars={"scale": 0.5},
        operations=lambda m, n, k, r: 2.0 * m * n * (k + r),
    ),
    Computation(
        "cell",
        "m k r",
        lambda m, k, r: {
            "w": read(m, k),
            "x": read(k),
            "u": read(m, r),
            "h": read(r),
            "b": read(m),
            "y": written(m),
        },
        "y",
        lambda v: v.xp.where(v.b + v.w @ v.x + v.u @ v.h > 0, v.b + v.w @ v.x + v.u @ v.h, 0.0),
        tiny=(5, 9, 6),
        points=((8192, 8192, 8192), (4099, 3001, 1003)),
    ),
    Computation(
        "matvec_unrolled",
        "m n",
        lambda m, n: {"a": read(m, n), "x": read(n), "y": written(m)},
        "y",
        lambda v: v.a @ v.x,
        tiny=(6, 11),
        points=(LARGE, AWKWARD),
    ),
)
