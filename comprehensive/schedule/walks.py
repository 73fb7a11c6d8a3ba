"""The walks of points: a loop that goes along a row of its own at each point in, the strips of these rows out.

::

    for (t < n) { y[c][t] = b * x[c][t] + z;  z = x[c][t - 1] * a; }    -->    x: columns t - 1 and t;  y: column t

A step of the loop comes to a few columns of a row, and the next one to as many that are ``step`` columns further, in
one direction or the other.  What decides is the value of subscripts as polynomials: a constant factor of the number of
the step, constants, iterators of short loops inside of the step, and a rest that is the same in all steps.

A strip is copied before the walk comes to it, so that all of it has to be there: between the first and the last
element that the walk reads in any case, or in declared extents.  It is stored behind the walk where every step stores
``step`` columns, or reads them anyway, so that they are no other point's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.parameters import Strides
from comprehensive.kernel_ir.terms import total
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import always_evaluated
from comprehensive.metafork.ast import (
    Assign,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    Stmt,
    While,
)
from comprehensive.metafork.terms import times
from comprehensive.metafork.walk import bodies, leaves_loop, own_expressions, subexpressions
from comprehensive.schedule.row_references import RowReferences

FEWEST_APART = 16
"""Elements from the row of a point to that of the next one, from which on their threads' accesses lie far apart."""
MOST_COLUMNS = 64
"""Columns that a step comes to; the references of more are as good as anywhere."""


class Strip(Struct, frozen=True):
    """The columns of a row that a walk comes to by these ``references``, in the order of the walk.

    Step ``t`` comes to the columns from ``step*t + lowest`` to ``step*t + highest``; column ``p`` is the element
    ``first`` plus or minus ``p`` along the last subscript.
    """

    array: str
    references: Mapping[Index, Polynomial]
    """Each with its column in step 0, over iterators of loops inside of the step."""
    first: tuple[Expr, ...]
    """The subscripts of column 0."""
    apart: Mapping[int, Expr]
    """The elements from the row of a point to that of the next one: a factor for the stride of each subscript."""
    step: int
    downward: bool
    lowest: int
    highest: int
    is_copied: bool
    """Whether a step reads what no step before it has stored."""
    stored: int | None
    """The first of the ``step`` columns that step 0 stores; None where it stores none."""
    early: frozenset[Index]
    """The references whose elements are the same before the walk, of those with a single column."""

    @property
    def begin(self) -> int:
        """The first column that step 0 comes to and no step before it would."""
        return max(self.lowest, self.highest - self.step + 1)

    @property
    def behind(self) -> int:
        """The columns in front of these that it comes to as well."""
        return self.begin - self.lowest

    def stride(self, strides: Strides) -> Expr:
        """Return the elements from row to row in memory."""
        along = [Name(p.name) for p in strides[self.array]]
        last = len(along)
        return total([f if n == last else times(f, along[n]) for n, f in self.apart.items()])


class _Reference(Struct, frozen=True):
    """One reference of a step; ``sure`` where every step makes it."""

    index: Index
    writes: bool
    sure: bool
    inner: Mapping[str, int]
    """The turns of the constant loops around it, by iterator."""


class _Along(Struct, frozen=True):
    """The way of a reference: the row, the factor of the number of the step, and the column in step 0."""

    row: tuple[str, tuple[Polynomial, ...], int]
    column: Polynomial
    low: int
    high: int


def strips_of(nest: Nest, tile: RegisterTile, loop: For, around: frozenset[str]) -> tuple[Strip, ...]:
    """The strips of a loop whose header is the same for all points, ``around`` which are loops with these iterators."""
    (coordinate,) = tile.coordinates
    known = {s.name for s in nest.scalars} | {b.name for b in tile.batch} | around | {coordinate.name}
    finder = _Finder(nest, tile, loop, frozenset(known), around, Ring())
    found = [(r, finder.along(r)) for r in _references(loop.body, {}, sure=True) if finder.is_data(r)]
    strips: list[Strip] = []
    for row in dict.fromkeys(along.row for _, along in found if along is not None):
        storage = finder.storage(row[0])
        of_storage = [(r, along) for r, along in found if finder.storage(r.index.array) == storage]
        of_row = [(r, along) for r, along in of_storage if along is not None and along.row == row]
        if any(r.writes for r, _ in of_storage):
            strip = finder.stored(of_row) if len(of_row) == len(of_storage) else None
        else:
            strip = finder.read(of_row)
        strips += [] if strip is None else [strip]
    return tuple(strips)


