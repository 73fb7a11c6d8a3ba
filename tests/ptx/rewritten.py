"""Modules of PTX written anew: the same program in other words, for tests that the words do not matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.operands import Name, Not, renamed
from comprehensive.ptx.statements import (
    MADE,
    Close,
    Declaration,
    Directive,
    Instruction,
    Label,
    Open,
    Statement,
)

_FAMILY = re.compile(r"([%$\w]+?)\s*<\s*(\d+)\s*>")
_WORD = re.compile(r"[%$A-Za-z_][\w$]*")


def canonical(module: Module) -> Module:
    """Every statement of every function in canonical form."""
    changed = {
        name: function.with_body(tuple(s._replace(start=MADE, end=MADE) for s in function.body))
        for name, function in module.functions.items()
    }
    return module.with_functions(changed)


def with_other_names(module: Module) -> Module:
    """The same with other names for all registers and labels."""
    changed = {name: _renamed(function) for name, function in module.functions.items()}
    return module.with_functions(changed)


def _renamed(function: Function) -> Function:
    scopes = [_Scope({}, {})]
    for statement in _scope_of(function.body, 0):
        scopes[0].declare(statement)
    changed: list[Statement] = []
    for position, statement in enumerate(function.body):
        if isinstance(statement, Open):
            scopes.append(_Scope({}, {}))
            for inner in _scope_of(function.body, position + 1):
                scopes[-1].declare(inner)
        changed.append(_statement(statement, scopes))
        if isinstance(statement, Close):
            scopes.pop()
    return function.with_body(changed)


def _scope_of(body: Sequence[Statement], start: int) -> Iterator[Statement]:
    """The statements of a scope, without those of scopes within it."""
    depth = 0
    for statement in body[start:]:
        if isinstance(statement, Open):
            depth += 1
        elif isinstance(statement, Close):
            depth -= 1
            if depth < 0:
                return
        elif depth == 0:
            yield statement


class _Scope(NamedTuple):
    """Other names by name, and other prefixes of ``%r<5>`` by prefix."""

    names: dict[str, str]
    families: dict[str, str]

    def declare(self, statement: Statement) -> None:
        match statement:
            case Declaration(".reg", text):
                for part in text.split(None, 1)[1].split(","):
                    family = _FAMILY.fullmatch(part.strip())
                    if family:
                        self.families[family[1]] = f"%family{next(_NUMBERS)}_"
                    else:
                        self.names[part.strip()] = f"%other{next(_NUMBERS)}"
            case Label(name):
                self.names[name] = f"$renamed_{next(_NUMBERS)}"
            case Directive(label=label) if label is not None:
                self.names[label] = f"table_{next(_NUMBERS)}"
            case _:
                pass

    def look_up(self, name: str) -> str | None:
        name, dot, part = name.partition(".")
        found = self._look_up(name)
        return None if found is None else f"{found}{dot}{part}"

    def _look_up(self, name: str) -> str | None:
        if name in self.names:
            return self.names[name]
        member = re.fullmatch(r"(.*?)(0|[1-9]\d*)", name)
        family = self.families.get(member[1]) if member else None
        return f"{family}{member[2]}" if member and family else None


_NUMBERS = count()


def _statement(statement: Statement, scopes: Sequence[_Scope]) -> Statement:
    def word(name: str) -> str:
        return next((found for s in reversed(scopes) if (found := s.look_up(name)) is not None), name)

    match statement:
        case Instruction(opcode, operands, guard):
            other = None if guard is None else renamed(guard, word)
            assert other is None or isinstance(other, Name | Not)
            return Instruction(opcode, tuple(renamed(o, word) for o in operands), other)
        case Label(name):
            return Label(word(name))
        case Declaration(".reg", text):
            kind, rest = text.split(None, 1)
            parts: list[str] = []
            for part in rest.split(","):
                family = _FAMILY.fullmatch(part.strip())
                prefix = scopes[-1].families[family[1]] if family else ""
                parts.append(f"{prefix}<{family[2]}>" if family else word(part.strip()))
            return Declaration(".reg", f"{kind} {', '.join(parts)}")
        case Directive(name, text, label):
            if name == ".branchtargets":
                text = _WORD.sub(lambda found: word(found[0]), text)
            return Directive(name, text, None if label is None else word(label))
        case _:
            return statement._replace(start=MADE, end=MADE)
