"""Initialisers of local arrays, written out as assignments.

In: the statements of a region as parsed.  Out: the same without braces behind declarations::

    float w[3] = {0.25f, 0.5f};   -->   float w[3];  w[0] = 0.25f;  w[1] = 0.5f;  w[2] = 0;
    float s[64] = {0};            -->   float s[64];  for (int s_0 = 0; s_0 < 64; s_0++) s[s_0] = 0;

Braces inside of braces may be left out, a first extent may be, and what is not named is 0, as in C11 6.7.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Note, Span
from comprehensive.metafork.ast import (
    Assign,
    Declare,
    Expr,
    For,
    Index,
    Initialiser,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace

_MOST_ZEROS = 16
"""Zeros that are written one by one; more are written by a loop."""
_ZERO, _ONE = IntLiteral(0), IntLiteral(1)


def without_initialisers(
    body: tuple[Stmt, ...], name: Callable[[str], str], sink: DiagnosticSink
) -> tuple[Stmt, ...]:
    """The statements with assignments for braces; ``name`` gives names that are free.

    Reports more values than elements (CF0124) and assignments to elements of an array that is const (CF0209).
    """
    return _Writer(name, sink).body(body)


class _Writer(Struct, frozen=True):
    name: Callable[[str], str]
    sink: DiagnosticSink

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for position, statement in enumerate(body):
            if isinstance(statement, Declare) and statement.elements is not None:
                result += self._written(statement, statement.elements, body[position + 1 :])
            else:
                result.append(with_bodies(statement, self.body))
        return tuple(result)

    def _written(self, declare: Declare, elements: Initialiser, rest: Sequence[Stmt]) -> list[Stmt]:
        if not declare.dims:
            initial = _only(elements)
            if initial is None:
                self._too_many(declare.name, 1, elements.span)
            return [replace(declare, initial=initial, elements=None)]
        shape = [constant_value(dim) or 0 for dim in declare.dims]
        if declare.is_open and min(shape[1:], default=1) > 0:
            shape[0] = _rows(elements, tuple(shape[1:]))
        plain = replace(
            declare,
            dims=(IntLiteral(shape[0], span=declare.dims[0].span), *declare.dims[1:])
            if declare.is_open
            else declare.dims,
            const=False,
            elements=None,
            is_open=False,
        )
        if min(shape) < 1:
            return [plain]  # reported as a length
        if declare.const:
            self._stays(declare, rest)
        values = _Values(prod(shape))
        if not _fill(elements, tuple(shape), 0, values):
            self._too_many(declare.name, prod(shape), elements.span)
        return [plain, *self._assignments(plain, shape, values, elements.span)]

    def _assignments(self, array: Declare, shape: Sequence[int], values: _Values, span: Span) -> list[Stmt]:
        result: list[Stmt] = []
        zeros = sum(value is None or value == _ZERO for value in values.of)
        if zeros > _MOST_ZEROS:
            result.append(self._cleared(array, shape, span))
        for place, value in zip(product(*map(range, shape)), values.of, strict=True):
            if zeros <= _MOST_ZEROS or not (value is None or value == _ZERO):
                element = Index(array.name, tuple(IntLiteral(k, span=span) for k in place), span)
                result.append(Assign(element, "=", value or IntLiteral(0, span=span), span))
        return result

    def _cleared(self, array: Declare, shape: Sequence[int], span: Span) -> Stmt:
        names = [self.name(f"{array.name}_{k}") for k in range(len(shape))]
        element = Index(array.name, tuple(Name(name, span) for name in names), span)
        body: Stmt = Assign(element, "=", IntLiteral(0, span=span), span)
        for name, extent in reversed(list(zip(names, shape, strict=True))):
            bound = IntLiteral(extent, span=span)
            body = For(ScalarType.INT, name, replace(_ZERO, span=span), "<", bound, _ONE, (body,), span)
        return body

    def _too_many(self, name: str, room: int, span: Span) -> None:
        text = f"these are no values for the {room} element{'s' * (room != 1)} of '{name}'"
        self.sink.error(
            "CF0124", text, span, help="write a value for each element, or fewer: the others are 0"
        )

    def _stays(self, array: Declare, rest: Sequence[Stmt]) -> None:
        for statement in statements_in(tuple(rest)):
            match statement:
                case Assign(Index(name)) if name == array.name:
                    self.sink.error(
                        "CF0209",
                        f"'{name}' is const and is changed here",
                        statement.span,
                        notes=(Note("declared here", array.span),),
                        help="remove 'const' from its declaration, or write to another array",
                    )
                case _:
                    pass


class _Values:
    """The elements in order of memory; None where nothing is said."""

    def __init__(self, count: int) -> None:
        self.of: list[Expr | None] = [None] * count


def _only(elements: Initialiser) -> Expr | None:
    """The value of ``{x}``, of ``{{x}}`` and of ``{}``; None for anything else."""
    match elements.items:
        case ():
            return replace(_ZERO, span=elements.span)
        case (Initialiser() as inner,):
            return _only(inner)
        case (item,):
            return None if isinstance(item, Initialiser) else item
        case _:
            return None


def _fill(elements: Initialiser, shape: tuple[int, ...], first: int, values: _Values) -> bool:
    """Enters what braces around an array of a shape hold, from ``first`` on; False where there is too much."""
    at, end = first, first + prod(shape)
    for item in elements.items:
        if at >= end:
            return False
        part = _begun(item, at - first, shape[1:])
        if not isinstance(item, Initialiser):
            values.of[at] = item
        elif part:
            if not _fill(item, part, at, values):
                return False
        else:
            only = _only(item)
            if only is None:
                return False
            values.of[at] = only
        at += prod(part)
    return True


def _begun(item: Expr | Initialiser, offset: int, inner: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what an item gives values to: an element, or with braces the largest array that begins there."""
    if not isinstance(item, Initialiser):
        return ()
    return next(inner[k:] for k in range(len(inner) + 1) if offset % prod(inner[k:]) == 0)


def _rows(elements: Initialiser, inner: tuple[int, ...]) -> int:
    """Return the number of elements of the outermost extent that the braces name."""
    places = 0
    for item in elements.items:
        places += prod(_begun(item, places, inner))
    return -(-places // prod(inner))
