"""Every array reference of a nest, with what encloses it, in one fixed walk order.

In: a :class:`Nest`.  Out: :class:`Access` values, numbered in walk order.  Local scalars that only name an index
(``int i = v*B0 + u;``, one definition, integer, over iterators and scalars) are substituted, so that subscripts,
bounds and guards speak of iterators and scalars of the nest wherever the source does so in steps.

:func:`rewrite_references` walks in the same order, so that a later stage can replace the n-th reference.
Example: in ``int i = v*B + u; c[i] += a[i+1];`` the accesses are ``0: a[v*B + u + 1] READ`` and
``1: c[v*B + u] UPDATE``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, assert_never, cast

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, Span
from comprehensive.loops.ir import BlockStmt, Nest, Threads
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    MetaFor,
    Name,
    ScalarType,
    Unary,
    While,
)
from comprehensive.metafork.own_statement import OwnStatement
from comprehensive.metafork.rewrite import substitute, with_operands
from comprehensive.metafork.walk import S, Statement, assigned_scalars, leaves_loop, subexpressions
from comprehensive.records import replace


class Mode(Enum):
    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    """Read and written: the target of a compound assignment."""
    ATOMIC_SUM = "atomic sum"
    """Added to or subtracted from by ``meta_atomic``; the three below likewise."""
    ATOMIC_AND = "atomic and"
    ATOMIC_OR = "atomic or"
    ATOMIC_XOR = "atomic exclusive or"

    @property
    def reads(self) -> bool:
        return self is not Mode.WRITE

    @property
    def writes(self) -> bool:
        return self is not Mode.READ

    @property
    def is_atomic(self) -> bool:
        match self:
            case Mode.ATOMIC_SUM | Mode.ATOMIC_AND | Mode.ATOMIC_OR | Mode.ATOMIC_XOR:
                return True
            case Mode.READ | Mode.WRITE | Mode.UPDATE:
                return False
            case _:
                assert_never(self)

    def conflicts(self, other: Mode) -> bool:
        """Whether the order counts in which two iterations do this and that with one element.

        Two reads may trade places, and two atomic updates that commute; anything else may not.
        """
        if self.is_atomic and self is other:
            return False
        return self.writes or other.writes


_ATOMIC = {
    "+=": Mode.ATOMIC_SUM,
    "-=": Mode.ATOMIC_SUM,
    "&=": Mode.ATOMIC_AND,
    "|=": Mode.ATOMIC_OR,
    "^=": Mode.ATOMIC_XOR,
}


def mode_of(statement: Assign) -> Mode:
    """Return how an assignment touches its target."""
    if statement.atomic:
        return _ATOMIC[statement.operator]
    return Mode.WRITE if statement.operator == "=" else Mode.UPDATE


class SerialLoop(Struct, frozen=True):
    """An enclosing serial loop, its bounds with index scalars substituted.

    ``start relation bound step`` as in ``ast.For``; ``is_block`` tells a loop around the band from one in a thread.
    """

    iterator: str
    start: Expr
    relation: str
    bound: Expr
    step: Expr
    is_block: bool


class Context(Struct, frozen=True):
    """The surroundings of a place of the nest.

    ``loops`` are the serial loops, outermost first; ``guards`` the conditions known to hold there (a negated one
    for an else branch, the left operand in the right one of a short circuit), index scalars substituted;
    ``uncertain`` is True inside ``while``, in a loop that a ``break`` or ``continue`` may leave, and after it.
    """

    band: int = -1
    loops: tuple[SerialLoop, ...] = ()
    guards: tuple[Expr, ...] = ()
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """The ``ordinal``-th reference to data of the nest (local arrays are not data)."""

    ordinal: int
    array: str
    subscripts: tuple[Expr, ...]
    mode: Mode
    context: Context
    span: Span = field(default=GENERATED, compare=False, repr=False)


OnIndex: TypeAlias = Callable[[Index, Mode, Context, Mapping[str, Expr]], Expr]
"""Called for every reference to data with its subscripts as written (nested references in them already replaced),
and the definitions of index scalars in force; returns what takes its place."""


def accesses(nest: Nest) -> tuple[Access, ...]:
    """All references to data of the nest in walk order."""
    found: list[Access] = []

    def record(index: Index, mode: Mode, context: Context, scalars: Mapping[str, Expr]) -> Expr:
        subscripts = tuple(substitute(s, scalars) for s in index.subscripts)
        found.append(Access(len(found), index.array, subscripts, mode, context, index.span))
        return index

    rewrite_references(nest, record)
    return tuple(found)


def atomically_updated(nest: Nest) -> tuple[str, ...]:
    """The arrays that ``meta_atomic`` statements of the nest update, in the order of its arrays."""
    updated = {access.array for access in accesses(nest) if access.mode.is_atomic}
    return tuple(array.name for array in nest.arrays if array.name in updated)


def rewrite_references(nest: Nest, on_index: OnIndex) -> tuple[BlockStmt, ...]:
    """The body of the nest with every reference to data replaced by what ``on_index`` returns for it.

    Order: the value of an assignment before its target; subscripts before the reference; statements in order.
    """
    floating = {s.name for s in (*nest.scalars, *nest.arrays) if not s.type.is_integer}
    walker = _Walker(frozenset(a.name for a in nest.arrays), floating, on_index)
    return walker.body(nest.body, Context(), {})


class _Walker:
    def __init__(self, data: frozenset[str], floating: set[str], on_index: OnIndex) -> None:
        self._data = data
        self._floating = floating
        self._on_index = on_index
        self._bands = 0

    def body(self, body: tuple[S, ...], context: Context, scalars: Mapping[str, Expr]) -> tuple[S, ...]:
        return cast("tuple[S, ...]", tuple(self._statements(body, context, dict(scalars))))

    def _statements(
        self, body: tuple[Statement, ...], context: Context, scalars: dict[str, Expr]
    ) -> Iterator[Statement]:
        is_block = context.band < 0
        for position, statement in enumerate(body):
            match statement:
                case Threads():
                    band = replace(context, band=self._bands)
                    self._bands += 1
                    yield replace(statement, body=self.body(statement.body, band, scalars))
                case Declare(initial=initial):
                    value = None if initial is None else self.expr(initial, context, scalars)
                    scalars.pop(statement.name, None)
                    if not statement.type.is_integer:
                        self._floating.add(statement.name)
                    if (
                        initial is not None
                        and (is_block or not _may_change(statement, body[position + 1 :]))
                        and _keeps_value(statement)
                        and not self._reads_floating(initial)
                    ):
                        scalars[statement.name] = _held(statement.type, substitute(initial, scalars))
                    yield replace(statement, initial=value)
                case Assign():
                    value = self.expr(statement.value, context, scalars)
                    target = self._target(statement.target, mode_of(statement), context, scalars)
                    yield replace(statement, target=target, value=value)
                case If():
                    condition = self.expr(statement.condition, context, scalars)
                    then = self.body(statement.then, _guard(context, statement.condition, scalars), scalars)
                    negated = _guard(context, Unary("!", statement.condition), scalars)
                    otherwise = self.body(statement.otherwise, negated, scalars)
                    yield replace(statement, condition=condition, then=then, otherwise=otherwise)
                    if leaves_loop((statement,)):
                        context = replace(context, uncertain=True)
                case For():
                    start = self.expr(statement.start, context, scalars)
                    bound = self.expr(statement.bound, context, scalars)
                    step = self.expr(statement.step, context, scalars)
                    inner = _enter(context, statement, scalars, is_block=is_block)
                    inner = replace(inner, uncertain=inner.uncertain or leaves_loop(statement.body))
                    inner_body = self.body(statement.body, inner, _hide(scalars, statement.iterator))
                    yield replace(statement, start=start, bound=bound, step=step, body=inner_body)
                case While() | DoWhile():
                    uncertain = replace(context, uncertain=True)
                    inner_body = self.body(statement.body, uncertain, scalars)
                    condition = self.expr(statement.condition, uncertain, scalars)
                    yield replace(statement, condition=condition, body=inner_body)
                case Block():
                    yield replace(statement, body=self.body(statement.body, context, scalars))
                case Break() | Continue():
                    yield statement
                    context = replace(context, uncertain=True)
                case MetaFor() | OwnStatement():
                    raise ValueError(
                        f"a {type(statement).__name__} inside a thread's body: the nest was not built by loops.build"
                    )
                case _:
                    assert_never(statement)

    def _reads_floating(self, expr: Expr) -> bool:
        """Whether a conversion from floating point may be part of the value (``int i = x;`` truncates)."""
        return any(
            isinstance(e, FloatLiteral | Call)
            or (isinstance(e, Name) and e.identifier in self._floating)
            or (isinstance(e, Index) and e.array in self._floating)
            for e in subexpressions(expr)
        )

    def _target(
        self, target: Name | Index, mode: Mode, context: Context, scalars: Mapping[str, Expr]
    ) -> Name | Index:
        if isinstance(target, Name):
            return target
        replaced = self._index(target, mode, context, scalars)
        if not isinstance(replaced, (Name, Index)):
            raise ValueError("what takes the place of an assigned reference must be assignable")
        return replaced

    def _index(self, index: Index, mode: Mode, context: Context, scalars: Mapping[str, Expr]) -> Expr:
        subscripts = tuple(self.expr(s, context, scalars) for s in index.subscripts)
        index = replace(index, subscripts=subscripts)
        return self._on_index(index, mode, context, scalars) if index.array in self._data else index

    def expr(self, expr: Expr, context: Context, scalars: Mapping[str, Expr]) -> Expr:
        match expr:
            case Index():
                return self._index(expr, Mode.READ, context, scalars)
            case Binary(operator="&&" | "||"):
                left = self.expr(expr.left, context, scalars)
                known = expr.left if expr.operator == "&&" else Unary("!", expr.left)
                right = self.expr(expr.right, _guard(context, known, scalars), scalars)
                return replace(expr, left=left, right=right)
            case Conditional():
                negated = Unary("!", expr.condition)
                return replace(
                    expr,
                    condition=self.expr(expr.condition, context, scalars),
                    then=self.expr(expr.then, _guard(context, expr.condition, scalars), scalars),
                    otherwise=self.expr(expr.otherwise, _guard(context, negated, scalars), scalars),
                )
            case _:
                return with_operands(expr, lambda operand: self.expr(operand, context, scalars))


def _may_change(declaration: Declare, rest: tuple[Statement, ...]) -> bool:
    """Whether statements behind a declaration assign the scalar, or one of those that its definition reads."""
    read = frozenset[str]() if declaration.initial is None else names_read(declaration.initial)
    return bool(assigned_scalars(rest) & (read | {declaration.name}))


def _keeps_value(declaration: Declare) -> bool:
    """Whether a scalar of this type is known by its definition.

    A narrow one cuts off.
    """
    return not declaration.dims and declaration.type.is_integer and not declaration.type.is_narrow


def _held(type: ScalarType, value: Expr) -> Expr:
    """Return the expression that a scalar of a known definition stands for.

    ``unsigned i = u - 1`` wraps around at ``u == 0``, and a guard ``i < n`` after it relies on that: it stands for the
    conversion.
    """
    return Cast(type, value, value.span) if type.wraps else value


def names_read(expr: Expr) -> frozenset[str]:
    """The scalars and arrays that an expression reads."""
    found: set[str] = set()
    for e in subexpressions(expr):
        match e:
            case Name():
                found.add(e.identifier)
            case Index():
                found.add(e.array)
            case _:
                pass
    return frozenset(found)


def _hide(scalars: Mapping[str, Expr], name: str) -> Mapping[str, Expr]:
    return {key: value for key, value in scalars.items() if key != name}


def _guard(context: Context, condition: Expr, scalars: Mapping[str, Expr]) -> Context:
    return replace(context, guards=(*context.guards, substitute(condition, scalars)))


def _enter(context: Context, loop: For[object], scalars: Mapping[str, Expr], *, is_block: bool) -> Context:
    entered = SerialLoop(
        loop.iterator,
        substitute(loop.start, scalars),
        loop.relation,
        substitute(loop.bound, scalars),
        substitute(loop.step, scalars),
        is_block,
    )
    return replace(context, loops=(*context.loops, entered))