class _Finder(Struct, frozen=True):
    nest: Nest
    tile: RegisterTile
    loop: For
    known: frozenset[str]
    """The names that are the same in all steps, at a point."""
    around: frozenset[str]
    """The iterators of loops around, which are among them."""
    ring: Ring

    def is_data(self, reference: _Reference) -> bool:
        return any(a.name == reference.index.array for a in self.nest.arrays)

    def storage(self, array: str) -> str:
        return self.nest.array(array).pointer

    # --- where references go

    def along(self, reference: _Reference) -> _Along | None:
        """Return where a reference goes; None where that is along no row of the point's own."""
        subscripts, inner, step = reference.index.subscripts, reference.inner, self.loop.iterator
        if any(isinstance(e, Index) for s in subscripts for e in subexpressions(s)):
            return None
        *prefix, last = map(self.ring.read, subscripts)
        if any(not self.ring.names_in(value) <= self.known for value in prefix) or last.degree(step) != 1:
            return None
        factor, rest = last.coefficient(step, 1), last.coefficient(step, 0)
        column, low, high = Polynomial.constant(0), 0, 0
        for name in sorted(self.ring.names_in(rest) & inner.keys()):
            each = rest.coefficient(name, 1)
            if rest.degree(name) != 1 or not each.is_constant:
                return None
            column, rest = column + each * Polynomial.symbol(name), rest.coefficient(name, 0)
            reach = int(each.constant_value()) * (inner[name] - 1)
            low, high = low + min(0, reach), high + max(0, reach)
        if not factor.is_constant or not self.ring.names_in(rest) <= self.known:
            return None
        times_, constant = int(factor.constant_value()), int(rest.constant_term)
        column, low, high = column + constant, low + constant, high + constant
        if times_ < 0:
            column, low, high = -column, -high, -low
        values = (*prefix, rest - rest.constant_term)
        if abs(times_) > MOST_COLUMNS or high - low > MOST_COLUMNS or not self._is_own(values):
            return None
        return _Along((reference.index.array, values, times_), column, low, high)

    def _is_own(self, values: Sequence[Polynomial]) -> bool:
        """Whether the rows of neighbouring points lie far apart, and walks one behind the other do, too."""
        apart = self._apart(values)
        if not apart:
            return False
        along_row = apart.get(len(values) - 1)
        is_near = (
            along_row is not None and along_row.is_constant and abs(along_row.constant_value()) < FEWEST_APART
        )
        return (len(apart) > 1 or not is_near) and not self._slides(values[-1])

    def _slides(self, begin: Polynomial) -> bool:
        """Whether a walk begins a little further in each turn of a loop around it, among what it has come to before."""
        moves = [begin.coefficient(name, 1) for name in sorted(self.ring.names_in(begin) & self.around)]
        return any(move.is_constant and abs(move.constant_value()) < FEWEST_APART for move in moves)

    def _apart(self, values: Sequence[Polynomial]) -> dict[int, Polynomial] | None:
        """Return by how much each subscript grows from a point to the next one; None where that is not known."""
        (point,) = (c.name for c in self.tile.coordinates)
        found: dict[int, Polynomial] = {}
        for number, value in enumerate(values):
            if point not in self.ring.names_in(value):
                continue
            if value.degree(point) != 1 or point in self.ring.names_in(value.coefficient(point, 0)):
                return None
            found[number] = value.coefficient(point, 1)
        return found

    # --- strips

    def read(self, found: Sequence[tuple[_Reference, _Along]]) -> Strip | None:
        """The strip of references along a row that the loop does not store to; None where none is known to be there."""
        there = self._there(found)
        kept = [(r, along) for r, along in found if r.index in there]
        return (
            self._strip(kept, is_copied=True, stored=None, early={r.index for r, _ in kept}) if kept else None
        )

    def stored(self, found: Sequence[tuple[_Reference, _Along]]) -> Strip | None:
        """The strip of references along a row that the loop stores to, all that there are to its array."""
        step = abs(found[0][1].row[2])
        if not {r.index for r, _ in found} <= self._there(found):
            return None
        every = {p for r, along in found if r.writes for p in _columns(r, along)}
        sure = {p for r, along in found if r.writes and r.sure for p in _columns(r, along)}
        read = {p for r, along in found if not r.writes and r.sure for p in _columns(r, along)}
        is_full = sure == every
        if max(every) - min(every) + 1 != step or len(every) != step or not (is_full or every <= read):
            return None
        is_copied = not is_full or any(
            not r.writes and along.high >= min(every) and not _is_stored_before(number, found)
            for number, (r, along) in enumerate(found)
        )
        behind = {r.index for r, along in found if along.low < min(every)}
        behind |= {r.index for number, (r, _) in enumerate(found) if any(w.writes for w, _ in found[:number])}
        early = {r.index for r, _ in found if not r.writes} - behind
        return self._strip(found, is_copied=is_copied, stored=min(every), early=early if is_copied else set())

    def _there(self, found: Sequence[tuple[_Reference, _Along]]) -> set[Index]:
        """The references whose elements are there in all steps: those between what each step comes to, and those in
        declared extents."""
        sure = [along for r, along in found if r.sure]
        references = RowReferences(self.nest, self.tile)
        within = {
            r.index
            for r, along in found
            if sure
            and min(each.low for each in sure) <= along.low
            and along.high <= max(each.high for each in sure)
        }
        others = {r.index for r, _ in found} - within
        return within | {index for index in others if references.is_there(index, self.loop)}

    def _strip(
        self,
        found: Sequence[tuple[_Reference, _Along]],
        *,
        is_copied: bool,
        stored: int | None,
        early: Set[Index],
    ) -> Strip:
        array, values, factor = found[0][1].row
        apart = self._apart(values)
        assert apart is not None
        return Strip(
            array,
            {r.index: along.column for r, along in found},
            tuple(map(self.ring.write, values)),
            {number: self.ring.write(factor) for number, factor in apart.items()},
            abs(factor),
            factor < 0,
            min(along.low for _, along in found),
            max(along.high for _, along in found),
            is_copied,
            stored,
            frozenset(r.index for r, along in found if r.index in early and along.low == along.high),
        )


