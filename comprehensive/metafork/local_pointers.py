"""Local pointers, replaced by the arrays that they point into.

In: the statements of a region as parsed, and the types of its arrays.  Out: the same without pointers::

    const float *row = a + i * n;  s += row[j];    -->   s += a[i * n + j];
    const float *p = a;  p += n;  s += p[0];       -->   long p_first = 0;  p_first += n;  s += a[p_first];

A pointer stands for one array; where it points in it is an expression or, where the pointer moves or the expression
may change, a variable of type ``long``, as differences of pointers have in C.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import partial

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.chosen_pointers import with_chosen_pointers
from comprehensive.metafork.pointer_places import place
from comprehensive.metafork.rewrite import map_expressions, with_bodies, with_operands
from comprehensive.metafork.substitution import Part, Substitution
from comprehensive.metafork.walk import assigned_scalars, declared, names, statements_in, subexpressions
from comprehensive.records import replace

ZERO = IntLiteral(0)
_ALLOCATING = frozenset({"malloc", "calloc", "realloc", "aligned_alloc", "alloca"})


def without_pointers(
    body: tuple[Stmt, ...],
    arrays: Mapping[str, ScalarType],
    fresh: Callable[[str], str],
    sink: DiagnosticSink,
) -> tuple[Stmt, ...]:
    """Replace every local pointer; ``arrays`` are the types of the arrays around, ``fresh`` gives free names.

    A pointer that does not point into one known array of its type is an error (CF0113), and is dropped.
    """
    if not any(isinstance(s, Declare) and s.is_pointer for s in statements_in(body)):
        return body
    chosen = with_chosen_pointers(body)
    return _compared(_Pointers(fresh, sink).body(chosen, arrays), frozenset(arrays) | _local_arrays(body))


def _local_arrays(body: tuple[Stmt, ...]) -> frozenset[str]:
    return frozenset(s.name for s in statements_in(body) if isinstance(s, Declare) and s.dims)


def _compared(body: tuple[Stmt, ...], arrays: Container[str]) -> tuple[Stmt, ...]:
    """Comparisons and differences of places in one array as those of their offsets: ``a + p < a + n`` is ``p < n``."""

    def put(node: Expr) -> Expr:
        found = with_operands(node, put)
        match found:
            case Binary("<" | "<=" | ">" | ">=" | "==" | "!=" | "-" as operator, left, right):
                first, second = place(left), place(right)
            case _:
                return found
        if first is None or second is None or first.array not in arrays:
            return found
        if (first.array, first.subscripts) != (second.array, second.subscripts):
            return found
        return Binary(operator, first.offset or ZERO, second.offset or ZERO, found.span)

    return map_expressions(body, put)


class _Pointers(Struct, frozen=True):
    fresh: Callable[[str], str]
    sink: DiagnosticSink

    def body(self, body: tuple[Stmt, ...], arrays: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
        known = dict(arrays)
        result: list[Stmt] = []
        rest = body
        while rest:
            statement, rest = rest[0], rest[1:]
            match statement:
                case Declare(is_pointer=True):
                    added, rest = self._replaced(statement, rest, known)
                    result += added
                    continue
                case Declare(dims=(_, *_)):
                    known[statement.name] = statement.type
                case _:
                    statement = with_bodies(statement, partial(self.body, arrays=known))
            result.append(statement)
        return tuple(result)

    def _replaced(
        self, pointer: Declare, rest: tuple[Stmt, ...], arrays: Mapping[str, ScalarType]
    ) -> tuple[list[Stmt], tuple[Stmt, ...]]:
        """The declarations that take the place of a pointer's, and what follows in terms of its array."""
        part = None if pointer.initial is None else place(pointer.initial)
        if part is None or part.array not in arrays:
            if isinstance(pointer.initial, Call) and pointer.initial.function in _ALLOCATING:
                array = f"{pointer.type.value} {pointer.name}[4];"
                help = f"declare a local array of constant length, '{array}', or let the function take one"
                self._error(pointer, pointer.span, "points to memory that a region cannot allocate", help)
            else:
                self._error(pointer, pointer.span, "does not point into an array from the start")
            return [], ()
        if arrays[part.array] is not pointer.type:
            kinds = f"{pointer.type.value}, and '{part.array}' has elements of {arrays[part.array].value}"
            self._error(pointer, pointer.span, f"points to {kinds}")
            return [], ()
        own = {name for s in statements_in(rest) for name in declared(s)}
        if pointer.name in own:
            self._error(pointer, pointer.span, "has the name of another variable in its scope")
            return [], ()
        added: list[Stmt] = []
        assigned = assigned_scalars(rest)
        moves = pointer.name in assigned
        subscripts = tuple(self._steady(pointer, s, assigned | own, added) for s in part.subscripts)
        offset = part.offset
        if moves:
            offset = self._variable(pointer, offset or ZERO, added)
        elif offset is not None:
            offset = self._steady(pointer, offset, assigned | own, added)
        found = Part(part.array, subscripts, offset)
        if isinstance(offset, Name) and moves:
            rest = self._moved(rest, pointer, found, offset)
        whole: Expr = Index(part.array, subscripts, pointer.span) if subscripts else Name(part.array)
        value = whole if offset is None else Binary("+", whole, offset, pointer.span)
        return added, Substitution({pointer.name: value}, {pointer.name: found}, None).body(rest)

    def _steady(self, pointer: Declare, value: Expr, assigned: frozenset[str], added: list[Stmt]) -> Expr:
        """The value itself where it stays the same; else a variable that holds it."""
        reads_memory = any(isinstance(e, Index) for e in subexpressions(value))
        if reads_memory or assigned & set(names(value)):
            return self._variable(pointer, value, added)
        return value

    def _variable(self, pointer: Declare, value: Expr, added: list[Stmt]) -> Name:
        name = self.fresh(f"{pointer.name}_first")
        added.append(Declare(ScalarType.LONG, name, initial=value, span=pointer.span))
        return Name(name, pointer.span)

    def _moved(self, body: tuple[Stmt, ...], pointer: Declare, part: Part, offset: Name) -> tuple[Stmt, ...]:
        """The statements with assignments to the pointer as assignments to the variable of its place."""
        return tuple(self._moved_in(statement, pointer, part, offset) for statement in body)

    def _moved_in(self, statement: Stmt, pointer: Declare, part: Part, offset: Name) -> Stmt:
        match statement:
            case Assign(target=Name(identifier=name), operator="+=" | "-=") if name == pointer.name:
                return replace(statement, target=offset)
            case Assign(target=Name(identifier=name), operator="=") if name == pointer.name:
                value = place(statement.value)
                if value is not None and value.array == pointer.name and not value.subscripts:
                    return replace(statement, target=offset, value=_sum(offset, value.offset))
                found = _offset_in(part, statement.value)
                if found is None:
                    self._error(pointer, statement.span, "points into another array later")
                return replace(statement, target=offset, value=found or ZERO)
            case For(type=None, iterator=name) if name == pointer.name:
                start, bound = (_offset_in(part, e) for e in (statement.start, statement.bound))
                if start is None or bound is None:
                    self._error(pointer, statement.span, "counts a loop that begins or ends in another array")
                    return Block((), statement.span)
                body = self._moved(statement.body, pointer, part, offset)
                return replace(statement, iterator=offset.identifier, start=start, bound=bound, body=body)
            case _:
                moved = partial(self._moved, pointer=pointer, part=part, offset=offset)
                return with_bodies(statement, moved)

    def _error(self, pointer: Declare, span: Span, text: str, help: str | None = None) -> None:
        example = f"{pointer.type.value} *{pointer.name} = a + i*n;"
        help = help or f"declare it where it points: '{example}', or index the array itself"
        self.sink.error("CF0113", f"the local pointer '{pointer.name}' {text}", span, help=help)


def _offset_in(part: Part, pointer: Expr) -> Expr | None:
    """Return how far a pointer is from the start of a part of an array; None where it is in another one."""
    found = place(pointer)
    if found is None or (found.array, found.subscripts) != (part.array, part.subscripts):
        return None
    return found.offset or ZERO


def _sum(base: Expr, offset: Expr | None) -> Expr:
    return base if offset is None else Binary("+", base, offset, base.span)
