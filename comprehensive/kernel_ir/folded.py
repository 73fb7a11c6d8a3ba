"""Kernels without idle arithmetic: a body in, the same body with its constants folded out.

::

    in[row * w + w * 0 + (first + 1) + 0]   -->   in[row * w + (first + 1)]

What is folded is exact in C (`loops/fold.py`); the compiler would do it anyway, but not for the reader.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.kernel_ir.kernel import KernelParameter, KernelStmt
from comprehensive.kernel_ir.names import types_in_kernel
from comprehensive.loops.fold import fold
from comprehensive.metafork.rewrite import map_expressions


def folded(body: tuple[KernelStmt, ...], parameters: Sequence[KernelParameter]) -> tuple[KernelStmt, ...]:
    """The body of a kernel with these parameters, its constants folded."""
    types = types_in_kernel(body, {p.name: p.type for p in parameters})
    return map_expressions(body, lambda expr: fold(expr, types))
