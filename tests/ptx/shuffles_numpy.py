"""The results of the kernels of `shuffles`, computed in numpy on whole arrays.

In: the arguments of a run, buffers as arrays and values as numbers.  Out: by position of the argument, what each
written buffer holds, in doubles, NaN where nothing is written::

    IN_NUMPY["jacobi"](given)    # {1: array([nan, ..., 0.25, ...])}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Results = dict[int, Doubles]
Shift = Callable[..., Doubles]


def grid(flat: Any, *sizes: int) -> Shift:
    """A function of offsets along x, y, z to the values there; sizes are in the same order."""
    array = np.asarray(flat, np.float64).reshape(sizes[::-1])

    def at(x: int = 0, y: int = 0, z: int = 0) -> Doubles:
        return np.roll(array, (-x, -y, -z)[: len(sizes)], axis=range(len(sizes) - 1, -1, -1))

    return at


def inside(values: Doubles, *borders: tuple[int, int]) -> Doubles:
    """NaN in the first and the last so many points along x, y, z; flat."""
    kept = tuple(
        slice(low, size - high) for (low, high), size in zip(borders, values.shape[::-1], strict=True)
    )[::-1]
    result = np.full(values.shape, np.nan)
    result[kept] = values[kept]
    return result.ravel()


def differences(u: Shift, steps: Sequence[tuple[int, ...]], weights: Sequence[float]) -> Doubles:
    """The sum of weights times values ahead less those behind."""
    total = np.zeros_like(u())
    for step, weight in zip(steps, weights, strict=True):
        total += weight * (u(*step) - u(*(-s for s in step)))
    return total


FIRST = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
SECOND = {-2: -1 / 12, -1: 4 / 3, 0: -2.5, 1: 4 / 3, 2: -1 / 12}
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def point(axis: tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(count * a for a in axis)


def divergence(given: list[Any]) -> Results:
    ux, uy, uz, _, nx, ny, nz, a, b, c = given
    ux, uy, uz = (grid(u, nx, ny, nz) for u in (ux, uy, uz))
    total = differences(ux, [X], [a]) + differences(uy, [Y], [b]) + differences(uz, [Z], [c])
    return {3: inside(total, (1, 1), (1, 1), (1, 1))}


def gradient(given: list[Any]) -> Results:
    u, _, _, _, nx, ny, nz, *weights = given
    u = grid(u, nx, ny, nz)
    return {
        n + 1: inside(differences(u, [axis], [weights[n]]), (1, 1), (1, 1), (1, 1))
        for n, axis in enumerate((X, Y, Z))
    }


def gameoflife(given: list[Any]) -> Results:
    u = grid(given[0], given[2], given[3])
    around = sum(u(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)) - u()
    lives = (around == 3) | ((around == 2) & (u() == 1))
    return {1: inside(lives.astype(np.float64), (1, 1), (1, 1))}


def blurred(w: Shift, weights: Sequence[float]) -> Doubles:
    by_distance = dict(zip([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], weights, strict=True))
    total = np.zeros_like(w())
    for x in range(-2, 3):
        for y in range(-2, 3):
            total += by_distance[min(abs(x), abs(y)), max(abs(x), abs(y))] * w(x, y)
    return total


def gaussblur(given: list[Any]) -> Results:
    w0, _, nx, ny, *weights = given
    return {1: inside(blurred(grid(w0, nx, ny), weights), (2, 2), (2, 2))}


def smoothed(w: Shift, weights: Sequence[float]) -> Doubles:
    near = w(1) + w(-1) + w(0, 1) + w(0, -1)
    far = w(1, 1) + w(1, -1) + w(-1, 1) + w(-1, -1)
    return weights[0] * w() + weights[1] * near + weights[2] * far


def jacobi(given: list[Any]) -> Results:
    w0, _, nx, ny, *weights = given
    return {1: inside(smoothed(grid(w0, nx, ny), weights), (1, 1), (1, 1))}


def lapgsrb(given: list[Any]) -> Results:
    w0, _, nx, ny, nz, *weights = given
    w = grid(w0, nx, ny, nz)
    total = np.zeros_like(w())
    for x in range(-2, 3):
        for y in range(-2, 3):
            for z in range(-2, 3):
                # By the square of the distance: the point, faces, edges, two away.
                kind = {0: 0, 1: 1, 2: 2, 4: 3}.get(x * x + y * y + z * z)
                if kind is not None:
                    total += weights[kind] * w(x, y, z)
    return {1: inside(total, (2, 2), (2, 2), (2, 2))}


def laplacian(given: list[Any]) -> Results:
    w0, _, nx, ny, nz, a, b = given
    w = grid(w0, nx, ny, nz)
    near = sum(w(*point(axis, s)) for axis in (X, Y, Z) for s in (1, -1))
    return {1: inside(a * w() + b * near, (1, 1), (1, 1), (1, 1))}


def matmul(given: list[Any]) -> Results:
    a, b, _, nx, ny, n = given
    left = np.asarray(b, np.float64)[: ny * n].reshape(ny, n)
    right = np.asarray(a, np.float64)[: n * nx].reshape(n, nx)
    return {2: (left @ right).ravel()}


def matvec(given: list[Any]) -> Results:
    a, x, y, nx, ny = given
    return {2: y.astype(np.float64) + np.asarray(a, np.float64).reshape(ny, nx) @ x.astype(np.float64)}


def sincos(given: list[Any]) -> Results:
    return {2: np.sin(given[0].astype(np.float64)) + np.cos(given[1].astype(np.float64))}


def cubics(t: Doubles) -> list[Doubles]:
    """Return Lagrange's polynomials through -1, 0, 1, 2 at these places."""
    nodes = (-1, 0, 1, 2)
    return [
        np.prod([(t - other) / (node - other) for other in nodes if other != node], axis=0) for node in nodes
    ]


