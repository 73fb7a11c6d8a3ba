"""Jumps to the end of some statements, replaced by conditions around what they pass over.

In: the body of a loop and ``Continue``, or a part of a ``switch`` and ``Break``.  Out: the same without these jumps::

    if (x < 0) continue;  s += x;      -->   if (!(x < 0)) s += x;

Where ``else`` alone cannot keep what follows from running, a variable says that it is passed over.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    Expr,
    If,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.walk import Jump, leaves_loop
from comprehensive.records import replace


def without_jumps(body: tuple[Stmt, ...], kind: Jump, name: Callable[[str], str] | None) -> tuple[Stmt, ...]:
    """Return the body without jumps to its end; ``name`` gives names that are free.

    Without a ``name`` the body stays as it is where a variable would have to say that its rest is passed over.
    """
    found = _Structured(kind, None).body(body)
    if found is not None:
        return found
    if name is None:
        return body
    flag = name("done")
    flagged = _Structured(kind, flag).body(body)
    assert flagged is not None, "a flag is enough for any jump"
    return (Declare(ScalarType.INT, flag, initial=IntLiteral(0), span=body[0].span), *flagged)


class _Structured(Struct, frozen=True):
    kind: Jump
    flag: str | None

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
        """The body without jumps; None where that takes a flag and there is none."""
        for position, statement in enumerate(body):
            if not leaves_loop((statement,), self.kind):
                continue
            before, rest = body[:position], body[position + 1 :]
            found = self._passed(statement, rest)
            return None if found is None else (*before, *found)
        return body

    def _passed(self, statement: Stmt, rest: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
        """A statement that may jump, and what follows it."""
        match statement:
            case If(_, then, otherwise):
                if self.flag is not None:
                    changed = self._branches(statement, then, otherwise)
                    after = self.body(rest)
                    skips = Unary("!", Name(self.flag, statement.span), statement.span)
                    guarded = () if not rest or after is None else (If(skips, after, (), statement.span),)
                    return None if changed is None else (*changed, *guarded)
                if not rest:
                    return self._branches(statement, then, otherwise)
                if self._always(then):
                    return self._branches(statement, then, (*otherwise, *rest))
                if self._always(otherwise):
                    return self._branches(statement, (*then, *rest), otherwise)
                return None
            case Block(inner):
                found = self.body((*inner, *rest))
                return None if found is None else (replace(statement, body=found),)
            case _:
                assert isinstance(statement, self.kind), "no other statement jumps"
                if self.flag is None:
                    return ()
                return (Assign(Name(self.flag, statement.span), "=", IntLiteral(1), statement.span),)

    def _branches(
        self, statement: If, then: tuple[Stmt, ...], otherwise: tuple[Stmt, ...]
    ) -> tuple[Stmt, ...] | None:
        first, second = self.body(then), self.body(otherwise)
        if first is None or second is None:
            return None
        if first:
            return (replace(statement, then=first, otherwise=second),)
        if second:
            return (replace(statement, condition=negated(statement.condition), then=second, otherwise=()),)
        return (replace(statement, then=(), otherwise=()),)

    def _always(self, body: tuple[Stmt, ...]) -> bool:
        for statement in body:
            match statement:
                case If(_, then, otherwise) if self._always(then) and self._always(otherwise):
                    return True
                case Block(inner) if self._always(inner):
                    return True
                case Break() | Continue():
                    return isinstance(statement, self.kind)
                case _:
                    pass
        return False


def negated(condition: Expr) -> Expr:
    """The condition that holds where this one does not."""
    match condition:
        case Unary("!", inner):
            return inner
        case _:
            return Unary("!", condition, condition.span)
