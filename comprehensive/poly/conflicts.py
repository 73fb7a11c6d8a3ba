"""Proofs that two references never touch one element in iterations that differ in a given loop.

In: a question over a nest.  Out: proved, or the pair of references that stands in the way.  The question is asked
in collapsed coordinates (``i*s*B + k*B + j`` is one number, and two of them are equal only if all digits are), then
on the lifted raw formula, then of z3.  Example: the writes ``a[N + p + 1]`` of 1-D Jacobi meet only at equal p,
and never a read ``a[p]``, because ``p <= N - 3``.

z3 sees the products that lifting hides.  It gets a fixed amount of work, so that the same question has the same answer
on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from comprehensive.algebra import Polynomial, at_least, equal
from comprehensive.algebra.smt import Core, Limits, solve
from comprehensive.loops.ir import Nest
from comprehensive.poly.cases import cases, stated
from comprehensive.poly.collapse import Collapsed, collapse
from comprehensive.poly.domains import (
    Axis,
    Facts,
    Place,
    Reference,
    complete,
    domain,
    references,
    told_apart,
)
from comprehensive.poly.indices import Conjunction, NotPolynomialError
from comprehensive.poly.lifting import infeasible
from comprehensive.poly.memo import remembered, remembered_in_text
from comprehensive.poly.model import Constraint
from comprehensive.poly.virtual import Weights, coordinates, virtual_weights
from comprehensive.records import replace

_Forms: TypeAlias = tuple[Polynomial, ...]
_Number: TypeAlias = tuple[int, int]
"""The number of a reference, and that of its case."""


class Order(Enum):
    """The iterations of the loop at which two references are looked at."""

    DIFFERENT = "differ"
    BEHIND = "that of the first reference comes behind that of the second"
    NOT_BEHIND = "that of the first reference does not come behind that of the second"


class Question(Struct, frozen=True):
    """Can two iterations conflict that agree in the loops at ``shared`` and differ in ``differs``?

    ``differs`` is ``(place, number)``: the number-th loop at that place, or for SERIAL the iterator's name.
    ``band`` restricts both references to one band.  With ``remainders`` what remainders of iterators and choices say
    counts as well: a set of elements that is computed without them may be larger.  They also agree in the loops of the
    grid and of bands over ``agreeing``.  Of another ``order`` than DIFFERENT only such iterations count.
    """

    shared: frozenset[Place]
    differs: tuple[Place, int | str]
    band: int | None = None
    remainders: bool = False
    agreeing: frozenset[str] = frozenset()
    order: Order = Order.DIFFERENT

    def shares(self, axis: Axis) -> bool:
        """Whether both iterations stand at the same place of a loop."""
        is_parallel = axis.place in (Place.GRID, Place.THREAD)
        return axis.place in self.shared or (is_parallel and axis.iterator in self.agreeing)

    def references(self, nest: Nest) -> tuple[Reference, ...]:
        """The references of a nest with what the question takes into account."""
        return told_apart(nest) if self.remainders else references(nest)


class Obstacle(Struct, frozen=True):
    """The pair that could not be separated; ``opaque`` is a subscript of it that is no polynomial, if there is one."""

    first: Reference
    second: Reference
    opaque: NotPolynomialError | None = None


@remembered_in_text(512)
def obstacle_to(nest: Nest, question: Question) -> tuple[Obstacle | None, str]:
    """Return what stands in the way of a proof; None, with the proof's method, if no conflict is possible."""
    method = "no array is both written and shared"
    for first, second, found in _judged(nest, question):
        if found is None:
            return _obstacle(first, second), ""
        method = found if method != "z3" else method
    return None, method


def obstacles_to(nest: Nest, question: Question) -> tuple[Obstacle, ...]:
    """All pairs that stand in the way, in walk order."""
    return tuple(_obstacle(one, other) for one, other, found in _judged(nest, question) if found is None)


def _judged(nest: Nest, question: Question) -> Iterator[tuple[Reference, Reference, str | None]]:
    """The pairs that may conflict, with the method by which they were separated."""
    sides = _Sides(question)
    for first, second in _pairs(question.references(nest), question.band):
        yield first, second, _separated(nest, first, second, sides)


def _obstacle(first: Reference, second: Reference) -> Obstacle:
    return Obstacle(first, second, first.obstacle or second.obstacle)


def conflicting_pairs(nest: Nest) -> tuple[tuple[Reference, Reference], ...]:
    """All pairs of references to one array of which one writes, in walk order.

    Pairs that ask the same question stand for each other.
    """
    return tuple(_pairs(references(nest), None))


