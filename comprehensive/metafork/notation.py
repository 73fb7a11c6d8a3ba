"""How a file says what is a region, and what the statements of a region mean.

In: the tokens of a file, later the tree of one region.  Out: the same tokens with ``meta_schedule { ... }`` around
every region, later the nest of parallel loops that the region is.  MetaFork has keywords for that, other notations
have directives::

    #pragma omp parallel for                          meta_schedule {
    for (i = 0; i < n; i++) S              -->          for (i = 0; i < n; i++) S
                                                      }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import HostScalar, Name, Parameter, ScalarType, Stmt
from comprehensive.metafork.blocking import blocked
from comprehensive.metafork.host import Surroundings
from comprehensive.metafork.keywords import corrected
from comprehensive.metafork.rectangle import rectangular_grid
from comprehensive.metafork.tokens import Token


class RegionText(NamedTuple):
    """A region as parsed.  ``taken`` are all names of the file, ``unsteady`` those that host code declares again or
    changes; where the region was not understood, its body is not complete."""

    keyword: Token
    clauses: Mapping[str, tuple[Token, ...]]
    body: tuple[Stmt, ...]
    around: Surroundings
    parameters: tuple[Parameter, ...]
    taken: frozenset[str]
    unsteady: frozenset[str]
    is_understood: bool

    @property
    def types(self) -> dict[str, ScalarType]:
        """Those of the scalars around the region."""
        known = {p.name: p.type for p in self.parameters if not p.is_data}
        return known | {s.name: s.type for s in self.around.scalars}

    @property
    def sink(self) -> DiagnosticSink:
        return self.keyword.origin.sink


class RegionTree(NamedTuple):
    """The body of a region with its parallel loops, the scalars of host code that it sees, and the parameters that
    its function gets for it."""

    body: tuple[Stmt, ...]
    scalars: tuple[HostScalar, ...]
    added: tuple[Parameter, ...] = ()


class Notation(Protocol):
    """One way to say what runs in parallel."""

    def marked(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with keywords around regions."""
        ...

    def report_nothing(self, source: SourceFile, sink: DiagnosticSink) -> None:
        """Says that a file has no region."""
        ...

    def region(self, text: RegionText) -> RegionTree:
        """What the statements of a region mean; errors go to the sink of the tokens."""
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
            "--pragma acc for a file with directives of OpenMP or OpenACC",
        )

    def region(self, text: RegionText) -> RegionTree:
        body, extents = text.body, text.clauses.get("block")
        if extents and text.is_understood:
            names = [Name(token.text, token.span) for token in extents]
            clause = extents[0].span.to(extents[-1].span)
            body = blocked(body, names, text.parameters, text.taken, text.unsteady, clause, text.sink)
        else:
            body = rectangular_grid(body)
        return RegionTree(body, text.around.scalars)
