"""Numbers that the host computes for a launch: expressions over scalars in, integers out.

wide_value(nest, (n + 127) / 128, {"n": 1000})  -->  8
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from comprehensive.kernel_ir.kernel import KernelParameter
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Expr, ScalarType


def wide_value(nest: Nest, expression: Expr, values: Mapping[str, int]) -> int:
    """Return the value in 64 bits, as generated host code computes it; ``unsigned`` wraps as C says.

    KeyError where a value is missing.
    """
    declared = {s.name: s.type for s in nest.scalars}
    types = {
        name: declared[name] if name in declared and declared[name].wraps else ScalarType.LONG
        for name in values
        if name not in declared or declared[name].is_integer
    }
    return int(c_value(expression, {name: values[name] for name in types}, types))


def stride(nest: Nest, parameter: KernelParameter, values: Mapping[str, int]) -> int:
    """Elements between neighbours along a dimension of an array."""
    dims = nest.array(parameter.of).dims or ()
    return prod(wide_value(nest, dim, values) for dim in dims[parameter.dimension + 1 :] if dim is not None)
