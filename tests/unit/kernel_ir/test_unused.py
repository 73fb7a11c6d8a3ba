"""Declarations without a reader go, each in its own scope; everything else stays."""

from __future__ import annotations

from comprehensive.kernel_ir.idle import without_unused
from comprehensive.kernel_ir.kernel import Barrier, SharedTile
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, If, Index, IntLiteral, Name, ScalarType


def local(name: str, value: Expr) -> Declare:
    return Declare(ScalarType.INT, name, initial=value)


def store(value: Expr) -> Assign:
    return Assign(Index("a", (IntLiteral(0),)), "=", value)


def test_a_local_that_only_an_unused_local_reads_goes_too() -> None:
    p, q = local("p", Name("i")), local("q", Binary("+", Name("p"), IntLiteral(1)))
    assert without_unused((p, q, store(Name("i")))) == (store(Name("i")),)


def test_the_same_name_is_kept_in_the_branch_that_reads_it_only() -> None:
    p = local("p", Name("i"))
    reads, idles = (p, store(Name("p"))), (p, store(Name("i")))
    body = (If(Name("t"), reads, idles, uniform=True),)
    assert without_unused(body) == (If(Name("t"), reads, (store(Name("i")),), uniform=True),)


def test_a_local_that_a_later_statement_of_its_scope_reads_stays() -> None:
    body = (local("p", Name("i")), If(Name("t"), (store(Name("p")),)))
    assert without_unused(body) == body


def test_a_tile_without_a_reader_goes_and_a_barrier_stays() -> None:
    tiles = (
        SharedTile("read", ScalarType.FLOAT, IntLiteral(0)),
        SharedTile("idle", ScalarType.FLOAT, Name("n")),
    )
    rest = (Barrier(), store(Index("read", (Name("i"),))))
    assert without_unused((*tiles, *rest)) == (tiles[0], *rest)
