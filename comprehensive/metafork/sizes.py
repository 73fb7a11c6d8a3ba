"""``sizeof`` of variables of a region: an operand in, its number of bytes out.

::

    float w[4];   sizeof w / sizeof w[0]   -->   16ul / 4ul
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import Declare, Index, IntLiteral, Name, ScalarType
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.loop_forms import Variable
from comprehensive.metafork.written import SizeOf


def size_of(
    size: SizeOf, variables: Mapping[str, Variable], arrays: Mapping[str, Declare], sink: DiagnosticSink
) -> IntLiteral:
    """The number that ``sizeof`` is, of type ``unsigned long``; CF0124 where it is not known."""
    kind = ScalarType.UNSIGNED_LONG
    match size.operand:
        case Name(name) if name in variables and not variables[name].is_pointer:
            return IntLiteral(variables[name].type.size_bytes, kind, size.span)
        case Name(name) | Index(name) if name in arrays and not arrays[name].is_open:
            given = len(size.operand.subscripts) if isinstance(size.operand, Index) else 0
            found = [constant_value(dim) for dim in arrays[name].dims[given:]]
            dims = [dim for dim in found if dim is not None]
            if len(dims) == len(found):
                return IntLiteral(arrays[name].type.size_bytes * prod(dims), kind, size.span)
        case _:
            pass
    text = "sizeof of this is not supported"
    help = "regions know sizeof of types, of their scalars and of their arrays: write the number"
    sink.error("CF0124", text, size.sign.span, help=help)
    return IntLiteral(1, kind, size.span)
