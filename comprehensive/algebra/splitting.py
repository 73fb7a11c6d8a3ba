"""Bounded branch and prune: atoms in, a contradiction with its cases, an integer point, or neither out.

    4*x*y - 3*x - 5*y + 3 == 0,  x >= 1,  y >= 1
        -->   x <= 1: y == 0, a contradiction;  x >= 2: 3*x*y + ... > 0, a contradiction

A node is closed by the range of a single fact in its box (`ranges.py`) or by elimination.  What single facts rule out
at the ends of ranges is cut off first.  Then the node is divided: by the sign of a factor of a polynomial, of a slope
or of a difference of two symbols where that closes one of the sides, else by the value of a symbol.  Work is counted
in terms of polynomials and bounded, and no clock is read, so that the answer is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice
from math import ceil, floor

from msgspec import Struct

from comprehensive.algebra.atom import Atom, at_least, at_most
from comprehensive.algebra.fourier import (
    Bound,
    Bounds,
    Branching,
    Fact,
    bracket,
    eliminate,
    joined,
    least,
    originals,
    rounded_facts,
)
from comprehensive.algebra.pairs import FALSE
from comprehensive.algebra.points import Plan, Point, complete, is_integral, plan_for
from comprehensive.algebra.polynomial import Polynomial, Scalar
from comprehensive.algebra.ranges import (
    Box,
    Form,
    Frame,
    Narrowing,
    Origin,
    Span,
    box_of,
    frame_of,
    implied,
    measured_from,
    moved,
    narrowed,
    refuted,
    tighten,
)
from comprehensive.algebra.refute import refute_facts
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.signs import Sign, constant_bound, sign_on, split_linear
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.records import replace

_AT_LEAST_0 = (Sign.POSITIVE, Sign.ZERO, Sign.NON_NEGATIVE)
_MOST_FACTS = 80
# Parts of a range that are smaller than this are not worth a cut of their own.
_LEAST_GAIN = Fraction(1, 8)
_LARGE_GAIN = Fraction(1, 2)
_MOST_CUTS = 24
_MOST_SIGNS = 24
_MOST_ORDERS = 4
_MOST_FRAMES = 8
# What a node costs besides its terms.
_NODE_WORK = 300
# Elimination is tried on so many facts.
_FEW_FACTS = 12


def split(atoms: Sequence[Atom], most_work: int) -> Fact | Point | None:
    """A contradiction, an integer point, or None where so much work (terms looked at) does not settle it."""
    search = _Search(plan_for(atoms), most_work)
    facts = rounded_facts(originals(atoms))
    false = next((fact for fact in facts if fact.atom.truth is False), None)
    return false or search.visit(_root(_projected(facts)))


def whole_box(atoms: Sequence[Atom]) -> tuple[dict[str, tuple[int, int]], tuple[Atom, ...]] | None:
    """Integer ranges that hold all integer points, and atoms that say which points of them extend to one.

    The atoms are without the symbols that can be eliminated exactly.  None where a range is not finite, or a symbol is
    no integer; an empty range is no contradiction with a proof, for which there is `split`.
    """
    node, _ = _cut_down(_root(_projected(rounded_facts(originals(atoms)))))
    names = sorted({name for fact in node.facts for name in fact.atom.symbols} | set(node.box))
    ranges: dict[str, tuple[int, int]] = {}
    for name in names:
        span = node.box.get(name, Span())
        if span.low is None or span.high is None or not is_integer_symbol(name):
            return None
        ranges[name] = (ceil(span.low.value), floor(span.high.value))
    return ranges, tuple(fact.atom for fact in node.facts)


def refute_by_splits(atoms: Sequence[Atom], most_work: int) -> Fact | None:
    """The contradiction alone."""
    found = split(atoms, most_work)
    return found if isinstance(found, Fact) else None


class _Node(Struct, frozen=True):
    """Facts that the box does not imply, with their forms; `order` divided the space by signs."""

    box: dict[str, Span]
    frame: dict[str, Origin]
    facts: Mapping[Fact, Form | None]
    order: tuple[Fact, ...] = ()

    def narrowed(self, fact: Fact) -> _Node:
        """The node with one more constant bound."""
        box = dict(self.box)
        tighten(box, fact)
        name = fact.atom.symbols[0]
        frame = {**self.frame, **frame_of({name: box[name]})}
        facts: dict[Fact, Form | None] = {}
        for other, form in self.facts.items():
            if name in other.atom.symbols:
                _enter(facts, other, frame)
            else:
                facts[other] = form
        return replace(self, box=box, frame=frame, facts=facts)

    def joined(self, fact: Fact) -> _Node:
        """The node with one more fact."""
        if constant_bound(fact.atom) is not None:
            return self.narrowed(fact)
        facts = dict(self.facts)
        _enter(facts, fact, self.frame)
        return replace(self, facts=facts, order=(*self.order, fact))

    @property
    def names(self) -> list[str]:
        return sorted({name for fact in self.facts for name in fact.atom.symbols})


def _enter(facts: dict[Fact, Form | None], fact: Fact, frame: Frame) -> None:
    form = moved(fact.atom.polynomial, frame)
    if form is None or not implied(fact, form, frame):
        facts[fact] = form


def _root(facts: Iterable[Fact]) -> _Node:
    facts = tuple(facts)
    box = box_of(facts)
    frame = frame_of(box)
    entered: dict[Fact, Form | None] = {}
    for fact in facts:
        if constant_bound(fact.atom) is None:
            _enter(entered, fact, frame)
    return _Node(box, frame, entered)


class _Search(Struct):
    """The state that all nodes share: how to complete points, and how much work is left."""

    plan: Plan
    work: int

    def visit(self, node: _Node) -> Fact | Point | None:
        """Return a contradiction or a point of the node; None where the work allowed does not do."""
        if self.work <= 0:
            return None
        node, cuts = _cut_down(node)
        self.work -= _NODE_WORK + (1 + len(cuts)) * sum(map(_terms, node.facts.values()))
        found = (
            _closed(node)
            or _closed_in_order(node)
            or self._corner(node)
            or _eliminated(node)
            or self._divided(node)
        )
        for cut in reversed(cuts):
            if isinstance(found, Fact):
                found = joined_cases(cut.kept, cut.closed, found, cut.proof)
        return found

    def _corner(self, node: _Node) -> Point | None:
        """The point with every free symbol at the end of its range that is nearest to 0, completed."""
        given = {name: _nearest(node.box, name) for name in self.plan.free}
        point = complete(self.plan, given)
        return point if point is not None and is_integral(point) else None

    def _divided(self, node: _Node) -> Fact | Point | None:
        if len(node.order) < _MOST_ORDERS:
            frames = _frames(node)
            for first in _signs(node):
                second = complement(first)
                sides = [Fact(atom, (atom,)) for atom in (first, second)]
                closed = [self._closed_by(node, frames, side) for side in sides]
                if self.work <= 0:
                    return None
                if any(closed):
                    left, right = (
                        proof or self.visit(node.joined(side))
                        for side, proof in zip(sides, closed, strict=True)
                    )
                    return _either(first, second, left, right)
        first = _by_value(node)
        if first is None:
            return None
        second = complement(first)
        left = self.visit(node.joined(Fact(first, (first,))))
        if not isinstance(left, Fact) or first not in left.sources:
            return left
        right = self.visit(node.joined(Fact(second, (second,))))
        return _either(first, second, left, right)

    def _closed_by(self, node: _Node, frames: Iterable[Frame], fact: Fact) -> Fact | None:
        """A contradiction that the fact brings, as a bound or as an order."""
        if constant_bound(fact.atom) is not None:
            narrower = node.narrowed(fact)
            self.work -= sum(map(_terms, narrower.facts.values()))
            return _closed(narrower)
        for frame in frames:
            for name in fact.atom.symbols:
                measured = measured_from(frame, name, fact)
                for other in node.facts if measured is not None and self.work > 0 else ():
                    if measured is not None and name in other.atom.symbols:
                        form = moved(other.atom.polynomial, measured)
                        self.work -= _terms(form)
                        found = None if form is None else refuted(other, form, measured)
                        if found is not None:
                            return found
        return None


def _terms(form: Form | None) -> int:
    return 1 if form is None else len(form)


def _either(
    first: Atom, second: Atom, left: Fact | Point | None, right: Fact | Point | None
) -> Fact | Point | None:
    """Return the contradiction of both sides, where both are contradictions, or else a point of one of them.

    None where a side is undecided and neither gives a point.

    None where neither is known.
    """
    if isinstance(left, Fact) and isinstance(right, Fact):
        return joined_cases(first, second, left, right)
    return next((side for side in (left, right) if isinstance(side, dict)), None)


def joined_cases(first: Atom, second: Atom, left: Fact, right: Fact) -> Fact:
    """Return the contradiction that follows from those of both cases.

    It is that of one case alone where this one does not rest on its case.
    """
    if first not in left.sources:
        return left
    if second not in right.sources:
        return right
    sources = joined(
        (atom for atom in left.sources if atom != first), (atom for atom in right.sources if atom != second)
    )
    return Fact(FALSE, sources, Branching(first, second, left, right))


def complement(first: Atom) -> Atom:
    """The other case, as narrow as integers allow."""
    return rounded(first.negate(), is_integer_symbol)


def _projected(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The facts without the symbols whose slopes are all constants of size 1: exact for integers."""
    names = sorted({name for fact in facts for name in fact.atom.symbols})
    lowest = least(facts)
    for name in names:
        seen = bracket(facts, name, {})
        slopes = [bound.slope for bound in (*seen.below, *seen.above)]
        if seen.unclear or any(slope != 1 for slope in slopes):
            continue
        seen = replace(seen, below=_strongest(seen.below, lowest), above=_strongest(seen.above, lowest))
        after = rounded_facts(eliminate(seen))
        if len(after) <= max(_MOST_FACTS, len(facts)):
            facts = after
    return facts