def may_meet(nest: Nest, question: Question, first: AbstractSet[int], second: AbstractSet[int]) -> bool:
    """Whether some two references, one of the ``first`` ordinals and one of the ``second``, are not proved to name
    different elements in the iterations of the question, and do more than read there."""
    sides = _Sides(question)
    every = question.references(nest)
    return any(
        one.access.array == other.access.array
        and one.access.mode.conflicts(other.access.mode)
        and _separated(nest, one, other, sides) is None
        for one in every
        if one.access.ordinal in first
        for other in every
        if other.access.ordinal in second
    )


@remembered
def reads_apart(nest: Nest) -> frozenset[int]:
    """Return the ordinals of the references to arrays that are written which read elements that no iteration writes."""
    sides = _Sides(Question(frozenset(), (Place.GRID, 0)))
    every = references(nest)
    writes = [r for r in every if r.access.mode.writes]
    found: set[int] = set()
    for read in every:
        others = [w for w in writes if w.access.array == read.access.array]
        if others and not read.access.mode.writes and all(_are_apart(nest, read, w, sides) for w in others):
            found.add(read.access.ordinal)
    return frozenset(found)


def _are_apart(nest: Nest, first: Reference, second: Reference, sides: _Sides) -> bool:
    """Whether two references name different elements in all their iterations, and those of both are known."""
    if first.subscripts is None or second.subscripts is None:
        return False
    places = _places(nest, first, second, sides.question)
    assert places is not None, "subscripts of both are known"
    lefts, rights = sides.of(first, places[0], primed=False), sides.of(second, places[1], primed=True)
    return all(_never_meet(nest, left, right) for left in lefts for right in rights)


def _pairs(among: Sequence[Reference], band: int | None) -> list[tuple[Reference, Reference]]:
    inside = [r for r in among if band is None or r.access.context.band == band]
    pairs: list[tuple[Reference, Reference]] = []
    seen: set[tuple[object, ...]] = set()
    for i, first in enumerate(inside):
        for second in inside[i:]:
            if first.access.array != second.access.array:
                continue
            if not first.access.mode.conflicts(second.access.mode):
                continue
            # The same subscripts in the same place ask the same question.
            key = (first.access.array, _face(first), _face(second))
            if key in seen:
                continue
            seen.add(key)
            pairs.append((first, second))
    return pairs


def _face(reference: Reference) -> tuple[object, ...]:
    return (
        reference.access.subscripts,
        reference.axes,
        reference.guard.pieces,
        reference.access.context.band,
    )


@remembered
def _weights(nest: Nest) -> dict[str, Weights]:
    return _weights_of(nest, references(nest))


@remembered
def _weights_apart(nest: Nest) -> dict[str, Weights]:
    return _weights_of(nest, told_apart(nest))


def _weights_of(nest: Nest, among: Sequence[Reference]) -> dict[str, Weights]:
    found: dict[str, Weights] = {}
    for array in nest.arrays:
        mine = [r for r in among if r.access.array == array.name]
        if all(r.obstacle is None for r in mine):
            found[array.name] = virtual_weights(nest, array.name, mine)
    return found


@remembered
def _strangers(nest: Nest) -> dict[tuple[_Number, _Number, Question], bool]:
    """Pairs that never meet, whatever loop is asked for; filled as they are found."""
    return {}


def _differing(axes: Iterable[Axis], differs: tuple[Place, int | str]) -> str | None:
    place, which = differs
    here = [a for a in axes if a.place is place]
    if isinstance(which, str):
        return next((a.counter for a in here if a.iterator == which), None)
    return here[which].counter if which < len(here) else None


class _Side(Struct, frozen=True):
    """One of two iterations: coordinates, guard and domain, and the loops that it does not share."""

    coordinates: tuple[Polynomial, ...]
    guard: Conjunction
    domain: tuple[Constraint, ...]
    free: tuple[Axis, ...]
    differing: str | None


def _separated(nest: Nest, first: Reference, second: Reference, sides: _Sides) -> str | None:
    """The method by which the pair was separated, or None."""
    places = _places(nest, first, second, sides.question)
    if places is None:
        return None
    strangers = _strangers(nest)
    asked = sides.question
    key = (_number(first), _number(second), replace(asked, differs=(Place.GRID, 0), band=None))
    if strangers.get(key):
        return "isl"
    lefts, rights = sides.of(first, places[0], primed=False), sides.of(second, places[1], primed=True)
    if first is not second and key not in strangers:
        strangers[key] = all(_never_meet(nest, left, right) for left in lefts for right in rights)
        if strangers[key]:
            return "isl"
    shared = tuple(a for a in first.axes if sides.question.shares(a))
    methods: list[str] = []
    for left in lefts:
        for right in rights:
            method = _prove(nest, left, right, shared, asked.order)
            if method is None:
                return None
            methods.append(method)
    return "z3" if "z3" in methods else "isl"


def _number(reference: Reference) -> _Number:
    return reference.access.ordinal, reference.case


