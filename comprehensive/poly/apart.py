"""Whether pointers into the same data are far enough apart: a region and its nest in, a warning out (CF0415).

::

    float *cur = buf, *next = buf + n;    cur[i + 1] for i < n - 1     n - (n - 1) - 1 >= 0: they do not meet
    float *cur = buf, *next = buf + m;                                 not known whether m >= n

What lies in data of different parameters does not overlap.  In one parameter, the last element that one pointer reaches
has to lie before the first one that the other does.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from math import prod

from comprehensive.algebra import Polynomial
from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Address, MetaSchedule
from comprehensive.metafork.pointers_check import shared
from comprehensive.poly.domains import preconditions
from comprehensive.poly.indices import NotPolynomialError, Scope, is_nonnegative, scope_of
from comprehensive.poly.touched import touched

Ends = tuple[Polynomial, ...]


def check_apart(region: MetaSchedule, nest: Nest, parameters: AbstractSet[str], sink: DiagnosticSink) -> None:
    """Warns of names in the data of one of these parameters of which nothing says that they are apart."""
    told: set[tuple[str, str]] = set()
    for first, second, one, other in shared(region, parameters):
        if one.offset is not None and one.offset == other.offset:
            continue  # surely not apart: that was an error
        if (first, second) in told or _are_apart(nest, (first, one), (second, other)):
            continue
        told.add((first, second))
        sink.warning(
            "CF0415",
            f"not known whether '{first}' and '{second}', both in '{one.base}', overlap",
            Span(region.span.file, region.span.start, region.span.start + len("meta_schedule")),
            help="arrays of a region do not overlap, and this is trusted here: let pointers be as far apart as what "
            "the region touches, in terms of parameters that host code does not change",
        )


def _are_apart(nest: Nest, one: tuple[str, Address], other: tuple[str, Address]) -> bool:
    scope = scope_of(nest)
    try:
        low, high = _reached(nest, scope, *one), _reached(nest, scope, *other)
    except NotPolynomialError:
        return False
    if low is None or high is None:
        return False
    known = [Polynomial.constant(0), *(c.polynomial for c in preconditions(nest))]

    def is_before(low: tuple[Ends, Ends], high: tuple[Ends, Ends]) -> bool:
        """Whether all that one pointer reaches lies before all that another one does."""
        gaps = [first - last - 1 for last in low[1] for first in high[0]]
        return all(any(is_nonnegative(gap - more, scope.lower) for more in known) for gap in gaps)

    return is_before(low, high) or is_before(high, low)


def _reached(nest: Nest, scope: Scope, name: str, address: Address) -> tuple[Ends, Ends] | None:
    """The least and the greatest elements, in the data of the parameter; None where not all are known."""
    if address.offset is None:
        return None
    # A scalar of host code that the region does not see has one value while it runs: it may cancel out.
    offset = scope.read(address.offset, names_read(address.offset) - scope.lower.keys() - scope.values.keys())
    array = nest.array(name)
    if array.dims is not None and array.dims[0] is not None:
        extents = [scope.read(extent) for extent in array.dims if extent is not None]
        return (offset,), (offset + prod(extents, start=Polynomial.constant(1)) - 1,)
    row = prod(_row(nest, scope, name), start=Polynomial.constant(1))
    found = touched(nest)[name]
    if found.unknown:
        return None
    first = tuple(offset + end.element * row for end in found.first)
    return first, tuple(offset + end.element * row + row - 1 for end in found.last)


def _row(nest: Nest, scope: Scope, name: str) -> Iterator[Polynomial]:
    for extent in (nest.array(name).dims or ())[1:]:
        assert extent is not None, "only the first extent of data may be open"
        yield scope.read(extent)
