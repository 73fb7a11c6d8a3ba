"""Data behind pointers of host code: how much of a parameter a region needs that reaches it through another name.

In: a function, and what its regions touch behind each of their names.  Out: the same behind its parameters::

    float *cur = buf, *next = buf + n;   cur and next need n elements   -->   buf needs 2*n
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from comprehensive.loops.access import names_read
from comprehensive.loops.interpreter import c_value
from comprehensive.metafork.ast import ConstantArray, Expr, Function, HostPointer, MetaSchedule, Parameter
from comprehensive.records import replace
from comprehensive.soundness.columns import NotEvaluableError


def data_of(function: Function) -> tuple[Parameter | HostPointer | ConstantArray, ...]:
    """All data of the regions, by name: parameters, pointers that host code declares, and constant arrays."""
    found: dict[str, Parameter | HostPointer | ConstantArray] = {
        p.name: p for p in function.parameters if p.is_data
    }
    for region in function.regions:
        for each in (*region.pointers, *region.tables):
            found.setdefault(each.name, each)
    return tuple(found.values())


def null_tests(function: Function) -> dict[str, str]:
    """The scalars that say whether data is there, with the names of the data; those of questions of host code have
    names that no program has."""
    found = {s.name: s.pointer for r in function.regions for s in r.scalars if s.pointer is not None}
    of_host = [p.name for p in function.parameters if p.may_be_null and p.name not in found.values()]
    return found | {f"cf_has_{name}": name for name in of_host}


def null_pointers(function: Function, arguments: Mapping[str, int | float]) -> frozenset[str]:
    """The data that is not there with these arguments, among which are the scalars that say so."""
    return frozenset(pointer for name, pointer in null_tests(function).items() if arguments[name] == 0)


def by_itself(function: Function) -> Function:
    """The function as one of its regions sees it: behind every name is data of its own."""
    parts = (
        replace(part, addresses=()) if isinstance(part, MetaSchedule) else part for part in function.parts
    )
    return replace(function, parts=tuple(parts))


def behind_parameters(
    function: Function, needed: Mapping[str, int], arguments: Mapping[str, int | float]
) -> dict[str, int]:
    """Elements, or rows of what has an open first extent, that regions need behind every name.

    NotEvaluableError where a pointer is so far behind the parameter as only host code knows.
    """
    known = {data.name: data for data in data_of(function)}
    found = dict(needed)
    ways = {item for region in function.regions for way in region.addresses for item in way}
    for name, address in sorted(ways, key=repr):
        if name not in needed or address.base not in known:
            continue
        row = _row(known[name].dims, arguments)
        of_base = max(1, _row(known[address.base].dims, arguments))
        if address.offset is None or not names_read(address.offset) <= arguments.keys():
            raise NotEvaluableError(name)
        elements = int(c_value(address.offset, arguments)) + needed[name] * row
        found[address.base] = max(found.get(address.base, 0), -(-elements // of_base))
    return found


def _row(dims: tuple[Expr | None, ...], arguments: Mapping[str, int | float]) -> int:
    """Return the number of elements that a step of the first subscript passes over."""
    return prod(max(0, int(c_value(extent, arguments))) for extent in dims[1:] if extent is not None)
