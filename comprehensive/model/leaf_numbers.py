"""The numbers of a leaf's profile: expressions over scalars of the nest that a launch computes once each.

In: expressions over the grid, the block, the threads and the turns of loops.  Out: positions among the numbers, also of
the distance between two values of a subscript::

    numbers.distance(a[p * n + k], "k")    -->   the position of 1;  along p the position of n
"""

from __future__ import annotations

from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import AXES
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, Unary
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus
from comprehensive.plan.profile import number_name

TWO = IntLiteral(2)


class Numbers:
    """The numbers so far; the first two are 0 and 1.

    ``middles`` are what block, thread and turns of loops are in the middle of the grid, the block and the loops.
    """

    def __init__(self) -> None:
        self.all: list[Expr] = [ZERO, ONE]
        self.middles: dict[str, Expr] = {}
        self._known: dict[Expr, int] = {ZERO: 0, ONE: 1}
        self._ring = Ring()

    def position(self, expr: Expr) -> int:
        """The position of the number that an expression over scalars of the nest is."""
        simple = fold(expr)
        if simple not in self._known:
            self._known[simple] = len(self.all)
            self.all.append(simple)
        return self._known[simple]

    def named(self, expr: Expr) -> Expr:
        """The expression or, where it is not simple, the number that it is by name."""
        simple = fold(expr)
        if isinstance(simple, Name | IntLiteral):
            return simple
        return Name(number_name(self.position(simple)))

    def half(self, extent: Expr) -> Expr:
        """The middle of an extent, by name where it is not simple."""
        return self.named(Binary("/", extent, TWO))

    def middle(self, expr: Expr) -> Expr:
        """The expression in the middle of the grid, the block and all loops."""
        return substitute(expr, self.middles)

    def three(self, base: str, subscript: Expr) -> tuple[int, int, int]:
        """The distances along the three axes of threads or blocks, x first."""
        x, y, z = (self.distance(subscript, f"{base}.{axis}") for axis in AXES)
        return x, y, z

    def distance(self, subscript: Expr, name: str) -> int:
        """Elements between neighbours along a thread, a turn or a block."""
        polynomial = self._ring.read(subscript)
        if name not in self._ring.names_in(polynomial):
            return self.position(ZERO)
        if polynomial.degree(name) == 1:
            slope = polynomial.coefficient(name, 1)
            rest = polynomial.coefficient(name, 0)
            if name not in self._ring.names_in(rest):
                return self.position(self.middle(self._ring.write(slope)))
        here = self.middle(Name(name))
        there = substitute(subscript, {name: plus(here, ONE)})
        return self.position(self.simple(self.middle(Binary("-", there, subscript))))

    def origin(self, subscript: Expr) -> Expr:
        """Return the origin of a walk, as far as references of one walk differ: without thread, block and turns."""
        names = {name: ZERO for name in names_read(subscript) if "." in name or "@" in name}
        return substitute(subscript, names)

    def turns(self, relation: str, start: Expr, bound: Expr, step: Expr) -> Expr:
        """The turns of a loop that counts from one number to another one in equal steps."""
        apart, size = Binary("-", bound, start), step
        if relation in (">", ">="):
            apart, size = Binary("-", start, bound), Unary("-", step)
        if relation in ("<=", ">="):
            apart = Binary("+", apart, ONE)
        if fold(size) == ONE:
            return fold(self.simple(apart))
        return Binary("/", self.simple(Binary("+", apart, Binary("-", size, ONE))), size)

    def simple(self, expr: Expr) -> Expr:
        """The expression with equal terms added up."""
        return fold(self._ring.write(self._ring.read(expr)))
