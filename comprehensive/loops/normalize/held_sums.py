"""Held sums: an element that each turn of a loop holds in a scalar while another loop adds to it, and the element.

In: a nest.  Out: the same with loops right inside of each other::

    for (kk..) { float s = c[i][j];  for (k..) s += a[i][k] * b[k][j];  c[i][j] = s; }
        -->  for (kk..) for (k..) c[i][j] += a[i][k] * b[k][j]

That is how products that are cut into strips are written; what is held while a tile runs is decided behind.  Legal
where all turns mean one element, and the inner loop refers to its array nowhere.  The scalar has the type of the
element, so that every value is rounded as in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import declared_names, map_bands
from comprehensive.loops.types import ROUNDED_IN_MEMORY_ALONE
from comprehensive.metafork.ast import Assign, Declare, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.substitution import Substitution
from comprehensive.metafork.walk import arrays, assigned_scalars, reads_data
from comprehensive.records import replace


def with_sums_in_elements(nest: Nest) -> Nest:
    """The nest with loops of its threads that hold sums as loops over elements."""
    types = element_types(nest)
    return map_bands(nest, lambda _, body: in_elements(body, types))


def element_types(nest: Nest) -> Mapping[str, ScalarType]:
    """The types of elements that a scalar holds as memory does."""
    return {a.name: a.type for a in nest.arrays if a.type not in ROUNDED_IN_MEMORY_ALONE}


def in_elements(body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """The body with loops that hold sums as loops over elements, whose ``types`` are given."""
    return tuple(_statement(statement, types) for statement in body)


def _statement(statement: Stmt, types: Mapping[str, ScalarType]) -> Stmt:
    changed = with_bodies(statement, partial(in_elements, types=types))
    match changed:
        case For(
            body=(
                Declare(type=type, name=name, dims=(), initial=Index() as element),
                For() as inner,
                Assign(target=target, operator="=", value=Name(identifier=stored)),
            )
        ) if (
            stored == name
            and target == element
            and types.get(element.array) is type
            and _is_one_element(element, changed)
            and element.array not in arrays((inner,))
        ):
            return replace(changed, body=Substitution({name: element}, {}, None).body((inner,)))
        case _:
            return changed


def _is_one_element(element: Index, loop: For) -> bool:
    """Whether a reference means the same element in all turns of a loop."""
    changing = {loop.iterator} | assigned_scalars(loop.body) | declared_names(loop.body)
    return not any(map(reads_data, element.subscripts)) and not names_read(element) & changing
