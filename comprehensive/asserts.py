"""The asserts before a region, as conditions on the parameters of a call.

In: a compilation.  Out: for every region what its asserts demand, in the user's words, in a form that can be evaluated
at a point and, where it is made of polynomials, put into systems::

    (asserts,) = asserts_of(compilation)
    asserts.checked[0].quoted                                       # "assert(B0 <= ub1 * s), line 8"
    asserts.checked[0].holds({"B0": 32, "ub1": 1, "s": 1})          # False
    asserts.unchecked                                               # ("assert(alpha > 0), line 9",)

The generated code tests the same asserts before it selects a leaf, so everything that says which leaf runs asks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TypeAlias

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial, System, at_most, equal, less
from comprehensive.driver import Compilation
from comprehensive.kernel_ir.c_expr import is_wide
from comprehensive.loops.access import names_read
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.ir import Nest, Variant
from comprehensive.metafork.ast import (
    Binary,
    Expr,
    Function,
    HostAssert,
    IntLiteral,
    MetaSchedule,
    ScalarType,
    Unary,
)
from comprehensive.metafork.printer import assert_words, print_expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.model.values import wide_value
from comprehensive.optimize.tree import Tree
from comprehensive.plan.host_scalars import over_arguments
from comprehensive.poly.indices import NotPolynomialError, scope_of

Alternatives: TypeAlias = tuple[tuple[Atom, ...], ...]
"""Conjunctions of which one holds."""

_MOST_ALTERNATIVES = 32
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Assert(Struct, frozen=True, dict=True):
    """An assert over integer arguments and host scalars; definitions of host scalars are put into ``condition``."""

    text: str
    line: int
    condition: Expr
    nest: Nest

    @property
    def quoted(self) -> str:
        return f"{self.text}, line {self.line}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The scalars that it reads, sorted."""
        return tuple(sorted(names_read(self.condition)))

    def holds(self, values: Mapping[str, int | Fraction]) -> bool | None:
        """Return whether the condition holds, as generated code computes it; None where a name has no value.

        That code refuses what C leaves undefined.
        """
        if any(name not in values for name in self.names):
            return None
        try:
            return bool(
                wide_value(self.nest, self.condition, {name: int(values[name]) for name in self.names})
            )
        except UndefinedBehaviour:
            return False

    def with_numbers(self, values: Mapping[str, int | Fraction]) -> str:
        """The condition with the values that are known; the sides of a comparison are computed where they can be."""
        put_in = self._given(values)
        match put_in:
            case Binary(operator=operator) if operator in _COMPARISONS:
                return f"{self._side(put_in.left)} {operator} {self._side(put_in.right)}"
            case _:
                return print_expr(put_in)

    def alternatives(
        self, values: Mapping[str, int | Fraction], *, wanted: bool = True
    ) -> Alternatives | None:
        """Return where the condition holds, or does not, as alternative conjunctions.

        They are polynomial conditions on the names without a value.

        None where it is not made of polynomials: a quotient or remainder of such names, for example.
        """
        truth = self.holds(values)
        if truth is not None:
            return ((),) if truth is wanted else ()
        types = {s.name: s.type for s in self.nest.scalars}
        condition = self._given(values)
        # Nobody is told of a negative value: see `values.demand_known`.
        if not names_read(condition) <= types.keys() or not is_exact(condition, types, types.keys()):
            return None
        try:
            found = _alternatives(condition, self.nest, wanted)
        except NotPolynomialError:
            return None
        # Any other symbol stands for a quotient.
        spoken = {symbol for atoms in found for atom in atoms for symbol in atom.symbols}
        return found if len(found) <= _MOST_ALTERNATIVES and spoken <= {*self.names} else None

    def _given(self, values: Mapping[str, int | Fraction]) -> Expr:
        types = {s.name: s.type for s in self.nest.scalars}
        # A literal keeps the type of a name that wraps around: differences of unsigned numbers do.
        known: dict[str, Expr] = {
            name: IntLiteral(
                int(values[name]),
                types[name] if types[name].wraps else ScalarType.INT,
            )
            for name in self.names
            if name in values
        }
        return substitute(self.condition, known)

    def _side(self, side: Expr) -> str:
        if names_read(side):
            return print_expr(side)
        try:
            return str(wide_value(self.nest, side, {}))
        except UndefinedBehaviour:
            return print_expr(side)


