"""Conditions that a launch decides are moved out of the bands.

In: a nest.  Out: a nest of the same meaning in which the threads do not test what only scalars decide::

    Threads v < B { if (t % 2) S(v); else T(v); }
        -->  if (t % 2) Threads v < B { S(v); }  else Threads v < B { T(v); }

A condition moves only if evaluating it early is harmless: it stands where every thread passes, or it cannot
overflow and cannot divide by zero.  A band with more than three such conditions stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import TypeAlias, assert_never

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold, is_boolean
from comprehensive.loops.ir import BlockStmt, Nest, Threads
from comprehensive.loops.traverse import expand_bands
from comprehensive.loops.types import environment_of, unambiguous
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
    For,
    If,
    IntLiteral,
    MetaFor,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.rewrite import map_expression, with_bodies, with_own_expressions
from comprehensive.metafork.walk import children, declared, own_expressions, statements_in, subexpressions
from comprehensive.records import replace

MAX_CONDITIONS = 3
"""Distinct conditions moved out of one band: 2**3 copies at most."""

Types: TypeAlias = Mapping[str, ScalarType]


class _TooManyError(Exception):
    pass


def unswitch(nest: Nest, *, at_loops: bool = False) -> Nest:
    """The nest with launch-constant conditions decided once a band instead of once a thread.

    Where threads have loops of their own, those that a thread tests once, beside its loops, stay ``at_loops``: they
    cost little, and a second copy of the loops is a second kernel.
    """
    wanted = _Wanted(frozenset(s.name for s in nest.scalars), at_loops)
    numbers = count()

    def split(band: Threads) -> tuple[BlockStmt, ...]:
        types = _types_in(band, environment_of(nest, next(numbers)))
        try:
            return _split(band, wanted, types, 0, at_loops and _has_loop(band.body))
        except _TooManyError:
            return (band,)

    return replace(nest, body=expand_bands(nest.body, split))


class _Wanted(Struct, frozen=True):
    """The conditions that may move; choices between numbers that a launch knows are numbers, ``at_loops``."""

    scalars: frozenset[str]
    at_loops: bool

    def moves(self, condition: Expr, always: bool) -> bool:
        """Whether a condition may move; the flag tells that every thread evaluates it, once the band runs."""
        return self._is_known(condition) and (always or all(_is_total(e) for e in subexpressions(condition)))

    def stays(self, choice: Conditional) -> bool:
        return self.at_loops and self._is_known(choice)

    def _is_known(self, expr: Expr) -> bool:
        names = names_read(expr)
        return (
            bool(names)
            and names <= self.scalars
            and not any(isinstance(e, Call) for e in subexpressions(expr))
        )


def _types_in(band: Threads, outside: Types) -> Types:
    """The types of all names of a band, less those that sibling scopes declare with different types."""
    inside = (pair for statement in statements_in(band.body) for pair in declared(statement).items())
    return unambiguous((*outside.items(), *inside))


def _is_total(expr: Expr) -> bool:
    """Whether the operation at the root is defined for all operands."""
    match expr:
        case Binary(operator="/" | "%"):
            return isinstance(expr.right, IntLiteral) and expr.right.value > 0
        case Binary(operator="<<" | ">>" | "+" | "-" | "*") | Unary(operator="-") | Cast():
            return False
        case _:
            return True


def _has_loop(body: tuple[Stmt, ...]) -> bool:
    """Whether statements have a loop of more than a constant number of turns."""
    loops = (s for s in statements_in(body) if isinstance(s, For | While | DoWhile))
    return any(not isinstance(loop, For) or not isinstance(loop.bound, IntLiteral) for loop in loops)


def _split(band: Threads, wanted: _Wanted, types: Types, depth: int, at_loops: bool) -> tuple[BlockStmt, ...]:
    condition = next(_conditions(band.body, wanted, True, at_loops), None)
    if condition is None:
        return (band,)
    if depth == MAX_CONDITIONS:
        raise _TooManyError
    branches = [
        _split(decided, wanted, types, depth + 1, at_loops) if decided.body else ()
        for decided in (
            replace(band, body=_decide(band.body, condition, value, types)) for value in (True, False)
        )
    ]
    if not any(branches):
        return (replace(band, body=()),)
    return (If(condition, branches[0], branches[1], band.span),)


# --- which conditions ----------------------------------------------------------------------------------------


def _conditions(
    body: tuple[Stmt, ...], wanted: _Wanted, always: bool, at_loops: bool = False
) -> Iterator[Expr]:
    """The conditions to be moved out of a body, in program order; ``always`` as in :class:`_Wanted`.

    With ``at_loops`` only those in loops and around them.
    """
    for statement in body:
        if at_loops and not _has_loop((statement,)):
            continue
        match statement:
            case Declare() | Assign():
                for expr in reversed(own_expressions(statement)):
                    yield from _in_value(expr, wanted, always)
            case If():
                yield from _in_condition(statement.condition, wanted, always)
                yield from _conditions(statement.then, wanted, False, at_loops)
                yield from _conditions(statement.otherwise, wanted, False, at_loops)
            case For():
                for expr in (statement.start, statement.bound, statement.step):
                    yield from _in_value(expr, wanted, always and expr is not statement.step)
                yield from _conditions(statement.body, wanted, False)
            case While():
                yield from _in_value(statement.condition, wanted, always)
                yield from _conditions(statement.body, wanted, False)
            case DoWhile():
                yield from _conditions(statement.body, wanted, False)
                yield from _in_value(statement.condition, wanted, False)
            case Block():
                yield from _conditions(statement.body, wanted, always, at_loops)
            case Break() | Continue():
                return
            case MetaFor():
                raise ValueError("a meta_for inside a thread's body: the nest was not built by loops.build")
            case _:
                assert_never(statement)


def _in_condition(expr: Expr, wanted: _Wanted, always: bool) -> Iterator[Expr]:
    core = _core(expr)[0]
    if wanted.moves(core, always):
        yield core
        return
    match core:
        case Binary(operator="&&" | "||"):
            yield from _in_condition(core.left, wanted, always)
            yield from _in_condition(core.right, wanted, False)
        case _:
            yield from _in_value(core, wanted, always)


def _in_value(expr: Expr, wanted: _Wanted, always: bool) -> Iterator[Expr]:
    match expr:
        case Binary(operator="&&" | "||"):
            yield from _in_condition(expr.left, wanted, always)
            yield from _in_condition(expr.right, wanted, False)
        case Conditional() if not wanted.stays(expr):
            yield from _in_condition(expr.condition, wanted, always)
            yield from _in_value(expr.then, wanted, False)
            yield from _in_value(expr.otherwise, wanted, False)
        case Conditional():
            pass
        case _:
            for operand in children(expr):
                yield from _in_value(operand, wanted, always)


def _core(condition: Expr) -> tuple[Expr, bool]:
    """Return the core ``c`` of ``!c``, ``c == 0`` or ``c != 0``, and whether the condition is its negation."""
    match condition:
        case (
            Unary(operator="!", operand=inner) | Binary(operator="==", left=inner, right=IntLiteral(value=0))
        ):
            core, negated = _core(inner)
            return core, not negated
        case Binary(operator="!=", left=inner, right=IntLiteral(value=0)):
            return _core(inner)
        case _:
            return condition, False


# --- deciding one of them ------------------------------------------------------------------------------------


def _decide(body: tuple[Stmt, ...], condition: Expr, value: bool, types: Types) -> tuple[Stmt, ...]:
    """The body where the condition is known: branches not taken disappear."""
    result: list[Stmt] = []

    def in_value(expr: Expr) -> Expr:
        return map_expression(expr, lambda e: _choose(e, condition, value, types))

    def inside(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return _decide(inner, condition, value, types)

    for statement in body:
        match statement:
            case If():
                decided = _in_boolean(statement.condition, condition, value)
                then, otherwise = inside(statement.then), inside(statement.otherwise)
                if not isinstance(decided, IntLiteral):
                    decided = in_value(decided)
                    if then or otherwise:
                        result.append(replace(statement, condition=decided, then=then, otherwise=otherwise))
                    continue
                taken = then if decided.value else otherwise
                # A scope of its own keeps the names declared in the branch apart from later ones.
                result += (
                    [Block(taken, statement.span)] if any(isinstance(s, Declare) for s in taken) else taken
                )
            case _:
                changed = with_bodies(with_own_expressions(statement, in_value), inside)
                is_idle = isinstance(changed, For) and not changed.body and changed.type is not None
                result += () if is_idle else (changed,)
    return tuple(result)


def _choose(expr: Expr, condition: Expr, value: bool, types: Types) -> Expr:
    match expr:
        case Conditional():
            decided = _in_boolean(expr.condition, condition, value)
            if not isinstance(decided, IntLiteral):
                return replace(expr, condition=decided)
            try:
                return fold(replace(expr, condition=decided), types)
            except KeyError:  # a name of several types: the operand not taken keeps the type of the whole
                return replace(expr, condition=decided)
        case Binary(operator="&&" | "||"):
            decided = _in_boolean(expr, condition, value)
            return decided if is_boolean(decided) else Binary("!=", decided, IntLiteral(0), expr.span)
        case _:
            return expr


def _in_boolean(expr: Expr, condition: Expr, value: bool) -> Expr:
    """A truth value where the condition is known: a literal, or what is left to be tested."""
    core, negated = _core(expr)
    if core == condition:
        return IntLiteral(int(value != negated), span=expr.span)
    if not (isinstance(core, Binary) and core.operator in ("&&", "||")):
        return expr
    left = _in_boolean(core.left, condition, value)
    right = _in_boolean(core.right, condition, value)
    decides = int(core.operator == "||")
    for side, other in ((left, right), (right, left)):
        if not isinstance(side, IntLiteral):
            continue
        if bool(side.value) == bool(decides):
            return IntLiteral(int(bool(decides) != negated), span=expr.span)
        return Unary("!", other, expr.span) if negated else other
    decided = replace(core, left=left, right=right)
    return Unary("!", decided, expr.span) if negated else decided
