"""Sums and other reductions of rows, of columns, and of everything."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.everyday.computation import Computation, Values, read, written

ROWS, ODD_ROWS = (8192, 4096), (1001, 777)


def _softmax(v: Values) -> Any:
    powers = v.xp.exp(v.a - v.xp.amax(v.a, -1)[:, None])
    return powers / powers.sum(-1)[:, None]


def _layer_norm(v: Values) -> Any:
    centred = v.a - v.a.mean(-1)[:, None]
    variance = (centred * centred).mean(-1)[:, None]
    return centred / v.xp.sqrt(variance + v.epsilon) * v.gamma + v.beta


def _logsumexp(v: Values) -> Any:
    most = v.xp.amax(v.a, -1)
    return most + v.xp.log(v.xp.exp(v.a - most[:, None]).sum(-1))


def _batch_norm(v: Values) -> Any:
    mean = v.x.mean(-1).mean(0)[:, None]
    variance = (v.x * v.x).mean(-1).mean(0)[:, None] - mean * mean
    return (v.x - mean) / v.xp.sqrt(variance + v.epsilon) * v.gamma[:, None] + v.beta[:, None]


def _attend(v: Values) -> Any:
    scores = v.xp.einsum("he,the->ht", v.q, v.k)
    powers = v.xp.exp(scores - v.xp.amax(scores, -1)[:, None])
    return v.xp.einsum("ht,the->he", powers / powers.sum(-1)[:, None], v.values)


def _distinct(index: Any) -> Any:
    """Numbers that repeat only after 2^24 of them, so that a row has one largest element."""
    return (index * 4968085 % (1 << 24)) / (1 << 23) - 1


REDUCTIONS = (
    Computation(
        "row_sums",
        "m n",
        lambda m, n: {"a": read(m, n), "y": written(m)},
        "y",
        lambda v: v.a.sum(-1),
        tiny=(6, 9),
        points=((16384, 8192), (256, 262144), (4099, 3001)),
    ),
    Computation(
        "column_sums",
        "m n",
        lambda m, n: {"a": read(m, n), "y": written(n)},
        "y",
        lambda v: v.a.sum(0),
        tiny=(6, 9),
        points=((8192, 16384), (262144, 256), (4099, 3001)),
    ),
    Computation(
        "softmax",
        "m n",
        lambda m, n: {"a": read(m, n, low=-4, high=4), "y": written(m, n)},
        "y",
        _softmax,
        tiny=(6, 9),
        points=(ROWS, (16384, 4096), ODD_ROWS, (64, 128256)),
        threads=lambda m, n: (m,),
    ),
    Computation(
        "layer_norm",
        "m n",
        lambda m, n: {"a": read(m, n), "gamma": read(n), "beta": read(n), "y": written(m, n)},
        "y",
        _layer_norm,
        tiny=(6, 9),
        points=(ROWS, ODD_ROWS),
        scalars={"epsilon": 1e-5},
        threads=lambda m, n: (m,),
    ),
    Computation(
        "batch_norm",
        "b c h",
        lambda b, c, h: {"x": read(b, c, h), "gamma": read(c), "beta": read(c), "y": written(b, c, h)},
        "y",
        _batch_norm,
        tiny=(3, 5, 7),
        points=((32, 64, 3136), (16, 133, 1001)),
        scalars={"epsilon": 1e-5},
        threads=lambda b, c, h: (c,),
    ),
    Computation(
        "attend",
        "m n d",
        lambda m, n, d: {
            "q": read(m, d),
            "k": read(n, m, d),
            "values": read(n, m, d),
            "s": written(m, n),
            "o": written(m, d),
        },
        "o",
        _attend,
        tiny=(3, 7, 5),
        points=((128, 2048, 128),),
        threads=lambda m, n, d: (m,),
    ),
    Computation(
        "logsumexp",
        "m n",
        lambda m, n: {"a": read(m, n, low=-4, high=4), "y": written(m)},
        "y",
        _logsumexp,
        tiny=(6, 9),
        points=(ROWS, ODD_ROWS),
    ),
    Computation(
        "max_and_sum",
        "m n",
        lambda m, n: {"a": read(m, n), "y": written(m)},
        "y",
        lambda v: v.xp.amax(v.a, -1) + v.a.sum(-1),
        tiny=(6, 9),
        points=((16384, 16384), ROWS, ODD_ROWS),
        threads=lambda m, n: (m,),
    ),
    Computation(
        "argmax",
        "m n",
        lambda m, n: {"a": read(m, n, rule=_distinct), "y": written(m, dtype="int32")},
        "y",
        lambda v: v.xp.argmax(v.a, -1),
        tiny=(6, 9),
        points=(ROWS, ODD_ROWS),
    ),
    Computation(
        "dot",
        "n",
        lambda n: {"x": read(n, low=0.5, high=1.5), "y": read(n, low=0.5, high=1.5), "s": written(1)},
        "s",
        lambda v: (v.x * v.y).sum()[None],
        tiny=(9,),
        points=((1 << 22,), (10007,)),
        threads=lambda n: (min(n, 1 << 18),),
        tolerance=1e-3,
    ),
)