def _columns(reference: _Reference, along: _Along) -> set[int]:
    """The columns that a reference comes to in step 0."""
    found = {int(along.column.constant_term)}
    for name in along.column.symbols:
        factor = int(along.column.coefficient(name, 1).constant_value())
        found = {column + factor * turn for column in found for turn in range(reference.inner[name])}
    return found


def _is_stored_before(number: int, found: Sequence[tuple[_Reference, _Along]]) -> bool:
    """Whether a step reads an element that it has stored itself."""
    index = found[number][0].index
    return any(r.writes and r.sure and r.index == index for r, _ in found[:number])


# --- the references of a step, in order


def _references(body: Sequence[Stmt], inner: Mapping[str, int], *, sure: bool) -> Iterator[_Reference]:
    for statement in body:
        match statement:
            case Assign(target=Index() as target, value=value):
                yield from _reads((value, *target.subscripts), inner, sure=sure)
                if statement.operator != "=":
                    yield _Reference(target, False, sure, inner)
                yield _Reference(target, True, sure, inner)
            case For(iterator=iterator, bound=IntLiteral(value=turns)) if statement.counts_up and turns > 0:
                stays = sure and not leaves_loop(statement.body)
                yield from _references(statement.body, {**inner, iterator: turns}, sure=stays)
            case _:
                evaluated = sure and isinstance(statement, Declare | Assign | If | While)
                yield from _reads(own_expressions(statement), inner, sure=evaluated)
                for each in bodies(statement):
                    yield from _references(each, inner, sure=False)
        sure = sure and not leaves_loop((statement,), (Break, Continue))


def _reads(expressions: Sequence[Expr], inner: Mapping[str, int], *, sure: bool) -> Iterator[_Reference]:
    for whole in expressions:
        always = {id(e) for e in always_evaluated(whole)}
        for e in subexpressions(whole):
            if isinstance(e, Index):
                yield _Reference(e, False, sure and id(e) in always, inner)
