"""Values in the code of a block as it is gone through: one for all threads, one for each, or data.

In: values and which threads are active.  Out: values; a thread that is not active keeps what it had::

    merged(threadIdx.x < 4, 1, 0)    -->  [1, 1, 1, 1, 0, 0, ..]
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.walk import all_statements_in, declared
from comprehensive.model.accesses import VECTOR_BYTES, Mask
from comprehensive.model.depth import Data, depth_of
from comprehensive.model.integers import in_type

Value: TypeAlias = Any
"""An integer, an array with one for each thread, or :class:`Data`."""


def merged(mask: Mask | None, value: Value, other: Value) -> Value:
    """Return ``value`` for some threads, ``other`` for the rest."""
    if isinstance(value, Data) or isinstance(other, Data):
        return Data(max(depth_of(value), depth_of(other)))
    if mask is None:
        return value
    return np.where(mask, np.asarray(value), np.asarray(other))


def converted(type: ScalarType, value: Value) -> Value:
    """Return the value converted to a type: what is floating-point is not computed."""
    if not type.is_integer:
        return Data(depth_of(value))
    return value if isinstance(value, Data) else in_type(type, value)


def vector_of(begin: Value, width: int) -> tuple[Value, int]:
    """Return where, and how many bytes, the compiler reads in place of an access.

    These are 16 bytes, where the element has the same place in them for all threads.
    """
    if width >= VECTOR_BYTES:
        return begin, width
    places = np.asarray(begin) % VECTOR_BYTES
    place = int(places.flat[0])
    return (begin - place, VECTOR_BYTES) if (places == place).all() else (begin, width)


def wide_unsigned_names(kernel: Kernel) -> frozenset[str]:
    """Return the scalars of a kernel that have an unsigned type of 64 bits."""
    types = [(p.name, p.type) for p in kernel.parameters if not p.pointer]
    types += (pair for statement in all_statements_in(kernel.body) for pair in declared(statement).items())
    return frozenset(name for name, type in types if type.wraps and type.is_wide)
