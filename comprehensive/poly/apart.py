"""Whether pointers into the same data are far enough apart: a region and its nest in, diagnostics out.

::

    float *cur = buf, *next = buf + n;    cur[i + 1] for i < n - 1     n - (n - 1) - 1 >= 0: they do not meet
    float *cur = buf, *next = buf + m;                                 not known whether m >= n

What lies in data of different parameters does not overlap.  In one parameter, the last element that one pointer reaches
has to lie before the first one that the other does; else that is a warning (CF0415).  Pointers that are a constant
number of elements apart see one array: iterations that meet in it are an error (CF0416), ``b = a + 1; b[i] = a[i]``.
Elements of different remainders never meet, ``re = z; im = z + 1; im[2*i] = re[2*i]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import product
from math import gcd, prod

from comprehensive.algebra import Polynomial
from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import map_bands, map_indices
from comprehensive.metafork.ast import Address, Index, IntLiteral, MetaSchedule, Unary
from comprehensive.metafork.pointers_check import shared
from comprehensive.metafork.terms import plus
from comprehensive.poly.domains import preconditions, references
from comprehensive.poly.indices import NotPolynomialError, Scope, is_nonnegative, scope_of
from comprehensive.poly.legality import verdicts
from comprehensive.poly.model import Conflict, Legality
from comprehensive.poly.touched import touched

Ends = tuple[Polynomial, ...]


def check_apart(region: MetaSchedule, nest: Nest, parameters: AbstractSet[str], sink: DiagnosticSink) -> None:
    """Reports names in the data of one of these parameters through which iterations meet, or may meet for all that is
    known; each pair once."""
    told: set[tuple[str, str, bool]] = set()
    for first, second, one, other in shared(region, parameters):
        if one.offset is not None and one.offset == other.offset:
            continue  # surely not apart: that was an error
        if _are_apart(nest, (first, one), (second, other)):
            continue
        distance = _distance(nest, (first, one), (second, other))
        if distance is not None and _have_other_remainders(nest, first, second, distance):
            continue
        found = () if distance is None else _verdicts_in_one(nest, first, second, distance)
        meet = any(isinstance(v, Conflict) and v.witness.supposing is None for v in found)
        if (first, second, meet) in told:
            continue
        told.add((first, second, meet))
        keyword = Span(region.span.file, region.span.start, region.span.start + len("meta_schedule"))
        if meet:
            sink.error(
                "CF0416",
                f"iterations meet in '{one.base}', through '{first}' and '{second}'",
                keyword,
                help="let pointers be as far apart as what the region touches, or make the loops serial 'for' loops",
            )
            continue
        sink.warning(
            "CF0415",
            f"not known whether '{first}' and '{second}', both in '{one.base}', overlap",
            keyword,
            help="arrays of a region do not overlap, and this is trusted here: let pointers be as far apart as what "
            "the region touches, in terms of parameters that host code does not change",
        )


def _distance(nest: Nest, one: tuple[str, Address], other: tuple[str, Address]) -> int | None:
    """Return by how many elements the second of two names of rows begins behind the first; None for no constant."""
    (first, begin), (second, end) = one, other
    if (
        begin.offset is None
        or end.offset is None
        or any(nest.array(name).rank > 1 for name in (first, second))
    ):
        return None
    ring = Ring()
    distance = ring.read(end.offset) - ring.read(begin.offset)
    return int(distance.constant_value()) if distance.is_constant else None


def _have_other_remainders(nest: Nest, first: str, second: str, distance: int) -> bool:
    """Whether a number that divides all coefficients tells the elements of both names apart."""
    read = {
        name: [r.subscripts for r in references(nest) if r.access.array == name] for name in (first, second)
    }
    if None in (*read[first], *read[second]):
        return False
    for one, other in product(read[first], read[second]):
        assert one is not None
        assert other is not None
        varying = [t for p in (one[0], other[0]) for t in p.terms() if t.powers]
        apart = distance + int(other[0].constant_term - one[0].constant_term)
        modulus = gcd(*(t.coefficient.numerator for t in varying))
        if modulus == 0 or apart % modulus == 0 or any(t.coefficient.denominator > 1 for t in varying):
            return False
    return True


def _verdicts_in_one(nest: Nest, first: str, second: str, distance: int) -> tuple[Legality, ...]:
    """Return the verdicts on all loops where both names are one array."""
    moved = IntLiteral(distance) if distance >= 0 else Unary("-", IntLiteral(-distance))

    def in_one(index: Index) -> Index:
        if index.array != second:
            return index
        return Index(first, (plus(index.subscripts[0], moved),), index.span)

    merged = map_bands(nest, lambda _, body: map_indices(body, in_one))
    return tuple(verdict for _, _, verdict in verdicts(merged))


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
