"""The elements that a call surely touches behind a pointer: cases of the manifest, numbers in, a complaint or none out.

Cases are such as "elements m * n where m >= 1", and are computed with numbers that have no limits::

    Needs.read(document).complaint(10, {"m": 3, "n": 4})     # "has 10 elements where 12 are needed at m = 3, n = 4"

What is not known is not asked for, so that no call is refused that stays inside its data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.metafork.ast import Binary, Call, Cast, Expr, IntLiteral, Name, Unary
from comprehensive.metafork.attempt import expression
from comprehensive.metafork.c_integers import OPERATORS


class NeedsCase(Struct, frozen=True):
    """A case of a need: ``value`` counts where all of ``where`` holds."""

    value: Expr
    where: tuple[Expr, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset[str]().union(*(names_read(e) for e in (self.value, *self.where)))

    def at(self, arguments: Mapping[str, int]) -> int | None:
        """The value; None where a condition fails or a name has no value."""
        if not self.names <= arguments.keys():
            return None
        if all(_evaluated(condition, arguments) for condition in self.where):
            return _evaluated(self.value, arguments)
        return None


class Needs(Struct, frozen=True):
    """The cases of one pointer; nothing is needed where there are none."""

    elements: tuple[NeedsCase, ...] = ()
    first: tuple[NeedsCase, ...] = ()

    @staticmethod
    def read(document: Mapping[str, Any] | None) -> Needs:
        """Read the needs of a pointer from the manifest. KeyError and ValueError where it is damaged."""
        if document is None:
            return Needs()
        return Needs(_cases(document["elements"]), _cases(document["first"]))

    @property
    def names(self) -> frozenset[str]:
        """The arguments that it depends on."""
        return frozenset[str]().union(*(case.names for case in (*self.elements, *self.first)))

    def bounds(self, arguments: Mapping[str, int]) -> tuple[int, int]:
        """The first element that is surely touched, or 0, and how many elements that takes from 0 on."""
        first, needed = (
            [v for case in cases if (v := case.at(arguments)) is not None]
            for cases in (self.first, self.elements)
        )
        return min((0, *first)), max((0, *needed))

    def complaint(self, size: int, arguments: Mapping[str, int], *, unit: str = "elements") -> str | None:
        """Return why so many elements (or rows) will not do; None where they do."""
        first, needed = self.bounds(arguments)
        shown = ", ".join(f"{name} = {arguments[name]}" for name in arguments if name in self.names)
        at = f" at {shown}" if shown else ""
        if first < 0:
            return f"is accessed at element {first}, before its first one{at}"
        if needed > size:
            return f"has {size} {unit} where {needed} are needed{at}"
        return None


def _cases(found: Sequence[Mapping[str, Any]]) -> tuple[NeedsCase, ...]:
    return tuple(
        NeedsCase(expression(case["value"]), tuple(expression(text) for text in case["where"]))
        for case in found
    )


def _evaluated(expr: Expr, arguments: Mapping[str, int]) -> int:
    """Return the value with Python's integers. ValueError for expressions that the manifest never has."""
    match expr:
        case IntLiteral():
            return expr.value
        case Name():
            return arguments[expr.identifier]
        case Cast() if expr.type.is_integer:
            return _evaluated(expr.operand, arguments)
        case Unary(operator="-"):
            return -_evaluated(expr.operand, arguments)
        case Call(function="floor_div", arguments=(above, below)):
            return _evaluated(above, arguments) // _evaluated(below, arguments)
        case Binary():
            return OPERATORS[expr.operator](
                _evaluated(expr.left, arguments), _evaluated(expr.right, arguments)
            )
        case _:
            raise ValueError(f"{expr} is no number of elements")
