"""A block that ends a body is put into it, unless a name would be declared twice there; everything else stays."""

from __future__ import annotations

from comprehensive.kernel_ir.idle import spliced
from comprehensive.kernel_ir.kernel import Barrier, KernelParameter, Source
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.metafork.ast import Assign, Block, If, Index, IntLiteral, Name, ScalarType, Stmt

N = Name("n")
STORE = Assign(Index("a", (IntLiteral(0),)), "=", Name("value"))


def block(name: str = "value") -> Block:
    return Block((constant(name, N), STORE))


def test_blocks_that_are_a_whole_body_go_however_deep_they_stand() -> None:
    nested = Block((constant("other", N), block()))
    found = spliced((Barrier(), If(N, (nested,), (block(),), uniform=True)), ())
    assert found == (
        Barrier(),
        If(N, (constant("other", N), *block().body), block().body, uniform=True),
    )


def test_a_block_that_something_follows_stays() -> None:
    body = (block(), STORE)
    assert spliced(body, ()) == body


def test_of_blocks_with_the_same_names_all_stay() -> None:
    body = (block(), block())
    assert spliced(body, ()) == body
    assert spliced((block("other"), block()), ()) == (block("other"), *block().body)


def test_no_name_is_declared_twice_in_a_scope() -> None:
    def stays(*body: Stmt) -> bool:
        return spliced(body, (KernelParameter("n", ScalarType.INT, Source.SCALAR, "n"),)) == body

    assert stays(constant("value", N), block())
    assert stays(counting("value", N, (block(),)))
    assert stays(block("n"))
    assert not stays(constant("other", N), block())
    assert not stays(counting("other", N, (block(),)))
    assert not stays(counting("other", N, (block("n"),)))
