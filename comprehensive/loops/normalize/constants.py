"""Integers of which the text is a constant expression are numbers.

::

    for (j = 0; j < 32/2; j++)   -->   for (j = 0; j < 16; j++)
    q[b*(32/2) + j]              -->   q[b*16 + j]

What asks whether a loop has a constant number of turns, or how far rows are apart, finds a literal.
"""

from __future__ import annotations

from comprehensive.loops.fold import fold
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Binary, Expr, IntLiteral
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.records import replace


def with_numbers_for_constants(nest: Nest) -> Nest:
    """The nest with a literal for each constant expression of integers in its body."""
    return replace(nest, body=map_expressions(nest.body, lambda whole: map_expression(whole, _number)))


def _number(expression: Expr) -> Expr:
    match expression:
        case Binary(left=IntLiteral(), right=IntLiteral()):
            return fold(expression)
        case _:
            return expression