class Asserts(Struct, frozen=True):
    """The asserts before one region.

    ``unchecked`` quotes those that only the generated code can test, when it runs.
    """

    checked: tuple[Assert, ...]
    unchecked: tuple[str, ...]

    def violated(self, values: Mapping[str, int | Fraction]) -> bool:
        """Whether one of them is known not to hold."""
        return any(each.holds(values) is False for each in self.checked)

    def atoms(self, values: Mapping[str, int | Fraction] | None = None) -> tuple[Atom, ...]:
        """Return the atoms on names without a value that all asserts imply.

        Only asserts that are one conjunction count.
        """
        found = [each.alternatives(values or {}) for each in self.checked]
        return tuple(atom for cases in found if cases is not None and len(cases) == 1 for atom in cases[0])

    def restricted(self, system: System, values: Mapping[str, int | Fraction] | None = None) -> System:
        """The system with these atoms."""
        return System(system.assumptions, (*system.atoms, *self.atoms(values)))


def regions_of(compilation: Compilation) -> Iterator[tuple[Nest, Tree[Variant], Asserts]]:
    """The nest, the tree and the asserts of each region, in program order."""
    return zip(compilation.nests, compilation.trees, asserts_of(compilation), strict=True)


def asserts_of(compilation: Compilation) -> tuple[Asserts, ...]:
    """The asserts of all regions, in program order."""
    nests = iter(compilation.nests)
    return tuple(
        _asserts(function, region, next(nests))
        for function in compilation.program.functions
        for region in function.regions
    )


def _asserts(function: Function, region: MetaSchedule, nest: Nest) -> Asserts:
    checked: list[Assert] = []
    unchecked: list[str] = []
    for part in function.parts[: next(i for i, p in enumerate(function.parts) if p is region)]:
        if not isinstance(part, HostAssert):
            continue
        words, line = f"assert({' '.join(assert_words(part).split())})", part.span.position[0]
        condition = _precondition(part, nest)
        if condition is not None:
            read = over_arguments(nest, condition)
            if is_wide(read, {s.name: s.type for s in nest.scalars}):
                checked.append(Assert(words, line, read, nest))
                continue
        unchecked.append(f"{words}, line {line}")
    return Asserts(tuple(checked), tuple(unchecked))


def _precondition(part: HostAssert, nest: Nest) -> Expr | None:
    """The condition as the nest has it, with its conversions written out; None where the nest does not know it."""
    if part.condition is None:
        return None
    span = part.condition.span
    return next((p for p in nest.preconditions if p.span == span), None)


def not_checked(notes: Iterable[str]) -> list[str]:
    """A line for what the output above leaves out, if anything."""
    return [f"not checked here: {note}" for note in notes]


def _alternatives(expr: Expr, nest: Nest, wanted: bool) -> Alternatives:
    match expr:
        case Unary(operator="!"):
            return _alternatives(expr.operand, nest, not wanted)
        case Binary(operator="&&" | "||"):
            left, right = _alternatives(expr.left, nest, wanted), _alternatives(expr.right, nest, wanted)
            if (expr.operator == "&&") != wanted:
                return (*left, *right)
            return tuple((*a, *b) for a, b in product(left, right))[: _MOST_ALTERNATIVES + 1]
        case Binary(operator=operator) if operator in _COMPARISONS:
            read = scope_of(nest).read
            operator = operator if wanted else _NEGATED[operator]
            return _without_constants(_comparison(read(expr.left), operator, read(expr.right)))
        case _:
            return _alternatives(Binary("!=", expr, IntLiteral(0)), nest, wanted)


def _comparison(left: Polynomial, operator: str, right: Polynomial) -> Alternatives:
    match operator:
        case "<":
            return ((less(left, right),),)
        case "<=":
            return ((at_most(left, right),),)
        case ">":
            return ((less(right, left),),)
        case ">=":
            return ((at_most(right, left),),)
        case "==":
            return ((equal(left, right),),)
        case _:
            return ((less(left, right),), (less(right, left),))


def _without_constants(found: Alternatives) -> Alternatives:
    possible = [atoms for atoms in found if all(atom.truth is not False for atom in atoms)]
    open_ones = tuple(tuple(atom for atom in atoms if atom.truth is None) for atoms in possible)
    return ((),) if () in open_ones else open_ones
