"""Iterators that are declared in front of their loops, as in C89, are declared by the loops.

::

    int k;  for (k = 0; k < n; k++) S(k);    -->    for (int k = 0; k < n; k++) S(k);

So it is wherever nothing but these loops reads or assigns the iterator: its value after a loop does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from comprehensive.loops.access import assigned_names, names_read
from comprehensive.loops.ir import Nest, Threads
from comprehensive.loops.traverse import expressions_in, map_bands
from comprehensive.metafork.ast import Block, Declare, DoWhile, For, If, ScalarType, Stmt, While


def with_own_iterators(nest: Nest) -> Nest:
    """The nest with every iterator declared by its loop, wherever that is the same."""

    def one(band: Threads) -> Threads:
        body = _owned(band.body)
        return band if body == band.body else replace(band, body=body)

    return map_bands(nest, one)


def _owned(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    result: list[Stmt] = []
    left = body
    while left:
        statement, left = left[0], left[1:]
        match statement:
            case Declare(dims=(), name=name) if _only_counts(left, name):
                left = _declaring(left, name, statement.type)
            case _:
                result.append(_inside(statement, _owned))
    return tuple(result)


def _only_counts(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether there are loops over an iterator in the body, and all else that is in it leaves the name alone."""
    found = False
    for statement in body:
        match statement:
            case For(type=None, iterator=iterator) if iterator == name:
                if name in names_read(statement.start) or name in assigned_names(statement.body):
                    return False
                found = True
            case For() | While() | DoWhile() | If() | Block():
                header = replace(
                    statement,
                    **({"then": (), "otherwise": ()} if isinstance(statement, If) else {"body": ()}),
                )
                if _mentions((header,), name):
                    return False
                for inner in _bodies(statement):
                    if _mentions(inner, name):
                        if not _only_counts(inner, name):
                            return False
                        found = True
            case _:
                if _mentions((statement,), name):
                    return False
    return found


def _mentions(body: tuple[Stmt, ...], name: str) -> bool:
    return name in assigned_names(body) or any(name in names_read(e) for e in expressions_in(body))


def _bodies(statement: For | While | DoWhile | If | Block) -> tuple[tuple[Stmt, ...], ...]:
    if isinstance(statement, If):
        return statement.then, statement.otherwise
    return (statement.body,)


def _declaring(body: tuple[Stmt, ...], name: str, type: ScalarType) -> tuple[Stmt, ...]:
    def one(statement: Stmt) -> Stmt:
        if isinstance(statement, For) and statement.type is None and statement.iterator == name:
            return replace(statement, type=type)
        return _inside(statement, lambda inner: _declaring(inner, name, type))

    return tuple(map(one, body))


def _inside(statement: Stmt, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """The statement with the bodies in it changed."""
    match statement:
        case If():
            return replace(statement, then=change(statement.then), otherwise=change(statement.otherwise))
        case For() | While() | DoWhile() | Block():
            return replace(statement, body=change(statement.body))
        case _:
            return statement
