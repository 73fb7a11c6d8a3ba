"""Names in nests and kernels: what is taken, what a kernel body really uses.

In: a nest or a kernel body.  Out: sets of identifiers, for choosing fresh names and for passing only the
parameters that a kernel needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from comprehensive.kernel_ir.kernel import KernelStmt, Prefetch, Stage, StageBox, StorePrefetched
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import declared_names as names_declared_in
from comprehensive.metafork.ast import For, ScalarType
from comprehensive.metafork.walk import declared, own_expressions, statements_in


def declared_names(nest: Nest) -> frozenset[str]:
    """Everything that already has a name in the nest: scalars, arrays, iterators, locals."""
    names = {s.name for s in nest.scalars} | {a.name for a in nest.arrays}
    names |= {loop.iterator for loop in nest.grid}
    return names_declared_in(nest.body).union(names)


class _Types(dict[str, ScalarType]):
    """The types of names, of which those that are not declared are ``int``, such as ``threadIdx.x``."""

    def __missing__(self, name: str) -> ScalarType:
        return ScalarType.INT

    def declare(self, name: str, type: ScalarType) -> None:
        """A name with two types counts as a ``double``, of which the least is known."""
        self[name] = type if self.get(name, type) is type else ScalarType.DOUBLE


def types_in_kernel(body: Iterable[KernelStmt], known: Mapping[str, ScalarType]) -> Mapping[str, ScalarType]:
    """The types of all names in a kernel body, with those that are ``known`` from outside."""
    types = _Types(known)
    for statement in statements_in(body):
        for name, type in declared(statement).items():
            types.declare(name, type)
    return types


def names_in_kernel(body: Iterable[KernelStmt]) -> frozenset[str]:
    """The identifiers that a kernel body reads or writes."""
    names: set[str] = set()
    for statement in statements_in(body):
        names.update(*map(names_read, own_expressions(statement)))
        match statement:
            case For(type=None, iterator=name):
                names.add(name)
            case Stage() | StorePrefetched() | Prefetch() | StageBox():
                names.add(statement.feed)
            case _:
                pass
    return frozenset(names)
