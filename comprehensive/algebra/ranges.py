"""Largest values of polynomials in a box, with proofs: facts in, a false fact or a narrower box out.

    x*y - 100 >= 0,  1 <= x <= 5,  1 <= y <= 10    -->   contradiction: x*y <= 50
    x*y - 40 >= 0,   1 <= x <= 5,  1 <= y <= 10    -->   y >= 8, since y <= 7 is a contradiction

Every symbol is replaced by its distance from one of its bounds, its origin.  A product of distances is at least 0, and
at most the product of the widths: that bounds a sum of products, and it is a sum of products of facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation, at_least, at_most
from comprehensive.algebra.fourier import Combination, Fact, joined
from comprehensive.algebra.polynomial import Polynomial, Scalar, plain
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.signs import constant_bound, split_linear
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.records import replace

Powers = tuple[tuple[str, int], ...]
Form = dict[Powers, Scalar]
"""A polynomial by its monomials; whole numbers are `int`, which is several times as fast here as `Fraction`."""

_FARTHEST = 1 << 40
_GRAIN = Fraction(1, 64)
# Distances from an order of symbols multiply terms; past this many the form is not worth it.
_MOST_TERMS = 200


class Distance(Struct, frozen=True):
    """The polynomial of the fact over `scale`: not negative where the fact holds."""

    fact: Fact
    scale: Scalar


class Limit(Struct, frozen=True):
    """A constant bound of a symbol, and the distance from it."""

    value: Scalar
    distance: Distance


class Span(Struct, frozen=True):
    """The constant bounds of a symbol."""

    low: Limit | None = None
    high: Limit | None = None

    @property
    def width(self) -> Scalar | None:
        return None if self.low is None or self.high is None else self.high.value - self.low.value


Box = Mapping[str, Span]


class Origin(Struct, frozen=True):
    """A symbol is `image`, in distances that are named like their symbols; its own is at most `width`."""

    image: Form
    distance: Distance
    width: Scalar | None = None
    opposite: Distance | None = None
    """The distance from the other bound: the width less the distance from this one."""
    depth: int = 0
    """Larger than that of the origins whose distances the image contains."""


Frame = Mapping[str, Origin]


class Narrowing(Struct, frozen=True):
    """Two cases of which the second is a contradiction."""

    kept: Atom
    closed: Atom
    proof: Fact
    gain: Fraction
    """The part by which the range shrinks, relative to its width; 1 where it was infinite."""


def box_of(facts: Iterable[Fact]) -> dict[str, Span]:
    """The tightest constant bounds; symbols without one are left out."""
    found: dict[str, Span] = {}
    for fact in facts:
        tighten(found, fact)
    return found


def tighten(box: dict[str, Span], fact: Fact) -> bool:
    """Enters the fact into the box if it is a constant bound that is tighter than what is there; whether it was."""
    bound = constant_bound(fact.atom)
    if bound is None:
        return False
    side, value = bound[0], plain(bound[1])
    name = fact.atom.symbols[0]
    slope = plain(fact.atom.polynomial.coefficient(name, 1).constant_value())
    before = span = box.get(name, Span())
    if (side > 0 or fact.atom.relation is Relation.EQ) and (span.low is None or value > span.low.value):
        span = replace(span, low=Limit(value, Distance(fact, slope)))
    if (side < 0 or fact.atom.relation is Relation.EQ) and (span.high is None or value < span.high.value):
        span = replace(span, high=Limit(value, Distance(fact, -slope)))
    box[name] = span
    return span is not before


def frame_of(box: Box) -> dict[str, Origin]:
    """Distances from the lower bounds, and from the upper ones where there are no others."""
    return {name: origin for name, span in box.items() for origin in [_origin(name, span)] if origin}


def _origin(name: str, span: Span) -> Origin | None:
    low, high = span.low, span.high
    own: Powers = ((name, 1),)
    if low is not None:
        opposite = None if high is None else high.distance
        return Origin({own: 1, (): low.value}, low.distance, span.width, opposite)
    return None if high is None else Origin({own: -1, (): high.value}, high.distance)


def measured_from(frame: Frame, name: str, fact: Fact) -> dict[str, Origin] | None:
    """The frame with the distance that a fact in other symbols puts between `name` and them.

    None where the fact is not linear in the symbol, or the other symbols are not in the frame or depend on it.
    """
    if any(origin.depth and other != name and _occurs(name, origin.image) for other, origin in frame.items()):
        return None
    line = split_linear(fact.atom.polynomial, name)
    if line is None or not line.coefficient.is_constant or fact.atom.relation is Relation.EQ:
        return None
    slope = line.coefficient.constant_value()
    rest = moved(line.rest, frame)
    if rest is None or _occurs(name, rest):
        return None
    image = {powers: plain(-value / slope) for powers, value in rest.items()}
    image[((name, 1),)] = 1 if slope > 0 else -1
    depth = 1 + max((frame[other].depth for other in line.rest.symbols), default=0)
    return {**frame, name: Origin(image, Distance(fact, plain(abs(slope))), depth=depth)}


def _occurs(name: str, form: Form) -> bool:
    return any(name == other for powers in form for other, _ in powers)


def moved(polynomial: Polynomial, frame: Frame) -> Form | None:
    """The polynomial in distances; None where a symbol has none."""
    if any(name not in frame for name in polynomial.symbols):
        return None
    form: Form = {term.powers: plain(term.coefficient) for term in polynomial.terms()}
    # Distances have the names of symbols: a symbol whose image others contain has to be replaced before them.
    for name in sorted(polynomial.symbols, key=lambda name: frame[name].depth):
        form = _replaced(form, name, frame[name].image)
        if len(form) > _MOST_TERMS:
            return None
    return form


def refuted(fact: Fact, form: Form, frame: Frame) -> Fact | None:
    """The contradiction that the fact, whose form this is, is false wherever distances are within their widths."""
    for sign in _signs(fact):
        turned = form if sign > 0 else {powers: -value for powers, value in form.items()}
        most = _most(turned.items(), frame)
        if most is not None and (most < 0 or (most == 0 and fact.atom.relation is Relation.GT)):
            return _combined(fact, sign, turned, most, frame)
    return None


def implied(fact: Fact, form: Form, frame: Frame) -> bool:
    """Whether the fact holds wherever distances are within their widths."""
    if fact.atom.relation is Relation.EQ:
        return False
    least = _most(((powers, -value) for powers, value in form.items()), frame)
    return least is not None and (least < 0 or (least == 0 and fact.atom.relation is Relation.GE))


def narrowed(fact: Fact, form: Form, name: str, box: Box, frame: Frame) -> Narrowing | None:
    """The part of the symbol's range that the fact rules out at one of its ends, the larger one."""
    best: Narrowing | None = None
    for sign in _signs(fact):
        line = _line(form, sign, name, frame)
        for distance, near in ((_near(fact, line, name, box), True), (_far(fact, line, name, box), False)):
            found = None if distance is None else _cut(fact, name, box, frame, distance, near=near)
            if found is not None and (best is None or found.gain > best.gain):
                best = found
    return best


