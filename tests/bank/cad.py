"""Examples of cylindrical algebraic decomposition and quantifier elimination, with numbers for free parameters.

Most are collected in Wilson, Bradford, Davenport, A repository for CAD examples (2012), where each is traced to the
source that is given here. Why an inconsistent one is inconsistent stands above it.
"""

from __future__ import annotations

from fractions import Fraction

from comprehensive.algebra import Atom, at_least, at_most, equal, less
from tests.bank.problem import Problem, real_point, reals

a, b, c, d, h, p, q, r, s, t, u, v, w, x, y, z = reals("a b c d h p q r s t u v w x y z")
(R,) = reals("R")

_ARNON = "Arnon, Collins, McCallum, Cylindrical algebraic decomposition I (1984)"
_ARNON_MIGNOTTE = "Arnon, Mignotte, On mechanical quantifier elimination for elementary algebra (1988)"
_BUCHBERGER_HONG = "Buchberger, Hong, Speeding-up quantifier elimination by Groebner bases (1991)"
_COLLINS_HONG = "Collins, Hong, Partial CAD construction for quantifier elimination (1991)"
_COLLINS_JOHNSON = "Collins, Johnson, Quantifier elimination and the sign variation method (1989)"
_CYCLIC = "Davenport, Looking at a set of equations (1987)"
_DAVENPORT_HEINTZ = "Davenport, Heintz, Real quantifier elimination is doubly exponential (1988)"
_HONG = "Hong, An improvement of the projection operator in CAD (1990)"
_LAZARD = "Lazard, Quantifier elimination: optimal solution for two classical examples (1988)"
_MC_CALLUM = "McCallum, An improved projection operation for CAD of three-dimensional space (1988)"
_BALLS = "McCallum, Solving polynomial strict inequalities using CAD (1993)"
_PIANO = "Davenport, A 'piano movers' problem (1986)"
_REPOSITORY = "Wilson, Bradford, Davenport, A repository for CAD examples (2012)"
_TTICAD = "Bradford, Davenport, England, McCallum, Wilson, CAD for boolean combinations (2013)"
_YANG_XIA = "Yang, Hou, Xia, A complete algorithm for discovering inequality-type theorems (2001)"

_outside = less(1, x**2 + y**2)


def _ellipse(first: Fraction, second: Fraction, centre: Fraction) -> Atom:
    """The ellipse with these semi-axes around (centre, 0)."""
    return equal(second**2 * (x - centre) ** 2 + first**2 * y**2, first**2 * second**2)


