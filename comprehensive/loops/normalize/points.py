"""The normal form of what is done at a point: bodies over the coordinates of a nest in, the same in one spelling out.

Each step makes way for the next: elements whose places are remembered are held (``carried_reads``), conditions become
choices or one (``if_conversion``), choices one after the other one (``single_assignment``),
places that are computed from elements are where they are read (``inlined``), pointers become rows and columns
(``delinearize``), which are computed in ``int`` where they fit (``narrow``), an element is called as it is first
(``one_spelling``), what a loop reads in all its turns comes before it (``invariant_reads``), loops through the same
turns become one (``fuse``), and what only a condition around the rest reads is declared in it (``sink``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from comprehensive.loops.ir import Array, Nest
from comprehensive.loops.normalize.carried_reads import with_carried_reads_held
from comprehensive.loops.normalize.delinearize import Delinearized, delinearize
from comprehensive.loops.normalize.fuse import fused
from comprehensive.loops.normalize.if_conversion import if_converted, with_conditions_joined
from comprehensive.loops.normalize.inlined import with_looked_up_places
from comprehensive.loops.normalize.invariant_reads import with_invariant_reads_first
from comprehensive.loops.normalize.narrow import in_int_at_points
from comprehensive.loops.normalize.one_spelling import in_one_spelling
from comprehensive.loops.normalize.own_names import with_own_loops
from comprehensive.loops.normalize.single_assignment import single_assigned
from comprehensive.loops.normalize.sink import sunk
from comprehensive.loops.normalize.subscripts import types_at_points
from comprehensive.loops.traverse import all_names, declared_names, rename
from comprehensive.metafork.ast import Expr, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import arrays_assigned
from comprehensive.records import replace


def normalize_points(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Mapping[str, Expr]
) -> Delinearized:
    """The bodies in normal form; ``0 <= name < limit`` for each of the coordinates."""
    name = Namer({*all_names(nest), *coordinates, *(n for body in bodies for n in declared_names(body))})
    types = types_at_points(nest, bodies, coordinates)
    read_only = _read_only(nest.arrays, bodies)
    held = [with_carried_reads_held(body, read_only, types, name) for body in bodies]
    types = types_at_points(nest, held, coordinates)
    converted = [with_conditions_joined(if_converted(body, types, name)) for body in held]
    types = types_at_points(nest, converted, coordinates)
    converted = [single_assigned(body, types, name) for body in converted]
    types = types_at_points(nest, converted, coordinates)
    converted = [with_looked_up_places(body, types, read_only) for body in converted]
    # Names of iterators are those of the program again behind the steps that read how far a loop goes.
    converted, iterators = with_own_loops(converted, name)
    seen = delinearize(nest, converted, coordinates, name)
    bodies, fitting = in_int_at_points(replace(nest, arrays=seen.arrays), seen.bodies, coordinates)
    types = types_at_points(replace(nest, arrays=seen.arrays), bodies, coordinates)
    bodies = [rename(in_one_spelling(body, types), iterators) for body in bodies]
    read_only = _read_only(seen.arrays, bodies)
    pointers = {a.name: a.pointer for a in seen.arrays}
    return replace(
        seen,
        conditions=tuple(dict.fromkeys((*fitting, *seen.conditions))),
        bodies=tuple(
            sunk(fused(with_invariant_reads_first(body, coordinates, read_only, seen.arrays, name), pointers))
            for body in bodies
        ),
    )


def _read_only(arrays: Sequence[Array], bodies: Sequence[tuple[Stmt, ...]]) -> dict[str, ScalarType]:
    """The types of the arrays whose data no body writes, or not what is read through them."""
    pointers = {a.name: a.pointer for a in arrays}
    assigned = arrays_assigned(chain.from_iterable(bodies))
    written = {pointers[array] for array in assigned if array in pointers}
    return {a.name: a.type for a in arrays if a.const or a.pointer not in written}
