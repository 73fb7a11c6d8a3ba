"""Whether a nest computes positions in 64 bits.

In: a nest.  Out: True where a scalar, a local or a cast is an integer of 64 bits: what is derived from such a nest must
not be computed in ``int``.
"""

from __future__ import annotations

from comprehensive.loops.ir import BlockDeclare, BlockFor, BlockIf, BlockStmt, Nest, Threads
from comprehensive.metafork.ast import Cast, Declare, Expr, For, IntLiteral
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions


def computes_in_long(nest: Nest) -> bool:
    """Whether any value of the nest that is not data is an integer of 64 bits."""
    return any(s.type.is_wide for s in nest.scalars) or _any_long(nest.body)


def _any_long(body: tuple[BlockStmt, ...]) -> bool:
    return any(_is_long(statement) for statement in body)


def _is_long(statement: BlockStmt) -> bool:
    match statement:
        case Threads():
            declared = any(
                isinstance(s, Declare | For) and s.type is not None and s.type.is_wide
                for s in statements_in(statement.body)
            )
            return declared or any(_has_long(e) for e in expressions_in(statement.body))
        case BlockFor():
            return statement.type.is_wide or _any_long(statement.body)
        case BlockIf():
            return _any_long(statement.then) or _any_long(statement.otherwise)
        case BlockDeclare():
            return statement.type.is_wide or _has_long(statement.value)


def _has_long(expr: Expr) -> bool:
    return any(isinstance(e, Cast | IntLiteral) and e.type.is_wide for e in subexpressions(expr))
