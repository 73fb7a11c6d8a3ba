"""The arrays that a block keeps in shared memory: the choice at the root, and the strategy that gives it up.

In: a nest as written.  Out: the nest with ``cached`` set; or a variant with nothing cached::

    cache(a, b)  a[i*N + j] ...      -->      a[i*N + j] ...        (decision 4b; kept: 4a)

An array is cached at the root where the region says so or, without a ``cache`` clause, where it pays:

- several threads of a block touch an element: the elements touched by all threads, each thread counted by
  itself, exceed the elements touched by the block (the neighbours of a stencil, the rows of a product); or
- the access is not coalesced: the innermost thread iterator moves the address by more than one element
  (a transposition).

An array every element of which belongs to one thread stays where it is, as ``c`` in the matrix product: its
elements live in registers at best, and a copy in shared memory would only cost words (the paper's ``cache(a, c)``
charges such arrays too).  Arrays without a footprint cannot be cached.  Source: comprehensive, sections 4 and 5.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.algebra import Polynomial, at_least, product_of
from comprehensive.algebra.signs import lower_bounds, proves
from comprehensive.loops.access import Access, accesses
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.unswitch import unswitch
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.poly.model import Footprint, Level
from comprehensive.records import replace


class NoCaching(Struct, frozen=True):
    """The strategy that leaves every array in global memory."""

    name: str = "no-caching"
    improves: tuple[str, ...] = (
        "shared_words_per_block",
        "occupancy_by_shared_memory",
        "bank_efficiency",
        "latency_hiding_by_shared_memory",
    )
    on_ir: bool = False
    decision: tuple[str, str] = ("4b", "4a")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        """Return whether nothing is cached, be it that nothing was from the start.

        Where `caching` has cached something since, the strategy no longer stands.
        """
        return not fragment.nest.cached

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        cached = fragment.nest.cached
        if not cached:
            return NotApplicable("no array is cached")
        nest = replace(fragment.nest, cached=())
        return Applied(replace(fragment, nest=nest), f"not cached: {', '.join(cached)}")


class Caching(Struct, frozen=True):
    """cache(a)  a[i] + b[i - 1] + b[i]      -->      cache(a, b)  a[i] + b[i - 1] + b[i]

    What a ``cache`` clause leaves out although it pays is kept in shared memory too.
    """

    name: str = "caching"
    improves: tuple[str, ...] = ("coalescing", "intensity")
    on_ir: bool = False
    decision: tuple[str, str] = ("", "")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        nest, split = fragment.nest, unswitch(fragment.nest)
        paying = [a.name for a in nest.arrays if a.name not in nest.cached and _pays(split, a.name)]
        if not paying:
            return NotApplicable("no other array pays")
        nest = replace(nest, cached=(*nest.cached, *paying))
        return Applied(replace(fragment, nest=nest), f"cached too: {', '.join(paying)}")


def initial_caching(nest: Nest) -> Nest:
    """The nest with the caching of the root: its ``cache`` clause, or else every array for which it pays."""
    if nest.cached:
        return with_footprints(nest)
    split = unswitch(nest)
    return replace(nest, cached=tuple(a.name for a in nest.arrays if _pays(split, a.name)))


def with_footprints(nest: Nest) -> Nest:
    """The nest without the cached arrays of which no tile is known."""
    if not nest.cached:
        return nest
    # What a condition on scalars keeps apart is never executed by the same launch.
    split = unswitch(nest)
    return replace(nest, cached=tuple(name for name in nest.cached if _has_footprint(split, name)))


def _has_footprint(nest: Nest, array: str) -> bool:
    """Whether every band that touches the array can hold a tile of it."""
    return all(_block_footprint(nest, band, array) is not None for band in _bands_of(nest, array))


def _pays(nest: Nest, array: str) -> bool:
    if not _has_footprint(nest, array):
        return False
    found = [a for a in accesses(nest) if a.array == array and a.context.band >= 0]
    return any(not _is_coalesced(nest, a) for a in found) or any(
        _is_shared_by_threads(nest, band, array) for band in _bands_of(nest, array)
    )


def _bands_of(nest: Nest, array: str) -> list[int]:
    return sorted({a.context.band for a in accesses(nest) if a.array == array and a.context.band >= 0})


def _block_footprint(nest: Nest, band: int, array: str) -> Footprint | None:
    # isl is slow to import.
    from comprehensive.poly.footprint import footprint

    found = footprint(nest, band, array, Level.BLOCK)
    return found if isinstance(found, Footprint) else None


def _is_shared_by_threads(nest: Nest, band: int, array: str) -> bool:
    """Return whether the counts of the single threads add up to more than the count of the block.

    Counts are of touched elements.

    Compared where every symbol is at least 2: a block of one thread shares nothing.
    """
    from comprehensive.poly.footprint import footprint

    block = _block_footprint(nest, band, array)
    thread = footprint(nest, band, array, Level.THREAD)
    if block is None or not isinstance(thread, Footprint):
        return False
    ring = Ring()
    threads = product_of(ring.read(loop.extent) for loop in nest.bands[band].loops)
    each = thread.elements if thread.count is None else thread.count
    surplus = threads * each - (block.elements if block.count is None else block.count)
    bounds = lower_bounds(at_least(Polynomial.symbol(name), 2) for name in surplus.symbols)
    return proves(at_least(surplus, 1), bounds)


def _is_coalesced(nest: Nest, access: Access) -> bool:
    """Whether neighbours along the innermost thread loop touch the same or neighbouring elements."""
    innermost = nest.bands[access.context.band].loops[-1].iterator
    dims = nest.array(access.array).dims
    ring = Ring()
    address = Polynomial.constant(0)
    for position, subscript in enumerate(access.subscripts):
        extent = None if dims is None or position == 0 else dims[position]
        address = address * (Polynomial.constant(1) if extent is None else ring.read(extent))
        address = address + ring.read(subscript)
    return address.coefficient(innermost, 1) in (-1, 0, 1) and address.degree(innermost) <= 1