def tricubic(given: list[Any]) -> Results:
    a, b, c, u0, _, nx, ny, nz = given
    x, y, z = (cubics(grid(t, nx, ny, nz)()) for t in (a, b, c))
    u = grid(u0, nx, ny, nz)
    total = np.zeros_like(u())
    for p in range(4):
        for q in range(4):
            for r in range(4):
                total += x[p] * y[q] * z[r] * u(p - 1, q - 1, r - 1)
    return {4: inside(total, (1, 2), (1, 2), (1, 2))}


def uxx1(given: list[Any]) -> Results:
    *fields, _, nx, ny, nz, dth, c1, c2 = given
    d1, u0, xx, xy, xz = (grid(field, nx, ny, nz) for field in fields)
    density = (d1() + d1(0, -1) + d1(0, 0, -1) + d1(0, -1, -1)) / 4
    total = np.zeros_like(u0())
    for stress, axis in ((xx, X), (xy, Y), (xz, Z)):
        total += c1 * (stress() - stress(*point(axis, -1)))
        total += c2 * (stress(*axis) - stress(*point(axis, -2)))
    return {5: inside(u0() + dth * density * total, (2, 1), (2, 1), (2, 1))}


def vecadd(given: list[Any]) -> Results:
    return {2: given[0].astype(np.float64) + given[1]}


def wave13pt(given: list[Any]) -> Results:
    w0, w1, _, nx, ny, nz, *m = given
    old, w = grid(w0, nx, ny, nz), grid(w1, nx, ny, nz)
    total = m[0] * w() + m[1] * old()
    for axis in (X, Y, Z):
        for distance in (1, 2):
            total += m[1 + distance] * (w(*point(axis, distance)) + w(*point(axis, -distance)))
    return {2: inside(total, (2, 2), (2, 2), (2, 2))}