def _ball(centre: tuple[Fraction | int, Fraction | int, Fraction | int]) -> Atom:
    """The open ball of radius 1."""
    return less((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2, 1)


_half, _quarter = Fraction(1, 2), Fraction(1, 4)

_collins_johnson = (
    less(3 * a**2 * r + 3 * b**2 - 2 * a * r - a**2 - b**2, 0),
    less(0, 3 * a**2 * r + 3 * b**2 * r - 4 * a * r + r - 2 * a**2 - 2 * b**2 + 2 * a),
    at_least(a, _half),
    less(0, b),
    less(0, r),
    less(r, 1),
)
_solotareff = (
    equal(3 * x**2 - 2 * x, a),
    equal(x**3 - x**2 - a * x - 2 * b + a, 2),
    equal(3 * y**2 - 2 * y, a),
    equal(y**3 - y**2 - a * y - a + 2, 0),
    at_least(4 * a, 1),
    at_most(4 * a, 7),
    at_least(4 * b, -3),
    at_most(4 * b, 3),
    at_least(x, -1),
    at_most(x, 0),
    at_least(y, 0),
    at_most(y, 1),
)
# Two ellipses of the same shape, one moving along y = 10, the other along the diagonal.
_collision = (
    equal((x - t) ** 2 + 4 * (y - 10) ** 2, 4),
    equal((x - a * t) ** 2 + 4 * (y - a * t) ** 2, 4),
    less(0, t),
    less(0, a),
)
# A disc and a square of side 2, both moving.
_square = (
    less(0, t),
    at_least(x, Fraction(17, 16) * t - 6 - 1),
    at_most(x, Fraction(17, 16) * t - 6 + 1),
    at_least(y, Fraction(17, 16) * t - 10 - 1),
    at_most(y, Fraction(17, 16) * t - 10 + 1),
)
_annulus = (
    equal(a**2 + b**2, 1),
    equal((c - 10) ** 2 + d**2, 9),
    equal(2 * x, a + c),
    equal(2 * y, b + d),
)
_product_of_edges = (
    equal(x, a * b - c * d),
    equal(y, a * d + b * c),
    equal(a, 2),
    equal(b, 4),
    at_least(c, -1),
    at_most(c, 1),
    at_least(d, -1),
    at_most(d, 1),
)
_joukowsky = (
    equal(a * (c**2 + d**2) * (a**2 + b**2 + 1), c * (a**2 + b**2) * (c**2 + d**2 + 1)),
    equal(b * (c**2 + d**2) * (a**2 + b**2 - 1), d * (a**2 + b**2) * (c**2 + d**2 - 1)),
    less(0, (a - c) ** 2 + (b - d) ** 2),
    less(1, a**2 + b**2),
)
_cubic = (equal(r + s + t, 0), equal(r * s + s * t + t * r, a), equal(r * s * t, b))
_catastrophe = (equal(x**2 + y**2 + z**2, 1), equal(z**3 + x * z + y, 0))
_tacnode = equal(y**4 - 2 * y**3 + y**2 - 3 * x**2 * y + 2 * x**4, 0)
_arnon_2 = (
    equal(144 * y**2 + 96 * x**2 * y + 9 * x**4 + 105 * x**2 + 70 * x, 98),
    equal(x * y**2 + 6 * x * y + x**3 + 9 * x, 0),
)
_intersection = (
    equal(2 * x**2, y**2 + z**2),
    equal(x * z + z * y, 2 * x),
    equal(z**2, y),
)
_triangle = (
    equal(a**2 * h**2, 4 * s * (s - a) * (s - b) * (s - c)),
    equal(2 * R * h, b * c),
    equal(2 * s, a + b + c),
    *(less(0, side) for side in (a, b, c, h, R)),
    less(c, a + b),
    less(a, b + c),
    less(b, c + a),
)
# A straight ladder with its ends on the outer walls of a corridor of width 1 with a corner, at distances x and y;
# it stays off the inner corner where x + y >= x*y.
_ladder = (less(0, x), less(0, y), at_least(x + y, x * y))
_random = equal((y - 1) * z**4 + x * z**3 + x * (1 - y) * z**2 + (y - x - 1) * z + y, 0)

PROBLEMS = (
    # |point| <= |centre| + radius.
    Problem("x-axis ellipse, circle inside", _LAZARD, (_ellipse(_half, _half, _half), _outside), None),
    # With the angle f, x^2 + y^2 = 5/8 + cos(f)/4 - 5*cos(f)^2/16 <= 27/40.
    Problem("x-axis ellipse, inside", _LAZARD, (_ellipse(_half, Fraction(3, 4), _quarter), _outside), None),
    Problem(
        "x-axis ellipse, too high",
        _LAZARD,
        (_ellipse(_half, Fraction(1), _quarter), _outside),
        real_point(x="1/4", y=1),
    ),
    # The triangle inequality, for circles of any radius and centre.
    Problem(
        "ellipse, all circles inside",
        _ARNON_MIGNOTTE,
        (
            less(0, r),
            at_least(c, 0),
            at_most(c + r, 1),
            equal((x - c) ** 2 + y**2, r**2),
            _outside,
        ),
        None,
    ),
    Problem(
        "ellipse, free parameters",
        _BUCHBERGER_HONG,
        (
            equal(b**2 * (x - c) ** 2 + a**2 * y**2, a**2 * b**2),
            _outside,
            *(less(0, axis) for axis in (a, b)),
            *(less(axis, 1) for axis in (a, b)),
            at_least(c, 0),
            less(c, 1),
        ),
        real_point(a="1/2", b="1/2", c="3/4", x="5/4", y=0),
    ),
    Problem("Collins and Johnson", _COLLINS_JOHNSON, _collins_johnson, real_point(a="1/2", b="2/5", r="3/4")),
    # Elimination gives (y + 1)^2*(y - 1) = 0, so y = 1, a = 1, x = -1/3, b = -11/27.
    Problem("Solotareff", _BUCHBERGER_HONG, _solotareff, real_point(a=1, b="-11/27", x="-1/3", y=1)),
    Problem("Solotareff, b too large", _BUCHBERGER_HONG, (*_solotareff, less(Fraction(-2, 5), b)), None),
    Problem("collision of ellipses", _BUCHBERGER_HONG, _collision, real_point(a="11/13", t=13, x=13, y=11)),
    # The second height is t, and two heights of a common point differ by at most 2.
    Problem("collision, too late", _BUCHBERGER_HONG, (*_collision, equal(a, 1), less(12, t)), None),
    # x - y >= 2 on the square, x - y <= sqrt(2) on the disc.
    Problem("square misses disc", _COLLINS_HONG, (*_square, at_most(x**2 + y**2, 1)), None),
    Problem(
        "square meets disc",
        _COLLINS_HONG,
        (*_square, at_most(x**2 + y**2, 2)),
        real_point(t="128/17", x=1, y=-1),
    ),
    Problem(
        "Davenport and Heintz",
        _DAVENPORT_HEINTZ,
        (equal(d**2, c), equal(c**2, 1), less(0, d)),
        real_point(c=1, d=1),
    ),
    # d^4 = 1.
    Problem(
        "Davenport and Heintz, no fixed point",
        _DAVENPORT_HEINTZ,
        (equal(d**2, c), equal(c**2, 1), less(1, d)),
        None,
    ),
    # d = a^8 > a.
    Problem(
        "Davenport and Heintz, three squarings",
        _DAVENPORT_HEINTZ,
        (equal(b, a**2), equal(c, b**2), equal(d, c**2), less(d, a), less(1, a)),
        None,
    ),
    # A real quadratic with a root has a discriminant that is not negative.
    Problem("quadratic", _REPOSITORY, (equal(a * x**2 + b * x + c, 0), less(b**2, 4 * a * c)), None),
    Problem(
        "quadratic with a root",
        _REPOSITORY,
        (equal(a * x**2 + b * x + c, 0), less(4 * a * c, b**2), less(0, a), less(a, c)),
        real_point(a=1, b=-3, c=2, x=1),
    ),
    # 4*a*(a*x^2 + b*x + c) = (2*a*x + b)^2 + 4*a*c - b^2.
    Problem(
        "range of lower bounds",
        _REPOSITORY,
        (less(0, a), less(a * x**2 + b * x + c, y), less(4 * a * y, 4 * a * c - b**2)),
        None,
    ),
    # (x^2 - 1)^2.
    Problem("quartic, a square", _LAZARD, (less(x**4 - 2 * x**2 + 1, 0),), None),
    # Its least value, at x^3 = -1/4, is 1 - 3/4 * 4^(-1/3) > 0.
    Problem("quartic, positive", _LAZARD, (at_most(x**4 + x + 1, 0),), None),
    Problem(
        "quartic, negative", _LAZARD, (less(x**4 - 3 * x**2 + x + 1, 0), less(1, x)), real_point(x="6/5")
    ),
    Problem("cubic with real roots", _HONG, (*_cubic, less(s, r)), real_point(r=1, s=-2, t=1, a=-3, b=-2)),
    # The discriminant of x^3 + a*x - b, whose roots are real, is -4*a^3 - 27*b^2.
    Problem("Hong-90", _HONG, (*_cubic, less(0, 4 * a**3 + 27 * b**2)), None),
    # x^2 = u^2*v^2 = z*y^2.
    Problem(
        "Whitney umbrella",
        _REPOSITORY,
        (equal(x, u * v), equal(y, v), equal(z, u**2), less(x**2, y**2 * z)),
        None,
    ),
    # x^4 = u^4*v^4 = y^2*z.
    Problem(
        "implicitization",
        _REPOSITORY,
        (equal(x, u * v), equal(y, u * v**2), equal(z, u**2), less(x**4, y**2 * z)),
        None,
    ),
    Problem("sphere and catastrophe", _MC_CALLUM, _catastrophe, real_point(x=1, y=0, z=0)),
    # On the sphere y = 1 leaves x = z = 0, where the catastrophe has y = 0.
    Problem("sphere and catastrophe, top", _MC_CALLUM, (*_catastrophe, at_least(y, 1)), None),
    Problem(
        "trivariate random polynomial",
        _MC_CALLUM,
        (_random, at_least(z, 1), at_most(y, 0)),
        real_point(x=2, y=0, z=1),
    ),
    Problem("tacnode", _ARNON, (_tacnode, at_least(2 * x, 1)), real_point(x=1, y=2)),
    # As a quadratic in x^2 it has the discriminant y^2*(9 - 8*(y - 1)^2).
    Problem("tacnode, too high", _ARNON, (_tacnode, at_least(y, Fraction(21, 10))), None),
    # The second polynomial is x*(x^2 + (y + 3)^2).
    Problem("Arnon-84-2", _ARNON, (*_arnon_2, less(0, x)), None),
    Problem("intersection", _BUCHBERGER_HONG, (*_intersection, less(0, x)), real_point(x=1, y=1, z=1)),
    Problem(
        "ball and cylinder",
        _BALLS,
        (_ball((0, 0, 0)), less(x**2 + (y + z - 2) ** 2, 1)),
        real_point(x=0, y="3/5", z="3/5"),
    ),
    # y + z <= sqrt(2) in the ball, y + z > 2 in the cylinder.
    Problem("ball and far cylinder", _BALLS, (_ball((0, 0, 0)), less(x**2 + (y + z - 3) ** 2, 1)), None),
    Problem("two balls", _BALLS, (_ball((0, 0, 0)), _ball((1, 1, 1))), real_point(x="1/2", y="1/2", z="1/2")),
    # The centres of the first and the third are 5/2 apart.
    Problem("three balls", _BALLS, (_ball((0, 0, 0)), _ball((1, 1, 1)), _ball((Fraction(3, 2), 2, 0))), None),
    Problem(
        "circle above a hyperbola",
        _TTICAD,
        (equal(x**2 + y**2, 1), less(1, 4 * x * y), less(x, y)),
        real_point(x="3/5", y="4/5"),
    ),
    # Circles of radius 1 whose centres are sqrt(17) apart.
    Problem(
        "two circles apart", _TTICAD, (equal(x**2 + y**2, 1), equal((x - 4) ** 2 + (y - 1) ** 2, 1)), None
    ),
    Problem(
        "two spheres apart",
        _TTICAD,
        (equal(x**2 + y**2 + z**2, 1), equal((x - 4) ** 2 + (y - 1) ** 2 + (z - 2) ** 2, 1)),
        None,
    ),
    # x*y <= 1/2 on the circle.
    Problem("circle below a hyperbola", _TTICAD, (equal(x**2 + y**2, 1), less(1, 2 * x * y)), None),
    # The small circle, moved by 1, stays within a distance of 2.
    Problem(
        "concentric circles, one moved",
        _REPOSITORY,
        (equal(x**2 + y**2, 9), equal(u**2 + v**2, 1), equal(x, u + w), equal(y, v), equal(w, 1)),
        None,
    ),
    Problem("midpoints of two circles", _REPOSITORY, _annulus, real_point(a=1, b=0, c=13, d=0, x=7, y=0)),
    # They fill the annulus around (5, 0) with radii 1 and 2 (Putnam competition 1996, A2).
    Problem("midpoints of two circles, hole", _REPOSITORY, (*_annulus, less((x - 5) ** 2 + y**2, 1)), None),
    Problem(
        "midpoints of two circles, outside", _REPOSITORY, (*_annulus, less(4, (x - 5) ** 2 + y**2)), None
    ),
    Problem(
        "edges square product",
        _REPOSITORY,
        (*_product_of_edges, less(0, c), less(d, 0)),
        real_point(a=2, b=4, c=1, d=-1, x=9, y=2),
    ),
    # |(a + i*c)*(b + i*d)|^2 <= 5*17.
    Problem("edges square product, outside", _REPOSITORY, (*_product_of_edges, less(85, x**2 + y**2)), None),
    # a^2 + b^2 + c^2 = 0 leaves no product but 0.
    Problem(
        "cyclic-3", _CYCLIC, (equal(a + b + c, 0), equal(a * b + b * c + c * a, 0), equal(a * b * c, 1)), None
    ),
    Problem(
        "cyclic-4",
        _CYCLIC,
        (
            equal(a + b + c + d, 0),
            equal(a * b + b * c + c * d + d * a, 0),
            equal(a * b * c + b * c * d + c * d * a + d * a * b, 0),
            equal(a * b * c * d, 1),
        ),
        real_point(a=1, b=1, c=-1, d=-1),
    ),
    # j(f) = f + 1/f takes a value at f and 1/f only, and one of these is inside of the unit circle.
    Problem("Joukowsky, exterior", _REPOSITORY, (*_joukowsky, less(1, c**2 + d**2)), None),
    Problem(
        "Joukowsky", _REPOSITORY, (*_joukowsky, less(0, c**2 + d**2)), real_point(a=2, b=0, c="1/2", d=0)
    ),
    # Likewise: f and 1/f are in different half planes.
    Problem("Joukowsky, upper half plane", _REPOSITORY, (*_joukowsky[:3], less(0, b), less(0, d)), None),
    # The difference is x^2 + 4*x^2*y + y^2*(2*x^2 - 1).
    Problem(
        "term rewriting terminates",
        _COLLINS_HONG,
        (less(1, x), less(1, y), at_most(x**2 * (1 + 2 * y) ** 2, y**2 * (1 + 2 * x**2))),
        None,
    ),
    Problem(
        "term rewriting, bound too small",
        _COLLINS_HONG,
        (less(0, x), less(0, y), at_most(x**2 * (1 + 2 * y) ** 2, y**2 * (1 + 2 * x**2))),
        real_point(x="1/10", y=1),
    ),
    # The square has a diameter of sqrt(2).
    Problem(
        "piano mover, ladder in the corner square",
        _PIANO,
        (
            equal((x - u) ** 2 + (y - v) ** 2, 9),
            *(at_least(end, -1) for end in (x, u)),
            *(at_most(end, 0) for end in (x, u)),
            *(at_least(end, 0) for end in (y, v)),
            *(at_most(end, 1) for end in (y, v)),
        ),
        None,
    ),
    # The longest ladder that passes has the length 2*sqrt(2) < 3.
    Problem("piano mover, stuck half way", _PIANO, (*_ladder, equal(x, y), equal(x**2 + y**2, 9)), None),
    Problem(
        "piano mover, just passes",
        _PIANO,
        (*_ladder, equal(x, y), equal(x**2 + y**2, 8)),
        real_point(x=2, y=2),
    ),
    Problem(
        "Yang-Xia",
        _YANG_XIA,
        (*_triangle, less(b, c)),
        real_point(a=5, b=3, c=4, s=6, h="12/5", R="5/2"),
    ),
    # The law of sines.
    Problem("Yang-Xia, side beyond the diameter", _YANG_XIA, (*_triangle, less(2 * R, a)), None),
)
