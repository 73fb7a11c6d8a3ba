"""A solver that runs out of its budget: branches are kept and marked, and none is pruned that has a point."""

from __future__ import annotations

from itertools import product

import pytest

from comprehensive.algebra import Polynomial, PortfolioSolver, smt
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.tree import Leaf, Pruned, Tree, walk
from tests.unit.algebra.strategies import all_hold
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s, n = (Polynomial.symbol(name) for name in ("B", "s", "n"))


def grown(solver: PortfolioSolver) -> Tree[Bits]:
    """Squares that are far from each other or never equal: nothing that signs or elimination see."""
    squares = (B - 7 * s) ** 2 * (s - 5) ** 2 + 3 * n * n + (n - B) ** 2
    words = BitCounter("words", "Z_B", squares, ((n * B - 40) ** 2,), (-((n - B) ** 2),))
    again = BitCounter("registers", "R_B", 9 * (B * s - 17) ** 2, (n**2,), (0,))
    strategies = [BitStrategy("smaller", ("words", "registers"), 0)]
    problem = problem_of([words, again], strategies, symbols=("B", "s", "n"), solver=solver)
    return comprehensive_optimization(problem.initial(zeros(1)), problem)


@pytest.mark.parametrize(
    "solver",
    [
        PortfolioSolver(limits=smt.Limits(resources=1, seconds=60)),
        pytest.param(PortfolioSolver(limits=smt.Limits(resources=1000, seconds=60)), marks=pytest.mark.slow),
        pytest.param(PortfolioSolver(use_smt=False), marks=pytest.mark.slow),
    ],
    ids=["nothing", "little", "no z3"],
)
def test_no_branch_with_a_point_is_pruned_whatever_the_budget(solver: PortfolioSolver) -> None:
    tree = grown(solver)
    pruned = [node for node, _ in walk(tree.root) if isinstance(node, Pruned)]
    for b, width, size in product(range(1, 8), range(1, 7), range(1, 7)):
        for words, registers in product((0, 3, 40, 900), (0, 9, 500)):
            point = {"B": b, "s": width, "n": size, "Z_B": words, "R_B": registers}
            assert not any(all_hold(node.system.all_atoms, point) for node in pruned)
    assert all((leaf.sample is None) == (leaf.undecided is not None) for leaf in tree.leaves)
    assert {id(leaf) for leaf in tree.leaves if leaf.sample is None} <= set(map(id, tree.undecided))
    assert tree.undecided or {"smt", "cases"} & set(solver.decided_by)
    assert any(isinstance(node, Leaf) for node, _ in walk(tree.root))
