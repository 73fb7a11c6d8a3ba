"""Apart reads: elements that no iteration writes, of an array that others write, are read through a view of their own.

::

    for (l = k; l < k + nb; l++) a[i][j] -= a[i][l] * a[l][j];       i, j >= k + nb
        -->  a[i][j] -= a_1[i][l] * a_1[l][j];                         a_1: the data of a, which nothing writes

That no iteration writes them is proved (:func:`comprehensive.poly.conflicts.reads_apart`).  To recipes the view is
an array that is only read: blocks may copy it, in any order.  It holds for one launch of one region.  Neighbours, whose
subscripts differ in constants, share what they read: they have a view together, or none.
"""

from __future__ import annotations

from itertools import count

from comprehensive.loops.access import Access, Context, Mode, accesses, rewrite_references
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import all_names
from comprehensive.metafork.ast import Expr, Index
from comprehensive.metafork.fresh import Namer
from comprehensive.records import replace


def with_apart_reads(nest: Nest) -> Nest:
    """Return the nest with views for what it reads apart from what it writes; as it is where there is no such thing."""
    if any(array.view_of is not None for array in nest.arrays):
        return nest  # what is written through one name may be read through another one
    found = accesses(nest)
    written = {access.array for access in found if access.mode.writes}
    if not any(access.array in written and not access.mode.writes for access in found):
        return nest
    # isl is slow to import.
    from comprehensive.poly.conflicts import reads_apart

    apart = reads_apart(nest)
    ring = Ring()
    with_others = {
        _part(ring, access) for access in found if access.mode is Mode.READ and access.ordinal not in apart
    }
    apart = {number for number in apart if _part(ring, found[number]) not in with_others}
    name = Namer(all_names(nest))
    views = {
        array: name(f"{array}_1") for array in dict.fromkeys(found[number].array for number in sorted(apart))
    }
    if not views:
        return nest
    numbers = count()

    def viewed(index: Index, _mode: Mode, _context: Context, _scalars: object) -> Expr:
        return replace(index, array=views[index.array]) if next(numbers) in apart else index

    arrays = tuple(
        replace(array, name=views[array.name], view_of=array.pointer, const=True)
        for array in nest.arrays
        if array.name in views
    )
    return replace(nest, body=rewrite_references(nest, viewed), arrays=(*nest.arrays, *arrays))


def _part(ring: Ring, access: Access) -> tuple[str, ...]:
    """Return the array and the subscripts of a reference without their constants."""
    values = map(ring.read, access.subscripts)
    return (access.array, *(str(value - value.constant_term) for value in values))
