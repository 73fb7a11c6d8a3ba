"""The arguments of a function that may be negative.

In: a :class:`FunctionPlan`.  Out: names of integer arguments that the launcher takes as they are: no size, no
dimension of data, nothing that selection reads or that bounds a block; an offset, a threshold, a factor::

    void f(int n, int shift, float a[n], int B)     -->   {"shift"}
"""

from __future__ import annotations

from comprehensive.codegen.dispatch import dispatch
from comprehensive.codegen.header_view import data_sizes
from comprehensive.loops.ir import Role
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan


def any_sign(plan: FunctionPlan) -> frozenset[str]:
    """The signed arguments that are SCALAR wherever a region reads them, and that no guard of the launcher bounds."""
    host = interface(plan)
    bounded = {a.name for a in data_sizes(plan, host)}
    bounded |= {guard.available for region in plan.regions for guard in dispatch(region, host).smallest}
    roles = {
        a.name: {s.role for region in plan.regions for s in region.nest.scalars if s.name == a.name}
        for a in host.arguments
        if a.type.is_integer and a.type.is_signed
    }
    return frozenset(name for name, found in roles.items() if found == {Role.SCALAR} and name not in bounded)
