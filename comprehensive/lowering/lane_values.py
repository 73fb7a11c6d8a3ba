"""How integers of a kernel differ between threads: expressions in, polynomials in ``threadIdx.x`` out.

    const int j = v1*B1 + u1 + 1;   a[i*a_stride0 + j + 2]   -->   threadIdx.x + 3 + (what is the same along x)

A symbol stands for what is the same for all threads along x; what else differs between them has no polynomial.  Only
signed integers have one: these do not wrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.axes import AXES
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.access import names_read
from comprehensive.loops.traverse import subexpressions
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, Index, IntLiteral, Name, ScalarType, Unary

LANE = "threadIdx.x"


class Varies(IntEnum):
    """The threads of a block between which a value may differ."""

    NOWHERE = 0
    ACROSS = 1
    """The value differs between threads, but not along x."""
    ALONG = 2


@dataclass(frozen=True, slots=True)
class Binding:
    """A name from its declaration on; ``number`` tells it from others of the same name."""

    type: ScalarType
    varies: Varies
    value: Polynomial | None
    number: int


Scope: TypeAlias = Mapping[str, Binding]


class LaneValues:
    """Values in one kernel; ``assigned`` are names that are assigned after their declaration."""

    def __init__(self, kernel: Kernel, assigned: frozenset[str]) -> None:
        self._assigned = assigned
        self._count = 0
        self._opaque: dict[object, str] = {}
        scope: dict[str, Binding] = {}
        for axis in AXES:
            for name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
                special = f"{name}.{axis}"
                varies = Varies.NOWHERE
                if name == "threadIdx":
                    varies = Varies.ALONG if special == LANE else Varies.ACROSS
                scope[special] = self._binding(ScalarType.UNSIGNED, varies, Polynomial.symbol(special))
        for parameter in kernel.parameters:
            if not parameter.pointer:
                value = Polynomial.symbol(parameter.name) if parameter.type.is_exact else None
                scope[parameter.name] = self._binding(parameter.type, Varies.NOWHERE, value)
        self.start: Scope = scope

    def declared(self, scope: Scope, name: str, type: ScalarType, initial: Expr | None) -> Scope:
        """The scope behind a declaration."""
        varies, value = Varies.ALONG, None
        if initial is not None and name not in self._assigned:
            varies = self.varies(initial, scope)
            value = self.value(initial, scope)
            is_special = isinstance(initial, Name) and "." in initial.identifier
            if not type.is_exact or not (is_special or self._fits(initial, type, scope)):
                value = None
        return {**scope, name: self._binding(type, varies, value)}

    def stepping(self, scope: Scope, name: str, type: ScalarType) -> tuple[Scope, str]:
        """The scope in a loop that all threads run together, and the symbol of its iterator."""
        symbol = f"{name}#{self._count}"
        value = Polynomial.symbol(symbol) if type.is_exact else None
        return {**scope, name: self._binding(type, Varies.NOWHERE, value)}, symbol

    def varies(self, expr: Expr, scope: Scope) -> Varies:
        """Return between which threads the value may differ; memory may hold anything."""
        if any(isinstance(e, Index) for e in subexpressions(expr)):
            return Varies.ALONG
        found = (scope[name].varies if name in scope else Varies.ALONG for name in names_read(expr))
        return max(found, default=Varies.NOWHERE)

    def value(self, expr: Expr, scope: Scope) -> Polynomial | None:
        """Return the value as a polynomial in ``threadIdx.x``.

        None where it is not known how the value differs along x.
        """
        match expr:
            case Name():
                return scope[expr.identifier].value if expr.identifier in scope else None
            case IntLiteral() if expr.type.is_exact:
                return Polynomial.constant(expr.value)
            case _ if (found := self._type(expr, scope)) is None or not found.is_exact:
                return None
            case Unary(operator="-" | "+"):
                operand = self.value(expr.operand, scope)
                return -operand if operand is not None and expr.operator == "-" else operand
            case Binary(operator="+" | "-" | "*"):
                left, right = self.value(expr.left, scope), self.value(expr.right, scope)
                if left is None or right is None:
                    return None
                match expr.operator:
                    case "+":
                        return left + right
                    case "-":
                        return left - right
                    case _:
                        return left * right
            case Cast() if self._fits(expr.operand, expr.type, scope):
                return self.value(expr.operand, scope)
            case _:
                return self._symbol(expr, scope)

    def _symbol(self, expr: Expr, scope: Scope) -> Polynomial | None:
        """One for all equal expressions over the same names."""
        if self.varies(expr, scope) is Varies.ALONG:
            return None
        key = (expr, tuple((name, scope[name].number) for name in sorted(names_read(expr))))
        return Polynomial.symbol(self._opaque.setdefault(key, f"#{len(self._opaque)}"))

    def _fits(self, expr: Expr, type: ScalarType, scope: Scope) -> bool:
        """Whether every value of the expression is one of the type."""
        found = self._type(expr, scope)
        return found is not None and found.is_integer and type.holds(found)

    def _type(self, expr: Expr, scope: Scope) -> ScalarType | None:
        try:
            return type_of(expr, {name: binding.type for name, binding in scope.items()})
        except KeyError:
            return None  # it reads an array, or what is not known here

    def _binding(self, type: ScalarType, varies: Varies, value: Polynomial | None) -> Binding:
        self._count += 1
        return Binding(type, varies, value, self._count)
