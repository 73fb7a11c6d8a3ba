"""The semantic check of a function with regions, topic by topic.

In: a function as parsed and the names of its host code.  Out: errors in the sink, CF02xx from the names and types,
CF03xx from the parallel loops; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Note, Span
from comprehensive.metafork.ast import Function, MetaSchedule
from comprehensive.metafork.file_scope import names_written
from comprehensive.metafork.names import NamesOutside, check_names, check_parameters
from comprehensive.metafork.pointers_check import check_pointers, data_of
from comprehensive.metafork.reserved import (
    generated_names,
    is_own,
    report_reserved,
    why_reserved,
    with_leaf_zero,
)
from comprehensive.metafork.scope import scope_of_region
from comprehensive.metafork.structure import check_structure
from comprehensive.metafork.walk import arrays


class HostNames(Struct, frozen=True):
    """The names in host code: where it first uses each, which it declares in words outside the language, and which the
    file defines as macros."""

    mentions: Mapping[str, Span]
    pointed: tuple[tuple[Span, frozenset[str]], ...]
    """The places where it does more with data than copy, move or compare pointers, with the parameters of the data."""
    opaque: frozenset[str]
    macros: frozenset[str]
    missing: tuple[str, ...] = ()
    """Files that it includes and that were not found."""
    of_file: frozenset[str] = frozenset()
    """The names that it declares outside functions."""


def check_function(function: Function, host: HostNames, sink: DiagnosticSink) -> None:
    """Checks parameters, then each region by itself, then host code against the data of all regions."""
    outside = NamesOutside(host.opaque, host.macros, host.missing, host.of_file)
    check_parameters(function, outside, sink)
    for region in function.regions:
        check_names(function, region, outside, sink)
        check_cache(function, region, host.opaque, sink)
        check_structure(region, sink)
        check_pointers(function, region, sink)
    _check_host_data(function, host, sink)


def check_generated_names(functions: Sequence[Function], sink: DiagnosticSink) -> None:
    """Report names that two functions of a file would share in what is generated, or that the program has besides: what
    is generated for a function bears its name."""
    _check_shared_names(functions, sink)
    reported: set[str] = set()
    parameters = {p.name for function in functions for p in function.parameters}
    for function in functions:
        if is_own(f"{function.name}_"):
            reason = "would be the beginning of names that generated code has of its own"
            report_reserved(function.name, reason, function.span, sink)
        generated = generated_names(function.name, len(function.regions))
        for p in function.parameters:
            if with_leaf_zero(p.name) in generated:
                report_reserved(p.name, f"is generated for '{function.name}'", p.span, sink)
    owners = {
        name: function.name
        for function in functions
        for name in generated_names(function.name, len(function.regions))
    }
    for name, span in names_written(functions):
        owner = owners.get(with_leaf_zero(name))
        reason = why_reserved(name) if is_own(name) else None
        if reason is None and owner is not None:
            reason = f"is generated for '{owner}'"
        if reason is not None and name not in reported | parameters:
            reported.add(name)
            report_reserved(name, reason, span, sink)


def _check_shared_names(functions: Sequence[Function], sink: DiagnosticSink) -> None:
    taken: dict[str, Function] = {}
    with_leaves: dict[str, Function] = {}
    for function in functions:
        count = len(function.regions)
        names = {function.name, *(f"{function.name}_{k + 1}" for k in range(count) if count > 1)}
        names |= generated_names(function.name, count)
        found = {name: taken.get(name, with_leaves.get(name)) for name in names}
        found |= {name: taken[with_leaf_zero(name)] for name in names if with_leaf_zero(name) in taken}
        shared = {name: other for name, other in found.items() if other is not None}
        if shared:
            name = function.name if function.name in shared else min(shared)
            other = shared[name]
            twice = f"'{name}' is defined twice"
            both = f"the name '{name}' stands for code of '{other.name}' and of '{function.name}'"
            sink.error(
                "CF0322",
                twice if function.name == other.name else both,
                function.span,
                notes=(Note(f"'{other.name}' is defined here", other.span),),
                help="rename one of the two functions",
            )
        for name in sorted(names):
            taken.setdefault(name, function)
            with_leaves.setdefault(with_leaf_zero(name), function)


def check_cache(
    function: Function, region: MetaSchedule, opaque: frozenset[str], sink: DiagnosticSink
) -> None:
    """The cache clause names data arrays that the region uses, each once."""
    scope = scope_of_region(function, region, opaque)
    used = arrays(region.body)
    seen: set[str] = set()
    for name in region.cache or ():
        symbol = scope.get(name)
        if symbol is None:
            problem, help_text = "is not declared", "name an array that the region uses"
        elif not symbol.is_data:
            problem, help_text = "is a scalar", "only arrays are copied into shared memory; remove it"
        elif name not in used:
            problem, help_text = "is not used in the region", "remove it"
        elif name in seen:
            problem, help_text = "is named twice", "name each array once"
        else:
            seen.add(name)
            continue
        sink.error(
            "CF0314", f"'{name}' in the cache clause {problem}", _in_clause(region, name), help=help_text
        )


def _in_clause(region: MetaSchedule, name: str) -> Span:
    """The clause as a span: from the keyword to the brace (names in it have no nodes)."""
    text = region.span.text
    return Span(region.span.file, region.span.start, region.span.start + len(text.split("{", 1)[0].rstrip()))


def _check_host_data(function: Function, host: HostNames, sink: DiagnosticSink) -> None:
    """Reports each array once, where host code first does something with it that needs its elements."""
    reported: set[str] = set()
    for region in function.regions:
        keyword = Span(region.span.file, region.span.start, region.span.start + len("meta_schedule"))
        own = {array.name for array in region.arrays} & arrays(region.body)
        data = data_of(region, {p.name for p in function.parameters if p.is_data})
        places = [(host.mentions[name], name) for name in own & host.mentions.keys()]
        places += [(place, place.text) for place, bases in host.pointed if bases & data]
        for place, name in sorted(places, key=lambda found: found[0].start):
            if name in reported:
                continue
            reported.add(name)
            sink.error(
                "CF0215",
                f"host code uses the data '{name}' of a region",
                place,
                notes=(Note("used by this region", keyword),),
                help="arrays live on the device while the function runs: do it in a region, or before the call; "
                "pointers to them may be copied, moved and compared",
            )
    used = {name for region in function.regions for name in arrays(region.body)}
    unused = {p.name for p in function.parameters if p.is_data and p.name not in used}
    of_rows = {p.name for p in function.parameters if len(p.dims) > 1}
    of_rows |= {p.name for region in function.regions for p in region.pointers if len(p.dims) > 1}
    for place, bases in host.pointed:
        name = place.text
        if bases and bases <= unused and name in of_rows and name not in reported:
            reported.add(name)
            sink.error(
                "CF0215",
                f"host code uses '{name}', which points to rows that no region uses",
                place,
                help="the launcher has the address of the first element: pass a pointer to an element, as in "
                f"'float *{name}', and write the places of elements, as in '{name}[i*n + j]'",
            )
