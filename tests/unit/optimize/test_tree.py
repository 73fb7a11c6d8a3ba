"""Looking cases up in a tree."""

from __future__ import annotations

import pytest

from comprehensive.algebra import Polynomial
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.tree import DeadEnd, Leaf, Tree, leaf_for
from tests.unit.optimize.bits import BitCounter, Bits, BitStrategy, problem_of, zeros

B, s, Z, R = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "R_B"))


def caching_tree() -> Tree[Bits]:
    words = BitCounter("words", "Z_B", 2, (2 * s * B - 2 * B,), (0,))
    registers = BitCounter("registers", "R_B", 9, (0,), (0,))
    problem = problem_of([words, registers], [BitStrategy("smaller", ("words",), 0)])
    return comprehensive_optimization(problem.initial(zeros(1)), problem)


def test_point_leads_to_the_leaf_whose_system_it_satisfies() -> None:
    tree = caching_tree()
    leaf = leaf_for(tree, {"B": 8, "s": 4, "Z_B": 2, "R_B": 255})
    assert isinstance(leaf, Leaf)
    assert leaf.fragment == (True,)


def test_point_without_a_variant_leads_to_the_dead_end_that_names_the_counter() -> None:
    end = leaf_for(caching_tree(), {"B": 8, "s": 4, "Z_B": 1000, "R_B": 8})
    assert isinstance(end, DeadEnd)
    assert end.counter == "registers"


def test_point_that_lacks_a_symbol_is_told_which() -> None:
    with pytest.raises(KeyError, match="R_B"):
        leaf_for(caching_tree(), {"B": 8, "s": 4, "Z_B": 1000})


def test_point_outside_of_the_assumptions_is_told_so() -> None:
    # Z_B = -1 refuses every value, also the one of which no more can be said than that it is positive.
    words = BitCounter("words", "Z_B", 0, (0,), (0,))
    problem = problem_of([words], [])
    tree = comprehensive_optimization(problem.initial(zeros(1)), problem)
    with pytest.raises(ValueError, match="assumption 0 <= Z_B"):
        leaf_for(tree, {"B": 1, "s": 1, "Z_B": -1})