# --- sums of products of distances


def _signs(fact: Fact) -> tuple[int, ...]:
    return (1, -1) if fact.atom.relation is Relation.EQ else (1,)


def _replaced(form: Form, name: str, image: Form) -> Form:
    """The form with the image in place of the symbol."""
    if len(image) == 1 and image.get(((name, 1),)) == 1:
        return form
    powers_of_image: list[Form] = [{(): 1}]
    result: Form = {}
    for powers, value in form.items():
        power = 0
        rest = powers
        for place, (other, exponent) in enumerate(powers):
            if other == name:
                power, rest = exponent, powers[:place] + powers[place + 1 :]
        if power == 0:
            result[powers] = result.get(powers, 0) + value
            continue
        while len(powers_of_image) <= power:
            powers_of_image.append(_product(powers_of_image[-1], image))
        for factor, scale in powers_of_image[power].items():
            key = _merged(rest, factor)
            result[key] = result.get(key, 0) + value * scale
    return {powers: value for powers, value in result.items() if value}


def _product(left: Form, right: Form) -> Form:
    result: Form = {}
    for a, x in left.items():
        for b, y in right.items():
            key = _merged(a, b)
            result[key] = result.get(key, 0) + x * y
    return result


def _merged(left: Powers, right: Powers) -> Powers:
    if not left or not right:
        return left or right
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def _most(terms: Iterable[tuple[Powers, Scalar]], frame: Frame) -> Scalar | None:
    """An upper bound on the values; None where there is none."""
    total: Scalar = 0
    for powers, value in terms:
        if not powers:
            total += value
        elif value > 0:
            widths = [frame[name].width for name, _ in powers]
            if 0 in widths:
                continue
            for (_, power), width in zip(powers, widths, strict=True):
                if width is None:
                    return None
                value *= width**power
            total += value
    return total


def _combined(fact: Fact, sign: int, form: Form, most: Scalar, frame: Frame) -> Fact:
    """The fact, products of distances, and what products fall short of those of the widths, in total a constant."""
    parts: list[tuple[Fraction, tuple[Fact, ...]]] = [(Fraction(sign), (fact,))]
    for powers, value in form.items():
        flat = [frame[name] for name, power in powers for _ in range(power)]
        if value < 0 and flat:
            parts.append(_part(-value, [origin.distance for origin in flat]))
        elif flat:
            # w1*w2 - d1*d2 == (w1 - d1)*w2 + d1*(w2 - d2); with w2 == 0, w1 may be infinite
            flat.sort(key=lambda origin: origin.width == 0)
            for place, origin in enumerate(flat):
                scale = value
                for later in flat[place + 1 :]:
                    scale *= later.width or 0
                if scale:
                    assert origin.opposite is not None, "a product that is bounded has widths"
                    parts.append(
                        _part(scale, [*(earlier.distance for earlier in flat[:place]), origin.opposite])
                    )
    scale = Fraction(-1) / most if most else Fraction(1)
    atom = Atom(Polynomial(-1 if most else 0), Relation.GE if most else Relation.GT)
    sources = joined(*(each.sources for _, factors in parts for each in factors))
    return Fact(atom, sources, Combination(tuple((value * scale, factors) for value, factors in parts)))


