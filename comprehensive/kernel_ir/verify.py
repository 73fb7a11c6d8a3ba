"""Whether all threads of a block come to what they do together: a kernel body in, nothing out, or an error.

::

    If(uniform condition, (Barrier(),), uniform=True)   -->   fine: all threads decide alike
    If(condition of a thread, (Barrier(),))             -->   InvalidKernelError
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.kernel_ir.kernel import Barrier, KernelStmt, Prefetch, Stage, StageBox, StorePrefetched
from comprehensive.metafork.ast import For, If
from comprehensive.metafork.walk import bodies, statements_in

OF_ALL_THREADS = (Barrier, Stage, StageBox, Prefetch, StorePrefetched)
"""The statements that all threads of a block do together."""


class InvalidKernelError(Exception):
    """A kernel in which only some threads of a block may come to what all do together."""


def verify(body: Iterable[KernelStmt]) -> None:
    """Raise InvalidKernelError where a statement of all threads stands under what one thread decides."""
    for statement in body:
        if isinstance(statement, For | If) and statement.uniform:
            for inner in bodies(statement):
                verify(inner)
        elif bodies(statement):
            for inner in statements_in((statement,)):
                if isinstance(inner, OF_ALL_THREADS):
                    raise InvalidKernelError(
                        f"{type(inner).__name__} is for all threads of a block, and stands in "
                        f"{type(statement).__name__}, which each thread does for itself"
                    )