def whispering(given: list[Any]) -> Results:
    e0, e1, h, ca, cb, da, db, source = (grid(field, given[11], given[12]) for field in given[:8])
    x = ca() * e0() + cb() * (h(0, 1) - h())
    y = ca() * e1() - cb() * (h(1) - h())
    curl = x - np.roll(x, 1, axis=0) + np.roll(y, 1, axis=1) - y
    results = (x, y, da() * h() + db() * (curl + source()))
    return {8 + n: inside(result, (1, 1), (1, 1)) for n, result in enumerate(results)}


def hypterm(given: list[Any]) -> Results:
    nx, ny, nz, *c = given[13:]
    energy, velocity, pressure, mx, my, mz, vy, vz = (grid(field, nx, ny, nz) for field in given[:8])

    def along_x(one: Shift, other: Shift) -> Doubles:
        return differences(lambda *x: one(*x) * other(*x), [(n,) for n in range(1, 5)], c)

    def along_y(u: Shift, count: int) -> Doubles:
        return differences(u, [(0, n) for n in range(1, count + 1)], c[:count])

    work = along_x(pressure, velocity)
    fluxes = (
        -along_y(mx, 4),
        -along_y(my, 4) - work,
        -along_y(mz, 2),
        -c[0] * (vy(0, 1) - vy(0, -1)) * (vz(0, 1) - vz(0, -1)),
        -along_x(energy, velocity) - work,
    )
    return {8 + n: inside(flux, (4, 4), (4, 4), (0, 0)) for n, flux in enumerate(fluxes)}


def second(u: Shift, stiffness: Shift, axis: tuple[int, ...]) -> Doubles:
    total = np.zeros_like(u())
    for count, weight in SECOND.items():
        there = point(axis, count)
        total += weight * stiffness(*there) * u(*there)
    return total


def mixed(u: Shift, coefficient: Shift, outer: tuple[int, ...], inner: tuple[int, ...]) -> Doubles:
    total = np.zeros_like(u())
    for n, by_outer in FIRST.items():
        for m, by_inner in FIRST.items():
            place = tuple(p + q for p, q in zip(point(outer, n), point(inner, m), strict=True))
            total += by_outer * by_inner * coefficient(*point(outer, n)) * u(*place)
    return total


def rhs4th3fort(given: list[Any]) -> Results:
    uacc, u, mu, la, strx, stry, strz, nx, ny, nz, a1, h = given
    shape = (nz, ny, nx)
    stretch = {
        X: np.broadcast_to(strx, shape),
        Y: np.broadcast_to(np.reshape(stry, (ny, 1)), shape),
        Z: np.broadcast_to(np.reshape(strz, (nz, 1, 1)), shape),
    }
    fields = [grid(part, nx, ny, nz) for part in np.split(u, 3)]
    mu, la = grid(mu, nx, ny, nz), grid(la, nx, ny, nz)
    results: list[Doubles] = []
    for own, (axis, field) in enumerate(zip((X, Y, Z), fields, strict=True)):
        total = np.zeros(shape)
        for other, along in enumerate((X, Y, Z)):
            stiffness = 2 * mu() + la() if own == other else mu()
            total += second(field, grid(stretch[along] * stiffness, nx, ny, nz), along)
            if own != other:
                # The divergence with la along the component's own axis, the shear with mu across it.
                total += mixed(fields[other], la, axis, along) + mixed(fields[other], mu, along, axis)
        before = np.split(uacc.astype(np.float64), 3)[own].reshape(shape)
        results.append(inside(a1 * before + h * total, (2, 2), (2, 2), (2, 2)))
    return {0: np.concatenate(results)}


