"""The normal form of what is done at a point: bodies over the coordinates of a nest in, the same in one spelling out.

Each step makes way for the next: conditions become choices (``if_conversion``), pointers become rows and columns
(``delinearize``), and what a loop reads in all its turns comes before it (``invariant_reads``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.delinearize import Delinearized, delinearize
from comprehensive.loops.normalize.if_conversion import if_converted
from comprehensive.loops.normalize.invariant_reads import with_invariant_reads_first
from comprehensive.loops.normalize.subscripts import types_at_points
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.metafork.ast import Assign, Expr, Index, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import statements_in


def normalize_points(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Mapping[str, Expr]
) -> Delinearized:
    """The bodies in normal form; ``0 <= name < limit`` for each of the coordinates."""
    name = Namer({*all_names(nest), *coordinates, *(n for body in bodies for n in declared_names(body))})
    types = types_at_points(nest, bodies, coordinates)
    seen = delinearize(nest, [if_converted(body, types, name) for body in bodies], coordinates, name)
    statements = [s for body in seen.bodies for s in statements_in(body)]
    written = {s.target.array for s in statements if isinstance(s, Assign) and isinstance(s.target, Index)}
    read_only = {a.name: a.type for a in seen.arrays if a.name not in written}
    return replace(
        seen,
        bodies=tuple(
            with_invariant_reads_first(body, coordinates.keys(), read_only, name) for body in seen.bodies
        ),
    )
