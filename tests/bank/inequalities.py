"""Inequalities of textbooks: their negation is inconsistent, and where equality is attained, `<=` has a point."""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.algebra import Atom, Polynomial, at_least, at_most, equal, less
from tests.bank.problem import Problem, integer_point, integers, real_point, reals

a, b, c, d, p, q, r, u, v, w, x, y, z = reals("a b c d p q r u v w x y z")
m, n = integers("m n")

_HARDY = "Hardy, Littlewood, Polya, Inequalities (1934)"
_CAUCHY = "Steele, The Cauchy-Schwarz master class (2004)"
_CHOI_LAM = "Choi, Lam, An old question of Hilbert (1977)"
_MOTZKIN = "Motzkin, The arithmetic-geometric inequality (1967)"
_ROBINSON = "Robinson, Some definite polynomials which are not sums of squares of real polynomials (1973)"
_NESBITT = "Nesbitt, Problem 15114, in: Educational Times (1903)"
_OLYMPIAD = "International Mathematical Olympiad 1983, problem 6"
_CIRTOAJE = "Cirtoaje, Algebraic inequalities: old and new methods (2006)"
_BOTTEMA = "Bottema et al., Geometric inequalities (1969)"


def _positive(symbols: Iterable[Polynomial]) -> tuple[Atom, ...]:
    return tuple(less(0, symbol) for symbol in symbols)


def _non_negative(symbols: Iterable[Polynomial]) -> tuple[Atom, ...]:
    return tuple(at_least(symbol, 0) for symbol in symbols)


_sides = (*_positive((a, b, c)), less(a, b + c), less(b, c + a), less(c, a + b))
_schur = x * (x - y) * (x - z) + y * (y - z) * (y - x) + z * (z - x) * (z - y)
_motzkin = x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1
_robinson = (
    x**6 + y**6 + z**6 + 3 * x**2 * y**2 * z**2
    - (x**4 * y**2 + x**4 * z**2 + y**4 * x**2 + y**4 * z**2 + z**4 * x**2 + z**4 * y**2)
)  # fmt: skip
_choi_lam = x**4 * y**2 + y**4 * z**2 + z**4 * x**2 - 3 * x**2 * y**2 * z**2
_choi_lam_4 = w**4 + x**2 * y**2 + y**2 * z**2 + z**2 * x**2 - 4 * x * y * z * w
_nesbitt = 2 * (a * (a + b) * (a + c) + b * (b + c) * (b + a) + c * (c + a) * (c + b)) - 3 * (a + b) * (
    b + c
) * (c + a)
_olympiad = a**2 * b * (a - b) + b**2 * c * (b - c) + c**2 * a * (c - a)
_lengths = (
    *_non_negative((p, q, r)),
    equal(p**2, x**2 + y**2),
    equal(q**2, u**2 + v**2),
    equal(r**2, (x + u) ** 2 + (y + v) ** 2),
)

