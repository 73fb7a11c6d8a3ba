"""Delinearization: references through a pointer become references to rows and columns.

In: a nest, the statements done at its points, and the ranges of the coordinates of a point.  Out: the same statements
over arrays of several dimensions::

    0 <= i < m, 0 <= j < n:   c[i*n + j] += a[i*lda + k] * b[k*n + j]
        -->  c[i][j] += a[i][k] * b[k][j]        rows of c and b have n elements, rows of a have lda

The row lengths are the coefficients of the variables: a chain ``n*m, m, 1`` in which each divides the one before.
A view computes the very address that the program computes, whatever the subscripts are, so that reading through one
needs no proof.  A view that is written must keep different subscripts apart: the column has to stay inside of its
row.  Where that does not follow from the ranges it is a condition, to be tested once at launch.

An array that is only read may have several views, since references with other coefficients see it otherwise:
``a[i*n + k] * a[j*n + k]`` reads two operands that happen to share their data, and so do ``w[0][k]`` and ``w[1][k]``.
The idea of the recovery is that of Grosser et al., "Optimistic Delinearization of Parametrically Sized Arrays"
(ICS 2015): sizes are taken from the coefficients, and what is not proved is tested when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import chain

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.ir import Array, KeptLinear, Nest
from comprehensive.loops.normalize.assumed_sizes import assuming_sizes
from comprehensive.loops.normalize.linear import kept_linear
from comprehensive.loops.normalize.rows import Rows, in_rows, rows_of, split
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.loops.traverse import map_indices
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Expr, Index, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import arrays_assigned, expressions_in, subexpressions
from comprehensive.records import replace


class Delinearized(Struct, frozen=True):
    """``bodies`` speak of ``arrays``; ``conditions`` over scalars of the nest keep written subscripts in their rows.

    ``linear`` says of arrays behind pointers why references to them have no rows, where they might have.
    """

    arrays: tuple[Array, ...]
    bodies: tuple[tuple[Stmt, ...], ...]
    conditions: tuple[Expr, ...]
    linear: tuple[KeptLinear, ...] = ()


def delinearize(
    nest: Nest, bodies: Sequence[tuple[Stmt, ...]], coordinates: Mapping[str, Expr], name: Namer
) -> Delinearized:
    """The bodies over views of the arrays of the nest; ``0 <= name < limit`` for each coordinate of a point."""
    subscripts = Subscripts.of(nest, bodies, coordinates)
    assumed = assuming_sizes(nest, subscripts, bodies)
    written = arrays_assigned(chain.from_iterable(bodies))
    everything = [e for body in bodies for x in expressions_in(body) for e in subexpressions(x)]
    views: dict[str, _Views] = {}
    for array in nest.arrays:
        references = [e for e in everything if isinstance(e, Index) and e.array == array.name]
        views[array.name] = (
            _written_view(array, references, subscripts)
            or _written_view(array, references, *assumed)
            or _kept(array, references)
            if array.name in written
            else _read_views(array, references, subscripts, assumed, coordinates.keys(), name)
        )
    return Delinearized(
        tuple(array for found in views.values() for array in found.arrays),
        tuple(
            map_indices(body, lambda e: views[e.array].view(e) if e.array in views else e) for body in bodies
        ),
        tuple(dict.fromkeys(condition for found in views.values() for condition in found.conditions)),
        tuple(
            why
            for found in views.values()
            for why in [kept_linear(found.linear, subscripts)]
            if why is not None
        ),
    )


class _Views(Struct, frozen=True):
    """``view`` makes of each reference to the array a reference to one of ``arrays``; those that are ``linear`` have
    one subscript all the same."""

    arrays: tuple[Array, ...]
    view: Callable[[Index], Index]
    conditions: tuple[Expr, ...] = ()
    linear: tuple[Index, ...] = ()


def _kept(array: Array, references: Sequence[Index]) -> _Views:
    return _Views((array,), lambda index: index, linear=tuple(references))


def _written_view(
    array: Array, references: Sequence[Index], subscripts: Subscripts, sizes: tuple[Expr, ...] = ()
) -> _Views | None:
    """The one view of an array that is written: all references have the same rows, and stay in them.

    None where that is not known before a launch; with the conditions on sizes under which the subscripts are.
    """
    if array.rank > 1:
        return _Views((array,), lambda index: index)
    values = [subscripts.linear(reference.subscripts[0]) for reference in references]
    known = [value for value in values if value is not None]
    rows = rows_of(known, subscripts) if len(known) == len(values) else None
    if rows is None:
        return None
    demanded = [in_rows(rows, value, subscripts) for value in known]
    demanded += [_seen(reference, rows, subscripts) for reference in references]
    if None in demanded:
        return None
    conditions = (*sizes, *(condition for each in demanded if each is not None for condition in each))
    view = _viewed(array, array.name, rows, subscripts)
    return _Views((view,), lambda index: _over(index, view.name, rows, subscripts), conditions)


def _read_views(
    array: Array,
    references: Sequence[Index],
    subscripts: Subscripts,
    assumed: tuple[Subscripts, tuple[Expr, ...]],
    points: Set[str],
    name: Namer,
) -> _Views:
    """The views of an array that is only read: one for each set of coefficients that its references have, and for each
    matrix or row of it.

    Its rows are those that fit where sizes are as they are ``assumed`` to be; elsewhere they read the same elements.
    """
    likely, sizes = assumed
    values = [subscripts.linear(r.subscripts[0]) for r in references] if array.rank == 1 else []
    together = rows_of([value for value in values if value is not None], likely)

    def rows(value: Polynomial | None) -> Rows | None:
        return None if value is None else together or rows_of([value], likely)

    def seen(index: Index, rows: Rows) -> tuple[Expr, ...] | None:
        surely = _seen(index, rows, subscripts)
        if surely is not None or (perhaps := _seen(index, rows, likely)) is None:
            return surely
        return (*sizes, *perhaps)

    def way(index: Index) -> _Way:
        found = rows(subscripts.linear(index.subscripts[0])) if array.rank == 1 else None
        if found is not None and seen(index, found) is None:
            found = None
        parts = _parts(index, found, subscripts)
        shape = subscripts.shape(parts)
        varying = frozenset[str]().union(*(names for part in shape for names, _ in part))
        # Members of what all points read in turn lie apart; those of a point's own elements share its sectors.
        apart = parts if varying and not varying & points else parts[:-1]
        return _Way(found, shape, tuple(map(fixed, apart)))

    def fixed(part: Polynomial | None) -> Polynomial | None:
        return part if part is not None and not subscripts.variables(part) else None

    names: dict[_Way, str] = {}
    for reference in references:
        if way(reference) not in names:
            names[way(reference)] = name(f"{array.name}_{len(names) + 1}") if names else array.name
    arrays = [_viewed(array, called, each.rows, subscripts) for each, called in names.items()]
    return _Views(
        tuple(arrays) or (array,),
        lambda index: _over(index, names[way(index)], way(index).rows, subscripts),
        tuple(
            condition
            for index in references
            for found in [way(index).rows]
            if found is not None
            for condition in seen(index, found) or ()
        ),
        tuple(index for index in references if array.rank == 1 and way(index).rows is None),
    )


class _Way(Struct, frozen=True):
    """The shape of a reference: its rows, None for those that the program declares; and which variables each subscript
    has, with their coefficients."""

    rows: Rows | None
    shape: tuple[frozenset[tuple[frozenset[str], Polynomial]], ...]
    fixed: tuple[Polynomial | None, ...]
    """The subscripts that have no variables: those of ``w[0][k]`` and ``w[1][k]`` differ, and those of ``p[k][0]`` and
    ``p[k][1]`` where all points read these elements."""


def _seen(index: Index, rows: Rows, subscripts: Subscripts) -> tuple[Expr, ...] | None:
    """Return the conditions on scalars under which a reference in these rows reads what the program reads: no
    conversion changes a value, and what is computed in ``int`` fits into it. None where that is not known before a
    launch."""
    (subscript,) = index.subscripts
    value, conversions = subscripts.linear(subscript), subscripts.conversions(subscript)
    if value is None or conversions is None:
        return None
    if promote(type_of(subscript, subscripts.types)) is ScalarType.INT:
        return conversions
    fits = [subscripts.in_int(part) for part in split(rows, value, subscripts)]
    if None in fits:
        return None
    return (*conversions, *(condition for each in fits if each is not None for condition in each))


def _parts(index: Index, rows: Rows | None, subscripts: Subscripts) -> tuple[Polynomial | None, ...]:
    values = tuple(map(subscripts.linear, index.subscripts))
    if rows is None or values[0] is None:
        return values
    return split(rows, values[0], subscripts)


def _over(index: Index, name: str, rows: Rows | None, subscripts: Subscripts) -> Index:
    """The reference in a view of its array."""
    if rows is None:
        return replace(index, array=name)
    value = subscripts.linear(index.subscripts[0])
    assert value is not None
    parts = split(rows, value, subscripts)
    return replace(index, array=name, subscripts=tuple(map(subscripts.ring.write, parts)))


def _viewed(array: Array, name: str, rows: Rows | None, subscripts: Subscripts) -> Array:
    if rows is None:
        return array if name == array.name else replace(array, name=name, view_of=array.pointer)
    dims = (None, *map(subscripts.ring.write, rows.lengths))
    return replace(array, name=name, dims=dims, view_of=array.pointer, whole_rows=False)
