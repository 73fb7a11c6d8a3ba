"""A loop with directives to the region that it is: the notation of OpenMP and OpenACC.

In: the tokens of a file, then the tree of each region.  Out: its parallel loops cut into blocks.  What a directive says
of a loop is taken at its word here, and checked as every region is::

    #pragma omp parallel for collapse(2) private(t)
    for (i...) for (j...) { t = a[i][j]; b[i][j] = t; }
        -->   meta_for i, j in blocks of B0 x B1: { float t = a[i][j]; b[i][j] = t; }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from comprehensive.diagnostics import DiagnosticSink, SourceFile, Span
from comprehensive.metafork.ast import Declare, For, HostScalar, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.notation import MetaFork, RegionText, RegionTree
from comprehensive.metafork.tokens import Token
from comprehensive.pragmas.cutting import Loops, cut
from comprehensive.pragmas.directives import MODELS, NAMES, Directive, mentions
from comprehensive.pragmas.mark import Marked, marked
from comprehensive.pragmas.nest import directed, rectangular
from comprehensive.pragmas.sharing import privatised, with_locals
from comprehensive.pragmas.sums import Shared, once, shared
from comprehensive.pragmas.updates import with_updates

_BEGINS = {
    "omp": "#pragma omp parallel for' before the parallel loops",
    "acc": "#pragma acc parallel loop' before the parallel loops",
    "scop": "#pragma scop' before the loops and '#pragma endscop' behind them, in the body",
}


class Pragmas(Struct):
    """One reading of a file; ``refuted`` are the offsets of loops that stay serial, since no directive of theirs says
    that they are parallel, and no proof shows it.  ``found`` has the uncut loops of every region by the offset of its
    first character."""

    models: AbstractSet[str]
    refuted: AbstractSet[int]
    text: Marked | None = None
    found: dict[int, Loops] = field(default_factory=lambda: {})
    parted: dict[int, Shared] = field(default_factory=lambda: {})
    """The regions that have become two, in the same way."""

    def marked(self, tokens: Sequence[Token]) -> list[Token]:
        sink = tokens[0].origin.sink if tokens else DiagnosticSink()
        self.text = marked(tokens, self.models, self.refuted, sink)
        return list(self.text.tokens)

    def report_nothing(self, source: SourceFile, sink: DiagnosticSink) -> None:
        if sink.has_errors or self.refuted:
            return
        (model,) = self.models
        others = [f", or give --pragma {each}" for each in MODELS if each != model and mentions(source, each)]
        sink.error(
            "CF1106",
            f"'{source.path}' has no parallel loop of {NAMES[model]}: there is nothing to optimize",
            None,
            help=f"put '{_BEGINS[model]} of a C function{''.join(others[:1])}",
        )

    def result(self, keyword: Token) -> Token | None:
        return None if self.text is None else self.text.results.get(keyword.start)

    def region(self, text: RegionText) -> RegionTree:
        assert self.text is not None, "regions are read after the tokens"
        first = self.text.regions.get(text.keyword.start)
        if first is None:
            return MetaFork().region(text)
        match text.body:
            case (For() as loop, *stores) if text.is_understood:
                tree = self._tree(text, loop, stores, self.text.loops.get(first, ()))
            case (other, *_) if text.is_understood:
                _report_uncounted(text, other)
                tree = None
            case _:
                tree = None
        return RegionTree((text.body,), text.around.scalars) if tree is None else tree

    def _tree(
        self, text: RegionText, loop: For, stores: Sequence[Stmt], own: tuple[Directive, ...]
    ) -> RegionTree | None:
        """The region of a loop and of the ``stores`` that take its sums; None after errors."""
        name = Namer(text.taken)
        read = self._loops(text, loop, stores, own, name)
        if read is None:
            return None
        loops, scalars, sums = read
        if stores:
            known = frozenset(
                (*(s.name for s in scalars), *(p.name for p in text.parameters if not p.is_data))
            )
            called = {new: old for old, new in sums.items()}
            both = shared(loops, own, called, known, name, self.refuted)
            if both is not None:
                self.parted[text.keyword.start] = both
                return both.tree._replace(scalars=(*scalars, *both.tree.scalars))
        found = cut(loops)
        if found is None:
            return None
        self.found[text.keyword.start] = loops
        return RegionTree((found[0],), scalars, found[1], in_any_order=bool(stores))

    def _loops(
        self,
        text: RegionText,
        loop: For,
        stores: Sequence[Stmt],
        own: tuple[Directive, ...],
        name: Namer,
    ) -> tuple[Loops, tuple[HostScalar, ...], Mapping[str, str]] | None:
        """The parallel loops of a region, the scalars that host code gives them, and the names that its sums have in
        it; None after errors.
        """
        assert self.text is not None
        nested = {p: found for p, found in self.text.loops.items() if p != loop.span.start}
        around = once(loop, stores, name) if stores else loop
        teams = [team for team in self.text.teams if team.holds(loop.span.start)]
        behind = self.text.behind[loop.span.start]
        private = privatised(text, loop, around, own, nested, teams, behind, name)
        if private is None:
            return None
        types = {**text.types, **private.types}
        read = directed(text, private.loop, () if stores else own, nested, types, name)
        if read is None:
            return None
        run, inner = read
        given = {*(each.iterator for each in run), *private.sums.values()}
        local = with_locals(text, inner, {n: t for n, t in private.types.items() if n not in given})
        updated = None if local is None else with_updates(local, own, _arrays(text), text.sink)
        if updated is None:
            return None
        begun = (
            Declare(types[new], new, initial=Name(old), span=loop.span) for old, new in private.sums.items()
        )
        return rectangular(Loops(text, run, (*begun, *updated))), private.scalars, private.sums


def _report_uncounted(text: RegionText, loop: Stmt) -> None:
    """A loop over several variables, or whose iterations no header counts (CF1113)."""
    head = Span(loop.span.file, loop.span.start, loop.span.start + len("for"))
    text.sink.error(
        "CF1113",
        "this parallel loop has no iterator that goes from a start to a bound in equal steps, or more than one",
        head,
        help="write it as 'for (int i = first; i < bound; i += step)', and what else its header computes into its "
        "body, or drop the directive",
    )


def _arrays(text: RegionText) -> frozenset[str]:
    """The data that a region may update."""
    around = text.around
    data = (*around.arrays, *around.pointers, *(p for p in text.parameters if p.is_data))
    return frozenset(each.name for each in data)
