"""Updates whose result is the same, to the bit, in any order of the steps.

In: a statement of a loop, and the types of names.  Out: :class:`AnyOrder`, or None where the order counts::

    s += b[j]  on integers;   m = a[j] > m ? a[j] : m;   m = fmaxf(m, a[j]);   k &= b[j];   all = all && b[j] > 0

Sums of floating-point numbers are among them only where the caller takes the last bits as they come. The greatest of
numbers is: ``x > m ? x : m`` passes over an ``x`` that is NaN and keeps an ``m`` that is, which every lane begins with.
(``m > x ? m : x`` takes an ``x`` that is NaN, so that its order counts.) Only zeros of both signs are equal and yet
differ; the first one decides, and has to be looked for. ``fmaxf`` leaves that open.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Assign, Call, Conditional, Index, Name, ScalarType, Stmt
from comprehensive.metafork.terms import conjunction, conjuncts
from comprehensive.records import replace
from comprehensive.reductions.operators import Operator, mentions, update_of

EXTREMES = ("max", "min")


class AnyOrder(Struct, frozen=True):
    """The scalar ``name`` of a type is put together with a value in every step, by ``operator``."""

    name: str
    type: ScalarType
    operator: Operator
    zeros: bool = False
    """Whether the first of zeros of both signs decides."""
    function: str | None = None
    """The function that the program calls to put values together, which may see NaN in another way than operators."""
    steps: tuple[Stmt, ...] = ()
    """The statements of a step that the value comes from, and the update."""

    def update(self, target: Index, value: Index) -> Stmt:
        """The statement that puts two parts together."""
        if self.function is None:
            return self.operator.update(target, value)
        return Assign(target, "=", Call(self.function, (target, value)))


def any_order_of(
    statement: Stmt, types: Mapping[str, ScalarType], *, sums_round: bool = False
) -> AnyOrder | None:
    """The update that the statement is, where it may be done in any order.

    With ``sums_round`` sums and products of floating-point numbers may be rounded in another way than the source's.
    """
    always = _without_guards(statement)
    update = update_of(always)
    if update is None or not isinstance(update.target, Name):
        return None
    if always != statement and update.operator.is_logical:
        return None  # a loop that does nothing makes no 1 of 5
    name, operator = update.target.identifier, update.operator
    type, values = types[name], [type_of(value, types) for value in update.read]
    if type.is_integer:
        if operator.rounds(type, values) or (operator.symbol in EXTREMES and set(values) != {type}):
            return None
        return AnyOrder(name, type, operator) if operator.serves(type) else None
    if operator.is_logical:
        return AnyOrder(name, type, operator)
    if sums_round and operator.symbol in ("+", "*") and type in (ScalarType.FLOAT, ScalarType.DOUBLE):
        return AnyOrder(name, type, operator)
    if operator.symbol not in EXTREMES or set(values) != {type}:
        return None
    match always:
        case Assign(value=Call(function=function)):
            return AnyOrder(name, type, operator, function=function)
        case Assign(target=target, value=Conditional(then=then)) if then != target:
            return AnyOrder(name, type, operator, zeros=True)
        case _:
            return None


def _without_guards(statement: Stmt) -> Stmt:
    """Return the statement as it is where it does something, if conditions that do not read its target decide that.

    ``m = c && x > m ? x : m  -->  m = x > m ? x : m``;  ``s = c ? s + x : s  -->  s = s + x``
    """
    match statement:
        case Assign(target=target, operator="=", value=Conditional(otherwise=otherwise) as choice) if (
            otherwise == target
        ):
            parts = list(conjuncts(choice.condition))
            own = [part for part in parts if mentions(part, target)]
            if len(own) == len(parts):
                return statement
            value = replace(choice, condition=conjunction(own)) if own else choice.then
            return replace(statement, value=value)
        case _:
            return statement
