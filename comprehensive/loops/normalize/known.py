"""The facts that are known at a place of a nest: conditions and loops around it in, proofs of ``p >= 0`` out.

One fact is subtracted from what is to be shown, and the rest must have no negative coefficient over names that are
not negative::

    grid i < (n + B - 1)/B                     so that   n - 1 >= 0
    threads u < B:  if (i*B + u < n) { ... }   so that   n - 1 - i*B - u >= 0, and n - 1 >= 0 again
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.sizes import sizes
from comprehensive.loops.traverse import always_evaluated
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Expr, FloatLiteral, Index, Name, ScalarType
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import subexpressions
from comprehensive.records import replace

_SIGNED = (ScalarType.INT, ScalarType.LONG)


class Known(Struct, frozen=True):
    """``facts`` are polynomials that are not negative, ``least`` the least values of names, ``types`` those of all
    names on the path, ``values`` the scalars that stand for an expression, and ``dims`` the extents of arrays."""

    types: Mapping[str, ScalarType]
    least: Mapping[str, int]
    values: Mapping[str, Expr]
    facts: tuple[Polynomial, ...]
    dims: Mapping[str, tuple[Expr | None, ...]]

    @staticmethod
    def of(nest: Nest) -> Known:
        """Return the facts about scalars that are known before the first block runs."""
        types = {s.name: s.type for s in nest.scalars} | {a.name: a.type for a in nest.arrays}
        least = {s.name: 0 for s in nest.with_role(Role.DATA)} | dict.fromkeys(sizes(nest), 0)
        least |= {s.name: 0 for s in nest.scalars if s.type.is_integer and not s.type.is_signed}
        least |= {s.name: 1 for role in (Role.PROGRAM, Role.TILE) for s in nest.with_role(role)}
        known = Known(types, least, {}, (), {a.name: a.dims for a in nest.arrays if a.dims is not None})
        for scalar in nest.scalars:
            if scalar.value is not None:
                known = known.defining(scalar.name, scalar.type, scalar.value)
        for condition in nest.preconditions:
            known = known.where(condition)
        return known

    def declaring(self, name: str, type: ScalarType, least: int | None = None) -> Known:
        """Return the facts after the declaration of a name, of which nothing but, perhaps, its least value is known."""
        if least is None and type.is_integer and not type.is_signed:
            least = 0
        more = self.least if least is None else {**self.least, name: least}
        values = {key: value for key, value in self.values.items() if key != name}
        return replace(self, types={**self.types, name: type}, least=more, values=values)

    def defining(self, name: str, type: ScalarType, value: Expr) -> Known:
        """Return the facts after the only definition of a scalar."""
        known = self.declaring(name, type)
        if type not in _SIGNED or not self._is_exact(value):
            return known
        return replace(known, values={**known.values, name: substitute(value, self.values)})

    def running(self, iterator: str, extent: Expr, type: ScalarType = ScalarType.INT) -> Known:
        """Inside a loop that counts from 0."""
        return self.declaring(iterator, type, 0).where(Binary("<", Name(iterator), extent))

    def where(self, condition: Expr) -> Known:
        """Return the facts known at places where a condition holds, too."""
        match condition:
            case Binary(operator="&&", left=left, right=right):
                return self.where(left).where(right)
            case Binary(operator="<" | "<=" | ">" | ">=" as relation, left=left, right=right) if (
                self._is_exact(condition)
            ):
                small, large = (left, right) if relation in ("<", "<=") else (right, left)
                margin = 1 if relation in ("<", ">") else 0
                facts = [self._read(Binary("-", large, small)) - margin]
                match substitute(large, self.values):
                    case Binary(operator="/", left=top, right=bottom) if self._is_nonnegative(
                        self._read(small) + margin - 1
                    ) and self._is_nonnegative(self._read(bottom) - 1):
                        # A quotient of at least 1: the numerator is not below the denominator.
                        facts.append(self._read(Binary("-", top, bottom)))
                    case _:
                        pass
                return replace(self, facts=(*self.facts, *facts))
            case _:
                return self

    def touching(self, expr: Expr) -> Known:
        """Return the facts known where an expression has a value: what it surely reads lies inside of its array."""
        known = self
        for part in always_evaluated(expr):
            if isinstance(part, Index):
                for subscript, extent in zip(part.subscripts, self.dims.get(part.array, ()), strict=False):
                    if extent is not None:
                        known = known.where(Binary("<", subscript, extent))
        return known

    def holds(self, small: Expr, relation: str, large: Expr) -> bool:
        """Whether ``small < large``, or ``small <= large``, is proved here."""
        if not self._is_exact(Binary(relation, small, large)):
            return False
        goal = self._read(Binary("-", large, small)) - (1 if relation == "<" else 0)
        return any(self._is_nonnegative(goal - fact) for fact in (Polynomial.constant(0), *self.facts))

    def _is_exact(self, expr: Expr) -> bool:
        """Whether C computes what mathematics says, as far as types decide that."""
        parts = tuple(subexpressions(expr))
        if (
            any(isinstance(e, FloatLiteral | Index) for e in parts)
            or not names_read(expr) <= self.types.keys()
        ):
            return False
        if all(promote(type_of(e, self.types)) in _SIGNED for e in parts):
            return True
        return is_exact(expr, self.types, {name for name, value in self.least.items() if value >= 0})

    def _read(self, expr: Expr) -> Polynomial:
        """The polynomial of an expression; what is none, as a quotient, has a symbol with its text for a name."""
        ring = Ring()
        found = ring.read(substitute(expr, self.values))
        atoms = (s for s in found.symbols if not s.isidentifier())
        names = {s: print_expr(ring.write(Polynomial.symbol(s))) for s in atoms}
        return found.substitute({s: Polynomial.symbol(name) for s, name in names.items()})

    def _is_nonnegative(self, polynomial: Polynomial) -> bool:
        if not set(polynomial.symbols) <= self.least.keys():
            return False
        shifted = {s: Polynomial.symbol(s) + self.least[s] for s in polynomial.symbols}
        return all(term.coefficient >= 0 for term in polynomial.substitute(shifted).terms())