def _strongest(bounds: Sequence[Bound], lowest: Bounds) -> tuple[Bound, ...]:
    """The bounds, all from one side and with slopes of 1, without those that another one implies."""
    kept: list[Bound] = []
    for bound in bounds:
        if not any(_implies(other, bound, lowest) for other in kept):
            kept = [other for other in kept if not _implies(bound, other, lowest)]
            kept.append(bound)
    return tuple(kept)


def _implies(known: Bound, bound: Bound, lowest: Bounds) -> bool:
    allowed = (Sign.POSITIVE,) if bound.strict and not known.strict else _AT_LEAST_0
    return sign_on(bound.rest - known.rest, lowest) in allowed


# --- closing a node


def _closed(node: _Node) -> Fact | None:
    """A contradiction of one fact with the box."""
    for span in node.box.values():
        if span.low is not None and span.high is not None and span.low.value > span.high.value:
            fact = span.high.distance.fact
            form = moved(fact.atom.polynomial, node.frame)
            assert form is not None, "a bounded symbol is in the frame"
            return refuted(fact, form, node.frame)
    for fact, form in node.facts.items():
        found = None if form is None else refuted(fact, form, node.frame)
        if found is not None:
            return found
    return None


def _closed_in_order(node: _Node) -> Fact | None:
    """A contradiction of one fact with the box and an order of symbols."""
    for frame in _frames(node)[1:]:
        for fact in node.facts:
            form = moved(fact.atom.polynomial, frame)
            found = None if form is None else refuted(fact, form, frame)
            if found is not None:
                return found
    return None