def _part(value: Scalar, distances: Sequence[Distance]) -> tuple[Fraction, tuple[Fact, ...]]:
    total = Fraction(value)
    for distance in distances:
        total /= distance.scale
    return total, tuple(distance.fact for distance in distances)


# --- narrowing


def _line(form: Form, sign: int, name: str, frame: Frame) -> list[Scalar | None]:
    """Upper bounds on the coefficients of the form, seen as a polynomial in one distance, by power."""
    parts: dict[int, list[tuple[Powers, Scalar]]] = {}
    for powers, value in form.items():
        power = next((exponent for other, exponent in powers if other == name), 0)
        rest = tuple(item for item in powers if item[0] != name)
        parts.setdefault(power, []).append((rest, sign * value))
    return [_most(parts.get(power, ()), frame) for power in range(max(parts, default=0) + 1)]


def _near(fact: Fact, line: Sequence[Scalar | None], name: str, box: Box) -> Scalar | None:
    """The largest t for which the fact fails at distances from 0 to t."""
    known = [value for value in line if value is not None]
    if len(known) < len(line) or len(line) < 2 or known[0] > 0:
        return None
    rising = [(power, value) for power, value in enumerate(known) if power and value > 0]

    def fails(distance: Scalar) -> bool:
        value = known[0] + sum(value * distance**power for power, value in rising)
        return value < 0 or (value == 0 and fact.atom.relation is Relation.GT)

    unit, width = _unit(name), box[name].width
    if not fails(0):
        return None
    steps, bound = 0, 1
    while fails(bound * unit):
        if bound >= _FARTHEST or (width is not None and bound * unit >= width):
            return None  # all of the range, which is for `refuted` to say
        steps, bound = bound, 2 * bound
    while bound - steps > 1:
        middle = (steps + bound) // 2
        steps, bound = (middle, bound) if fails(middle * unit) else (steps, middle)
    return steps * unit


def _far(fact: Fact, line: Sequence[Scalar | None], name: str, box: Box) -> Scalar | None:
    """The least t such that the fact fails at distance t and falls from there on."""
    known = [value for value in line if value is not None]
    if len(known) < len(line) or len(line) < 2 or known[-1] >= 0:
        return None

    def fails(distance: Scalar) -> bool:
        shifted = [
            sum(comb(k, i) * distance ** (k - i) * value for k, value in enumerate(known) if k >= i)
            for i in range(len(known))
        ]
        last = shifted[0] < 0 or (shifted[0] == 0 and fact.atom.relation is Relation.GT)
        return last and all(value <= 0 for value in shifted[1:])

    unit, width = _unit(name), box[name].width
    if fails(0):
        return None  # all of the range, which is for `refuted` to say
    low, high = 0, 1
    while not fails(high * unit):
        low, high = high, 2 * high
        if high >= _FARTHEST or (width is not None and low * unit >= width):
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle * unit) else (middle, high)
    return high * unit if width is None or high * unit <= width else None


def _unit(name: str) -> Scalar:
    """The grain of the search; a fixed one for shares, so that numbers do not grow with each cut."""
    return 1 if is_integer_symbol(name) else _GRAIN


def _cut(fact: Fact, name: str, box: Box, frame: Frame, distance: Scalar, *, near: bool) -> Narrowing | None:
    """The range without the distances up to this one (`near`) or from it on, if that has a proof."""
    span = box[name]
    symbol = Polynomial.symbol(name)
    integer = is_integer_symbol(name)
    if span.low is not None:
        value = span.low.value + distance
        closed = at_most(symbol, value) if near else at_least(symbol, value)
    else:
        assert span.high is not None, "a symbol in a frame has a bound"
        value = span.high.value - distance
        closed = at_least(symbol, value) if near else at_most(symbol, value)
    width = span.width
    if width is None:
        gain = Fraction(1, 2) if near else Fraction(1)
    else:
        removed = distance if near else width - distance
        gain = Fraction(removed + integer) / (width + integer) if width + integer else Fraction(0)
    if gain == 0:
        return None
    kept = rounded(closed.negate(), is_integer_symbol) if integer else Atom(-closed.polynomial, Relation.GE)
    inside = {name: span}
    tighten(inside, Fact(closed, (closed,)))
    within = {**frame, **frame_of(inside)}
    form = moved(fact.atom.polynomial, within)
    proof = None if form is None else refuted(fact, form, within)
    return None if proof is None else Narrowing(kept, closed, proof, gain)
