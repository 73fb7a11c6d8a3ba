"""The notation of a file: how it marks regions, and what the statements of a region mean.

In: the tokens of a file, later the tree of one region.  Out: the same tokens with ``meta_schedule { ... }`` around
every region, later the nest of parallel loops that the region is.  MetaFork has keywords for that, other notations
have directives::

    #pragma omp parallel for                          meta_schedule {
    for (i = 0; i < n; i++) S              -->          for (i = 0; i < n; i++) S
                                                      }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import (
    Expr,
    HostScalar,
    IntLiteral,
    MetaFor,
    Name,
    Parameter,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.blocking import blocked
from comprehensive.metafork.distribute import distributed
from comprehensive.metafork.host import Surroundings
from comprehensive.metafork.keywords import corrected
from comprehensive.metafork.rectangle import rectangular_grid
from comprehensive.metafork.structure import perfect_run
from comprehensive.metafork.tokens import Token


class RegionText(NamedTuple):
    """A region as parsed.

    ``block`` are the extents of its block clause, ``taken`` all names of the file, ``unsteady`` those that host code
    declares again or changes; where the region was not understood, its body is not complete.
    """

    keyword: Token
    block: tuple[Name | IntLiteral, ...]
    body: tuple[Stmt, ...]
    around: Surroundings
    parameters: tuple[Parameter, ...]
    taken: frozenset[str]
    unsteady: frozenset[str]
    is_understood: bool

    @property
    def types(self) -> dict[str, ScalarType]:
        """The types of the scalars around the region."""
        known = {p.name: p.type for p in self.parameters if not p.is_data}
        return known | {s.name: s.type for s in self.around.scalars}

    @property
    def sink(self) -> DiagnosticSink:
        return self.keyword.origin.sink


class RegionTree(NamedTuple):
    """The nests of parallel loops that a region is, one after the other; the scalars of host code that it sees, the
    parameters that its function gets for it, what has to hold, whether sums may be added up in any order, and whether
    its loops are known to be as parallel as they are said to be."""

    bodies: tuple[tuple[Stmt, ...], ...]
    scalars: tuple[HostScalar, ...]
    added: tuple[Parameter, ...] = ()
    preconditions: tuple[Expr, ...] = ()
    in_any_order: bool = False
    is_checked: bool = False


class Notation(Protocol):
    """One way to say what runs in parallel."""

    def marked(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with keywords around regions."""
        ...

    def report_nothing(self, source: SourceFile, sink: DiagnosticSink) -> None:
        """Says that a file has no region."""
        ...

    def result(self, keyword: Token) -> Token | None:
        """Return the name of memory that a region stores what the function returns to, if it does."""
        ...

    def region(self, text: RegionText) -> RegionTree:
        """Return the nest that the statements of a region mean; errors go to the sink of the tokens."""
        ...


class MetaFork:
    """The keywords ``meta_schedule`` and ``meta_for``, with the clause ``block``."""

    def marked(self, tokens: Sequence[Token]) -> list[Token]:
        return corrected(tokens)

    def report_nothing(self, source: SourceFile, sink: DiagnosticSink) -> None:
        sink.error(
            "CF0104",
            f"'{source.path}' has no meta_schedule: there is nothing to optimize",
            None,
            help="put 'meta_schedule { ... }' around the parallel loops of a C function, or give --pragma omp or "
            "--pragma acc for a file with directives of OpenMP or OpenACC, or --pragma scop for '#pragma scop'",
        )

    def result(self, keyword: Token) -> Token | None:
        return None

    def region(self, text: RegionText) -> RegionTree:
        if not text.block or not text.is_understood:
            return RegionTree((rectangular_grid(text.body),), text.around.scalars)
        clause = text.block[0].span.to(text.block[-1].span)
        parts = distributed(text.body, text.sink)
        ranks = [_rank(part) for part in parts]
        return RegionTree(
            tuple(
                blocked(
                    part,
                    text.block if rank == max(ranks) else text.block[:rank],
                    text.parameters,
                    text.taken,
                    text.unsteady,
                    clause,
                    text.sink,
                )
                for part, rank in zip(parts, ranks, strict=True)
            ),
            text.around.scalars,
        )


def _rank(body: tuple[Stmt, ...]) -> int:
    """Return the number of parallel loops that stand one in the other with nothing between."""
    match body:
        case (MetaFor() as outermost,):
            return len(perfect_run(outermost))
        case _:
            return 0
