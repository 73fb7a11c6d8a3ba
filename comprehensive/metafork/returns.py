"""Statements that return, as statements that assign: a function's body in, what can stand in a region out.

::

    if (x < 0) return -x;            if (x < 0) value = -x;
    x = x * x;                  -->  else { x = x * x; value = x; }
    return x;

    for (...) if (a[k] > x) return k;          for (...) if (a[k] > x) { value = k; done = 1; break; }
    return -1;                            -->  if (!done) value = -1;
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from comprehensive.metafork.ast import (
    Assign,
    Break,
    DoWhile,
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


def needs_flag(body: tuple[Stmt, ...], followed: bool = False) -> bool:
    """Whether a ``return`` stands where ``else`` alone cannot keep what follows from running.

    ``followed``: statements stand behind the body, and run where it comes to its end.
    """
    for position, statement in enumerate(body):
        if not may_return(statement) or is_return(statement):
            continue
        behind = followed or position + 1 < len(body)
        match statement:
            case If(_, then, otherwise) if always_returns(then) or always_returns(otherwise):
                if needs_flag(then, behind) or needs_flag(otherwise, behind):
                    return True
            case If(_, then, otherwise) if not behind:
                if needs_flag(then) or needs_flag(otherwise):
                    return True
            case _:
                return True
    return False


@dataclass(frozen=True, slots=True)
class Returns:
    """``value`` and, where that is needed, ``done`` are the variables that take the place of a ``return``."""

    value: str
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
            if isinstance(statement, If) and not in_loop and self._is_whole(statement):
                return (*found, self._with_rest(statement, rest))
            is_loop = isinstance(statement, For | MetaFor | While | DoWhile)
            inside = partial(self.structured, in_loop=in_loop or is_loop)
            found.append(with_bodies(statement, inside))
            if in_loop and not is_loop:
                continue  # a break has left the loop
            return (*found, *self._guarded(self.structured(rest, in_loop), in_loop))
        return tuple(found)

    def _is_whole(self, statement: If) -> bool:
        return always_returns(statement.then) or always_returns(statement.otherwise)

    def _with_rest(self, statement: If, rest: tuple[Stmt, ...]) -> If:
        """Return the ``if`` with the statements that follow it in the branch that comes to its end."""
        then, otherwise = statement.then, statement.otherwise
        if always_returns(then):
            otherwise = (*otherwise, *rest)
        else:
            then = (*then, *rest)
        return replace(statement, then=self.structured(then), otherwise=self.structured(otherwise))

    def _returned(self, statement: Stmt, in_loop: bool) -> tuple[Stmt, ...]:
        assert isinstance(statement, Assign)
        found: list[Stmt] = [replace(statement, target=Name(self.value, statement.span))]
        if self.done is not None:
            found.append(Assign(Name(self.done), "=", IntLiteral(1), statement.span))
        return (*found, Break(statement.span)) if in_loop else tuple(found)

    def _guarded(self, rest: tuple[Stmt, ...], in_loop: bool) -> tuple[Stmt, ...]:
        if not rest and not in_loop:
            return ()
        assert self.done is not None, "a flag is there where it is needed"
        done = Name(self.done)
        return (If(done, (Break(),)), *rest) if in_loop else (If(Unary("!", done), rest),)