def _places(
    nest: Nest, first: Reference, second: Reference, question: Question
) -> tuple[_Forms, _Forms] | None:
    """Return the places of two references in coordinates of which one that differs tells them apart.

    None where nothing can tell them apart: no subscript of both is a polynomial, and there are no guards.
    """
    if first.subscripts is not None and second.subscripts is not None:
        known = _weights_apart(nest) if question.remainders else _weights(nest)
        weights = known.get(first.access.array)
        if weights is None:  # of another reference no subscript is known
            return first.subscripts, second.subscripts
        return coordinates(weights, first.subscripts), coordinates(weights, second.subscripts)
    both = [
        (one, two)
        for one, two in zip(first.readable, second.readable, strict=True)
        if one is not None and two is not None
    ]
    if not both and not any(first.guard.pieces) and not any(second.guard.pieces):
        return None
    # Without coordinates guards may still keep iterations apart, `if (i == 0)`.
    return tuple(one for one, _ in both), tuple(two for _, two in both)


def _side(
    reference: Reference, guard: Conjunction, forms: _Forms, question: Question, *, primed: bool
) -> _Side:
    """The iteration of a reference; the counters that it does not share are ``primed`` on one of the two sides."""
    free = tuple(a for a in reference.axes if not question.shares(a))
    limits = domain(reference)
    differing = _differing(reference.axes, question.differs)
    if not primed:
        return _Side(forms, guard, limits, free, differing)
    own = [a.counter for a in free]
    own += sorted(reference.turns)
    renamed: dict[str, Polynomial | int] = {name: Polynomial.symbol(f"{name}'") for name in own}

    def rename(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        return tuple(Constraint(c.polynomial.substitute(renamed), c.equality) for c in constraints)

    axes = tuple(
        Axis(
            f"{a.counter}'",
            a.iterator,
            a.place,
            None if a.extent is None else a.extent.substitute(renamed),
            a.value,
            rename(a.limits),
            a.from_zero,
        )
        for a in free
    )
    return _Side(
        tuple(f.substitute(renamed) for f in forms),
        rename(guard),
        rename(limits),
        axes,
        None if differing is None else f"{differing}'",
    )


def _never_meet(nest: Nest, left: _Prepared, right: _Prepared) -> bool:
    """Whether the references name different elements in all their iterations."""
    one, two = left.merged, right.merged
    meet = (Constraint(a - b, equality=True) for a, b in zip(one.coordinates, two.coordinates, strict=True))
    known = [*dict.fromkeys((*one.constraints, *two.constraints, *meet, *stated(nest)))]
    facts = complete(nest, known, (*left.side.free, *right.side.free))
    lower = facts.lower | {s: 0 for c in known for s in c.polynomial.symbols if "." in s}
    return _impossible(nest, facts.constraints, lower, infeasible)


def _impossible(
    nest: Nest,
    constraints: tuple[Constraint, ...],
    lower: Mapping[str, int],
    refuted: Callable[[Sequence[Constraint], Mapping[str, int]], bool],
) -> bool:
    """Whether no point satisfies the constraints: as they are, or in every case that host code leaves."""
    if refuted(constraints, lower):
        return True
    known = {symbol for c in constraints for symbol in c.polynomial.symbols}
    return all(
        any(known.intersection(c.polynomial.symbols) for c in case) and refuted((*constraints, *case), lower)
        for case in cases(nest)
    )


def _prove(
    nest: Nest, left: _Prepared, right: _Prepared, shared: tuple[Axis, ...], order: Order
) -> str | None:
    """Return the method that proves that no element is met from both sides at iterations of that order; or None."""
    one, other = left.side, right.side
    forms: list[tuple[_Merged | None, _Merged | None]] = [(left.merged, right.merged)]
    if one.guard or other.guard:
        forms.append((_merge(one, False), _merge(other, False)))
    if (
        left.merged.is_collapsed or right.merged.is_collapsed
    ):  # else the raw systems are those of the merged forms
        forms.append((None, None))
    for merged in forms:
        if order is not Order.DIFFERENT and any(m is not None and m.radix for m in merged):
            continue  # the order of a number is not that of one of its digits
        systems = _systems(nest, one, other, shared, *merged, order)
        if systems is not None and all(_impossible(nest, c, facts.lower, infeasible) for c, facts in systems):
            return "isl"
    raw = _systems(nest, one, other, shared, None, None, order)
    assert raw is not None
    from comprehensive.poly.conflicts import has_no_integer_point

    proved = all(_impossible(nest, c, facts.lower, has_no_integer_point) for c, facts in raw)
    return "z3" if proved else None


class _Merged(Struct, frozen=True):
    coordinates: tuple[Polynomial, ...]
    constraints: tuple[Constraint, ...]
    differing: str | None
    radix: tuple[tuple[str, Polynomial], ...]
    """The digits of the collapsed counter that holds the differing one, with their extents; () if it is alone."""
    is_collapsed: bool


class _Prepared(Struct, frozen=True):
    """A side, and what it is in collapsed coordinates with its guards: several questions are asked of it."""

    side: _Side
    merged: _Merged


class _Sides:
    """The sides of references in one question, each prepared once: a reference is in many pairs."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._found: dict[tuple[_Number, _Forms, bool], tuple[_Prepared, ...]] = {}

    def of(self, reference: Reference, forms: _Forms, *, primed: bool) -> tuple[_Prepared, ...]:
        """Return the sides of a reference at these places, one for each piece of its guard."""
        key = _number(reference), forms, primed
        if key not in self._found:
            sides = (
                _side(reference, guard, forms, self.question, primed=primed)
                for guard in reference.guard.pieces
            )
            self._found[key] = tuple(_Prepared(side, _merge(side, True)) for side in sides)
        return self._found[key]


def _merge(side: _Side, with_guards: bool) -> _Merged:
    """The side in collapsed coordinates; constraints that speak of single digits are left out."""
    extents = {a.counter: a.extent for a in side.free if a.extent is not None and a.from_zero}
    guards = side.guard if with_guards else ()
    merged: Collapsed = collapse((*side.coordinates, *(c.polynomial for c in guards)), extents)
    rank = len(side.coordinates)
    gone = {d for digits in merged.digits.values() if len(digits) > 1 for d in digits}
    constraints = [Constraint(p, c.equality) for p, c in zip(merged.polynomials[rank:], guards, strict=True)]
    for name, extent in merged.extents.items():
        if not gone & set(extent.symbols):
            symbol = Polynomial.symbol(name)
            constraints += [Constraint(symbol), Constraint(extent - 1 - symbol)]
    constraints += [c for c in (*side.domain, *side.guard) if not gone & set(c.polynomial.symbols)]
    differing = side.differing
    radix: tuple[tuple[str, Polynomial], ...] = ()
    for name, parts in merged.digits.items():
        if len(parts) > 1 and differing in parts:
            differing, radix = name, tuple((p.rstrip("'"), extents[p]) for p in parts)
            break
    return _Merged(merged.polynomials[:rank], tuple(dict.fromkeys(constraints)), differing, radix, bool(gone))


def _systems(
    nest: Nest,
    left: _Side,
    right: _Side,
    shared: tuple[Axis, ...],
    merged_left: _Merged | None,
    merged_right: _Merged | None,
    order: Order,
) -> list[tuple[tuple[Constraint, ...], Facts]] | None:
    """The systems that must all have no point; None where the two sides do not collapse alike."""
    if merged_left is None or merged_right is None:
        one, two = left.coordinates, right.coordinates
        constraints = (*left.domain, *left.guard, *right.domain, *right.guard)
        differing = left.differing, right.differing
    else:
        if merged_left.radix != merged_right.radix:
            # Equal numbers have equal digits only in the same radix.
            return None
        one, two = merged_left.coordinates, merged_right.coordinates
        constraints = (*merged_left.constraints, *merged_right.constraints)
        differing = merged_left.differing, merged_right.differing
    meet = tuple(Constraint(a - b, equality=True) for a, b in zip(one, two, strict=True))
    known = [*dict.fromkeys((*constraints, *meet, *stated(nest)))]
    # Both iterations run, so that all loops around them do.
    facts = complete(nest, known, (*shared, *left.free, *right.free))
    lower = dict(facts.lower)
    for merged in (merged_left, merged_right):
        if merged is not None:
            lower |= {s: 0 for c in merged.constraints for s in c.polynomial.symbols if "." in s}
    facts = Facts(facts.constraints, lower)
    if differing[0] is None or differing[1] is None:
        # A reference outside the loop meets every iteration of it.
        return [(facts.constraints, facts)]
    a, b = Polynomial.symbol(differing[0]), Polynomial.symbol(differing[1])
    apart = {
        Order.DIFFERENT: (a - b - 1, b - a - 1),
        Order.BEHIND: (a - b - 1,),
        Order.NOT_BEHIND: (b - a,),
    }
    return [((*facts.constraints, Constraint(d)), facts) for d in apart[order]]


_LIMITS = Limits(resources=400_000, seconds=2.0)


def has_no_integer_point(constraints: Sequence[Constraint], lower: Mapping[str, int]) -> bool:
    """Whether z3 proves that no integers satisfy the constraints and lower bounds; False says nothing."""
    atoms = [equal(c.polynomial, 0) if c.equality else at_least(c.polynomial, 0) for c in constraints]
    symbols = sorted({name for atom in atoms for name in atom.symbols})
    atoms += [at_least(Polynomial.symbol(name), lower[name]) for name in symbols if name in lower]
    return isinstance(solve(atoms, symbols, _LIMITS), Core)
