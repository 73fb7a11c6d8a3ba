"""Updates of elements by iterations that run in parallel: sums of arrays and ``atomic`` become ``meta_atomic``.

::

    reduction(+: h[0:n])     h[x[i]] += 1;           -->   meta_atomic h[x[i]] += 1;
    #pragma omp atomic       s[0] = s[0] + a[i];     -->   meta_atomic s[0] += a[i];
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import Assign, Binary, Index, Stmt
from comprehensive.metafork.atomic_check import SUMS
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.pragmas.clauses import reductions
from comprehensive.pragmas.directives import Directive
from comprehensive.records import replace

_OPERATORS = {"+": SUMS, "-": SUMS, "&": frozenset(("&=",)), "|": frozenset(("|=",)), "^": frozenset(("^=",))}
"""The updates that a reduction with an operator puts together."""


def with_updates(
    body: tuple[Stmt, ...], own: tuple[Directive, ...], arrays: frozenset[str], sink: DiagnosticSink
) -> tuple[Stmt, ...] | None:
    """The statements with the updates of the reductions of a loop over ``arrays``; None after an error (CF1111)."""
    summed: dict[str, frozenset[str]] = {}
    for each in own:
        for found in reductions(each):
            for name, _ in found.items:
                if name not in arrays:
                    continue
                operators = _OPERATORS.get(found.operator)
                if operators is None:
                    sink.error(
                        "CF1111",
                        f"'{found.operator}' of the elements of '{name}' is no reduction that a GPU does in one step",
                        found.clause.span,
                        help="the operators are + - & | ^; let every iteration write an element of an array of its "
                        "own, and put these together in a serial loop",
                    )
                    return None
                summed[name] = operators

    return _changed(body, summed)


def _changed(body: tuple[Stmt, ...], summed: Mapping[str, frozenset[str]]) -> tuple[Stmt, ...]:
    return tuple(_statement(statement, summed) for statement in body)


def _statement(statement: Stmt, summed: Mapping[str, frozenset[str]]) -> Stmt:
    match statement:
        case Assign(atomic=True):
            return _as_update(statement)
        case Assign(target=Index(array=array)) if array in summed:
            update = _as_update(statement)
            return replace(update, atomic=True) if update.operator in summed[array] else statement
        case _:
            return with_bodies(statement, partial(_changed, summed=summed))


def _as_update(statement: Assign) -> Assign:
    """``a = a + v`` and ``a = v + a`` as ``a += v``; any other statement as it is."""
    match statement:
        case Assign(target, "=", Binary(operator, left, right)):
            if left == target and operator in ("+", "-", "&", "|", "^"):
                return replace(statement, operator=f"{operator}=", value=right)
            if right == target and operator in ("+", "&", "|", "^"):
                return replace(statement, operator=f"{operator}=", value=left)
        case _:
            pass
    return statement