def _frames(node: _Node) -> list[Frame]:
    """Return the frame of the box, and frames that measure from one symbol to another."""
    frames: list[Frame] = [node.frame]
    lines = [fact for fact in node.facts if fact.atom.polynomial.total_degree == 1]
    for fact in dict.fromkeys((*node.order, *lines)):
        for name in fact.atom.symbols:
            for frame in tuple(frames):
                measured = measured_from(frame, name, fact)
                if measured is not None and len(frames) < _MOST_FRAMES:
                    frames.append(measured)
    return frames


def _eliminated(node: _Node) -> Fact | None:
    if len(node.facts) > _FEW_FACTS:
        return None
    limits = [limit for span in node.box.values() for limit in (span.low, span.high) if limit is not None]
    return refute_facts([*node.facts, *(limit.distance.fact for limit in limits)])


def _cut_down(node: _Node) -> tuple[_Node, list[Narrowing]]:
    """The node without the ends of ranges that single facts rule out, until that closes it or is done."""
    cuts: list[Narrowing] = []
    while len(cuts) < _MOST_CUTS and _closed(node) is None:
        cut = _cut(node)
        if cut is None:
            break
        cuts.append(cut)
        node = node.narrowed(Fact(cut.kept, (cut.kept,)))
    return node, cuts


