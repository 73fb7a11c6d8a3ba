"""Exact numbers of elements: boxes in, a polynomial out.

No counting library: boxes that overlap or touch along one coordinate, and agree along all others, are first made one.
What is left is cut at all its faces, whose order is proved, and the cells that some box covers are added up.
Example: the five boxes of a 5-point stencil in their hull of ``(B0+2)*(B1+2)`` elements cover ``B0*B1 + 2*B0 + 2*B1``.
A reference whose image is no box (a diagonal, a gap, a triangle, a guard that cuts every tile) has no count here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from comprehensive.algebra import Polynomial, product_of, sum_of
from comprehensive.poly.boxes import Hull, Member, lesser
from comprehensive.poly.collapse import collapse
from comprehensive.poly.domains import Facts, domain
from comprehensive.poly.lifting import implied, infeasible
from comprehensive.poly.model import Constraint

Interval = tuple[Polynomial, Polynomial]
_MOST_CHAMBERS = 24


def count_elements(
    hull: Hull, strides: Sequence[Polynomial], facts: Facts, fixed: frozenset[str]
) -> Polynomial | None:
    """The number of distinct elements of a group in a full tile, or None."""
    boxes: list[tuple[Interval, ...]] = []
    for member in hull.members:
        box = _box(member, hull.low, strides, facts, fixed)
        if box is None:
            return None
        if box not in boxes:
            boxes.append(box)
    # Faces speak of tile sizes alone; what is known of the data costs much and rarely decides.
    spoken = {s for box in boxes for interval in box for bound in interval for s in bound.symbols}
    sliced = Facts(
        tuple(c for c in facts.constraints if spoken.issuperset(c.polynomial.symbols)), facts.lower
    )
    boxes = _joined(boxes, sliced)
    if len(boxes) == 1:
        return product_of(end - low for low, end in boxes[0])
    total = _union(boxes, sliced, [_MOST_CHAMBERS])
    return total if total is not None else _union(boxes, facts, [_MOST_CHAMBERS])


def _joined(boxes: list[tuple[Interval, ...]], facts: Facts) -> list[tuple[Interval, ...]]:
    """Fewer boxes with the same elements: ``[0, B)`` and ``[1, B + 1)``, where ``1 <= B``, are ``[0, B + 1)``.

    A sum over a window of 64 elements is one box afterwards.  Cut at its 128 faces, whose order depends on ``B``, it
    would take minutes.
    """
    for k in range(len(boxes[0])):
        rows: dict[tuple[Interval, ...], list[Interval]] = {}
        for box in boxes:
            rows.setdefault(box[:k] + box[k + 1 :], []).append(box[k])
        boxes = [
            (*others[:k], interval, *others[k:])
            for others, intervals in rows.items()
            for interval in _joined_intervals(intervals, facts)
        ]
    return boxes


def _joined_intervals(intervals: list[Interval], facts: Facts) -> list[Interval]:
    """Fewer intervals with the same elements."""
    left = sorted(set(intervals), key=lambda interval: (interval[0].sort_key, interval[1].sort_key))
    done: list[Interval] = []
    while left:
        grown, *left = left
        apart: list[Interval] = []
        for other in left:
            both = _joined_pair(grown, other, facts)
            if both is None:
                apart.append(other)
            else:
                grown = both
        # What has grown may now touch an interval that it did not touch before.
        if len(apart) < len(left) and apart:
            left = [grown, *apart]
        else:
            done.append(grown)
            left = apart
    return done


def _joined_pair(a: Interval, b: Interval, facts: Facts) -> Interval | None:
    """The union of two intervals where it is proved to be one."""
    low, end = lesser(a[0], b[0], facts), lesser(-a[1], -b[1], facts)
    if low is None or end is None:
        return None
    other_low, other_end = a[0] + b[0] - low, a[1] + b[1] + end
    # Empty intervals do no harm: `other_low <= other_end` is all that a union without a gap takes.
    return (low, -end) if lesser(other_low, other_end, facts) == other_low else None


def _union(boxes: list[tuple[Interval, ...]], facts: Facts, left: list[int]) -> Polynomial | None:
    """The elements of a union of boxes: one polynomial for all parameters, or None.

    Where the order of two faces depends on the parameters (1 and B), both cases are counted, and the polynomial of
    one must be right in the other too: ``B + 2`` and ``3*B`` agree where ``B <= 1 <= B``.
    """
    left[0] -= 1
    if left[0] < 0:
        return None
    faces: list[list[Polynomial]] = []
    for k in range(len(boxes[0])):
        ordered = _ordered([bound for box in boxes for bound in box[k]], facts)
        if isinstance(ordered, Constraint):
            cases = (ordered, Constraint(-ordered.polynomial - 1))
            inside = tuple(facts.plus((case,)) for case in cases)
            if infeasible(inside[0].constraints, facts.lower) or infeasible(
                inside[1].constraints, facts.lower
            ):
                return None
            first, second = (_union(boxes, case, left) for case in inside)
            if first is None or second is None:
                return None
            same = Constraint(first - second, equality=True)
            if implied(same, inside[1].constraints, facts.lower):
                return first
            return second if implied(same, inside[0].constraints, facts.lower) else None
        faces.append(ordered)
    positions = [{face: position for position, face in enumerate(ordered)} for ordered in faces]
    covered: set[tuple[int, ...]] = set()
    for box in boxes:
        covered.update(
            product(*(range(at[low], at[end]) for at, (low, end) in zip(positions, box, strict=True)))
        )
    widths = [[end - low for low, end in pairwise(ordered)] for ordered in faces]
    return sum_of(product_of(widths[k][at] for k, at in enumerate(cell)) for cell in sorted(covered))


def _ordered(bounds: list[Polynomial], facts: Facts) -> list[Polynomial] | Constraint:
    """The distinct bounds in an order that is proved, or a comparison that depends on the parameters."""
    result: list[Polynomial] = []
    for bound in sorted(set(bounds), key=lambda b: b.sort_key):
        for position, other in enumerate(result):
            least = lesser(bound, other, facts)
            if least is None:
                return Constraint(other - bound)
            if least == bound:
                result.insert(position, bound)
                break
        else:
            result.append(bound)
    return result


def _box(
    member: Member,
    origin: Sequence[Polynomial],
    strides: Sequence[Polynomial],
    facts: Facts,
    fixed: frozenset[str],
) -> tuple[Interval, ...] | None:
    """The image as intervals in units of the strides from the origin, if the reference fills them exactly."""
    extents: dict[str, Polynomial] = {}
    for axis in member.varying:
        if axis.extent is not None and axis.from_zero and not axis.limits:
            extents[axis.counter] = axis.extent
    counters = {a.counter for a in member.varying}
    if _cuts_every_tile(member, facts, fixed, counters):
        return None
    merged = collapse(member.coordinates, extents)
    left = (counters - set(extents)) | set(merged.extents)
    used: set[str] = set()
    box: list[Interval] = []
    for k, form in enumerate(merged.polynomials):
        here = sorted(left & set(form.symbols))
        offset = (form.substitute({name: 0 for name in here}) - origin[k]).divide_exactly(strides[k])
        if len(here) > 1 or used & set(here) or offset is None:
            return None
        if not here:
            box.append((offset, offset + 1))
            continue
        used |= set(here)
        extent = merged.extents.get(here[0])
        if extent is None or left & set(extent.symbols):
            return None
        step = form.coefficient(here[0], 1)
        if step == strides[k]:
            box.append((offset, offset + extent))
        elif step == -strides[k]:
            box.append((offset - extent + 1, offset + 1))
        else:
            return None
    # A loop that may be empty, or whose length depends on others, would leave holes.
    for extent in merged.extents.values():
        if left & set(extent.symbols) or fixed & set(extent.symbols):
            return None
    return tuple(box)


def _cuts_every_tile(member: Member, facts: Facts, fixed: frozenset[str], counters: set[str]) -> bool:
    """Whether a guard that no choice of the tile can satisfy for all threads stands around the reference."""
    if len(member.reference.guard.pieces) > 1:
        return True
    known = (*facts.constraints, *domain(member.reference))
    lower = {**facts.lower, **{a.counter: 0 for a in member.varying if a.from_zero}}
    for constraint in (c for piece in member.reference.guard.pieces for c in piece):
        symbols = set(constraint.polynomial.symbols)
        if fixed & symbols and not constraint.equality:
            continue
        if counters & symbols and not implied(constraint, known, lower):
            return True
    return False
