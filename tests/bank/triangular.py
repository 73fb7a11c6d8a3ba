"""Systems from papers on triangular decomposition and regular chains."""

from __future__ import annotations

from comprehensive.algebra import at_least, equal, less
from tests.bank.problem import Problem, real_point, reals

a, b, c, k, x, y, z = reals("a b c k x y z")

_CHEN = (
    "Chen, Davenport, May, Moreno Maza, Xia, Xiao, Triangular decomposition of semi-algebraic systems (2010)"
)
_SURFACES = "Chen, Davenport, Lemaire et al., Computing the real solutions of polynomial systems (2011)"
_GAO = (
    "Gao, Hou, Tang, Cheng, Complete solution classification for the perspective-three-point problem (2003)"
)
_STEINER = "Coxeter, Greitzer, Geometry revisited (1967), theorem of Steiner and Lehmus"

# Equilibria of Laurent and Kellershohn's model of prion diseases.
_prions = (
    equal(16000 + 800 * y**4 - 20 * k * x - k * x * y**4 - 2 * x - 4 * x * y**4, 0),
    equal(x + 2 * x * y**4 - 500 * y - 25 * y**5, 0),
    *(less(0, name) for name in (k, x, y)),
)
_sofa = (equal(x**2 + y**3 + z**5, 0), equal(x**4 + z**2, 1))
_views = (
    equal(x**2 + y**2 - x * y, 1),
    equal(y**2 + z**2 - y * z, 1),
    equal(z**2 + x**2 - z * x, 1),
    *(less(0, name) for name in (x, y, z)),
)
_sides = (
    *(less(0, name) for name in (a, b, c)),
    less(a, b + c),
    less(b, c + a),
    less(c, a + b),
)
_equal_bisectors = equal(
    b * c * ((b + c) ** 2 - a**2) * (a + c) ** 2, a * c * ((a + c) ** 2 - b**2) * (b + c) ** 2
)

PROBLEMS = (
    Problem("prions, an equilibrium", _CHEN, _prions, real_point(k="30/7", x=175, y=1)),
    # The sum of the two rates is 800 - k*x - 50*y.
    Problem("prions, balance", _CHEN, (*_prions, less(800, k * x + 50 * y)), None),
    Problem("sofa and cylinder", _SURFACES, (*_sofa, less(0, z)), real_point(x=0, y=-1, z=1)),
    # y^3 = -x^2 - z^5 <= 1.
    Problem("sofa and cylinder, too far", _SURFACES, (*_sofa, less(1, y)), None),
    Problem("three views, equilateral", _GAO, (*_views, equal(x, y)), real_point(x=1, y=1, z=1)),
    # x^2 + y^2 - x*y = 1 gives x^2 <= 4/3.
    Problem("three views, too far", _GAO, (*_views, less(4, 3 * x**2)), None),
    Problem("equal bisectors", _STEINER, (*_sides, _equal_bisectors, less(a, c)), real_point(a=2, b=2, c=3)),
    # A triangle with two equal bisectors is isosceles.
    Problem("Steiner-Lehmus", _STEINER, (*_sides, _equal_bisectors, less(a, b)), None),
    # The real zeros of x^2 + y + z = 1 and its cyclic images have two equal coordinates.
    Problem(
        "three paraboloids",
        "Moreno Maza, On triangular decompositions of algebraic varieties (2000)",
        (
            equal(x**2 + y + z, 1),
            equal(x + y**2 + z, 1),
            equal(x + y + z**2, 1),
            less(x, y),
            less(y, z),
        ),
        None,
    ),
    Problem(
        "three paraboloids, two equal",
        "Moreno Maza, On triangular decompositions of algebraic varieties (2000)",
        (equal(x**2 + y + z, 1), equal(x + y**2 + z, 1), equal(x + y + z**2, 1), at_least(z, 1)),
        real_point(x=0, y=0, z=1),
    ),
)
