"""Statements of the loops of a point: a statement over data in, the same with what it uses of resident rows there out.

::

    y[i][j] = expf(a[i][j] - most)
        -->  row_y[j] = expf(row_a[j] - most);  if (the point is there) y[..] = row_y[j]

Elements of rows that stay in shared memory are read there; others are read from memory.  What is assigned goes to the
row, to memory, or to both: as later statements need it.  Points behind the last one store nothing to memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from comprehensive.kernel_ir.names import names_in_kernel
from comprehensive.kernel_ir.terms import constant
from comprehensive.metafork.ast import Assign, Binary, Expr, For, If, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expressions, with_bodies, with_operands, with_own_expressions
from comprehensive.metafork.terms import plus, value_left
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.phases import Ordered
from comprehensive.schedule.row_layout import ResidentRows, Row
from comprehensive.schedule.row_references import accesses
from comprehensive.schedule.walk_ahead import ReadAhead, walk_ahead


class RowStatements(Struct, frozen=True):
    """Rewrites the statements of a point's phases; ``called`` gives things of the kernel their names."""

    context: TileContext
    resident: ResidentRows
    called: Callable[[str], str]
    name: Namer

    @property
    def is_there(self) -> Expr:
        """The condition that the point of a thread is none behind the last one."""
        return Binary("<", self.context.name("point"), self.context.limit(0))

    def row_name(self, row: Row) -> str:
        return self.called(f"row {self.resident.references.storage(row.name)} {row.first} {row.slot}")

    def key(self, row: Row, behind: int) -> str:
        """Return what tells elements of a step apart that a walk has in registers."""
        return f"{self.row_name(row)} {behind}"

    def element(self, row: Row, number: Expr, behind: int) -> Index:
        return Index(self.row_name(row), (plus(number, IntLiteral(behind)),))

    def expression(
        self, e: Expr, loop: For, ahead: Mapping[str, Index] | None = None, place: Expr | None = None
    ) -> Expr:
        """The expression with what it reads where that is; rows that are read ``ahead`` in registers.

        ``place`` is the number of the step in the rows, where it is not that of the loop.
        """
        found = self.resident.row_of(e, loop) if isinstance(e, Index) else None
        if found is None:
            inner = with_operands(e, lambda part: self.expression(part, loop, ahead, place))
            return self.context.flat_element(inner)
        row, behind = found
        if ahead is not None and (key := self.key(row, behind)) in ahead:
            return ahead[key]
        return self.element(row, Name(loop.iterator) if place is None else place, behind)

    def read(self, statement: Stmt, loop: For) -> Stmt:
        """The statement, which stores nothing, with what it reads where that is."""
        (result,) = map_expressions((statement,), lambda e: self.expression(e, loop))
        return result

    def beside(self, statement: Stmt) -> tuple[Stmt, ...]:
        """The statement beside the loops, with its references to data flat, those that it assigns included."""

        def place(written: Name | Index) -> Name | Index:
            found = self.context.flat(written)
            assert isinstance(found, Name | Index)
            return found

        return map_expressions((statement,), self.context.flat, place)

    def step(
        self,
        number: int,
        time: int,
        statement: Stmt,
        loop: For,
        ahead: Mapping[str, Index] | None = None,
        place: Expr | None = None,
    ) -> tuple[Stmt, ...]:
        """A statement of a phase, at some time in it, with its stores to the row, to memory, or to both."""

        def expression(e: Expr) -> Expr:
            return self.expression(e, loop, ahead, place)

        def inside(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            return tuple(each for s in body for each in self.step(number, time, s, loop, ahead, place))

        if not (isinstance(statement, Assign) and isinstance(statement.target, Index)):
            return (with_bodies(with_own_expressions(statement, expression), inside),)
        target, value = statement.target, expression(statement.value)
        found = self.resident.row_of(target, loop)
        memory = self.context.flat_element(with_operands(target, expression))
        assert isinstance(memory, Index)
        if found is None:
            return (If(self.is_there, (replace(statement, target=memory, value=value),)),)
        row, behind = found
        element = self.element(row, Name(loop.iterator) if place is None else place, behind)
        whole = value_left(replace(statement, target=element, value=value))
        is_ordered = isinstance(self.resident.distribution.phases[number], Ordered)
        is_kept = self.resident.is_kept(target, loop, number, time)
        is_stored = not is_ordered and self.resident.is_stored(target, loop, number)
        store = replace(statement, target=element, operator="=", value=whole)
        if not is_stored:
            return (store,)
        if is_kept:
            return (store, If(self.is_there, (Assign(memory, "=", element),)))
        return (If(self.is_there, (replace(store, target=memory),)),)

    def walk(
        self, number: int, time: int, loop: For, limit: Expr, piece: tuple[Name, Name] | None = None
    ) -> list[Stmt]:
        """A loop in order, of which a thread has the elements of rows in registers before it comes to them.

        Of a ``piece`` it does the steps from the first of two names on; the other one counts them.
        """
        read: dict[str, tuple[Row, int]] = {}
        for access in (access for statement in loop.body for access in accesses(statement, loop)):
            found = self.resident.row_of(access.reference, loop)
            if found is not None and not access.writes and not self.resident.is_assigned(found[0], loop):
                read.setdefault(self.key(*found), found)
        step = None if piece is None else piece[1]
        walked = loop if step is None else replace(loop, iterator=step.identifier)

        def steps(elements: Sequence[Index]) -> tuple[Stmt, ...]:
            ahead = dict(zip(read, elements, strict=True))
            found = tuple(
                each
                for later, statement in enumerate(loop.body)
                for each in self.step(number, time + later, statement, loop, ahead, step)
            )
            if piece is None or loop.iterator not in names_in_kernel(found):
                return found
            return (constant(loop.iterator, Binary("+", *piece)), *found)

        if not read:
            return [replace(walked, bound=limit, body=steps(()))]
        rows = [
            ReadAhead(self.name(f"ahead_{row.name}"), row.type, partial(self.element, row, behind=behind))
            for row, behind in read.values()
        ]
        return walk_ahead(self.context, walked, limit, rows, steps)