PROBLEMS = (
    Problem("AM-GM, 2 terms", _HARDY, (less((x + y) ** 2, 4 * x * y),), None),
    Problem(
        "AM-GM, 3 terms", _HARDY, (*_non_negative((x, y, z)), less(x**3 + y**3 + z**3, 3 * x * y * z)), None
    ),
    Problem(
        "AM-GM, 3 terms, equality",
        _HARDY,
        (*_positive((x, y, z)), at_most(x**3 + y**3 + z**3, 3 * x * y * z)),
        real_point(x=1, y=1, z=1),
    ),
    Problem("AM-GM, 4 terms", _HARDY, (less(x**4 + y**4 + z**4 + w**4, 4 * x * y * z * w),), None),
    Problem(
        "AM-GM over integers",
        _HARDY,
        (at_least(m, 1), at_least(n, 1), less(m**2 + n**2, 2 * m * n)),
        None,
    ),
    Problem(
        "AM-GM over integers, the next value",
        _HARDY,
        (at_least(m, 1), less(m, n), at_most(m**2 + n**2, 2 * m * n + 1), at_least(m, 7)),
        integer_point(m=7, n=8),
    ),
    Problem(
        "Cauchy-Schwarz, 2 terms", _CAUCHY, (less((x**2 + y**2) * (u**2 + v**2), (x * u + y * v) ** 2),), None
    ),
    Problem(
        "Cauchy-Schwarz, 3 terms",
        _CAUCHY,
        (less((x**2 + y**2 + z**2) * (u**2 + v**2 + w**2), (x * u + y * v + z * w) ** 2),),
        None,
    ),
    Problem(
        "Cauchy-Schwarz, strict",
        _CAUCHY,
        (less((x * u + y * v) ** 2, (x**2 + y**2) * (u**2 + v**2)), less(0, x * u + y * v)),
        real_point(x=1, y=0, u=1, v=1),
    ),
    Problem("sum of squares and products", _HARDY, (less(x**2 + y**2 + z**2, x * y + y * z + z * x),), None),
    Problem(
        "Chebyshev, 2 terms",
        _HARDY,
        (at_most(x, y), at_most(u, v), less(2 * (x * u + y * v), (x + y) * (u + v))),
        None,
    ),
    Problem("rearrangement", _HARDY, (less(x, y), less(u, v), at_most(x * u + y * v, x * v + y * u)), None),
    Problem("Schur, degree 1", _HARDY, (*_non_negative((x, y, z)), less(_schur, 0)), None),
    Problem("Schur, a negative number", _HARDY, (less(_schur, 0), less(z, 0)), real_point(x=1, y=1, z=-1)),
    Problem("Bernoulli, power 4", _HARDY, (at_least(x, -1), less((1 + x) ** 4, 1 + 4 * x)), None),
    Problem("Bernoulli, power 5", _HARDY, (at_least(x, -1), less((1 + x) ** 5, 1 + 5 * x)), None),
    Problem("Bernoulli below -1", _HARDY, (less((1 + x) ** 5, 1 + 5 * x),), real_point(x=-5)),
    Problem("Nesbitt", _NESBITT, (*_positive((a, b, c)), less(_nesbitt, 0)), None),
    Problem(
        "Nesbitt, equality",
        _NESBITT,
        (*_positive((a, b, c)), at_most(_nesbitt, 0), at_least(a, 2)),
        real_point(a=2, b=2, c=2),
    ),
    Problem("Motzkin", _MOTZKIN, (less(_motzkin, 0),), None),
    Problem("Motzkin, zero", _MOTZKIN, (at_most(_motzkin, 0), less(x, 0)), real_point(x=-1, y=1)),
    Problem("Robinson", _ROBINSON, (less(_robinson, 0),), None),
    Problem("Robinson, zero", _ROBINSON, (at_most(_robinson, 0), less(0, x)), real_point(x=1, y=1, z=0)),
    Problem("Choi-Lam, 3 variables", _CHOI_LAM, (less(_choi_lam, 0),), None),
    Problem("Choi-Lam, 4 variables", _CHOI_LAM, (less(_choi_lam_4, 0),), None),
    Problem(
        "triangle inequality on a line",
        _HARDY,
        (
            *_non_negative((p, q, r)),
            equal(p**2, x**2),
            equal(q**2, y**2),
            equal(r**2, (x + y) ** 2),
            less(p + q, r),
        ),
        None,
    ),
    Problem("triangle inequality in the plane", _HARDY, (*_lengths, less(p + q, r)), None),
    Problem(
        "triangle inequality, equality",
        _HARDY,
        (*_lengths, equal(p + q, r), less(0, p), less(p, q)),
        real_point(p=5, q=10, r=15, x=3, y=4, u=6, v=8),
    ),
    Problem("sides of a triangle", _OLYMPIAD, (*_sides, less(_olympiad, 0)), None),
    Problem(
        "Cirtoaje", _CIRTOAJE, (less((a**2 + b**2 + c**2) ** 2, 3 * (a**3 * b + b**3 * c + c**3 * a)),), None
    ),
    Problem("Padoa", _BOTTEMA, (*_sides, less(a * b * c, (a + b - c) * (b + c - a) * (c + a - b))), None),
    Problem(
        "Weitzenboeck, squared",
        _BOTTEMA,
        (
            *_sides,
            less(
                (a**2 + b**2 + c**2) ** 2,
                3 * (2 * (a**2 * b**2 + b**2 * c**2 + c**2 * a**2) - a**4 - b**4 - c**4),
            ),
        ),
        None,
    ),
    Problem(
        "a triangle that is nearly flat",
        _BOTTEMA,
        (*_sides, less(100 * (a + b - c), c), less(b, a)),
        real_point(a=2, b=1, c="299/100"),
    ),
)
