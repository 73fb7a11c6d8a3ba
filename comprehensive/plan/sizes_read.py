"""The integers that the choice of a leaf reads, and those that its cost is computed from.

In: a :class:`RegionPlan`, and the program parameters of its function.  Out: scalars of the nest, in order of
definition::

    leaf 0: B <= T_B, n <= Z_B       selection reads n, beside the program parameter B
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from comprehensive.algebra import Atom, Relation, System
from comprehensive.kernel_ir.c_expr import is_wide
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, Role, Scalar
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.metafork.ast import Expr
from comprehensive.plan.host_scalars import over_arguments
from comprehensive.plan.left_out import leaves_out, shares
from comprehensive.plan.plan import LeafPlan, RegionPlan


def selection_sizes(region: RegionPlan, program: frozenset[str]) -> tuple[Scalar, ...]:
    """The integers, besides program parameters, that the caller of the selection passes."""
    needed = bounded_names(region, program) | _asserted_names(region.nest)
    return tuple(
        s
        for s in region.nest.scalars
        if s.name not in program and s.type.is_integer and (s.role is Role.DATA or s.name in needed)
    )


def bounded_names(region: RegionPlan, program: frozenset[str]) -> frozenset[str]:
    """The scalars that systems and block shapes read: systems are right where these are not negative."""
    names = {
        name
        for system in region.systems
        for atom in decided(system, program)
        for symbol in atom.symbols
        for name in identifiers(symbol)
    }
    return frozenset(names | shape_names(region))


def decided(system: System, program: frozenset[str]) -> tuple[Atom, ...]:
    """Return the conditions that selection must decide.

    Bounds that it checks first and assumptions on machines are left out.
    """
    assumed = {
        atom for atom in system.assumptions if all(name in MACHINE_PARAMETERS for name in atom.symbols)
    }
    return tuple(
        atom for atom in system.all_atoms if atom not in assumed and not _is_checked_first(atom, program)
    )


def _is_checked_first(atom: Atom, program: frozenset[str]) -> bool:
    polynomial = atom.polynomial
    if len(atom.symbols) != 1 or atom.symbols[0] in MACHINE_PARAMETERS or atom.relation is not Relation.GE:
        return False
    name = atom.symbols[0]
    rises = polynomial.total_degree == 1 and polynomial.terms()[0].coefficient > 0
    return rises and atom.holds({name: 1 if name in program else 0})


def _asserted_names(nest: Nest) -> frozenset[str]:
    """The scalars that the assertions over integer arguments read."""
    arguments = {s.name: s.type for s in nest.scalars if s.type.is_integer and s.role is not Role.HOST}
    conditions = (over_arguments(nest, condition) for condition in nest.preconditions)
    return _read_by(condition for condition in conditions if is_wide(condition, arguments))


def identifiers(symbol: str) -> tuple[str, ...]:
    """The names in a symbol: itself, or those of a quotient that polynomials name by its C text, `(N)/(2)`."""
    return tuple(re.findall(r"[A-Za-z_]\w*", symbol))


def shape_names(region: RegionPlan) -> frozenset[str]:
    return _read_by(extent for leaf in region.leaves for extent in leaf.kernel.block)


def _read_by(expressions: Iterable[Expr]) -> frozenset[str]:
    return frozenset[str]().union(*map(names_read, expressions))


def cost_sizes(region: RegionPlan, program: frozenset[str]) -> tuple[Scalar, ...]:
    """The integers, besides program parameters, that costs of leaves and the points that they leave out read."""
    read = frozenset[str]().union(*(_cost_names(leaf) for leaf in region.leaves))
    if leaves_out(region.nest):
        read |= _read_by(e for share in shares(region.nest) for e in (share.done, share.whole))
    return tuple(
        s
        for s in region.nest.scalars
        if s.name not in program and s.role is not Role.TILE and s.type.is_integer and s.name in read
    )


def _cost_names(leaf: LeafPlan) -> frozenset[str]:
    kernel = leaf.kernel
    launched = () if kernel.staircase is None else kernel.staircase.arguments
    words = frozenset(name for symbol in kernel.shared_words.symbols for name in identifiers(symbol))
    extents = (extent for _, extent in kernel.grid)
    return words | _read_by((*leaf.profile.numbers, *launched, *extents, *kernel.block))
