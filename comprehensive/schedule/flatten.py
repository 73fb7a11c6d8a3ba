"""Flatten: loops of a point that stand in each other become one, which is long enough for many lanes.

::

    for (i < b) for (p < h) s += x[i][c][p];
        -->  for (i_p < b*h) { const int i = i_p / h;  const int p = i_p % h;  s += x[i][c][p]; }

The steps keep their order.  Legal where the inner loop is all that the outer one does, its bound is the same in all
steps, and nothing that is declared between the two, or read there, is assigned later: each step then computes it for
itself.  Of the two bounds one must not be negative: two of them would make a number of steps.
Source: Polychronopoulos, Loop coalescing: a compiler transformation for parallel machines, 1987; loops are flattened
here, since what coalesces elsewhere are accesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.traverse import all_names
from comprehensive.loops.types import environment_of, exact_product
from comprehensive.metafork.ast import Binary, Declare, Expr, For, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import arrays_assigned, assigned_scalars, elements_in, statements_in
from comprehensive.records import replace

DIGITS = ("/", "%")


def flattened(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """The tile with such loops of its bodies as one loop each, and the condition that their steps fit into ``int``."""
    taken = all_names(nest) | tile.limits.keys() | set(tile.sizes)
    for statement in (s for body in tile.bodies for s in statements_in(body)):
        match statement:
            case Declare(name=name) | For(iterator=name):
                taken |= {name}
            case _:
                pass
    made = _Flattening(nest, Namer(taken))
    alternatives = tuple(
        Alternative(each.condition, tuple(map(made.statement, each.body))) for each in tile.alternatives
    )
    # isl is slow to import.
    from comprehensive.poly.always import one_not_negative

    signs = (each for bounds in made.bounds for each in one_not_negative(nest, *bounds))
    demanded = (*map(at_most, made.counts), *signs)
    conditions = tuple(dict.fromkeys((*tile.conditions, *demanded)))
    return replace(tile, alternatives=alternatives, conditions=conditions)


class _Flattening:
    def __init__(self, nest: Nest, name: Namer) -> None:
        self._nest = nest
        self._name = name
        self.counts: list[Expr] = []
        """The numbers of steps of the loops that are made."""
        self.bounds: list[tuple[Expr, Expr]] = []
        """The bounds of the two loops of which each is made."""

    def statement(self, statement: Stmt) -> Stmt:
        if not isinstance(statement, For):
            return statement
        known = len(self.counts)
        outer = replace(statement, body=tuple(map(self.statement, statement.body)))
        *between, inner = outer.body or (outer,)
        if not isinstance(inner, For) or inner is outer or not self._is_one(outer, between, inner):
            # A loop that each lane does alone stays as it is: its digits would cost divisions.
            del self.counts[known:], self.bounds[known:]
            return statement
        count = exact_product(outer.bound, inner.bound, environment_of(self._nest))
        self.counts.append(count)
        self.bounds.append((outer.bound, inner.bound))
        step = self._name(f"{outer.iterator}_{inner.iterator}")
        digits = (
            Declare(ScalarType.INT, iterator, (), Binary(operator, Name(step), inner.bound), const=True)
            for iterator, operator in zip((outer.iterator, inner.iterator), DIGITS, strict=True)
        )
        body = (*digits, *between, *inner.body)
        shown = f"{outer.shown} and {inner.shown}"
        return replace(outer, iterator=step, bound=count, body=body, written=shown)

    def _is_one(self, outer: For, between: Sequence[Stmt], inner: For) -> bool:
        sizes = {s.name for s in self._nest.scalars}
        counts_up = all(loop.type is ScalarType.INT and loop.counts_up for loop in (outer, inner))
        declared = [s for s in between if isinstance(s, Declare) and s.initial is not None and not s.dims]
        return (
            counts_up
            and names_read(outer.bound) | names_read(inner.bound) <= sizes
            and len(declared) == len(between)
            and not {s.name for s in declared} & assigned_scalars(inner.body)
            and not {self._data(e.array) for e in elements_in(declared)}
            & set(map(self._data, arrays_assigned(inner.body)))
        )

    def _data(self, array: str) -> str:
        """Return the name of an array's data, whatever name a reference has for it."""
        return next((a.pointer for a in self._nest.arrays if a.name == array), array)


class Digit(Struct, frozen=True):
    """A name whose value is found by divisions of the number of a step: each an operator and what it divides by."""

    divisions: tuple[tuple[str, Polynomial], ...]


def digits_of(loop: For, ring: Ring) -> Mapping[str, Digit]:
    """The names that say together which step of a loop it is: its iterator, or the digits that it is taken apart into.

    Different steps differ in one of them: ``q`` is ``q / h * h + q % h``.
    """
    found = {loop.iterator: Digit(())}
    defined: dict[tuple[str, str, Polynomial], str] = {}
    for statement in loop.body:
        match statement:
            case Declare(
                type=ScalarType.INT,
                name=name,
                initial=Binary(operator=operator, left=Name(identifier=whole), right=radix),
                const=True,
            ) if operator in DIGITS:
                defined[whole, operator, ring.read(radix)] = name
            case _:
                break
    for (whole, operator, radix), high in defined.items():
        low = defined.get((whole, DIGITS[1], radix))
        if operator == DIGITS[0] and low is not None and whole in found:
            divisions = found.pop(whole).divisions
            found |= {
                name: Digit((*divisions, (each, radix)))
                for name, each in zip((high, low), DIGITS, strict=True)
            }
    return found
