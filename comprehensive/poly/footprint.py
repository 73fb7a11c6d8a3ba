"""Footprints: the tiles of an array that a block or a thread touches, with symbolic tile sizes.

In: a nest, a band, an array, a level.  Out: a :class:`Footprint` with one :class:`Tile` per reference group, or
:class:`Opaque` with the reason.  Example: figure 7 of the paper (1-D Jacobi) at block level has a tile of
``s*B + 2`` elements that is loaded and one of ``s*B`` that is stored.

Groups are separate when their boxes are proved disjoint, or when they only read and have no common origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra import Polynomial, sum_of
from comprehensive.diagnostics import Span
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Index
from comprehensive.poly.boxes import Hull, Member, NoBoxError, apart, extreme, join, stride_of
from comprehensive.poly.conflicts import obstacle_to
from comprehensive.poly.counting import count_elements
from comprehensive.poly.domains import (
    Axis,
    Facts,
    Place,
    Reference,
    band_references,
    complete,
    domain,
    fixed_places,
    preconditions,
    references,
    term_text,
)
from comprehensive.poly.elements import Box, between, element_symbol, simplified, size, touched
from comprehensive.poly.indices import NotPolynomialError, scope_of
from comprehensive.poly.legality import grid_question
from comprehensive.poly.lifting import implied
from comprehensive.poly.memo import remembered_in_text
from comprehensive.poly.model import Condition, Constraint, Footprint, Level, Opaque, Tile
from comprehensive.poly.virtual import Weights, coordinates, virtual_weights


@remembered_in_text(1024)
def footprint(nest: Nest, band: int, array: str, level: Level) -> Footprint | Opaque:
    """The tiles of ``array`` in the ``band``-th band, or why there are none."""
    everything = band_references(nest) if Place.STEP in fixed_places(level) else references(nest)
    found = [r for r in everything if r.access.array == array and r.access.context.band == band]
    updated = next((r for r in references(nest) if r.access.array == array and r.access.mode.is_atomic), None)
    if updated is not None:
        # A block that adds to a copy of its own would lose what others have added meanwhile.
        return _opaque(array, updated, "is updated atomically, in global memory")
    for reference in found:
        if reference.obstacle is not None:
            return Opaque(
                array, term_text(reference.obstacle.term), reference.obstacle.reason, reference.obstacle.span
            )
    if not found:
        return Footprint(array, level, (), Polynomial.constant(0))
    try:
        return _footprint(nest, array, level, found)
    except NoBoxError as reason:
        return _opaque(array, found[0], str(reason), reason.remedy)


def _footprint(nest: Nest, array: str, level: Level, found: list[Reference]) -> Footprint | Opaque:
    weights = virtual_weights(nest, array, found)
    fixed_axes = tuple(a for a in found[0].axes if a.place in fixed_places(level))
    fixed = frozenset(a.counter for a in fixed_axes)
    members: list[Member] = []
    facts = _facts(nest, found, fixed_axes)
    for reference in found:
        members.append(_member(reference, weights, level, facts))
    direct: list[Opaque] = []
    while True:
        groups = _groups(members, facts, fixed)
        if isinstance(groups, Member):
            return _opaque(
                array,
                groups.reference,
                "may meet another reference of the tile at a distance that is not known",
            )
        left_out: list[Member] = []
        for group in groups:
            unproved = _unproved(nest, array, weights, group, level, facts, fixed_axes)
            if unproved and group.writes:
                return _unsure(array, unproved[0].reference)
            left_out += unproved
        if not left_out:
            break
        direct += [_unsure(array, member.reference) for member in left_out]
        members = [member for member in members if member not in left_out]
    if not members:
        return direct[0]
    tiles: list[Tile] = []
    for group in groups:
        tile = _tile(nest, array, weights, group, level, facts, fixed_axes)
        if isinstance(tile, Opaque):
            return tile
        tiles.append(tile)
    distinct = all(apart(a, b, facts) for i, a in enumerate(groups) for b in groups[:i])
    counts = [t.count for t in tiles if t.count is not None]
    total = sum_of(counts) if distinct and len(counts) == len(tiles) else None
    return Footprint(array, level, tuple(tiles), total, tuple(direct))


def _unproved(
    nest: Nest,
    array: str,
    weights: Weights,
    group: Hull,
    level: Level,
    facts: Facts,
    fixed_axes: tuple[Axis, ...],
) -> list[Member]:
    """The references of a group that need not happen, and of which it is not proved that they stay in the array."""
    unsure = [m for m in group.members if not m.reference.is_sure(level)]
    if not unsure:
        return []
    box = _box(nest, group, facts, fixed_axes)
    if _within_declaration(nest, array, weights, box, facts) is not None:
        return []  # a copy stays inside the declared extents, and so does the program
    sure = [m for m in group.members if m.reference.is_sure(level)]
    return [m for m in unsure if not between(m, sure, box, facts)]


def _unsure(array: str, reference: Reference) -> Opaque:
    guard = reference.guard.opaque
    condition = f"where '{term_text(guard[0])}' holds" if guard else "in some runs"
    reason = (
        f"is used only {condition}, and may else lie outside of the array, whose extents are not declared"
    )
    return _opaque(array, reference, reason, f"declare the extents of '{array}'")


def _positive(extent: Polynomial) -> str | None:
    """Return the advice to assert that the extent is at least 1; None where it, as printed, is no C."""
    text = str(extent)
    if "^" in text or "/" in text:
        return None
    return f"write 'assert({text} >= 1);' in the host code before the region to have it cached"


def _opaque(array: str, reference: Reference, reason: str, remedy: str | None = None) -> Opaque:
    span: Span = reference.access.span
    return Opaque(array, term_text(Index(array, reference.access.subscripts, span)), reason, span, remedy)


def _facts(nest: Nest, found: Sequence[Reference], fixed: tuple[Axis, ...]) -> Facts:
    """Return what holds in every block in which the band runs."""
    counters = {a.counter for a in fixed}
    constraints = [c for c in domain(found[0]) if counters & set(c.polynomial.symbols)]
    inner = {a.counter for r in found for a in r.axes} - counters
    constraints = [c for c in constraints if not inner & set(c.polynomial.symbols)]
    threads = tuple(a for a in found[0].axes if a.place is Place.THREAD and a not in fixed)
    spoken = {
        s
        for r in found
        for p in (*(r.subscripts or ()), *(c.polynomial for piece in r.guard.pieces for c in piece))
        for s in p.symbols
    }
    spoken |= {s for r in found for a in r.axes if a.extent is not None for s in a.extent.symbols}
    return complete(nest, constraints, (*fixed, *threads), tuple(sorted(spoken - inner)))


def _member(reference: Reference, weights: Weights, level: Level, facts: Facts) -> Member:
    assert reference.subscripts is not None
    places = fixed_places(level)
    varying = tuple(a for a in reference.axes if a.place not in places)
    forms = coordinates(weights, reference.subscripts)
    lower = {**facts.lower, **{a.counter: 0 for a in varying}}
    low = tuple(extreme(f, varying, lower, greatest=False) for f in forms)
    high = tuple(extreme(f, varying, lower, greatest=True) for f in forms)
    return Member(reference, forms, low, high, varying)


def _groups(members: list[Member], facts: Facts, fixed: frozenset[str]) -> list[Hull] | Member:
    """Reference groups, or the member that cannot be separated from another one."""
    groups = [Hull((m,), m.low, m.high) for m in members]
    merged = True
    while merged:
        merged = False
        for i, a in enumerate(groups):
            for j in range(i + 1, len(groups)):
                b = groups[j]
                if apart(a, b, facts) and not _touch(a, b):
                    continue
                both = join(a, b, facts, fixed)
                if both is not None:
                    groups = [*groups[:i], both, *groups[i + 1 : j], *groups[j + 1 :]]
                    merged = True
                    break
                if (a.writes or b.writes) and not apart(a, b, facts):
                    return b.members[0]
            if merged:
                break
    return groups


def _touch(a: Hull, b: Hull) -> bool:
    """Whether two boxes are neighbours along one coordinate and alike in all others."""
    different = [k for k in range(len(a.low)) if (a.low[k], a.high[k]) != (b.low[k], b.high[k])]
    if len(different) != 1:
        return False
    k = different[0]
    return a.high[k] + 1 == b.low[k] or b.high[k] + 1 == a.low[k]


def _box(nest: Nest, group: Hull, facts: Facts, fixed_axes: tuple[Axis, ...]) -> Box:
    """Return the box that a tile of the group allocates. Raises NoBoxError."""
    strides = tuple(stride_of(group.members, k) for k in range(len(group.low)))
    extents: list[Polynomial] = []
    for k, stride in enumerate(strides):
        width = extreme(group.high[k] - group.low[k], fixed_axes, facts.lower, greatest=True)
        steps = width.divide_exactly(stride)
        if steps is None:
            raise NoBoxError(f"the width {width + 1} of its tile is no multiple of its step {stride}")
        extent = steps + 1
        if not all(name.isidentifier() for name in extent.symbols):
            raise NoBoxError(
                f"the width {extent} of its tile needs a division; give the quotient a name of its own"
            )
        # The host allocates before it knows whether the loop inside runs: `for (k = 2; k < n; k++)` at n = 1.
        if not implied(Constraint(extent), preconditions(nest), facts.lower):
            raise NoBoxError(
                f"the width {extent} of its tile is negative for some parameters", _positive(extent)
            )
        extents.append(extent)
    return Box(group.low, tuple(extents), strides)


def _tile(
    nest: Nest,
    array: str,
    weights: Weights,
    group: Hull,
    level: Level,
    facts: Facts,
    fixed_axes: tuple[Axis, ...],
) -> Tile | Opaque:
    fixed = frozenset(a.counter for a in fixed_axes)
    box = _box(nest, group, facts, fixed_axes)
    first = group.members[0].reference
    load: Condition | None = None
    store: Condition | None = None
    readers = [m for m in group.members if m.reference.access.mode.reads or not m.reference.certain]
    writers = [m for m in group.members if m.reference.access.mode.writes]
    bounded = _within_declaration(nest, array, weights, box, facts)
    if writers:
        store = touched(writers, box, facts)
        if store is None:
            return _opaque(
                array, writers[0].reference, "writes elements of its tile that no simple condition describes"
            )
        unsure = [m for m in writers if not m.reference.is_sure(level)]
        if unsure and not _blocks_are_apart(nest):
            reason = "need not happen, and then another block may write its element, which is not to be copied back"
            return _opaque(array, unsure[0].reference, reason)
        if unsure and bounded is not None:
            # Where they do not happen, what they would write may lie outside of the array.
            both = [
                tuple(dict.fromkeys((*piece, *limits))) for piece in store.pieces for limits in bounded.pieces
            ]
            store = simplified(both, box.constraints, facts)
    if readers:
        # The exact union of many images is long and dear; inside the declared extents any element may be read.
        # What need not happen has an image that may be larger than what is read.
        sure = all(m.reference.is_sure(level) for m in readers)
        if bounded is None or (sure and not (bounded.is_true or len(readers) > 3)):
            load = touched(readers, box, facts)
        if bounded is not None and (load is None or size(bounded) < size(load)):
            load = bounded
        if load is None:
            return _opaque(array, first, "reads elements of its tile that no simple condition describes")
    index = {
        m.reference.access.ordinal: coordinates(weights, m.reference.written or ()) for m in group.members
    }
    count = count_elements(group, box.stride, facts, fixed)
    return Tile(array, box.origin, box.extent, box.stride, weights, index, count, load, store)


def _blocks_are_apart(nest: Nest) -> bool:
    """Whether it is proved that no two blocks conflict, all conditions on data counted as true."""
    return all(obstacle_to(nest, grid_question(number))[0] is None for number in range(len(nest.grid)))


def _within_declaration(nest: Nest, array: str, weights: Weights, box: Box, facts: Facts) -> Condition | None:
    """Every element of the box inside the declared extents: a load may read more than is used."""
    dims = nest.array(array).dims
    if dims is None:
        return None
    element = [sum_of(w * element_symbol(k) for k, w in enumerate(row)) for row in weights]
    piece: list[Constraint] = []
    for dim, subscript in zip(dims, element, strict=True):
        piece.append(Constraint(subscript))
        if dim is None:
            return None
        try:
            piece.append(Constraint(scope_of(nest).read(dim) - 1 - subscript))
        except NotPolynomialError:
            return None
    return simplified([piece], box.constraints, facts)
