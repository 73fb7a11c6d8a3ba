"""The calls by which users of torch compute each kernel, in its types and without TF32; the fastest one counts.

A call gets the arrays of the computation and gives the tensor in which the result stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.everyday.computation import Computation, Size, Values
from benchmarks.gpu.everyday.grids import bilateral
from benchmarks.gpu.everyday.posed import comparable, values
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem

Call: TypeAlias = Callable[[Values], Tensor]

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True

NONE: Mapping[str, str] = {
    "matmul_int": "torch has no product of integers on a GPU",
    "collatz": "torch has no loops of elements",
}
UNCAPTURED = ("histogram", "spmv")
"""Calls of torch that wait for the device, and cannot stand in a graph."""


def attempts(computation: Computation, size: Size, problem: Problem) -> Iterator[Attempt]:
    if computation.name in NONE:
        raise PeerError(NONE[computation.name])
    v = values(computation, size, problem.arrays)
    for label, call in CALLS[computation.name].items():
        yield Attempt(label, lambda call=call: _ready(call, v))


def _ready(call: Call, v: Values) -> Ready:
    kept: list[Tensor] = []

    def run() -> None:
        kept[:] = (call(v),)

    return Ready(run, lambda: comparable(kept[0]))


def _in(v: Values) -> Tensor:
    return getattr(v, "in")


def _into(target: Tensor, source: Tensor) -> Tensor:
    """A grid with other points inside."""
    target[(slice(1, -1),) * target.dim()].copy_(source)
    return target


def _lower(v: Values) -> Tensor:
    return v.c.copy_(torch.where(torch.ones_like(v.c).tril_().bool(), v.a @ v.a.t(), v.c))


def _five(a: Tensor) -> Tensor:
    return 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def _cross(a: Tensor, centre: float, side: float) -> Tensor:
    """A plane under five points, by the convolution of the library."""
    return functional.conv2d(a[None, None], _cross_filter(a.device, a.dtype, centre, side))[0, 0]


@cache
def _cross_filter(device: torch.device, dtype: torch.dtype, centre: float, side: float) -> Tensor:
    """Made once: what comes from the host cannot stand in a graph."""
    rows = [[0.0, side, 0.0], [side, centre, side], [0.0, side, 0.0]]
    return torch.tensor(rows, dtype=dtype, device=device)[None, None]


def _clamped(a: Tensor) -> Tensor:
    return functional.pad(a[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]


def _bordered(v: Values) -> Tensor:
    v.b.copy_(v.a)
    return _into(v.b, _five(v.a))


def _seven(v: Values) -> Tensor:
    a, c = v.a, v.a[1:-1, 1:-1, 1:-1]
    around = a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
    return _into(v.b, c + v.r * (around + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] - 6 * c))


def _weighted(v: Values) -> Tensor:
    a, c = v.a, v.c[:, 1:-1, 1:-1, 1:-1]
    total = c[0] * a[1:-1, 1:-1, 1:-1]
    neighbours = (
        a[:-2, 1:-1, 1:-1],
        a[2:, 1:-1, 1:-1],
        a[1:-1, :-2, 1:-1],
        a[1:-1, 2:, 1:-1],
        a[1:-1, 1:-1, :-2],
        a[1:-1, 1:-1, 2:],
    )
    for number, points in enumerate(neighbours, 1):
        total.addcmul_(c[number], points)
    return _into(v.b, total)


def _swept(v: Values) -> Tensor:
    a, b = v.a, v.b
    for _ in range(2 * v.t):
        _into(b, 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]))
        a, b = b, a
    return a


def _swept_by_convolution(v: Values) -> Tensor:
    a, b = v.a, v.b
    for _ in range(2 * v.t):
        _into(b, _cross(a, 0.0, 0.25))
        a, b = b, a
    return a


def _edges(v: Values) -> Tensor:
    p = _in(v).short()
    right = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    down = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    return _into(v.out, (right.abs() + down.abs()).clamp_(max=255))


def _prices(v: Values) -> Tensor:
    deviation = v.volatility * v.years.sqrt()
    first = ((v.price / v.strike).log() + (v.rate + v.volatility**2 / 2) * v.years) / deviation
    up, down = torch.special.ndtr(first), torch.special.ndtr(first - deviation)
    return v.price * up - v.strike * torch.exp(-v.rate * v.years) * down


def _forces(v: Values) -> Tensor:
    points = torch.stack((v.x, v.y, v.z), -1)
    parts: list[Tensor] = []
    for first in range(0, v.n, 4096):
        between = points[None] - points[first : first + 4096, None]
        pull = v.mass * ((between * between).sum(-1) + 0.01).rsqrt_().pow_(3)
        parts.append(torch.bmm(pull[:, None], between)[:, 0])
    return torch.cat(parts)


def _energies(v: Values) -> Tensor:
    points = torch.stack((v.x, v.y, v.z), -1)
    parts: list[Tensor] = []
    for first in range(0, v.n, 4096):
        square = (points[None] - points[first : first + 4096, None]).square_().sum(-1)
        power = (square + 0.5).pow_(-3)
        parts.append((power * (power - 1)).masked_fill_(square >= 0.5, 0).sum(1))
    return torch.cat(parts) - 8 * (8 - 1)


def _trailing(v: Values) -> Tensor:
    behind = v.k + v.q
    v.a[behind:, behind:].addmm_(v.a[behind:, v.k : behind], v.a[v.k : behind, behind:], alpha=-1)
    return v.a


def _sparse(v: Values) -> Tensor:
    matrix = torch.sparse_csr_tensor(v.row, v.column, v.value, (v.m, v.n))
    return matrix @ v.x


def _part(v: Values) -> Tensor:
    torch.add(v.a[:, : v.n], v.b[:, : v.n], out=v.c[:, : v.n])
    return v.c


def _gray(v: Values) -> Tensor:
    p = _in(v).view(-1, 3).int()
    return (77 * p[:, 0] + 150 * p[:, 1] + 29 * p[:, 2]) >> 8


def _squared(v: Values) -> Tensor:
    """The squared distances of all points of two clouds, by a product."""
    return torch.addmm((v.a * v.a).sum(1, True) + (v.b * v.b).sum(1), v.a, v.b.t(), alpha=-2)


CALLS: Mapping[str, Mapping[str, Call]] = {
    "matmul": {"mm": lambda v: torch.mm(v.a, v.b, out=v.c)},
    "matmul_bias_relu": {
        "addmm, relu_": lambda v: torch.addmm(v.bias, v.a, v.b).relu_(),
        "_addmm_activation": lambda v: torch._addmm_activation(v.bias, v.a, v.b),
    },
    "looked_up": {"mm": lambda v: torch.mm(v.a, v.table[v.at], out=v.c)},
    "gathered": {"mm": lambda v: torch.mm(v.table[v.at], v.b, out=v.c)},
    "matmul_abt": {"mm": lambda v: torch.mm(v.a, v.b.t(), out=v.c)},
    "matmul_atb": {"mm": lambda v: torch.mm(v.a.t(), v.b, out=v.c)},
    "aat": {"mm": lambda v: torch.mm(v.a, v.a.t(), out=v.c)},
    "aat_lower": {"mm, where": _lower},
    "layer_of_tokens": {"linear": lambda v: functional.linear(v.x, v.w, v.bias)},
    "batched": {"bmm": lambda v: torch.bmm(v.a, v.b, out=v.c)},
    "matmul_double": {"mm": lambda v: torch.mm(v.a, v.b, out=v.c)},
    "pairwise": {
        "cdist": lambda v: torch.cdist(v.a, v.b).square_(),
        "mm": lambda v: _squared(v),
    },
    "nearest": {
        "cdist, amin": lambda v: torch.cdist(v.a, v.b).square_().amin(1),
        "mm, amin": lambda v: _squared(v).amin(1),
    },
    "kernel_sums": {
        "cdist, exp, mv": lambda v: torch.mv(torch.cdist(v.a, v.b).square_().mul_(-v.width).exp_(), v.w),
        "mm, exp, mv": lambda v: torch.mv(_squared(v).mul_(-v.width).exp_(), v.w),
    },
    "mv": {"mv": lambda v: torch.mv(v.a, v.x, out=v.y)},
    "mtv": {"mv": lambda v: torch.mv(v.a.t(), v.x, out=v.y)},
    "gesummv": {"mv, addmv": lambda v: torch.addmv(torch.mv(v.b, v.x), v.a, v.x, beta=v.beta, alpha=v.alpha)},
    "atax": {"mv, mv": lambda v: torch.mv(v.a.t(), torch.mv(v.a, v.x))},
    "trmv": {"tril, mv": lambda v: torch.mv(v.a.tril(), v.x)},
    "trmv_upper": {"triu, mv": lambda v: torch.mv(v.a.triu(), v.x)},
    "row_sums": {"sum": lambda v: torch.sum(v.a, 1, out=v.y)},
    "column_sums": {"sum": lambda v: torch.sum(v.a, 0, out=v.y)},
    "max_and_sum": {"amax, sum": lambda v: torch.amax(v.a, 1) + torch.sum(v.a, 1)},
    "softmax": {"softmax": lambda v: torch.softmax(v.a, 1)},
    "layer_norm": {"layer_norm": lambda v: functional.layer_norm(v.a, (v.n,), v.gamma, v.beta, v.epsilon)},
    "batch_norm": {
        "batch_norm": lambda v: functional.batch_norm(v.x, None, None, v.gamma, v.beta, True, 0.0, v.epsilon)
    },
    "attend": {
        "bmm, softmax, bmm": lambda v: torch.bmm(
            torch.softmax(torch.bmm(v.q[:, None], v.k.permute(1, 2, 0)), 2), v.values.permute(1, 0, 2)
        )[:, 0],
        "scaled_dot_product_attention": lambda v: functional.scaled_dot_product_attention(
            v.q[:, None], v.k.permute(1, 0, 2), v.values.permute(1, 0, 2), scale=1.0
        )[:, 0],
    },
    "logsumexp": {"logsumexp": lambda v: torch.logsumexp(v.a, 1)},
    "argmax": {"argmax": lambda v: torch.argmax(v.a, 1)},
    "dot": {"dot": lambda v: torch.dot(v.x, v.y)[None]},
    "conv_layer": {"conv2d": lambda v: functional.conv2d(_in(v)[None], v.k)[0]},
    "conv_1x1": {"conv2d": lambda v: functional.conv2d(_in(v), v.k[:, :, None, None])},
    "conv_same": {"conv2d": lambda v: functional.conv2d(_in(v)[None], v.k, padding=1)[0]},
    "conv2d": {"conv2d": lambda v: functional.conv2d(_in(v)[None, None], v.f[None, None])[0, 0]},
    "conv2d_turned": {
        "conv2d": lambda v: functional.conv2d(_in(v)[None, None], v.f.flip(0, 1)[None, None])[0, 0]
    },
    "conv_layer_any": {"conv2d": lambda v: functional.conv2d(_in(v)[None], v.f)[0]},
    "conv3d": {"conv3d": lambda v: functional.conv3d(_in(v)[None, None], v.f[None, None])[0, 0]},
    "blur_on_ring": {
        "pad, conv2d": lambda v: functional.conv2d(
            functional.pad(_in(v)[None, None], (v.r,) * 4, "circular"), v.f[None, None]
        )[0, 0]
    },
    "pixel_blur": {
        "avg_pool2d": lambda v: functional.avg_pool2d(_in(v).permute(2, 0, 1)[None], 3, 1)[0].permute(1, 2, 0)
    },
    "conv2d_5x5": {"conv2d": lambda v: functional.conv2d(_in(v)[None, None], v.f[None, None])[0, 0]},
    "depthwise": {"conv2d": lambda v: functional.conv2d(_in(v)[None], v.k[:, None], groups=v.c)[0]},
    "maxpool": {"max_pool2d": lambda v: functional.max_pool2d(_in(v)[None], 2)[0]},
    "box_mean": {
        "avg_pool2d": lambda v: functional.avg_pool2d(
            _in(v)[None, None], 2 * v.r + 1, 1, v.r, count_include_pad=False
        )[0, 0]
    },
    "bilateral": {"slices": bilateral},
    "fir_causal": {
        "conv1d": lambda v: functional.conv1d(v.x[None, None], v.f.flip(0)[None, None], padding=v.k - 1)[
            0, 0, : v.n
        ]
    },
    "fir": {"conv1d": lambda v: functional.conv1d(v.x[None, None], v.f[None, None])[0, 0]},
    "five_point": {
        "slices": lambda v: _into(v.b, _five(v.a)),
        "conv2d": lambda v: _into(v.b, _cross(v.a, 0.2, 0.2)),
    },
    "seven_point": {"slices": _seven},
    "clamped": {
        "slices": lambda v: _five(_clamped(v.a)),
        "conv2d": lambda v: _cross(_clamped(v.a), 0.2, 0.2),
    },
    "five_on_ring": {
        "pad, slices": lambda v: _five(functional.pad(v.a[None, None], (1, 1, 1, 1), mode="circular")[0, 0]),
    },
    "border": {"slices": _bordered},
    "coefficients": {"slices": _weighted},
    "jacobi": {"slices": _swept, "conv2d": _swept_by_convolution},
    "sobel": {"slices": _edges},
    "transpose": {
        "copy_ of t()": lambda v: v.c.copy_(v.a.t()),
        "contiguous": lambda v: v.a.t().contiguous(),
    },
    "permute": {
        "copy_ of permute": lambda v: v.b.copy_(v.a.permute(3, 1, 0, 2)),
        "contiguous": lambda v: v.a.permute(3, 1, 0, 2).contiguous(),
    },
    "symmetric": {"add of t()": lambda v: torch.add(v.a, v.a.t(), out=v.c).mul_(0.5)},
    "hwc_to_chw": {"copy_ of permute": lambda v: v.out.copy_(_in(v).permute(2, 0, 1))},
    "channels": {"mul": lambda v: torch.mul(_in(v), v.scale, out=v.out)},
    "gather": {
        "index_select": lambda v: torch.index_select(v.x, 0, v.at, out=v.y),
        "index": lambda v: v.x[v.at],
    },
    "embedding": {
        "embedding": lambda v: functional.embedding(v.at, v.table),
        "index_select": lambda v: torch.index_select(v.table, 0, v.at, out=v.y),
    },
    "saxpy": {"add": lambda v: torch.add(v.y, v.x, alpha=v.alpha, out=v.z)},
    "silu": {"silu": lambda v: functional.silu(v.x)},
    "bias_rows": {"add, relu_": lambda v: torch.add(v.a, v.bias, out=v.c).relu_()},
    "submatrix": {"add": _part},
    "rank1": {"addr_": lambda v: v.a.addr_(v.x, v.y), "addcmul_": lambda v: v.a.addcmul_(v.x[:, None], v.y)},
    "gray": {"slices": _gray},
    "black_scholes": {"elements": _prices},
    "nbody": {"in parts": _forces},
    "cutoff": {"in parts": _energies},
    "trailing": {"addmm_": _trailing},
    "low_rank": {"mm, addmm_": lambda v: torch.mm(v.x, v.w.t(), out=v.y).addmm_(v.p, v.q, alpha=v.scale)},
    "cell": {"addmv, addmv, relu": lambda v: torch.relu(torch.addmv(torch.addmv(v.b, v.w, v.x), v.u, v.h))},
    "matvec_unrolled": {"mv": lambda v: torch.mv(v.a, v.x, out=v.y)},
    "spmv": {"sparse_csr @": _sparse},
    "byte_matmul": {"_int_mm": lambda v: torch._int_mm(v.a, v.b.T)},
    "half_matmul": {"mm": lambda v: torch.mm(v.a, v.b, out=v.c)},
    "half_saxpy": {"add": lambda v: torch.add(v.y, v.x, alpha=v.alpha, out=v.z)},
    "half_five_point": {
        "slices": lambda v: _into(v.b, _five(v.a)),
        "conv2d": lambda v: _into(v.b, _cross(v.a, 0.2, 0.2)),
    },
    "bfloat16_row_sums": {"sum": lambda v: torch.sum(v.a, 1, out=v.y)},
    "histogram": {"bincount": lambda v: v.h + torch.bincount(v.x, minlength=v.m)},
}
"""The calls by the name of the computation; labels say which calls these are."""