def _cut(node: _Node) -> Narrowing | None:
    """The first cut that removes much, else the one that removes most."""
    best: Narrowing | None = None
    for fact, form in node.facts.items():
        for name in fact.atom.symbols if form is not None else ():
            found = narrowed(fact, form, name, node.box, node.frame) if form is not None else None
            if found is not None and found.gain >= _LEAST_GAIN and (best is None or found.gain > best.gain):
                best = found
                if best.gain >= _LARGE_GAIN:
                    return best
    return best


# --- dividing a node


def _signs(node: _Node) -> list[Atom]:
    """Polynomials whose sign may say something: factors, slopes, differences of symbols."""
    found: dict[Polynomial, None] = {}
    known = {fact.atom for fact in node.facts}
    for fact in node.facts:
        polynomial = fact.atom.polynomial
        if polynomial.total_degree > 1:
            _, factors = polynomial.factor()
            found.update((factor, None) for factor, _ in factors if len(factors) > 1)
    for fact in node.facts:
        for name in fact.atom.symbols:
            line = split_linear(fact.atom.polynomial, name)
            if line is not None and not line.coefficient.is_constant:
                found[line.coefficient] = None
    for first, second in combinations(node.names, 2):
        found[Polynomial.symbol(first) - Polynomial.symbol(second)] = None
    atoms = (
        rounded(at_least(polynomial, 0), is_integer_symbol)
        for polynomial in found
        if any(polynomial.degree(name) == 1 for name in polynomial.symbols)
    )
    divides = (
        atom
        for atom in atoms
        if atom not in known and complement(atom) not in known and _is_open(atom, node.frame)
    )
    return list(islice(divides, _MOST_SIGNS))


def _is_open(atom: Atom, frame: Frame) -> bool:
    """Whether the box leaves both cases."""
    fact = Fact(atom, ())
    form = moved(atom.polynomial, frame)
    return form is None or (not implied(fact, form, frame) and refuted(fact, form, frame) is None)


def _by_value(node: _Node) -> Atom | None:
    """Return `x <= k` for the symbol with the narrowest range of more than one value; None without any.

    Of infinite ranges a part is cut off.
    """
    finite: list[tuple[Scalar, str]] = []
    infinite: list[tuple[int, int, str]] = []
    for name in node.names:
        if is_integer_symbol(name):
            span = node.box.get(name)
            width = None if span is None else span.width
            if width is None:
                infinite.append((_size(span), -_bends(node.facts, name), name))
            elif width > 0:
                finite.append((width, name))
    if finite and (min(finite)[0] <= 1 or not infinite):
        width, name = min(finite)
        low = node.box[name].low
        assert low is not None, "a finite range has a lower end"
        return at_most(Polynomial.symbol(name), low.value + width // 2)
    if not infinite:
        return None
    name = min(infinite)[2]
    span = node.box.get(name, Span())
    if span.low is not None:
        return at_most(Polynomial.symbol(name), max(2 * span.low.value - 1, span.low.value))
    if span.high is not None:
        return at_least(Polynomial.symbol(name), min(2 * span.high.value + 1, span.high.value))
    return at_least(Polynomial.symbol(name), 0)


def _size(span: Span | None) -> int:
    """Return the binary digits of the larger finite end of a range; 0 where it has none."""
    ends = [] if span is None else [limit for limit in (span.low, span.high) if limit is not None]
    return max((int(limit.value).bit_length() for limit in ends), default=0)


def _bends(facts: Iterable[Fact], name: str) -> int:
    """Return in how many terms of degree 2 and more the symbol occurs."""
    return sum(
        sum(power for _, power in term.powers) > 1
        for fact in facts
        if name in fact.atom.symbols
        for term in fact.atom.polynomial.terms()
        if any(name == other for other, _ in term.powers)
    )


def _nearest(box: Box, name: str) -> Fraction:
    span = box.get(name, Span())
    if span.low is not None and span.low.value > 0:
        return Fraction(ceil(span.low.value))
    if span.high is not None and span.high.value < 0:
        return Fraction(floor(span.high.value))
    return Fraction(0)
