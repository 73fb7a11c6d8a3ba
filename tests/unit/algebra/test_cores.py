"""Contradictions that are remembered by their cores."""

from comprehensive.algebra import Inconsistent, Polynomial, PortfolioSolver, System, at_least, at_most, less
from comprehensive.algebra.cores import Cores

x, y, z = (Polynomial.symbol(name) for name in "xyz")
known = Inconsistent((at_least(x, 3), less(x, 3)))


def test_a_core_is_found_in_every_system_that_has_all_its_atoms() -> None:
    cores = Cores()
    cores.enter(known)
    assert cores.within(System((), (at_least(x, 3), less(x, 3), at_least(y, 1)))) is known
    assert cores.within(System((at_least(x, 3),), (at_least(y, 1),)).add(less(x, 3))) is known


def test_a_part_of_a_core_is_no_contradiction() -> None:
    cores = Cores()
    cores.enter(known)
    assert cores.within(System((), (at_least(x, 3), at_least(y, 1)))) is None
    assert Cores().within(System((), (at_least(x, 3), less(x, 3)))) is None


def test_the_solver_finds_a_dear_contradiction_once() -> None:
    solver = PortfolioSolver(use_smt=False)
    low = System(tuple(at_least(symbol, 1) for symbol in (x, y, z)))
    dear = (
        at_most(x * x, 2 * y * y - 1),
        at_least(x * x, 2 * y * y - 1),
        at_most(y, 4),
        at_least(y, 2),
        less(x, 5),
    )
    first = solver.check(low.add(*dear, at_least(x, 2)))
    steps = set(solver.decided_by)
    second = solver.check(low.add(at_least(z, 7), *dear, at_least(x, 2)))
    assert isinstance(first, Inconsistent)
    assert isinstance(second, Inconsistent)
    assert set(second.core) == set(first.core)
    assert set(solver.decided_by) - steps == {"core"}
