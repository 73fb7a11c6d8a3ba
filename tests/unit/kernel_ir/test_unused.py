"""Declarations without a reader go, each in its own scope; everything else stays."""

from __future__ import annotations

from comprehensive.kernel_ir.kernel import KernelStmt, Plain, UniformIf
from comprehensive.kernel_ir.unused import without_unused
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, Index, IntLiteral, Name, ScalarType


def local(name: str, value: Expr) -> Declare:
    return Declare(ScalarType.INT, name, initial=value)


def store(value: Expr) -> Assign:
    return Assign(Index("a", (IntLiteral(0),)), "=", value)


def test_a_local_that_only_an_unused_local_reads_goes_too() -> None:
    p, q = local("p", Name("i")), local("q", Binary("+", Name("p"), IntLiteral(1)))
    assert without_unused((Plain((p, q, store(Name("i")))),)) == (Plain((store(Name("i")),)),)


def test_the_same_name_is_kept_in_the_branch_that_reads_it_only() -> None:
    p = local("p", Name("i"))
    reads, idles = Plain((p, store(Name("p")))), Plain((p, store(Name("i"))))
    body: tuple[KernelStmt, ...] = (UniformIf(Name("t"), (reads,), (idles,)),)
    assert without_unused(body) == (UniformIf(Name("t"), (reads,), (Plain((store(Name("i")),)),)),)


def test_a_local_that_a_later_statement_of_its_scope_reads_stays() -> None:
    declared, reader = Plain((local("p", Name("i")),)), Plain((store(Name("p")),))
    assert without_unused((declared, UniformIf(Name("t"), (reader,)))) == (
        declared,
        UniformIf(Name("t"), (reader,)),
    )
