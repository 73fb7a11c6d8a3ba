"""The polyhedra of a nest for people and programs: a :class:`Polyhedra` in, text in the notation of isl or JSON out.

    R0: read a[p]
      domain  [dim, s, B] -> { R0[i, j, k] : 0 <= i < dim and 0 <= j < B and 0 <= k < s }
      access  [s, B] -> { R0[i, j, k] -> a[i*s*B + k*B + j] }

isl itself takes no products of parameters and iterators; where there are some, what stands here is its notation only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from comprehensive.algebra import Polynomial
from comprehensive.algebra.notation import sum_text
from comprehensive.poly.domains import Axis
from comprehensive.poly.model import (
    Conflict,
    Constraint,
    Footprint,
    Legality,
    Level,
    Opaque,
    Parallel,
    Tile,
    Undecided,
    c_text,
)
from comprehensive.poly.polyhedra import Described, Polyhedra, Touched

_LEVELS = {Level.GRID: "block", Level.BLOCK: "step of a block", Level.THREAD: "thread"}


def to_text(found: Polyhedra, order: Sequence[str]) -> str:
    """All of a nest; `order` names the symbols that stand first among parameters."""
    writer = _Writer(found, order)
    lines = [f"region {found.name}", "", "references"]
    for reference in found.references:
        lines.append(f"  R{reference.number}: {reference.mode} {reference.text}")
        lines.append(f"    domain  {writer.domain(reference)}")
        access = writer.access(reference)
        lines.append(f"    access  {access or f'not a polynomial: {reference.obstacle}'}")
        lines += [f"    taken as possibly true: {condition}" for condition in reference.opaque]
    lines += [
        "",
        "dependences: iterations that touch one element, of which one writes, each with itself included",
    ]
    lines += [f"  {writer.dependence(*pair)}" for pair in found.dependences] or ["  none"]
    lines += ["", "parallel loops"]
    for band, loop, verdict in found.parallel:
        where = "grid" if band is None else f"threads of band {band}"
        lines.append(f"  {loop} ({where}): {_verdict(verdict)}")
    lines += ["", "footprints: elements of an array that one block, or thread, touches"]
    for each in found.footprints:
        lines += [f"  {line}" for line in _touched_lines(each)]
    return "\n".join(lines) + "\n"


def to_json(found: Polyhedra, order: Sequence[str]) -> dict[str, Any]:
    """The same as data, as `specs/schema/polyhedra.json` describes it; polynomials are text, counters by name."""
    writer = _Writer(found, order)
    return {
        "region": found.name,
        "references": [
            {
                "number": reference.number,
                "array": reference.array,
                "mode": reference.mode,
                "text": reference.text,
                "band": reference.band,
                "counters": [_axis_json(axis) for axis in reference.axes],
                "bounds": [_constraint_json(each) for each in reference.bounds],
                "guards": [[_constraint_json(each) for each in piece] for piece in reference.guards],
                "possibly_true": list(reference.opaque),
                "subscripts": None
                if reference.subscripts is None
                else list(map(c_text, reference.subscripts)),
                "obstacle": reference.obstacle,
                "domain": writer.domain(reference),
                "access": writer.access(reference),
            }
            for reference in found.references
        ],
        "dependences": [
            {"first": first, "second": second, "relation": writer.dependence(first, second)}
            for first, second in found.dependences
        ],
        "parallel": [
            {"loop": loop, "band": band, **_verdict_json(verdict)} for band, loop, verdict in found.parallel
        ],
        "footprints": [_touched_json(each) for each in found.footprints],
    }


class _Writer:
    """Sets and maps of a nest in the notation of isl."""

    def __init__(self, found: Polyhedra, order: Sequence[str]) -> None:
        self._references = {reference.number: reference for reference in found.references}
        self._order = list(order)

    def domain(self, reference: Described) -> str:
        conditions = _domain(reference)
        where = f" : {conditions}" if conditions else ""
        return f"{self._parameters(reference)}{{ {_tuple(reference)}{where} }}"

    def access(self, reference: Described) -> str | None:
        if reference.subscripts is None:
            return None
        target = f"{reference.array}[{', '.join(map(_isl, reference.subscripts))}]"
        return f"{self._parameters(reference)}{{ {_tuple(reference)} -> {target} }}"

    def dependence(self, first: int, second: int) -> str:
        """Pairs of iterations, those of the second with a prime, that touch one element."""
        one, other = self._references[first], self._references[second]
        names = {axis.counter: f"{axis.counter}'" for axis in other.axes}
        conditions = [_domain(one), _domain(other, names)]
        if one.subscripts is None or other.subscripts is None:
            conditions.append("the elements are not known to differ")
        else:
            conditions += [
                f"{_isl(left)} = {_isl(right, names)}"
                for left, right in zip(one.subscripts, other.subscripts, strict=True)
            ]
        where = " and ".join(condition for condition in conditions if condition)
        parameters = self._parameters(one, other)
        return f"{parameters}{{ {_tuple(one)} -> {_tuple(other, names)} : {where} }}"

    def _parameters(self, *references: Described) -> str:
        symbols: set[str] = set()
        for reference in references:
            polynomials = [c.polynomial for c in reference.bounds]
            polynomials += [c.polynomial for piece in reference.guards for c in piece]
            polynomials += reference.subscripts or ()
            counters = {axis.counter for axis in reference.axes}
            symbols |= {s for p in polynomials for s in p.symbols} - counters
        ordered = sorted(
            (symbol for symbol in symbols if symbol.isidentifier()),
            key=lambda s: (self._order.index(s) if s in self._order else len(self._order), s),
        )
        return f"[{', '.join(ordered)}] -> " if ordered else ""


def _tuple(reference: Described, names: dict[str, str] | None = None) -> str:
    counters = [_counter(axis.counter, names) for axis in reference.axes]
    return f"R{reference.number}[{', '.join(counters)}]"


def _counter(name: str, names: dict[str, str] | None = None) -> str:
    """A name that isl takes: ``x~`` counts the iterations of a loop over x that does not begin at 0."""
    return (names or {}).get(name, name).replace("~", "_count")


def _domain(reference: Described, names: dict[str, str] | None = None) -> str:
    parts: list[str] = []
    shown: set[Constraint] = set()
    for axis in reference.axes:
        if axis.from_zero and axis.extent is not None:
            counter = Polynomial.symbol(axis.counter)
            parts.append(f"0 <= {_counter(axis.counter, names)} < {_isl(axis.extent, names)}")
            shown |= {Constraint(counter), Constraint(axis.extent - 1 - counter)}
    parts += [_condition(each, names) for each in reference.bounds if each not in shown]
    pieces = [" and ".join(_condition(each, names) for each in piece) for piece in reference.guards]
    if not pieces:
        parts.append("false")
    elif all(pieces):
        parts.append(pieces[0] if len(pieces) == 1 else f"({' or '.join(f'({piece})' for piece in pieces)})")
    return " and ".join(parts)


def _condition(constraint: Constraint, names: dict[str, str] | None = None) -> str:
    return f"{_isl(constraint.polynomial, names)} {'=' if constraint.equality else '>='} 0"


def _isl(polynomial: Polynomial, names: dict[str, str] | None = None) -> str:
    """A polynomial with names that isl takes; a quotient of C is a ``floor``: what is divided is not negative."""
    changed = {
        symbol: Polynomial.symbol(_counter(symbol, names))
        for symbol in polynomial.symbols
        if _counter(symbol, names) != symbol
    }
    return sum_text(
        polynomial.substitute(changed).terms(),
        lambda name, power: [name if name.replace("'", "").isidentifier() else _floor(name)] * power,
    )


def _floor(quotient: str) -> str:
    """A quotient of C, ``(n + 29)/(32)``; isl takes no parentheses around a number that divides."""
    divided = re.sub(r"/\((\d+)\)", r"/\1", quotient)
    return f"floor({divided})"


def _verdict(verdict: Legality) -> str:
    match verdict:
        case Parallel(method):
            return f"no two iterations meet ({method})"
        case Conflict(witness):
            return f"iterations {dict(witness.first)} and {dict(witness.second)} meet in {witness.array}"
        case Undecided(reason):
            return f"not decided: {reason}"
        case _:
            assert_never(verdict)


def _verdict_json(verdict: Legality) -> dict[str, Any]:
    match verdict:
        case Parallel(method):
            return {"verdict": "parallel", "because": method}
        case Conflict():
            return {"verdict": "conflict", "because": _verdict(verdict)}
        case Undecided(reason):
            return {"verdict": "undecided", "because": reason}
        case _:
            assert_never(verdict)


def _touched_lines(each: Touched) -> Iterable[str]:
    where = f"{each.array}, {_LEVELS[each.level]}, band {each.band}"
    found = each.footprint
    if isinstance(found, Opaque):
        yield f"{where}: none, {found.term} {found.reason}"
        return
    count = "not counted" if found.count is None else f"{c_text(found.count)} elements"
    yield f"{where}: {count}, {c_text(found.elements)} in boxes"
    for tile in found.tiles:
        yield f"  {_box(tile)}"
    for direct in found.direct:
        yield f"  besides, not in a box: {direct.term} {direct.reason}"


def _box(tile: Tile) -> str:
    """The elements of a box as the subscripts of the array are written, also where it has other coordinates."""
    taken = {
        symbol for polynomial in (*tile.origin, *tile.extent, *tile.stride) for symbol in polynomial.symbols
    }
    prefix = "x"
    while any(f"{prefix}{k}" in taken for k in range(len(tile.extent))):
        prefix += "_"
    names = [f"{prefix}{k}" for k in range(len(tile.extent))]
    coordinates = [
        origin + stride * Polynomial.symbol(name)
        for name, origin, stride in zip(names, tile.origin, tile.stride, strict=True)
    ]
    subscripts = [
        _isl(sum((w * c for w, c in zip(row, coordinates, strict=True)), Polynomial(0)))
        for row in tile.weights
    ]
    within = " and ".join(f"0 <= {n} < {_isl(e)}" for n, e in zip(names, tile.extent, strict=True))
    return f"{{ [{', '.join(names)}] -> {tile.array}[{', '.join(subscripts)}] : {within} }}"


def _axis_json(axis: Axis) -> dict[str, Any]:
    return {
        "name": axis.counter,
        "iterator": axis.iterator,
        "place": axis.place.value,
        "extent": None if axis.extent is None else c_text(axis.extent),
        "value": c_text(axis.value),
    }


def _constraint_json(constraint: Constraint) -> dict[str, Any]:
    return {"polynomial": c_text(constraint.polynomial), "relation": "==" if constraint.equality else ">="}


def _touched_json(each: Touched) -> dict[str, Any]:
    found = each.footprint
    head: dict[str, Any] = {"array": each.array, "band": each.band, "level": each.level.name.lower()}
    match found:
        case Opaque():
            return {**head, "because": f"{found.term} {found.reason}"}
        case Footprint():
            return {
                **head,
                "count": None if found.count is None else c_text(found.count),
                "elements": c_text(found.elements),
                "boxes": [
                    {
                        "origin": list(map(c_text, tile.origin)),
                        "extent": list(map(c_text, tile.extent)),
                        "stride": list(map(c_text, tile.stride)),
                        "weights": [list(map(c_text, row)) for row in tile.weights],
                        "count": None if tile.count is None else c_text(tile.count),
                        "references": sorted(tile.index),
                        "set": _box(tile),
                    }
                    for tile in found.tiles
                ],
                "direct": [f"{direct.term} {direct.reason}" for direct in found.direct],
            }
        case _:
            assert_never(found)
