"""The number of elements that a call surely touches behind each pointer, as expressions over its arguments.

In: a function and its nests.  Out: :class:`Needs` for every pointer argument whose declaration leaves its size open::

    y: elements "m * n" where "m >= 1", "n >= 1"

The least number of elements is the greatest value of all cases whose conditions hold; ``first`` are the first
elements that are touched.  In these expressions numbers have no limits, ``/`` divides as in C, and ``floor_div(a, b)``
rounds down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Binary, Expr, Function, IntLiteral, MetaSchedule
from comprehensive.metafork.attempt import expression
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import arrays
from comprehensive.plan.host_scalars import over_arguments
from comprehensive.poly.domains import preconditions
from comprehensive.poly.indices import scope_of
from comprehensive.poly.model import Constraint, c_text
from comprehensive.poly.touched import Reached, touched


class NeedsCase(Struct, frozen=True):
    """A case of a need: ``value`` counts where all of ``where`` holds; conditions are tested in their order."""

    value: str
    where: tuple[str, ...]


class Needs(Struct, frozen=True):
    """The elements that a call surely touches behind a pointer.

    ``unknown`` are references that may touch more, each with the reason.
    """

    elements: tuple[NeedsCase, ...]
    first: tuple[NeedsCase, ...]
    unknown: tuple[str, ...]


class _UnknownError(Exception):
    """An error which says why nothing is known; its text is a whole reason."""


def needs(function: Function, nests: Sequence[Nest]) -> Mapping[str, Needs]:
    """Return what a call surely touches behind every pointer whose declaration does not give all extents.

    Where the first extent is open, rows are counted.
    """
    parameters = function.parameters
    known = frozenset(p.name for p in parameters if not p.is_data and p.type.is_integer)
    found: dict[str, tuple[list[NeedsCase], list[NeedsCase], list[str]]] = {
        p.name: ([], [], []) for p in parameters if p.is_data and (not p.dims or p.dims[0] is None)
    }
    for region, nest in zip(function.regions, nests, strict=True):
        reader = _Reader(nest, region, known - region.changed)
        for base, name in sorted(pointed_by(region)):
            if base in found:
                found[base][2].append(f"'{name}' of host code points to {base}")
        for name, reached in touched(nest).items():
            if name not in found:
                continue
            elements, first, unknown = found[name]
            there = {s.name: IntLiteral(1) for s in nest.scalars if s.pointer == name}
            unknown += reached.unknown
            if name in region.changed:
                unknown.append(f"host code changes {name}")
                continue
            for cases, ends, more in ((elements, reached.last, 1), (first, reached.first, 0)):
                for end in ends:
                    try:
                        cases.append(reader.case(end, more, there))
                    except _UnknownError as reason:
                        unknown.append(str(reason))
    return {
        name: Needs(
            tuple(dict.fromkeys(elements)), tuple(dict.fromkeys(first)), tuple(dict.fromkeys(unknown))
        )
        for name, (elements, first, unknown) in found.items()
    }


class _Reader:
    """Bounds of one region over the arguments of the function, ``known`` being those that host code does not change."""

    def __init__(self, nest: Nest, region: MetaSchedule, known: frozenset[str]) -> None:
        self._nest = nest
        self._region = region
        self._known = known

    def case(self, reached: Reached, more: int, there: Mapping[str, Expr]) -> NeedsCase:
        """_UnknownError where the element, or whether the region runs, depends on what a caller does not give.

        ``there`` are the answers to questions whether the data is there, which is known where it is looked at.
        """
        line = self._nest.span.position[0]
        if not self._region.is_certain:
            raise _UnknownError(f"host code decides whether the region in line {line} runs")
        value = self._read(expression(c_text(reached.element + more)))
        stated = (*preconditions(self._nest), *reached.where)
        conditions = [
            self._read(c) for c in (*self._turns(), *(substitute(s, there) for s in map(_condition, stated)))
        ]
        read = {name for e in (value, *conditions) for name in names_read(e)}
        least = scope_of(self._nest).lower
        bounds = [
            Binary(">=", expression(name), IntLiteral(least[name]))
            for name in sorted(read)
            if least.get(name, -1) >= 0
        ]
        return NeedsCase(print_expr(value), tuple(dict.fromkeys(map(print_expr, (*bounds, *conditions)))))

    def _turns(self) -> Iterator[Expr]:
        """Yield the conditions that every loop around the region turns at least once."""
        for loop in self._region.loops:
            yield Binary(loop.relation, loop.start, loop.bound)

    def _read(self, found: Expr) -> Expr:
        read = over_arguments(self._nest, found)
        strange = sorted(names_read(read) - self._known)
        if strange:
            line = self._nest.span.position[0]
            raise _UnknownError(
                f"the region in line {line} depends on {', '.join(strange)}, which host code sets"
            )
        return read


def pointed_by(region: MetaSchedule) -> set[tuple[str, str]]:
    """The parameters whose data a region may touch through another name, with that."""
    used = arrays(region.body)
    return {
        (address.base, name)
        for way in region.addresses
        for name, address in way
        if name in used and address.base not in (None, name)
    }


def _condition(constraint: Constraint) -> Expr:
    """Return a constraint with its constant on the right: ``m - 1 >= 0`` as ``m >= 1``."""
    polynomial = constraint.polynomial
    number = polynomial.substitute(dict.fromkeys(polynomial.symbols, 0)).constant_value()
    left: Polynomial = polynomial - number
    return expression(f"{c_text(left)} {'==' if constraint.equality else '>='} {int(-number)}")


def as_document(found: Needs | None) -> dict[str, object] | None:
    """Return the needs as the manifest has them; None where there are none."""
    if found is None:
        return None

    def cases(given: Iterable[NeedsCase]) -> list[dict[str, object]]:
        return [{"value": case.value, "where": list(case.where)} for case in given]

    return {"elements": cases(found.elements), "first": cases(found.first), "unknown": list(found.unknown)}
