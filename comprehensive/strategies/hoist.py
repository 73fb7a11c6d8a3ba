"""Serial loops of a thread that can leave its body: a nest in, the loops and the bodies without them out.

A loop can leave when everything around it in the body is repeated harmlessly::

    int q = ...; for (z) for (w < s) S(q, z, w)      -->      w  |  int q = ...; for (z) S(q, z, w)

Around it stand only loops, branches and definitions of scalars that read nothing that the nest writes; it assigns
nothing declared outside it.  Whether its iterations are independent is for the polyhedra to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ZERO, Ring
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.traverse import declared_names, names_read_in
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.rewrite import map_expressions, substitute, with_bodies
from comprehensive.metafork.walk import arrays_assigned, bodies, leaves_loop, own_expressions, statements_in


class Hoistable(Struct, frozen=True):
    """A loop that can leave: its iterator, its number of iterations, and how many loops of that shape there are."""

    iterator: str
    extent: Expr
    bodies: tuple[tuple[Stmt, ...], ...]
    """The body of every band without the loop; the iterator is free in it and counts from 0."""
    bands: tuple[int, ...]
    """The bands that have the loop, one entry for every occurrence."""
    shared: tuple[str, ...] = ()
    """Arrays that one occurrence writes and another one touches: joining the loops would reorder that."""


class Stays(Struct, frozen=True):
    """The reason why a loop cannot leave the body."""

    reason: str


class _CannotLeaveError(Exception):
    pass


def hoistable_loops(nest: Nest) -> Iterator[Hoistable | Stays]:
    """The loops of the threads, outermost first, in program order; each with all loops that go with it."""
    seen: list[tuple[str, Expr]] = []
    written = written_arrays(nest)
    for band in nest.bands:
        for loop in _loops(band.body):
            extent = uniform_extent(nest, loop)
            if isinstance(extent, Stays):
                yield extent
                continue
            if (loop.iterator, extent) in seen:
                continue
            seen.append((loop.iterator, extent))
            yield _take_out(nest, loop.iterator, extent, written)


def written_arrays(nest: Nest) -> frozenset[str]:
    """The arrays, local ones included, that some statement of the nest assigns."""
    return frozenset[str]().union(*(arrays_assigned(band.body) for band in nest.bands))


def uniform_extent(nest: Nest, loop: For) -> Expr | Stays:
    """The number of iterations of a loop in steps of 1 as an expression over scalars, known to be at least 0."""
    name = f"the loop over '{loop.shown}'"
    if loop.type is None:
        return Stays(f"{name} counts in a variable declared outside it")
    if loop.type is not ScalarType.INT:
        return Stays(f"{name} counts in {loop.type.value}, and loops of the grid count in int")
    if loop.step != IntLiteral(1) or loop.relation not in ("<", "<=", "!="):
        return Stays(f"{name} does not count up in steps of 1")
    extent = loop.bound
    if loop.start != ZERO or loop.relation == "<=":
        ring = Ring()
        last = ring.read(loop.bound) + (1 if loop.relation == "<=" else 0)
        extent = ring.write(last - ring.read(loop.start))
    outside = sorted(names_read(extent) - {s.name for s in nest.scalars})
    if outside:
        return Stays(f"the extent of {name} reads '{outside[0]}', which is no scalar of the region")
    if not _is_non_negative(nest, extent):
        return Stays(f"the extent of {name} may be negative")
    return extent


def _is_non_negative(nest: Nest, expr: Expr) -> bool:
    """Return whether an expression is not negative: parameters are not, and the operators here keep that.

    See the paper, section 3.1.
    """
    match expr:
        case IntLiteral():
            return expr.value >= 0
        case Name():
            scalar = nest.scalar(expr.identifier)
            return scalar.type.is_integer and scalar.role in (Role.PROGRAM, Role.DATA)
        case Binary(operator="+" | "*" | "/"):
            return _is_non_negative(nest, expr.left) and _is_non_negative(nest, expr.right)
        case _:
            return False


def _loops(body: tuple[Stmt, ...]) -> Iterator[For]:
    for statement in body:
        if isinstance(statement, For):
            yield statement
        if not isinstance(statement, MetaFor | While | DoWhile):
            for inner in bodies(statement):
                yield from _loops(inner)


def _take_out(nest: Nest, iterator: str, extent: Expr, written: frozenset[str]) -> Hoistable | Stays:
    bodies: list[tuple[Stmt, ...]] = []
    bands: list[int] = []
    touched: list[tuple[frozenset[str], frozenset[str]]] = []
    for number, band in enumerate(nest.bands):
        taker = _Taker(nest, iterator, extent, written)
        try:
            bodies.append(taker.body(band.body))
        except _CannotLeaveError as error:
            return Stays(str(error))
        if not taker.taken:
            return Stays(f"not every band has a loop over '{iterator}' with the same extent")
        bands += [number] * len(taker.taken)
        touched += [_touched(loop) for loop in taker.taken]
    shared = {
        array
        for position, (writes, _) in enumerate(touched)
        for other, (_, reads) in enumerate(touched)
        if position != other
        for array in writes & reads
    }
    return Hoistable(iterator, extent, tuple(bodies), tuple(bands), tuple(sorted(shared)))


def _touched(loop: For) -> tuple[frozenset[str], frozenset[str]]:
    """Names of arrays that a loop writes, and all that it touches."""
    return arrays_assigned(loop.body), names_read_in(loop.body)


class _Taker:
    def __init__(self, nest: Nest, iterator: str, extent: Expr, written: frozenset[str]) -> None:
        self._nest = nest
        self._iterator = iterator
        self._extent = extent
        self._written = written
        self.taken: list[For] = []

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case For() if self._is_wanted(statement):
                    result += self._opened(statement, body)
                    self.taken.append(statement)
                case For() if statement.type is None or statement.iterator == self._iterator:
                    self._pure(statement)
                    raise _CannotLeaveError(f"a loop over '{statement.shown}' stands in the way")
                case For() | If() | Block():
                    self._pure(statement)
                    result.append(with_bodies(statement, self.body))
                case Declare(dims=()) if statement.name != self._iterator:
                    self._pure(statement)
                    result.append(statement)
                case Assign(target=target):
                    what = target.identifier if isinstance(target, Name) else target.array
                    raise _CannotLeaveError(f"'{what}' is assigned outside the loop over '{self._iterator}'")
                case Declare() | While() | DoWhile() | Break() | Continue() | MetaFor():
                    raise _CannotLeaveError(
                        f"a statement beside the loop over '{self._iterator}' cannot be repeated"
                    )
                case _:
                    assert_never(statement)
        return tuple(result)

    def _is_wanted(self, loop: For) -> bool:
        return loop.iterator == self._iterator and uniform_extent(self._nest, loop) == self._extent

    def _pure(self, statement: Stmt) -> None:
        for expr in own_expressions(statement):
            for name in sorted(names_read(expr) & self._written):
                raise _CannotLeaveError(
                    f"'{name}' is read outside the loop over '{self._iterator}', and the region writes it"
                )

    def _opened(self, loop: For, siblings: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body of the loop in its place, its iterator counting from 0."""
        inner = declared_names(loop.body)
        for statement in statements_in(loop.body):
            match statement:
                case Assign(target=Name(identifier=name)) if name not in inner:
                    raise _CannotLeaveError(
                        f"the loop over '{loop.shown}' hands '{name}' to the next iteration"
                    )
                case Assign(target=Index(array=name)) if name not in inner and not self._is_data(name):
                    raise _CannotLeaveError(f"the loop over '{loop.shown}' shares the local array '{name}'")
                case For(type=None, iterator=name) if name not in inner:
                    raise _CannotLeaveError(
                        f"the loop over '{loop.shown}' hands '{name}' to the next iteration"
                    )
                case _:
                    pass
        if leaves_loop(loop.body) or loop.iterator in inner:
            raise _CannotLeaveError(f"the loop over '{loop.shown}' may be left early")
        body = loop.body
        if loop.start != ZERO:
            shifted = Binary("+", loop.start, Name(loop.iterator))
            body = _substituted(body, loop.iterator, shifted)
        beside = declared_names(tuple(s for s in siblings if s is not loop))
        if beside & {s.name for s in body if isinstance(s, Declare)}:
            return (Block(body, loop.span),)
        return body

    def _is_data(self, name: str) -> bool:
        return any(a.name == name for a in self._nest.arrays)


def _substituted(body: tuple[Stmt, ...], name: str, value: Expr) -> tuple[Stmt, ...]:
    return map_expressions(body, lambda e: substitute(e, {name: value}))
