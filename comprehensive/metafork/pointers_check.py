"""Whether pointers of a region point to data, each to its own.

In: a function and a region with all ways in which its pointers may point.  Out: errors (CF0217)::

    next = cur;   meta_schedule { ... next[i] = cur[i + 1] ... }      'cur' and 'next' may be the same array
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.ast import Address, Addresses, Function, MetaSchedule
from comprehensive.metafork.walk import arrays, arrays_assigned


def data_of(region: MetaSchedule, parameters: AbstractSet[str]) -> frozenset[str]:
    """The parameters whose data a region may touch."""
    used = arrays(region.body)
    found = {address.base for way in ways(region, used & parameters) for name, address in way if name in used}
    return frozenset(name for name in found if name is not None)


def ways(region: MetaSchedule, parameters: AbstractSet[str]) -> Iterator[Addresses]:
    """All ways in which the pointers of a region may point, these parameters among them."""
    for way in region.addresses:
        moved = {name for name, _ in way}
        own = tuple((name, Address(name)) for name in sorted(parameters) if name not in moved)
        yield (*way, *own)


def shared(region: MetaSchedule, parameters: AbstractSet[str]) -> Iterator[tuple[str, str, Address, Address]]:
    """Pairs of names of a region, one of them written, that may be in the data of one parameter."""
    used = arrays(region.body)
    written = arrays_assigned(region.body)
    found: dict[tuple[str, str, Address, Address], None] = {}
    for way in ways(region, used & parameters):
        places = sorted((item for item in way if item[0] in used), key=lambda item: item[0])
        for (first, one), (second, other) in combinations(places, 2):
            if one.base is not None and one.base == other.base and written & {first, second}:
                found[first, second, one, other] = None
    yield from found


def check_pointers(function: Function, region: MetaSchedule, sink: DiagnosticSink) -> None:
    """Reports a pointer that may point elsewhere than to data, and two that surely meet on some way."""
    used = arrays(region.body)
    parameters = {p.name for p in function.parameters if p.is_data}
    keyword = Span(region.span.file, region.span.start, region.span.start + len("meta_schedule"))
    unknown = {name: None for way in region.addresses for name, address in way if address.base is None}
    for name in unknown:
        if name in used:
            sink.error(
                "CF0217",
                f"'{name}' may point here to what is no array of the function, or nowhere",
                keyword,
                help=f"let '{name}' point to an array that is a parameter, or into one, on every path to this region; "
                f"what malloc gives is memory of the host: make '{name}' a parameter",
            )
    reported: set[tuple[str, str]] = set()
    for first, second, one, other in shared(region, parameters):
        if one.offset == other.offset and one.offset is not None and (first, second) not in reported:
            reported.add((first, second))
            sink.error(
                "CF0217",
                f"'{first}' and '{second}' may be the same array here, that of '{one.base}'",
                keyword,
                help="arrays of a region do not overlap: exchange pointers on every path, or use one name for both",
            )
