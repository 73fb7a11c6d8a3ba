"""The accesses of a kernel as a table: what each does for which line, and how memory serves it.

In: a kernel with its nest, and its launch where all numbers are known.  Out: :class:`Row` values.  With a launch they
are exact for one warp of one block; without one they follow from strides as the counters know them
(:mod:`comprehensive.counters.work`), and what depends on a symbol is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.counters.lanes import bank_share, turns
from comprehensive.counters.work import Access, UncountableError, work_of_kernel
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.metafork.ast import Index
from comprehensive.model.launched import Launched
from comprehensive.model.warp_accesses import Served, Site, WarpAccess, serve, site_of, warp_accesses

Stride = Polynomial | int | None
"""Elements from one lane to the next; None where that is not the same for all."""


class Row(Struct, frozen=True):
    """One access.  ``fewest`` and ``most`` are sectors in global memory and turns of the banks in shared memory.

    ``words`` of 4 bytes are accessed by the whole block, None where that is not known.  ``is_exact``: with addresses of
    a launch; else of 32 lanes along ``threadIdx.x``, the first at the begin of a sector.  ``is_bound``: ``most`` is the
    most that there can be.
    """

    site: Site
    stride: Stride
    lanes: tuple[int | None, ...]
    """The addresses where lanes begin, in bytes; without a launch from the first one on, and empty where not known."""
    width: int
    served: Served
    fewest: int
    most: int
    is_exact: bool
    is_bound: bool
    words: RationalFunction | None
    done: int | None = None
    """The number of times that the warp does it, where that is known."""
    by_data: bool = False


def rows(
    kernel: Kernel,
    nest: Nest,
    launch: Launched | None,
    number: Sequence[int] = (0, 0, 0),
    warp: int = 0,
    together: int = 0,
) -> tuple[Row, ...]:
    """Return the accesses of a warp, those for earlier lines of the source first.

    UncountableError for a kernel over tiles without a launch.
    """
    if launch is None:
        found = [_symbolic(kernel, nest, access) for access in _counted(kernel, nest)]
    else:
        strides = _strides(kernel, nest)
        found = [
            _exact(access, strides) for access in warp_accesses(kernel, nest, launch, number, warp, together)
        ]
    return tuple(sorted(found, key=lambda row: row.site.lines[:1]))


def _strides(kernel: Kernel, nest: Nest) -> dict[tuple[Index, bool], Polynomial | None]:
    """The strides that the counters know, by reference and whether it is written; none of kernels over tiles."""
    try:
        counted = _counted(kernel, nest)
    except UncountableError:
        return {}
    return {(a.reference, a.writes): a.stride for a in counted if a.reference is not None}


def _counted(kernel: Kernel, nest: Nest) -> tuple[Access, ...]:
    """The accesses of all cases, each reference once."""
    found: dict[tuple[Index | None, bool], Access] = {}
    for work in work_of_kernel(kernel, nest):
        for access in work.accesses:
            found.setdefault((access.reference, access.writes), access)
    return tuple(found.values())


def _exact(access: WarpAccess, strides: dict[tuple[Index, bool], Polynomial | None]) -> Row:
    known = strides.get((access.site.reference, access.site.writes))
    return Row(
        access.site,
        known if known is not None else _apart(access.lanes, access.width),
        access.lanes,
        access.width,
        access.served,
        access.fewest,
        access.most,
        not access.by_data,
        access.by_data,
        RationalFunction(access.block_words),
        access.done,
        access.by_data,
    )


def _apart(lanes: Sequence[int | None], width: int) -> int | None:
    """The distance of neighbours in accesses of ``width`` bytes, where it is the same for all lanes that take part."""
    begin = [lane for lane in lanes if lane is not None]
    apart = {later - earlier for earlier, later in pairwise(begin)}
    if len(begin) < len(lanes) or len(apart) != 1:
        return None
    (bytes_,) = apart
    return bytes_ // width if bytes_ % width == 0 else None


def _symbolic(kernel: Kernel, nest: Nest, access: Access) -> Row:
    assert access.reference is not None
    site = site_of(kernel, nest, access.reference, is_shared=access.is_shared, writes=access.writes)
    stride, size = access.stride, access.size_bytes
    lanes: tuple[int | None, ...] = ()
    is_known = stride is not None and stride.is_constant and stride.constant_value().denominator == 1
    if stride is not None and is_known:
        step = int(stride.constant_value()) * size
        lanes = tuple(step * lane - min(0, step * (WARP_THREADS - 1)) for lane in range(WARP_THREADS))
        served = serve(lanes, size, is_shared=access.is_shared)
    elif access.is_shared:
        share = bank_share(stride, size)
        served = Served(int(turns(size) / share.value), turns(size))
    else:
        served = Served(WARP_THREADS, max(1, WARP_THREADS * size // 32))
    words = None if access.count is None else access.count * RationalFunction(size, 4)
    units = served.units
    return Row(site, stride, lanes, size, served, units if is_known else 1, units, False, not is_known, words)
