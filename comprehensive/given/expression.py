"""Values of counters as text: ``2*s*B + 2`` in, a polynomial or a quotient of polynomials out.

>>> str(value_of("2*s*B + 2").format(("s", "B")))
'2*s*B + 2'
"""

from __future__ import annotations

import ast

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.optimize.protocols import Value

LARGEST_POWER = 16
"""Powers in published values are small; a large one is a slip that would take minutes to expand."""


def value_of(text: str) -> Value:
    """Sums, products, quotients and powers of names and whole numbers; ValueError says what is something else."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise ValueError(f"'{text}' is no sum of products such as 2*s*B + 2") from None
    try:
        found = _value(tree.body)
    except ZeroDivisionError:
        raise ValueError(f"'{text}' divides by 0") from None
    polynomial = found.as_polynomial()
    return found if polynomial is None else polynomial


def _value(node: ast.expr) -> RationalFunction:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return RationalFunction(number)
        case ast.Name(id=name):
            return RationalFunction(Polynomial.symbol(name))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)) if (
            0 <= power <= LARGEST_POWER
        ):
            product, base = RationalFunction(1), _value(left)
            for _ in range(power):
                product = product * base
            return product
        case _:
            raise ValueError(f"'{ast.unparse(node)}' is no sum, product, quotient or small power")
