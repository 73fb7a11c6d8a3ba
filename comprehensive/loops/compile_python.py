"""Statements as Python source with C semantics: the inside of the reference interpreter.

In: statements, and a :class:`ExprCompiler` for the expressions in them.  Out: lines of Python, each with its span.
Example: the loop ::

    for (int i = 0; i < n; i++) s += a[i];     -->     for v_i in range(0, v_n):
                                                        _n += 1 ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Loop, Threads
from comprehensive.loops.python_expressions import Code, ExprCompiler, Writer, wrapped
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    For,
    If,
    IntLiteral,
    MetaFor,
    Name,
    While,
)
from comprehensive.metafork.headers import split_step
from comprehensive.metafork.own_statement import OwnStatement
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.walk import Statement, assigned_scalars
from comprehensive.records import replace

MOST_TURNS = 10_000_000
"""The turns of all serial loops of one run: some seconds, and more than any small run needs."""


def compile_body(
    writer: Writer,
    body: tuple[Statement, ...],
    scope: ExprCompiler,
    on_continue: Callable[[], None] | None = None,
) -> None:
    """Appends the lines of a body; ``on_continue`` appends what the enclosing loop does before it starts anew."""
    if not body:
        writer.line("pass")
    for statement in body:
        match statement:
            case Declare():
                scope = _declare(writer, statement, scope)
            case Assign():
                _assign(writer, statement, scope)
            case If():
                writer.line(f"if {scope.condition(statement.condition).text}:", statement.span)
                _indented(writer, statement.then, scope, on_continue)
                if statement.otherwise:
                    writer.line("else:")
                    _indented(writer, statement.otherwise, scope, on_continue)
            case For():
                _for(writer, statement, scope)
            case While():
                writer.line(f"while {scope.condition(statement.condition).text}:", statement.span)
                _turns(writer, statement, scope, _nothing)
            case DoWhile():
                _do_while(writer, statement, scope)
            case Block():
                compile_body(writer, statement.body, scope, on_continue)
            case Break():
                writer.line("break")
            case Continue():
                if on_continue is not None:
                    on_continue()
                writer.line("continue")
            case Threads():
                outside = writer.level
                open_loops(writer, statement.loops)
                types = {**scope.types, **statement.declared}
                compile_body(writer, statement.body, replace(scope, types=types))
                writer.level = outside
            case MetaFor() | OwnStatement():
                raise ValueError(f"{type(statement).__name__} in a nest that loops.build has not built")
            case _:
                assert_never(statement)


def open_loops(writer: Writer, loops: tuple[Loop, ...]) -> None:
    """Appends the headers of loops of the grid or of a band; what comes next is inside of them."""
    for loop in loops:
        extent = writer.extents[loop.extent]
        values = f"range({extent} - 1, -1, -1)" if writer.backwards else f"range({extent})"
        writer.line(f"for v_{loop.iterator} in {values}:", loop.span)
        writer.level += 1


def _nothing() -> None:
    pass


def _indented(
    writer: Writer, body: tuple[Statement, ...], scope: ExprCompiler, on_continue: Callable[[], None] | None
) -> None:
    writer.level += 1
    compile_body(writer, body, scope, on_continue)
    writer.level -= 1


def _turns(
    writer: Writer,
    loop: For[Statement] | While | DoWhile,
    scope: ExprCompiler,
    on_continue: Callable[[], None],
) -> None:
    """The body of a loop, counted: all loops of a run together have to stay within the budget."""
    writer.level += 1
    writer.line("_n += 1")
    writer.line(f"if _n > {MOST_TURNS}: _endless({writer.spans.add(loop.span)}, {MOST_TURNS})")
    writer.level -= 1
    _indented(writer, loop.body, scope, on_continue)


def _declare(writer: Writer, statement: Declare, scope: ExprCompiler) -> ExprCompiler:
    name = statement.name
    local = scope.local | {name} if statement.dims else scope.local - {name}
    inner = replace(scope, types={**scope.types, name: statement.type}, local=local)
    if statement.dims:
        for dimension, extent in enumerate(statement.dims):
            writer.line(f"d_{name}_{dimension} = {scope.value(extent).text}", statement.span)
        words = " * ".join(f"d_{name}_{dimension}" for dimension in range(len(statement.dims)))
        writer.line(f"a_{name} = [None] * ({words})", statement.span)
    elif statement.initial is not None:
        writer.line(f"v_{name} = {scope.value(statement.initial, statement.type).text}", statement.span)
    else:
        # Python then reports a read of the name before an assignment.
        writer.line(f"v_{name} = None; del v_{name}")
    return inner


def _assign(writer: Writer, statement: Assign, scope: ExprCompiler) -> None:
    """Appends an assignment, plain or compound."""
    target, span = statement.target, statement.span
    if isinstance(target, Name):
        type = scope.types[target.identifier]
        value = _assigned(statement, Code(f"v_{target.identifier}", type), scope)
        writer.line(f"v_{target.identifier} = {value.text}", span)
        return
    type = scope.types[target.array]
    if statement.operator == "=":
        value = scope.value(statement.value, type)
        writer.line(f"a_{target.array}[{scope.place(target).text}] = {value.text}", span)
        return
    writer.line(f"_p = {scope.place(target).text}", span)
    old = scope.element(target, "_p")
    writer.line(f"a_{target.array}[_p] = {_assigned(statement, Code(old, type), scope).text}", span)


def _assigned(statement: Assign, old: Code, scope: ExprCompiler) -> Code:
    """Return what ``x op= e`` assigns: ``x op e`` in the common type, converted back."""
    operator, span = statement.operator[:-1], statement.span
    if not operator:
        return scope.value(statement.value, old.type)
    if statement.atomic and old.type.is_integer:
        # Modulo ``2**n``, as CUDA does it: an order in which a sum overflows on the way is none.
        right = scope.value(statement.value, old.type)
        text, depth = f"({old.text} {operator} {right.text})", max(old.depth, right.depth) + 1
        return wrapped(Code(text, old.type, depth), old.type)
    if operator in ("<<", ">>"):
        code = scope.shift(operator, scope.convert(old, promote(old.type), span), statement.value, span)
    else:
        right = scope.value(statement.value)
        type = common_type(old.type, right.type)
        code = scope.combine(operator, scope.convert(old, type, span), scope.convert(right, type, span), span)
    return scope.convert(code, old.type, span)


def _for(writer: Writer, loop: For[Statement], scope: ExprCompiler) -> None:
    inner = _loop_header(writer, loop, scope)
    if inner is None:
        types = {**scope.types} if loop.type is None else {**scope.types, loop.iterator: loop.type}
        inner = replace(scope, types=types, local=scope.local - {loop.iterator})
        down, amount = split_step(loop.step)
        step = Assign(Name(loop.iterator), "-=" if down else "+=", amount, loop.span)
        start = scope.value(loop.start, types[loop.iterator])
        writer.line(f"v_{loop.iterator} = {start.text}", loop.span)
        condition = Binary(loop.relation, Name(loop.iterator), loop.bound, loop.bound.span)
        writer.line(f"while {inner.condition(condition).text}:", loop.span)
        _turns(writer, loop, inner, lambda: _assign(writer, step, inner))
        writer.level += 1
        _assign(writer, step, inner)
        writer.level -= 1
    else:
        _turns(writer, loop, inner, _nothing)


def _loop_header(writer: Writer, loop: For[Statement], scope: ExprCompiler) -> ExprCompiler | None:
    """Append ``for v_i in range(start, bound):`` where that is the same, and return the scope of the body.

    None where it is not the same.
    """
    if loop.type is None or loop.relation != "<" or loop.step != IntLiteral(1):
        return None
    bound_type = type_of(loop.bound, {**scope.types, loop.iterator: loop.type})
    if promote(bound_type) is not loop.type or not loop.type.is_integer:
        return None
    changed = assigned_scalars(loop.body)
    if loop.iterator in changed | names_read(loop.bound) or names_read(loop.bound) & (
        changed | scope.local | scope.data.keys()
    ):
        return None
    start, bound = scope.value(loop.start, loop.type), scope.value(loop.bound)
    writer.line(f"for v_{loop.iterator} in range({start.text}, {bound.text}):", loop.span)
    return replace(
        scope, types={**scope.types, loop.iterator: loop.type}, local=scope.local - {loop.iterator}
    )


def _do_while(writer: Writer, loop: DoWhile, scope: ExprCompiler) -> None:
    def repeat() -> None:
        writer.line(f"if not {scope.condition(loop.condition).text}: break", loop.span)

    writer.line("while True:", loop.span)
    _turns(writer, loop, scope, repeat)
    writer.level += 1
    repeat()
    writer.level -= 1
