"""Exact polynomials and semi-algebraic systems: what the decision tree reasons with.

`Polynomial` and `RationalFunction` (python-flint) -> `Atom` -> `System` -> `Solver.check` -> `Verdict`.
The README of this package tells the steps of the solver. z3 and numpy are loaded only when one reaches them.
"""

from __future__ import annotations

from comprehensive.algebra.atom import Atom, Relation, at_least, at_most, equal, less
from comprehensive.algebra.certificate import Certificate, proves_contradiction
from comprehensive.algebra.domains import box, divisors, multiples, powers_of_two
from comprehensive.algebra.enumeration import Points, blocks, feasible
from comprehensive.algebra.loop_nest import as_loops
from comprehensive.algebra.polynomial import Polynomial, product_of, sum_of
from comprehensive.algebra.quotients import (
    Defined,
    Quotient,
    ceiling_of,
    floor_of,
    parameters_of,
    with_quotients,
)
from comprehensive.algebra.rational import RationalFunction
from comprehensive.algebra.solver import PortfolioSolver, Solver
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.algebra.system import System
from comprehensive.algebra.triangular import Triangular, triangularize
from comprehensive.algebra.verdict import Consistent, Inconsistent, Unknown, Verdict
from comprehensive.algebra.whole import integral_quotient, whole_times

__all__ = [
    "Atom",
    "Certificate",
    "Consistent",
    "Defined",
    "Inconsistent",
    "Points",
    "Polynomial",
    "PortfolioSolver",
    "Quotient",
    "RationalFunction",
    "Relation",
    "Solver",
    "System",
    "Triangular",
    "Unknown",
    "Verdict",
    "as_loops",
    "at_least",
    "at_most",
    "blocks",
    "box",
    "ceiling_of",
    "divisors",
    "equal",
    "feasible",
    "floor_of",
    "integral_quotient",
    "is_integer_symbol",
    "less",
    "multiples",
    "parameters_of",
    "powers_of_two",
    "product_of",
    "proves_contradiction",
    "sum_of",
    "triangularize",
    "whole_times",
    "with_quotients",
]
