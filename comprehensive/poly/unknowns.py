"""Values that no parameter determines, by the way in which they are computed: the same way gives the same value.

In: elements of data and arguments (roots), operators and operands.  Out: one :class:`Unknown` for each way::

    a[3] > t, and a little later !(t >= a[3])   -->   the same question, which has one answer

An unknown is ``mixed`` where an answer may not be free: one root occurs twice in it (``x*x < 0``), or it is known that
something is said of it elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from msgspec import Struct, field

from comprehensive.diagnostics import Span


class Unknown(Struct, frozen=True, eq=False):
    """A value by the way in which it is computed; each way has one object in a table."""

    operator: str
    operands: tuple[Value, ...]
    roots: frozenset[int]
    """The numbers of the data and arguments that it depends on."""
    mixed: bool
    number: int


class Unset(Struct, frozen=True, eq=False):
    """No value: that of ``name`` before its first assignment, or of an ``element`` of it, first copied at ``span``."""

    name: str
    element: tuple[int, ...] = ()
    span: Span | None = None


Value: TypeAlias = int | Unknown | Unset
Answer: TypeAlias = tuple[Unknown, bool]
"""A question and whether it is true."""


class Unknowns(Struct):
    """The unknown values of one run; mutable, and thrown away with it."""

    _known: dict[Hashable, Unknown] = field(default_factory=dict[Hashable, Unknown])

    def root(self, name: Hashable, subscripts: tuple[Value, ...] = (), *, mixed: bool = False) -> Unknown:
        """The value of data or of an argument: an element of one ``name`` is another one at other subscripts."""
        roots, is_mixed = _joined(subscripts)
        number = len(self._known)
        found = Unknown("", subscripts, roots | {number}, mixed or is_mixed, number)
        return self._known.setdefault((name, subscripts), found)

    def fresh(self, of: Iterable[Value] = ()) -> Unknown:
        """A value of which nothing is known but what it may depend on."""
        number = len(self._known)
        roots, _ = _joined(tuple(of))
        return self._known.setdefault(number, Unknown("", (), roots | {number}, True, number))

    def made(self, operator: str, *operands: Value) -> Unknown:
        roots, mixed = _joined(operands)
        found = Unknown(operator, operands, roots, mixed, len(self._known))
        return self._known.setdefault((operator, operands), found)

    def negated(self, value: Value) -> Value:
        match value:
            case int():
                return int(not value)
            case Unknown("!", (operand,)):
                return operand
            case _:
                return self.made("!", value)

    def compared(self, operator: str, left: Value, right: Value, *, whole: bool) -> Value:
        """A comparison of unknown values in the one form that all that ask the same have.

        Numbers that are not ``whole`` may be none, and then equal nothing.
        """
        if whole and left is right:
            return int(operator in ("==", "<=", ">="))
        match operator:
            case ">":
                return self.made("<", right, left)
            case "<=":
                return self.negated(self.made("<", right, left))
            case ">=":
                return self.negated(self.made("<", left, right))
            case "==" | "!=" if right == 0 or left == 0:
                asked = left if right == 0 else right
                return self.negated(asked) if operator == "==" else asked
            case "==" | "!=":
                first, second = sorted(
                    (left, right), key=lambda v: v.number if isinstance(v, Unknown) else -1
                )
                same = self.made("==", first, second)
                return same if operator == "==" else self.negated(same)
            case _:
                return self.made(operator, left, right)


def question(value: Value) -> bool | Answer:
    """Whether a value is not 0: known, or a question with the answer at which it is so."""
    wanted = True
    while isinstance(value, Unknown) and value.operator == "!":
        value, wanted = value.operands[0], not wanted
    if isinstance(value, Unknown):
        return value, wanted
    return bool(value) is wanted


def _joined(operands: Iterable[Value]) -> tuple[frozenset[int], bool]:
    """The roots of operands, and whether they are mixed."""
    unknown = [o for o in operands if isinstance(o, Unknown)]
    roots = frozenset[int]().union(*(o.roots for o in unknown))
    return roots, any(o.mixed for o in unknown) or sum(len(o.roots) for o in unknown) > len(roots)
