"""Statements that return, as statements that assign: a function's body in, what can stand in a region out.

::

    if (x < 0) return -x;            if (x < 0) value = -x;
    x = x * x;                  -->  else { x = x * x; value = x; }
    return x;

    for (...) if (a[k] > x) return k;          for (...) if (a[k] > x) { value = k; done = 1; break; }
    return -1;                            -->  if (!done) value = -1;

Where nothing but conditions stands between the returns of a function, its value is one expression: the calls of a
clamp by early returns become the same as those of one that chooses by ``?:``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    DoWhile,
    Expr,
    For,
    If,
    IntLiteral,
    MetaFor,
    Name,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.helpers import always_returns, is_return, may_return
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import names
from comprehensive.records import replace


class Choice(Struct, frozen=True):
    """The value ``then`` where a condition holds, else the value ``otherwise``."""

    condition: Expr
    then: Value
    otherwise: Value


Value: TypeAlias = "Expr | Choice"
"""The value of a function: an expression, or one of two values."""


def last_value(body: tuple[Stmt, ...]) -> tuple[tuple[Stmt, ...], Value] | None:
    """The statements before the value that a body returns, and that value; None where statements choose it::

    x = x * x;  if (x > c) return c;  return x;   -->   (x = x * x;),  Choice(x > c, c, x)
    """
    position = next((k for k, statement in enumerate(body) if may_return(statement)), None)
    if position is None:
        return None
    value = _value(body[position], body[position + 1 :])
    return None if value is None else (body[:position], value)


def value_names(value: Value) -> Iterator[str]:
    """The scalars that a value reads, repeated where they are."""
    if isinstance(value, Choice):
        yield from names(value.condition)
        yield from value_names(value.then)
        yield from value_names(value.otherwise)
    else:
        yield from names(value)


def _value(statement: Stmt, rest: tuple[Stmt, ...]) -> Value | None:
    """The value of a statement that may return, followed by others."""
    match statement:
        case Assign():
            return statement.value
        case Block(inner):
            return _only_value((*inner, *rest))
        case If(condition, then, otherwise) if is_whole(statement):
            branches = (b if always_returns(b) else (*b, *rest) for b in (then, otherwise))
            first, second = map(_only_value, branches)
            return None if first is None or second is None else Choice(condition, first, second)
        case _:
            return None


def _only_value(body: tuple[Stmt, ...]) -> Value | None:
    match last_value(body):
        case ((), value):
            return value
        case _:
            return None


def is_whole(statement: If) -> bool:
    """Whether one branch always returns, so that what follows belongs to the other."""
    return always_returns(statement.then) or always_returns(statement.otherwise)


def needs_flag(body: tuple[Stmt, ...], followed: bool = False) -> bool:
    """Whether a ``return`` stands where ``else`` alone cannot keep what follows from running.

    ``followed``: statements stand behind the body, and run where it comes to its end.
    """
    for position, statement in enumerate(body):
        if not may_return(statement) or is_return(statement):
            continue
        behind = followed or position + 1 < len(body)
        match statement:
            case If(_, then, otherwise) if is_whole(statement):
                if needs_flag(then, behind) or needs_flag(otherwise, behind):
                    return True
            case If(_, then, otherwise) if not behind:
                if needs_flag(then) or needs_flag(otherwise):
                    return True
            case _:
                return True
    return False


class Returns(Struct, frozen=True):
    """``value`` and, where that is needed, ``done`` are the variables that take the place of a ``return``.

    ``value`` is None where nothing reads the value of the function.
    """

    value: str | None
    done: str | None

    def structured(self, body: tuple[Stmt, ...], in_loop: bool = False) -> tuple[Stmt, ...]:
        """The body without a ``return``: what comes after one does not run."""
        found: list[Stmt] = []
        for position, statement in enumerate(body):
            rest = body[position + 1 :]
            if not may_return(statement):
                found.append(statement)
                continue
            if is_return(statement):
                return (*found, *self._returned(statement, in_loop))
            if isinstance(statement, If) and not in_loop and is_whole(statement):
                return (*found, self._with_rest(statement, rest))
            is_loop = isinstance(statement, For | MetaFor | While | DoWhile)
            inside = partial(self.structured, in_loop=in_loop or is_loop)
            found.append(with_bodies(statement, inside))
            if in_loop and not is_loop:
                continue  # a break has left the loop
            return (*found, *self._guarded(self.structured(rest, in_loop), in_loop))
        return tuple(found)

    def _with_rest(self, statement: If, rest: tuple[Stmt, ...]) -> If:
        """Return the ``if`` with the statements that follow it in the branch that comes to its end."""
        then, otherwise = statement.then, statement.otherwise
        if always_returns(then):
            otherwise = (*otherwise, *rest)
        else:
            then = (*then, *rest)
        then, otherwise = self.structured(then), self.structured(otherwise)
        if otherwise and not then:
            opposite = Unary("!", statement.condition, statement.condition.span)
            return replace(statement, condition=opposite, then=otherwise, otherwise=())
        return replace(statement, then=then, otherwise=otherwise)

    def _returned(self, statement: Stmt, in_loop: bool) -> tuple[Stmt, ...]:
        assert isinstance(statement, Assign)
        found: list[Stmt] = []
        if self.value is not None:
            found.append(replace(statement, target=Name(self.value, statement.span)))
        if self.done is not None:
            found.append(Assign(Name(self.done), "=", IntLiteral(1), statement.span))
        return (*found, Break(statement.span)) if in_loop else tuple(found)

    def _guarded(self, rest: tuple[Stmt, ...], in_loop: bool) -> tuple[Stmt, ...]:
        if not rest and not in_loop:
            return ()
        assert self.done is not None, "a flag is there where it is needed"
        done = Name(self.done)
        return (If(done, (Break(),)), *rest) if in_loop else (If(Unary("!", done), rest),)
