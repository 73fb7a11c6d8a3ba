"""Filters, convolutions and stencils."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.everyday.computation import Array, Computation, Values, kept, read, written

IMAGE, ODD_IMAGE = (8192, 8192), (3001, 2047)
SPACE, ODD_SPACE = (512, 512, 256), (101, 131, 97)
STENCIL_TOLERANCE = 1e-5


def _windows(image: Any, filter_: Any) -> Any:
    """The sums of a plane under a filter, both in the last two dimensions."""
    height = image.shape[-2] - filter_.shape[-2] + 1
    width = image.shape[-1] - filter_.shape[-1] + 1
    total = 0
    for y in range(filter_.shape[-2]):
        for x in range(filter_.shape[-1]):
            total = total + image[..., y : y + height, x : x + width] * filter_[..., y, x][..., None, None]
    return total


def _layer(v: Values) -> Any:
    total = 0
    for y in range(3):
        for x in range(3):
            window = getattr(v, "in")[:, y : y + v.h, x : x + v.w]
            total = total + v.xp.einsum("cij,oc->oij", window, v.k[:, :, y, x])
    return total


def _bordered(v: Values) -> Any:
    image = getattr(v, "in")
    total = v.xp.einsum("cij,oc->oij", image, v.k[:, :, 1, 1])
    for y in range(3):
        for x in range(3):
            if (y, x) == (1, 1):
                continue
            rows, columns = ((max(0, at - 1), min(0, at - 1)) for at in (y, x))
            window = image[:, rows[0] : v.h + rows[1], columns[0] : v.w + columns[1]]
            inside = total[:, -rows[1] : v.h - rows[0], -columns[1] : v.w - columns[0]]
            inside += v.xp.einsum("cij,oc->oij", window, v.k[:, :, y, x])
    return total


def _layer_of_windows(v: Values) -> Any:
    image, total = getattr(v, "in"), 0
    for y in range(v.k):
        for x in range(v.k):
            window = image[:, y : y + v.h, x : x + v.w]
            total = total + v.xp.einsum("cij,oc->oij", window, v.f[:, :, y, x])
    return total


def _volume(v: Values) -> Any:
    volume, total = getattr(v, "in"), 0
    for z in range(v.k):
        for y in range(v.k):
            for x in range(v.k):
                total = total + volume[z : z + v.d, y : y + v.h, x : x + v.w] * v.f[z, y, x]
    return total


def _around_ring(v: Values) -> Any:
    image, total = getattr(v, "in"), 0
    for y in range(-v.r, v.r + 1):
        for x in range(-v.r, v.r + 1):
            total = total + v.xp.roll(image, (-y, -x), (0, 1)) * v.f[y + v.r, x + v.r]
    return total


def _pooled(v: Values) -> Any:
    points = getattr(v, "in").reshape(v.c, v.h, 2, v.w, 2)
    return v.xp.amax(v.xp.amax(points, 4), 2)


def _filtered(v: Values) -> Any:
    total = 0
    for j in range(v.k):
        total = total + v.x[j : j + v.n] * v.f[j]
    return total


def _filtered_past(v: Values) -> Any:
    total = v.x * v.f[0]
    for j in range(1, v.k):
        total[j:] += v.x[: v.n - j] * v.f[j]
    return total


def _part(at: int, end: int) -> tuple[slice, slice]:
    """The places so far away inside of an extent, and those that they are away from."""
    return slice(max(0, at), end + min(0, at)), slice(max(0, -at), end - max(0, at))


def _mean_around(v: Values) -> Any:
    image = getattr(v, "in")
    total, count = image * 0, image * 0
    for y in range(-v.r, v.r + 1):
        for x in range(-v.r, v.r + 1):
            (rows, of_rows), (columns, of_columns) = _part(y, v.h), _part(x, v.w)
            total[of_rows, of_columns] += image[rows, columns]
            count[of_rows, of_columns] += 1
    return total / count


def _moved(xp: Any, image: Any, at: int) -> Any:
    """The rows so far away; over the border the last one that there is."""
    if at == 0:
        return image
    away = min(abs(at), image.shape[0])
    if at > 0:
        return xp.concatenate((image[away:], *[image[-1:]] * away))
    return xp.concatenate((*[image[:1]] * away, image[: image.shape[0] - away]))


def bilateral(v: Values) -> Any:
    """The image, each pixel the mean of those around it, by how near their values are."""
    image = getattr(v, "in")
    total, weights = image * 0, image * 0
    for y in range(-v.r, v.r + 1):
        rows = _moved(v.xp, image, y).T
        for x in range(-v.r, v.r + 1):
            other = _moved(v.xp, rows, x).T
            weight = v.xp.exp(-((other - image) ** 2))
            total = total + weight * other
            weights = weights + weight
    return total / weights


def inside(grid: Any, values: Any) -> Any:
    """A copy of a grid with other values but on its border."""
    changed = grid + 0
    changed[(slice(1, -1),) * grid.ndim] = values
    return changed


def five(a: Any) -> Any:
    return 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def _seven(v: Values) -> Any:
    a, c = v.a, v.a[1:-1, 1:-1, 1:-1]
    around = a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
    return inside(v.b, c + v.r * (around + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] - 6 * c))


def _clamped(v: Values) -> Any:
    rows = v.xp.concatenate((v.a[:1], v.a, v.a[-1:]))
    wide = v.xp.concatenate((rows[:, :1], rows, rows[:, -1:]), 1)
    return five(wide)


def _five_on_ring(v: Values) -> Any:
    around = (v.xp.roll(v.a, by, axis) for axis in (0, 1) for by in (1, -1))
    return 0.2 * (v.a + sum(around))


def _weighted(v: Values) -> Any:
    a, c = v.a, v.c[:, 1:-1, 1:-1, 1:-1]
    points = (
        a[1:-1, 1:-1, 1:-1],
        a[:-2, 1:-1, 1:-1],
        a[2:, 1:-1, 1:-1],
        a[1:-1, :-2, 1:-1],
        a[1:-1, 2:, 1:-1],
        a[1:-1, 1:-1, :-2],
        a[1:-1, 1:-1, 2:],
    )
    return inside(v.b, sum(c[number] * point for number, point in enumerate(points)))


def _swept(v: Values) -> Any:
    source, target = v.a, v.b
    for _ in range(2 * v.t):
        around = source[:-2, 1:-1] + source[2:, 1:-1] + source[1:-1, :-2] + source[1:-1, 2:]
        source, target = inside(target, 0.25 * around), source
    return source


def _edges(v: Values) -> Any:
    p = getattr(v, "in")
    right = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    down = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    total = abs(right) + abs(down)
    return inside(v.out, v.xp.where(total > 255, 255, total))


def _byte_image(h: int, w: int) -> dict[str, Array]:
    bytes_: dict[str, Any] = {"dtype": "uint8", "low": 0, "high": 255}
    return {"in": read(h, w, **bytes_), "out": kept(h, w, **bytes_)}


CONVOLUTIONS = (
    Computation(
        "conv_layer",
        "q p h w",
        lambda q, p, h, w: {"in": read(p, h + 2, w + 2), "k": read(q, p, 3, 3), "out": written(q, h, w)},
        "out",
        _layer,
        tiny=(3, 2, 4, 5),
        points=((64, 64, 224, 224), (33, 17, 111, 113)),
        operations=lambda q, p, h, w: 18.0 * q * p * h * w,
    ),
    Computation(
        "conv_1x1",
        "b q p h w",
        lambda b, q, p, h, w: {"in": read(b, p, h, w), "k": read(q, p), "out": written(b, q, h, w)},
        "out",
        lambda v: v.xp.einsum("bcij,oc->boij", getattr(v, "in"), v.k),
        tiny=(2, 3, 5, 4, 3),
        points=((32, 256, 256, 14, 14), (32, 64, 256, 56, 56), (5, 133, 65, 27, 29)),
        operations=lambda b, q, p, h, w: 2.0 * b * q * p * h * w,
        threads=lambda b, q, p, h, w: (b * q, h, w),
    ),
    Computation(
        "conv_same",
        "q p h w",
        lambda q, p, h, w: {"in": read(p, h, w), "k": read(q, p, 3, 3), "out": written(q, h, w)},
        "out",
        _bordered,
        tiny=(3, 2, 4, 5),
        points=((64, 64, 224, 224), (33, 17, 111, 113)),
        operations=lambda q, p, h, w: 18.0 * q * p * h * w,
    ),
    Computation(
        "conv2d",
        "h w k",
        lambda h, w, k: {"in": read(h + k - 1, w + k - 1), "f": read(k, k), "out": written(h, w)},
        "out",
        lambda v: _windows(getattr(v, "in"), v.f),
        tiny=(5, 6, 3),
        points=((4096, 4096, 7), (1001, 777, 5), (2048, 2048, 15)),
        operations=lambda h, w, k: 2.0 * k * k * h * w,
    ),
    Computation(
        "conv_layer_any",
        "q p h w k",
        lambda q, p, h, w, k: {
            "in": read(p, h + k - 1, w + k - 1),
            "f": read(q, p, k, k),
            "out": written(q, h, w),
        },
        "out",
        _layer_of_windows,
        tiny=(3, 2, 4, 5, 2),
        points=((64, 64, 112, 112, 5), (33, 17, 111, 113, 3)),
        operations=lambda q, p, h, w, k: 2.0 * k * k * q * p * h * w,
    ),
    Computation(
        "conv3d",
        "d h w k",
        lambda d, h, w, k: {
            "in": read(d + k - 1, h + k - 1, w + k - 1),
            "f": read(k, k, k),
            "out": written(d, h, w),
        },
        "out",
        _volume,
        tiny=(3, 4, 5, 2),
        points=((256, 256, 256, 5), (65, 111, 113, 3)),
        operations=lambda d, h, w, k: 2.0 * k * k * k * d * h * w,
    ),
    Computation(
        "blur_on_ring",
        "h w r",
        lambda h, w, r: {"in": read(h, w), "f": read(2 * r + 1, 2 * r + 1), "out": written(h, w)},
        "out",
        _around_ring,
        tiny=(5, 6, 2),
        points=((4096, 4096, 3), (1001, 777, 2)),
        operations=lambda h, w, r: 2.0 * (2 * r + 1) ** 2 * h * w,
    ),
    Computation(
        "pixel_blur",
        "h w c",
        lambda h, w, c: {"in": read(h + 2, w + 2, c), "out": written(h, w, c)},
        "out",
        lambda v: sum(getattr(v, "in")[y : y + v.h, x : x + v.w] for y in range(3) for x in range(3)) / 9,
        tiny=(4, 5, 3),
        points=((4096, 4096, 3), (2160, 3840, 4), (1001, 777, 3)),
        operations=lambda h, w, c: 10.0 * h * w * c,
    ),
    Computation(
        "conv2d_turned",
        "h w k",
        lambda h, w, k: {"in": read(h + k - 1, w + k - 1), "f": read(k, k), "out": written(h, w)},
        "out",
        lambda v: _windows(getattr(v, "in"), v.xp.flip(v.f, (0, 1))),
        tiny=(5, 6, 3),
        points=((4096, 4096, 7), (1001, 777, 5)),
        operations=lambda h, w, k: 2.0 * k * k * h * w,
    ),
    Computation(
        "conv2d_5x5",
        "h w",
        lambda h, w: {"in": read(h + 4, w + 4), "f": read(5, 5), "out": written(h, w)},
        "out",
        lambda v: _windows(getattr(v, "in"), v.f),
        tiny=(5, 6),
        points=((8192, 8192), (1001, 777)),
        operations=lambda h, w: 50.0 * h * w,
    ),
    Computation(
        "depthwise",
        "c h w",
        lambda c, h, w: {"in": read(c, h + 2, w + 2), "k": read(c, 3, 3), "out": written(c, h, w)},
        "out",
        lambda v: _windows(getattr(v, "in"), v.k),
        tiny=(2, 4, 5),
        points=((256, 256, 256), (65, 111, 113)),
        operations=lambda c, h, w: 18.0 * c * h * w,
    ),
    Computation(
        "maxpool",
        "c h w",
        lambda c, h, w: {"in": read(c, 2 * h, 2 * w), "out": written(c, h, w)},
        "out",
        _pooled,
        tiny=(2, 4, 5),
        points=((256, 256, 256), (65, 111, 113)),
    ),
    Computation(
        "fir",
        "n k",
        lambda n, k: {"x": read(n + k - 1), "f": read(k), "y": written(n)},
        "y",
        _filtered,
        tiny=(9, 3),
        points=((1 << 25, 16), (1000003, 9)),
        operations=lambda n, k: 2.0 * n * k,
    ),
    Computation(
        "box_mean",
        "h w r",
        lambda h, w, r: {"in": read(h, w), "out": written(h, w)},
        "out",
        _mean_around,
        tiny=(5, 6, 2),
        points=((4096, 4096, 3), (1001, 777, 2)),
        operations=lambda h, w, r: float((2 * r + 1) ** 2 * h * w),
    ),
    Computation(
        "bilateral",
        "h w r",
        lambda h, w, r: {"in": read(h, w), "out": written(h, w)},
        "out",
        bilateral,
        tiny=(5, 6, 2),
        points=((4096, 4096, 3), (1001, 777, 2)),
        operations=lambda h, w, r: 6.0 * (2 * r + 1) ** 2 * h * w,
    ),
    Computation(
        "fir_causal",
        "n k",
        lambda n, k: {"x": read(n), "f": read(k), "y": written(n)},
        "y",
        _filtered_past,
        tiny=(9, 3),
        points=((1 << 25, 16), (1000003, 9)),
        operations=lambda n, k: 2.0 * n * k,
    ),
)

STENCILS = (
    Computation(
        "five_point",
        "h w",
        lambda h, w: {"a": read(h, w), "b": kept(h, w)},
        "b",
        lambda v: inside(v.b, five(v.a)),
        tiny=(5, 6),
        points=(IMAGE, ODD_IMAGE, (512, 512)),
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation(
        "seven_point",
        "d h w",
        lambda d, h, w: {"a": read(d, h, w), "b": kept(d, h, w)},
        "b",
        _seven,
        tiny=(4, 5, 6),
        points=(SPACE, ODD_SPACE),
        scalars={"r": 0.1},
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation(
        "clamped",
        "h w",
        lambda h, w: {"a": read(h, w), "b": written(h, w)},
        "b",
        _clamped,
        tiny=(5, 6),
        points=(IMAGE, ODD_IMAGE),
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation(
        "five_on_ring",
        "h w",
        lambda h, w: {"a": read(h, w), "b": written(h, w)},
        "b",
        _five_on_ring,
        tiny=(5, 6),
        points=(IMAGE, ODD_IMAGE),
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation(
        "border",
        "h w",
        lambda h, w: {"a": read(h, w), "b": written(h, w)},
        "b",
        lambda v: inside(v.a, five(v.a)),
        tiny=(5, 6),
        points=(IMAGE, ODD_IMAGE),
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation(
        "coefficients",
        "d h w",
        lambda d, h, w: {"a": read(d, h, w), "c": read(7, d, h, w), "b": kept(d, h, w)},
        "b",
        _weighted,
        tiny=(4, 5, 6),
        points=((256, 256, 256), ODD_SPACE),
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation(
        "jacobi",
        "t n",
        lambda t, n: {"a": kept(n, n), "b": kept(n, n)},
        "a",
        _swept,
        tiny=(3, 6),
        points=((10, 4096), (5, 1001)),
        traffic=lambda t, n: 16.0 * t * n * n,
        tolerance=STENCIL_TOLERANCE,
    ),
    Computation("sobel", "h w", _byte_image, "out", _edges, tiny=(5, 6), points=(IMAGE, ODD_IMAGE)),
)
