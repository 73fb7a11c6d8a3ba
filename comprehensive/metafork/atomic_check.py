"""The check of atomic updates: what a GPU does in one step, and what gives the same in any order.

In: a ``meta_atomic`` statement whose names are right.  Out: CF0225 for a target or an operator that cannot be
atomic, CF0226 for types that cannot::

    meta_atomic h[k] += 1;        fine for integers of 32 and 64 bits; for float and double see `--reassociate`
    meta_atomic h[k] *= 2;        CF0225
"""

from __future__ import annotations

from comprehensive.diagnostics import DiagnosticSink, Edit, Fix, Note, Span
from comprehensive.metafork.ast import Assign, Index, ScalarType
from comprehensive.metafork.scope import Scope, Symbol

_KEYWORD = "meta_atomic"
SUMS = frozenset(("+=", "-="))
ATOMIC_OPERATORS = SUMS | {"&=", "|=", "^="}


def check_atomic(statement: Assign, value: ScalarType | None, scope: Scope, sink: DiagnosticSink) -> None:
    """Reports why the update cannot be atomic; ``value`` is the type of its right side."""
    target = statement.target
    if not isinstance(target, Index):
        _no_data(target.identifier, scope.get(target.identifier), statement, sink)
        return
    symbol = scope.get(target.array)
    if symbol is None or not symbol.is_array:
        return  # reported as a name
    if not symbol.is_data:
        _no_data(target.array, symbol, statement, sink)
    elif statement.operator not in ATOMIC_OPERATORS:
        help = "the operators are += -= ++ -- &= |= ^="
        if statement.operator == "=":
            help = "drop meta_atomic: a store needs none, and one that others overwrite is wrong with it, too"
        sink.error("CF0225", f"'{statement.operator}' cannot be atomic", statement.span, help=help)
    elif symbol.type.is_storage:
        sink.error(
            "CF0226",
            f"elements of '{target.array}' are {symbol.type.value}, and CUDA adds up no such elements in float",
            target.span,
            notes=(Note("declared here", symbol.span),),
            help="make it an array of float, and convert it in a region of its own",
        )
    elif symbol.type.is_narrow:
        sink.error(
            "CF0226",
            f"elements of '{target.array}' are of {symbol.type.bits} bits, and CUDA updates 32 or 64 bits atomically",
            target.span,
            notes=(Note("declared here", symbol.span),),
            help="make it an array of int or unsigned",
        )
    elif value is not None and _is_rounded(symbol.type, value):
        sink.error(
            "CF0226",
            f"an atomic update of {symbol.type.value} by a value of type {value.value} would round the sum "
            "each time",
            statement.value.span,
            help=f"cast the value: ({symbol.type.value})(...)",
        )


def _is_rounded(element: ScalarType, value: ScalarType) -> bool:
    """Whether C computes the sum in a type that is no type of the element, and then converts it back."""
    if element.is_integer:
        return not value.is_integer
    return element is ScalarType.FLOAT and value is ScalarType.DOUBLE


def _no_data(name: str, symbol: Symbol | None, statement: Assign, sink: DiagnosticSink) -> None:
    if symbol is None:
        return  # reported as a name
    sink.error(
        "CF0225",
        f"'{name}' cannot be updated atomically: it is no array of the function",
        statement.target.span,
        notes=(Note("declared here", symbol.span),),
        help="drop meta_atomic: no other iteration sees a local variable",
        fix=_without_keyword(statement.target.span),
    )


def _without_keyword(target: Span) -> Fix | None:
    """Remove the keyword right before the target of an update."""
    before = target.file.text[: target.start].rstrip()
    if not before.endswith(_KEYWORD):
        return None
    keyword = Span(target.file, len(before) - len(_KEYWORD), target.start)
    return Fix("drop meta_atomic", (Edit(keyword, ""),))
