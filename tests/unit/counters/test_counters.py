"""Counters on kernels and nests whose values are known."""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.counters.liveness import max_live_words
from comprehensive.counters.registers import PtxasRegisters, Registers
from comprehensive.counters.shared_words import SharedWords
from comprehensive.counters.threads import Threads
from comprehensive.counters.three_address import BasicBlock, Instruction, ThreeAddressCode, three_address
from comprehensive.kernel_ir.kernel import Kernel, KernelParameter, Source
from comprehensive.loops.ir import Variant
from comprehensive.metafork.ast import Assign, Binary, Declare, Index, IntLiteral, Name, ScalarType, Stmt
from comprehensive.strategies.caching import initial_caching
from comprehensive.strategies.granularity import Granularity
from comprehensive.strategies.register_pressure import RegisterPressure
from tests.laws.nests import all_nests, nests_of

NESTS = all_nests()
FLOAT, DOUBLE, INT = ScalarType.FLOAT, ScalarType.DOUBLE, ScalarType.INT


def live_words(type: ScalarType, *body: Stmt) -> int:
    parameters = (
        KernelParameter("a", type, Source.ARRAY, "a", pointer=True, const=True),
        KernelParameter("c", type, Source.ARRAY, "c", pointer=True),
        KernelParameter("n", INT, Source.SCALAR, "n"),
    )
    kernel = Kernel("k", parameters, (), (), Polynomial.constant(0), (), body)
    return max_live_words(three_address(kernel))


THREAD = Declare(INT, "u", (), Name("threadIdx.x"))
COPY = Assign(Index("c", (Name("u"),)), "=", Index("a", (Name("u"),)))


def test_a_copy_holds_the_thread_number_while_it_loads() -> None:
    # float: u and the address of a (2 words) at the load; double: the value and the address of c at the store
    assert live_words(FLOAT, THREAD, COPY) == 1 + 2
    assert live_words(DOUBLE, THREAD, COPY) == 2 + 2


def test_uniform_integers_and_parameters_cost_nothing() -> None:
    uniform = Declare(INT, "m", (), Binary("*", Name("n"), Name("blockIdx.x")))
    assert live_words(FLOAT, uniform, THREAD, COPY) == live_words(FLOAT, THREAD, COPY)


def test_a_literal_in_a_subscript_needs_no_register() -> None:
    shifted = Assign(Index("c", (Name("u"),)), "=", Index("a", (Binary("+", Name("u"), IntLiteral(7)),)))
    assert live_words(FLOAT, THREAD, shifted) == live_words(FLOAT, THREAD, COPY)


def test_a_value_that_is_needed_around_a_loop_is_alive_in_it() -> None:
    entry = BasicBlock((Instruction((0,), ()), Instruction((1,), ())), (1,))
    loop = BasicBlock((Instruction((2,), (0,)), Instruction((), (2,))), (1, 2))
    after = BasicBlock((Instruction((), (1,)),), ())
    assert max_live_words(ThreeAddressCode((entry, loop, after), (1, 1, 1))) == 3
    assert max_live_words(ThreeAddressCode((entry, loop, after), (1, 2, 1))) == 4


def test_code_without_registers_has_none_alive() -> None:
    assert max_live_words(ThreeAddressCode((BasicBlock((), ()),), ())) == 0


def test_jacobi_needs_the_words_of_figure_7() -> None:
    variant = Variant(initial_caching(NESTS["jacobi1d"]))
    s, B = Polynomial.symbol("s"), Polynomial.symbol("B")
    assert SharedWords().evaluate(variant).value == 2 * s * B + 2
    reduced = Granularity().apply(variant)
    assert SharedWords().evaluate(reduced.fragment).value == 2 * B + 2  # pyright: ignore[reportAttributeAccessIssue]


def test_threads_are_the_product_of_the_extents() -> None:
    evaluation = Threads().evaluate(Variant(NESTS["matmul"]))
    assert evaluation.value == Polynomial.symbol("B0") * Polynomial.symbol("ub1")
    assert evaluation.source == "exact"


def test_an_extent_that_divides_is_bounded_from_above() -> None:
    (nest,) = nests_of(
        """void f(int n, int *c, int B) { int dim = n / B; meta_schedule {
          meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B / 2; u++) c[v*B + u] = 1; } }"""
    )
    evaluation = Threads().evaluate(Variant(nest))
    assert evaluation.value.evaluate({"B": 7}) == 3.5
    assert evaluation.source == "upper bound"


def test_less_work_per_thread_needs_fewer_registers() -> None:
    variant = Variant(NESTS["jacobi1d"])
    reduced = Granularity().apply(variant)
    before = Registers().evaluate(variant).value.evaluate({})
    assert Registers().evaluate(reduced.fragment).value.evaluate({}) < before  # pyright: ignore[reportAttributeAccessIssue]


def test_a_cap_bounds_the_estimate() -> None:
    capped = RegisterPressure(3, cap=12).apply(Variant(NESTS["heat3d_1"]))
    assert Registers().evaluate(capped.fragment).value == 12  # pyright: ignore[reportAttributeAccessIssue]


def test_the_count_of_ptxas_carries_its_architecture() -> None:
    seen: list[str] = []

    def compile(kernel: Kernel) -> int:
        seen.append(kernel.name)
        return 40

    evaluation = PtxasRegisters("sm_90", compile).evaluate(Variant(NESTS["matvec"]))
    assert evaluation.value == 40
    assert evaluation.source == "ptxas sm_90"
    assert len(seen) == 1
