"""The semantic check of a function with regions, topic by topic.

In: a function as parsed and the names of its host code.  Out: errors in the sink, CF02xx from the names and types,
CF03xx from the parallel loops; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.diagnostics import DiagnosticSink, Note, Span
from comprehensive.metafork.ast import Function, MetaSchedule
from comprehensive.metafork.names import NamesOutside, check_names, check_parameters
from comprehensive.metafork.scope import scope_of_region
from comprehensive.metafork.structure import check_structure
from comprehensive.metafork.walk import arrays


@dataclass(frozen=True, slots=True)
class HostNames:
    """What host code says about names: where it first uses each, which it declares in words outside the
    language, and which the file defines as macros."""

    mentions: Mapping[str, Span]
    opaque: frozenset[str]
    macros: frozenset[str]


def check_function(function: Function, host: HostNames, sink: DiagnosticSink) -> None:
    """Checks parameters, then each region by itself, then host code against the data of all regions."""
    outside = NamesOutside(host.opaque, host.macros)
    check_parameters(function, outside, sink)
    for region in function.regions:
        check_names(function, region, outside, sink)
        check_cache(function, region, host.opaque, sink)
        check_structure(region, sink)
    _check_host_data(function, host.mentions, sink)


def check_region_names(functions: Sequence[Function], sink: DiagnosticSink) -> None:
    """What is generated for a region bears its name: no two functions or regions of a file may share one."""
    taken: dict[str, Function] = {}
    for function in functions:
        count = len(function.regions)
        for name in (function.name, *(f"{function.name}_{k + 1}" for k in range(count) if count > 1)):
            other = taken.setdefault(name, function)
            if other is function:
                continue
            twice = f"'{name}' is defined twice"
            shared = f"the name '{name}' stands for code of '{other.name}' and of '{function.name}'"
            sink.error(
                "CF0322",
                twice if function.name == other.name else shared,
                function.span,
                notes=(Note(f"'{other.name}' is defined here", other.span),),
                help="rename one of the two functions",
            )
            break


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


def _check_host_data(function: Function, mentions: Mapping[str, Span], sink: DiagnosticSink) -> None:
    reported: set[str] = set()
    for region in function.regions:
        data = {p.name for p in function.parameters if p.is_data} | {a.name for a in region.arrays}
        mentioned = (arrays(region.body) & data & mentions.keys()) - reported
        keyword = Span(region.span.file, region.span.start, region.span.start + len("meta_schedule"))
        for name in sorted(mentioned, key=lambda name: mentions[name].start):
            reported.add(name)
            sink.error(
                "CF0215",
                f"host code uses the data '{name}' of a region",
                mentions[name],
                notes=(Note("used by this region", keyword),),
                help="arrays live on the device while the function runs: do it in a region, or before the call",
            )
