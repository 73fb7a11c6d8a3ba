"""What all threads of a block do together stands where all of them come."""

from __future__ import annotations

import pytest

from comprehensive.kernel_ir.kernel import Barrier, KernelStmt, Stage, Vectors
from comprehensive.kernel_ir.terms import counting
from comprehensive.kernel_ir.verify import InvalidKernelError, verify
from comprehensive.metafork.ast import Block, If, Index, IntLiteral, Name

N = Name("n")
ELEMENT = Index("a", (N,))
READ = Vectors(ELEMENT, ELEMENT, N, N, IntLiteral(4))


@pytest.mark.parametrize("inner", [Barrier(), Stage("feed", N)])
def test_it_stands_under_what_threads_decide_alike(inner: KernelStmt) -> None:
    verify((counting("k", N, (If(N, (), (inner,), uniform=True), inner), uniform=True),))


@pytest.mark.parametrize("inner", [Barrier(), Stage("feed", N)])
def test_it_does_not_stand_under_what_a_thread_decides(inner: KernelStmt) -> None:
    together = counting("k", N, (inner,), uniform=True)
    for outer in (If(N, (inner,)), If(N, (), (together,)), counting("k", N, (together,))):
        with pytest.raises(InvalidKernelError, match=type(outer).__name__):
            verify((If(N, (outer,), uniform=True),))


def test_what_each_thread_does_stands_anywhere() -> None:
    verify((If(N, (counting("k", N, (READ,)), READ)), Block(())))
