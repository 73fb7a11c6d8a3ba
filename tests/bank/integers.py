"""Problems over the integers, within boxes or without."""

from __future__ import annotations

from comprehensive.algebra import at_least, at_most, equal, less
from tests.bank.problem import Problem, integer_point, integers

n, x, y, z = integers("n x y z")

_HARDY = "Hardy, Wright, An introduction to the theory of numbers (1938)"
_FROBENIUS = "Ramirez Alfonsin, The Diophantine Frobenius problem (2005)"
_MORDELL = "Mordell, Diophantine equations (1969)"
_HURWITZ = "Hurwitz, Ueber eine Aufgabe der unbestimmten Analysis (1907)"

_TREES = "Decision trees of benchmarks/trees.py (2026)"

_coins = (at_least(x, 0), at_least(y, 0))
_nuggets = (at_least(x, 0), at_least(y, 0), at_least(z, 0))

PROBLEMS = (
    # 7 = 3*5 - 3 - 5 is the largest number that is no sum of threes and fives (Sylvester).
    Problem("Frobenius, 3 and 5", _FROBENIUS, (*_coins, equal(3 * x + 5 * y, 7)), None),
    Problem(
        "Frobenius, 3 and 5, next", _FROBENIUS, (*_coins, equal(3 * x + 5 * y, 8)), integer_point(x=1, y=1)
    ),
    Problem("Frobenius, 17 and 23", _FROBENIUS, (*_coins, equal(17 * x + 23 * y, 351)), None),
    Problem(
        "Frobenius, 17 and 23, next",
        _FROBENIUS,
        (*_coins, equal(17 * x + 23 * y, 352)),
        integer_point(x=18, y=2),
    ),
    Problem("Frobenius, 6, 9 and 20", _FROBENIUS, (*_nuggets, equal(6 * x + 9 * y + 20 * z, 43)), None),
    Problem(
        "Frobenius, 6, 9 and 20, next",
        _FROBENIUS,
        (*_nuggets, equal(6 * x + 9 * y + 20 * z, 44)),
        integer_point(x=4, y=0, z=1),
    ),
    Problem("parity", _HARDY, (equal(2 * x + 4 * y, 7),), None),
    Problem(
        "pairwise not coprime", _HARDY, (equal(6 * x + 10 * y + 15 * z, 1),), integer_point(x=1, y=1, z=-1)
    ),
    # One of two consecutive numbers is even.
    Problem("consecutive numbers, odd product", _HARDY, (equal(x * (x + 1), 2 * y + 1),), None),
    Problem(
        "between consecutive squares", _HARDY, (*_coins, less(x**2, y**2), less(y**2, (x + 1) ** 2)), None
    ),
    # x^2 < x*(x + 1) < (x + 1)^2.
    Problem(
        "product of consecutive numbers, a square", _MORDELL, (at_least(x, 1), equal(x * (x + 1), y**2)), None
    ),
    # Squares are 0 or 1 modulo 4, and modulo 3.
    Problem("sum of two squares, 4*k + 3", _HARDY, (equal(x**2 + y**2, 4 * z + 3),), None),
    Problem("sum of two squares, 21", _HARDY, (equal(x**2 + y**2, 21),), None),
    Problem(
        "sum of two squares, 25",
        _HARDY,
        (equal(x**2 + y**2, 25), less(0, x), less(x, y)),
        integer_point(x=3, y=4),
    ),
    Problem(
        "sum of two squares, 8633 in a box",
        _HARDY,
        (
            equal(x**2 + y**2, 8633),
            at_least(x, 1),
            at_most(x, 80),
            at_most(x, y),
            at_least(y, 70),
            at_most(y, 90),
        ),
        integer_point(x=52, y=77),
    ),
    # A theorem of Legendre excludes 8*k + 7.
    Problem("sum of three squares, 7", _HARDY, (equal(x**2 + y**2 + z**2, 7),), None),
    Problem(
        "sum of four squares, 7",
        _HARDY,
        (equal(x**2 + y**2 + z**2 + n**2, 7), *(at_least(s, 1) for s in (x, y, z, n))),
        integer_point(x=2, y=1, z=1, n=1),
    ),
    # The least solution of Pell's equation for 7 is (8, 3).
    Problem(
        "Pell, 7, too small",
        _HARDY,
        (equal(x**2 - 7 * y**2, 1), at_least(x, 2), at_most(y, 2), at_least(y, 1)),
        None,
    ),
    Problem(
        "Pell, 7",
        _HARDY,
        (equal(x**2 - 7 * y**2, 1), at_least(x, 2), at_least(y, 1), at_most(y, 3)),
        integer_point(x=8, y=3),
    ),
    Problem(
        "Pell, 2, second solution",
        _HARDY,
        (equal(x**2 - 2 * y**2, 1), at_least(x, 4), at_least(y, 1), at_most(x, 40)),
        integer_point(x=17, y=12),
    ),
    # -1 is no square modulo 3.
    Problem("Pell, 3, negative", _HARDY, (equal(x**2 - 3 * y**2, -1),), None),
    Problem(
        "taxicab number",
        _HARDY,
        (equal(x**3 + y**3, 1729), at_least(x, 1), less(x, y)),
        integer_point(x=1, y=12),
    ),
    # 1729 = 1 + 12^3 = 9^3 + 10^3 and no other way.
    Problem(
        "taxicab number, third way",
        _HARDY,
        (equal(x**3 + y**3, 1729), less(1, x), less(x, 9), less(0, y)),
        None,
    ),
    # Fermat's last theorem for cubes (Euler).
    Problem(
        "sum of two cubes",
        _HARDY,
        (equal(x**3 + y**3, z**3), at_least(x, 1), at_least(y, 1), at_most(z, 12)),
        None,
    ),
    # The only positive solution of y^2 = x^3 - 2 is (3, 5) (Fermat, Euler).
    Problem(
        "Mordell, y^2 = x^3 - 2", _MORDELL, (equal(y**2, x**3 - 2), at_least(y, 0)), integer_point(x=3, y=5)
    ),
    Problem(
        "Mordell, y^2 = x^3 - 2, another",
        _MORDELL,
        (equal(y**2, x**3 - 2), at_least(x, 4), at_most(x, 30)),
        None,
    ),
    Problem(
        "Markov",
        _HURWITZ,
        (equal(x**2 + y**2 + z**2, 3 * x * y * z), less(0, x), less(x, y), less(y, z)),
        integer_point(x=1, y=2, z=5),
    ),
    # Infinite descent.
    Problem(
        "Hurwitz, 2*x*y*z",
        _HURWITZ,
        (equal(x**2 + y**2 + z**2, 2 * x * y * z), *(at_least(s, 1) for s in (x, y, z)), at_most(z, 20)),
        None,
    ),
    Problem(
        "Egyptian fractions of 4/5",
        _MORDELL,
        (equal(4 * x * y * z, 5 * (x * y + y * z + z * x)), less(1, x), less(x, y), less(y, z)),
        integer_point(x=2, y=4, z=20),
    ),
    # x >= 4 would leave at most 3/4.
    Problem(
        "Egyptian fractions of 4/5, all small",
        _MORDELL,
        (equal(4 * x * y * z, 5 * (x * y + y * z + z * x)), at_least(x, 4), at_most(x, y), at_most(y, z)),
        None,
    ),
    # The first values differ by 2*x*z^2*(y - 1) - z, which is -z for y = 1 and at least x otherwise; y = 3/2 would do.
    Problem(
        "strips of a tree",
        _TREES,
        (
            *(at_least(s, 1) for s in (x, y, z)),
            at_least(n, 2 * x * y * z**2 + 16 * z**4 + x * z + 1),
            less(n, 2 * x * y * z**2 + 16 * z**4 + x * z + z + 1),
            at_least(n, 2 * x * z**2 + 16 * z**4 + x * z + z + 1),
            less(n, 2 * x * z**2 + 16 * z**4 + x * z + x + z + 1),
        ),
        None,
    ),
)
