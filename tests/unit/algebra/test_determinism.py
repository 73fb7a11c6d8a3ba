"""The same questions give the same bytes under any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
from comprehensive.algebra import *
from comprehensive.algebra.eliminate import project, uncovered
from comprehensive.algebra.simplify import simplify
s, B, Z, R, x, y = (Polynomial.symbol(n) for n in ("s", "B", "Z_B", "R_B", "x", "y"))
space = System((at_least(s, 1), at_least(B, 1), at_least(Z, 0), at_least(R, 0)))
solver = PortfolioSolver()
leaves = [
    space.add(at_most(2 * s * B + 2, Z), at_most(9, R)),
    space.add(at_most(2 * B + 2, Z), less(Z, 2 * s * B + 2), at_most(9, R)),
    space.add(less(Z, 2 * B + 2), less(Z, 2 * s * B + 2), at_most(9, R)),
]
for leaf in leaves:
    print(solver.check(leaf), simplify(leaf), project(leaf, ["R_B", "Z_B"]))
for gap in uncovered(space, leaves[1:], solver):
    print(gap)
print(solver.check(space.add(at_most(2 * s * B + 2, Z), less(Z, 2 * B + 2), at_most(9, R))))
print(solver.check(space.add(at_most(B, 4), less(Z, 2 * B + 2), at_least(Z, 3 * R), at_least(R, 20))))
print(solver.check(space.add(equal(x * x + y * y, 1), less(x, y), less(0, x))))
print(solver.check(space.add(less(x * x + y * y, 2 * x * y), at_most(x, B), at_most(y, B))))
for order in (("s", "B"), ("B", "s"), ("B", "s", "Z_B", "R_B")):
    print(triangularize(leaves[1].add(less(Z, s * s * (B - 7))), order))
    print(as_loops(triangularize(leaves[0].add(less(B * x, s)), ("x", *order))))
print(list(feasible(leaves[0], {"B": box(1, 9), "s": divisors(12)}, {"Z_B": 40, "R_B": 9})))
print(((s - B) * (s * B + 1) ** 2 * (Z - R)).factor(), solver.decided_by)
"""


def _output(seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    return run.stdout


def test_two_hash_seeds_print_the_same() -> None:
    first = _output("1")
    assert len(first.splitlines()) > 8
    assert first == _output("4242")
