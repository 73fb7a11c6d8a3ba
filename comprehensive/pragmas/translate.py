"""A loop with directives to the region that it is: the notation of OpenMP and OpenACC.

In: the tokens of a file, then the tree of each region.  Out: its parallel loops cut into blocks.  What a directive says
of a loop is taken at its word here, and checked as every region is::

    #pragma omp parallel for collapse(2) private(t)
    for (i...) for (j...) { t = a[i][j]; b[i][j] = t; }
        -->   meta_for i, j in blocks of B0 x B1: { float t = a[i][j]; b[i][j] = t; }
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import Declare, For, HostScalar, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import MetaFork, RegionText, RegionTree
from comprehensive.metafork.tokens import Token
from comprehensive.pragmas.cutting import Loops, cut
from comprehensive.pragmas.directives import NAMES, Directive
from comprehensive.pragmas.mark import Marked, marked
from comprehensive.pragmas.nest import directed, rectangular
from comprehensive.pragmas.sharing import privatised, with_locals
from comprehensive.pragmas.sums import check_order, once
from comprehensive.pragmas.updates import with_updates


@dataclass(slots=True)
class Pragmas:
    """One reading of a file; ``refuted`` are the offsets of loops that stay serial, since no proof shows them to be
    parallel.  ``found`` has the uncut loops of every region by the offset of its first character."""

    models: AbstractSet[str]
    refuted: AbstractSet[int]
    reassociate: bool
    text: Marked | None = None
    found: dict[int, Loops] = field(default_factory=lambda: {})

    def marked(self, tokens: Sequence[Token]) -> list[Token]:
        sink = tokens[0].origin.sink if tokens else DiagnosticSink()
        self.text = marked(tokens, self.models, self.refuted, sink)
        return list(self.text.tokens)

    def report_nothing(self, source: SourceFile, sink: DiagnosticSink) -> None:
        if sink.has_errors or self.refuted:
            return
        model = "acc" if self.models == {"acc"} else "omp"
        other = "omp" if model == "acc" else "acc"
        parallel = "parallel for" if model == "omp" else "parallel loop"
        also = f", or give --pragma {other}" if f"#pragma {other}" in source.text else ""
        sink.error(
            "CF1106",
            f"'{source.path}' has no parallel loop of {NAMES[model]}: there is nothing to optimize",
            None,
            help=f"put '#pragma {model} {parallel}' before the parallel loops of a C function{also}",
        )

    def region(self, text: RegionText) -> RegionTree:
        assert self.text is not None, "regions are read after the tokens"
        first = self.text.regions.get(text.keyword.start)
        if first is None:
            return MetaFork().region(text)
        loops, scalars = None, text.around.scalars
        match text.body:
            case (For() as loop, *stores) if text.is_understood:
                directives = self.text.loops.get(first, ())
                loops, scalars = self._loops(text, loop, stores, directives)
            case _:
                pass
        found = None if loops is None else cut(loops)
        if loops is None or found is None:
            return RegionTree((text.body,), text.around.scalars)
        self.found[text.keyword.start] = loops
        return RegionTree((found[0],), scalars, found[1])

    def _loops(
        self, text: RegionText, loop: For, stores: Sequence[Stmt], own: tuple[Directive, ...]
    ) -> tuple[Loops | None, tuple[HostScalar, ...]]:
        """The parallel loops of a region, None after errors, and the scalars that host code gives them.

        ``stores`` take sums of the loop.
        """
        assert self.text is not None
        name = Namer(text.taken)
        nested = {p: found for p, found in self.text.loops.items() if p != loop.span.start}
        if stores and not check_order(text, loop, own, self.reassociate):
            return None, ()
        around = once(loop, stores, name) if stores else loop
        teams = [team for team in self.text.teams if team.holds(loop.span.start)]
        behind = self.text.behind[loop.span.start]
        shared = privatised(text, loop, around, own, nested, teams, behind, name)
        if shared is None:
            return None, ()
        types = {**text.types, **shared.types}
        read = directed(text, shared.loop, () if stores else own, nested, types, name)
        if read is None:
            return None, ()
        run, inner = read
        given = {*(each.iterator for each in run), *shared.sums.values()}
        local = with_locals(text, inner, {n: t for n, t in shared.types.items() if n not in given})
        updated = None if local is None else with_updates(local, own, _arrays(text), text.sink)
        if updated is None:
            return None, ()
        begun = (
            Declare(types[new], new, initial=Name(old), span=loop.span) for old, new in shared.sums.items()
        )
        return rectangular(Loops(text, run, (*begun, *updated))), shared.scalars


def _arrays(text: RegionText) -> frozenset[str]:
    """The data that a region may update."""
    around = text.around
    data = (*around.arrays, *around.pointers, *(p for p in text.parameters if p.is_data))
    return frozenset(each.name for each in data)