def derivative(given: list[Any]) -> Results:
    *fields, strx, nx, ny, nz, a1, h = given
    r1, u1, u2, u3, mu, la, met1, met2, met3 = (grid(field, nx, ny, nz) for field in fields)

    def product(one: Shift, other: Shift) -> Shift:
        return lambda *place: one(*place) * other(*place)

    total = np.zeros_like(u1())
    for axis in (X, Y, Z):
        both = second(u1, product(mu, met1), axis) + second(u2, product(la, met1), axis)
        total += both * strx if axis == X else both
    total += second(u3, product(met2, met3), Z)
    for u, coefficient, outer in ((u1, mu, Y), (u1, la, Z), (u2, la, Y), (u2, mu, Z), (u3, la, Z)):
        total += mixed(u, coefficient, outer, X)
    for count, weight in FIRST.items():
        total += weight * u3(count)
    return {0: inside(a1 * r1() + h * total, (2, 2), (2, 2), (2, 2))}


def gaussblur_float4(given: list[Any]) -> Results:
    w0, _, nx, ny, pitch, *weights = given
    return {1: blurred(grid(w0, pitch, ny + 4), weights)[2:-2, 4 : 4 + nx].ravel()}


def jacobi_float4(given: list[Any]) -> Results:
    w0, _, nx, ny, pitch, *weights = given
    return {1: smoothed(grid(w0, pitch, ny + 2), weights)[1:-1, 4 : 4 + nx].ravel()}


def separable7(given: list[Any]) -> Results:
    w0, _, nx, ny, *weights = given
    every = np.asarray([*weights[:0:-1], *weights])
    w = grid(w0, nx, ny)
    found = sum(every[y + 3] * every[x + 3] * w(x, y) for y in range(-3, 4) for x in range(-3, 4))
    return {1: inside(np.asarray(found), (3, 3), (3, 3))}


def separable7_float4(given: list[Any]) -> Results:
    w0, _, nx, ny, pitch, *weights = given
    every = np.asarray([*weights[:0:-1], *weights])
    rows = np.asarray(grid(w0, pitch, ny + 6)(), np.float64)
    found = sum(
        every[y] * every[x] * rows[y : y + ny, 1 + x : 1 + x + nx] for y in range(7) for x in range(7)
    )
    return {1: np.asarray(found).ravel()}


def separable17_float4(given: list[Any]) -> Results:
    w0, _, nx, ny, pitch, *weights = given
    along = [*weights[:0:-1], *weights]
    across = [weights[abs(y) // 2] for y in range(-8, 9)]
    rows = np.asarray(grid(w0, pitch, ny + 16)(), np.float64)
    found = sum(across[y] * along[x] * rows[y : y + ny, x : x + nx] for y in range(17) for x in range(9))
    return {1: np.asarray(found).ravel()}


def row5_float4(given: list[Any]) -> Results:
    a, _, n, *weights = given
    row = np.asarray(a, np.float64)
    return {1: np.convolve(row, [*weights[:0:-1], *weights], "same")[4 : 4 + n]}


def row17(given: list[Any]) -> Results:
    a, _, _, *weights = given
    found = np.convolve(np.asarray(a, np.float64), [*weights[:0:-1], *weights], "same")
    return {1: inside(found, (8, 8))}


IN_NUMPY: dict[str, Callable[[list[Any]], Results]] = {
    "derivative": derivative,
    "divergence": divergence,
    "gameoflife": gameoflife,
    "gaussblur": gaussblur,
    "gaussblur_float4": gaussblur_float4,
    "gradient": gradient,
    "hypterm": hypterm,
    "jacobi": jacobi,
    "jacobi_float4": jacobi_float4,
    "lapgsrb": lapgsrb,
    "laplacian": laplacian,
    "matmul": matmul,
    "matvec": matvec,
    "rhs4th3fort": rhs4th3fort,
    "row17": row17,
    "row5_float4": row5_float4,
    "separable7": separable7,
    "separable7_float4": separable7_float4,
    "separable17_float4": separable17_float4,
    "sincos": sincos,
    "tricubic": tricubic,
    "tricubic2": tricubic,
    "uxx1": uxx1,
    "vecadd": vecadd,
    "wave13pt": wave13pt,
    "whispering": whispering,
}
