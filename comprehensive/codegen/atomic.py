"""Atomic updates as calls of CUDA's functions.

In: a ``meta_atomic`` statement of a kernel and the type of the element.  Out: C++ text without a semicolon::

    meta_atomic h[k] -= v    -->    atomicSub(&h[k], v)                                      32 bits
                                    atomicAdd((unsigned long long *)&h[k], -(unsigned long long)(v)) 64 bits

Sums of integers are taken modulo 2**32 and 2**64, so that every order gives the same element.  What the
functions return is not used: the compiler makes a reduction of it, for which no thread waits.
"""

from __future__ import annotations

from comprehensive.metafork.ast import Assign, Cast, Index, ScalarType, Unary
from comprehensive.metafork.printer import print_expr

_BITS = {"&=": "atomicAnd", "|=": "atomicOr", "^=": "atomicXor"}
_WIDE = "unsigned long long"


def atomic_call(statement: Assign, type: ScalarType) -> str:
    """The call that updates the element of this type. ValueError for an operator or a type that has none."""
    target, operator, value = statement.target, statement.operator, statement.value
    assert isinstance(target, Index)
    place = f"&{print_expr(target)}"
    match type:
        case _ if type.is_integer and type.bits == 32:
            if operator == "-=":
                return f"atomicSub({place}, {print_expr(value)})"
            return f"{_function(operator)}({place}, {print_expr(value)})"
        case _ if type.is_wide:
            sign = "-" if operator == "-=" else ""
            return f"{_function(operator)}(({_WIDE} *){place}, {sign}({_WIDE})({print_expr(value)}))"
        case ScalarType.FLOAT | ScalarType.DOUBLE if operator in ("+=", "-="):
            # Converted first: an unsigned value has no negative.
            added = Unary("-", Cast(type, value)) if operator == "-=" else value
            return f"atomicAdd({place}, {print_expr(added)})"
        case _:
            raise ValueError(f"'{operator}' on {type.value} is not atomic")


def _function(operator: str) -> str:
    return "atomicAdd" if operator in ("+=", "-=") else _BITS[operator]
