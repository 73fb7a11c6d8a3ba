"""Points with a long serial loop: its operands go through shared memory in pieces, several of them in flight.

In: a frame and the body of a point, ``float sum = 0; for (k) sum += a[y0][k] * b[k][y1]; c[y0][y1] = sum``.
Out: the statements of the kernel::

    all points: sum = 0
    begin to copy pieces 0 .. S - 2 of a (T0*U0 rows of D) and b (D rows of T1*U1)
    for each step:  await its piece, barrier, begin to copy the piece S - 1 ahead
                    for z < D: all points: sum += piece_a[..][z] * piece_b[z][..]
    all points inside of the limits: c[y0][y1] = sum

Elements that the loop assigns and that are the same in all its steps, as in ``c[y0][y1] += ...``, are held in
registers too.  Every sum keeps its order, so that the result is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from comprehensive.algebra import Polynomial
from comprehensive.codegen.frame import ONE, PATCH, ZERO, Frame
from comprehensive.codegen.jam import Jam, scalars_of
from comprehensive.codegen.kernel import (
    Await,
    Barrier,
    Commit,
    Fetch,
    KernelStmt,
    Plain,
    Put,
    SharedTile,
    Stage,
    UniformFor,
    UniformIf,
)
from comprehensive.codegen.parameters import flat
from comprehensive.codegen.pieces import Axis, Piece, operands_of
from comprehensive.codegen.terms import constant, expression, plus, product, times
from comprehensive.codegen.tiles import words_per_element
from comprehensive.loops.rewrite import map_expr
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)

VECTOR_BYTES = 16
"""The largest access of a thread; rows of a piece are so much longer than what they hold, against bank conflicts."""
VECTOR = 4
"""Neighbouring points of a thread, whose operands are one access to shared memory; elements fetched together."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """The parts of the kernel; ``before`` and ``after`` are the statements of a point around its loop."""

    frame: Frame
    before: tuple[Stmt, ...]
    loop: For
    after: tuple[Stmt, ...]
    held: Mapping[str, Index]
    pieces: Mapping[str, Piece]

    @staticmethod
    def of(frame: Frame, body: tuple[Stmt, ...], loop: For) -> Reduction:
        held, pieces = operands_of(frame.nest, frame.tile, body, loop)
        at = body.index(loop)
        # 8-byte elements first: every piece is then aligned without padding.
        ordered = sorted(pieces, key=lambda name: -frame.nest.array(name).type.size_bytes)
        return Reduction(
            frame, body[:at], loop, body[at + 1 :], held, {name: pieces[name] for name in ordered}
        )

    # --- sizes

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return sum((self._words(name) for name in self.pieces), Polynomial.constant(0))

    def _words(self, name: str) -> Polynomial:
        size = words_per_element(self.frame.nest.array(name).type)
        return Polynomial.symbol(self.frame.tile.stages) * self._elements(name) * size

    def _elements(self, name: str) -> Polynomial:
        piece = self.pieces[name]
        return self._extent(piece.columns if self._is_turned(piece) else piece.rows) * self._pitch(name)

    def _is_turned(self, piece: Piece) -> bool:
        """Whether columns become rows in shared memory: points that are neighbours then find neighbours."""
        along = (piece.rows.variable, piece.columns.variable)
        return self._is_patched and along[0] is not None and along[1] == self.loop.iterator

    @property
    def _is_patched(self) -> bool:
        return len(self.frame.tile.coordinates) == 2

    def _extent(self, axis: Axis) -> Polynomial:
        tile = self.frame.tile
        if axis.variable is None:
            return Polynomial.constant(1)
        if axis.variable == self.loop.iterator:
            return Polynomial.symbol(tile.depth)
        (c,) = (c for c in tile.coordinates if c.name == axis.variable)
        return Polynomial.symbol(c.threads) * Polynomial.symbol(c.each)

    def _pitch(self, name: str) -> Polynomial:
        piece = self.pieces[name]
        if self._is_turned(piece):
            return self._extent(piece.rows) + VECTOR
        columns = self._extent(piece.columns)
        is_padded = piece.rows.variable is not None and piece.columns.variable == self.loop.iterator
        return columns + VECTOR_BYTES // self.frame.nest.array(name).type.size_bytes if is_padded else columns

    def _text(self, polynomial: Polynomial) -> Expr:
        return expression(polynomial, (*self.frame.tile.sizes, self.frame.tile.depth, self.frame.tile.stages))

    def demands(self) -> tuple[Expr, ...]:
        """What the shapes below need of the sizes."""
        tile = self.frame.tile
        counts = [(tile.depth, VECTOR)]
        if self._is_patched:
            counts += [(c.threads, patch) for c, patch in zip(tile.coordinates, PATCH, strict=True)]
            counts += [(c.each, VECTOR) for c in tile.coordinates]
        multiples: list[Expr] = [
            Binary("==", Binary("%", Name(name), IntLiteral(count)), ZERO) for name, count in counts
        ]
        return (*multiples, Binary(">=", Name(tile.stages), IntLiteral(2)))

    # --- the body

    def body(self) -> tuple[KernelStmt, ...]:
        frame = self.frame
        scalars = scalars_of((*self.before, *self.after))
        jam = Jam(frame, scalars, self._places(), self._of_registers)
        steps = Binary(
            "/", Binary("+", self._limit(), Binary("-", Name(frame.tile.depth), ONE)), Name(frame.tile.depth)
        )
        return (
            *self._tiles(),
            Plain((*self._thread(), constant(frame.names["steps"], steps), *self._held_pieces())),
            Plain((*self._loaded(jam), *self._begun(jam))),
            *self._first_pieces(),
            self._main_loop(),
            Plain(self._stored_points(jam)),
        )

    def _limit(self) -> Expr:
        return self.frame.limit(len(self.frame.tile.coordinates))

    def _thread(self) -> tuple[Stmt, ...]:
        return () if self._is_patched else (constant(self.frame.names["thread"], self.frame.name("t0")),)

    def _threads(self) -> Expr:
        return product([Name(c.threads) for c in self.frame.tile.coordinates])

    def _held_pieces(self) -> tuple[Stmt, ...]:
        """The registers of a thread for its part of each piece that is turned, in groups of so many elements."""
        held: list[Stmt] = []
        for name, piece in self.pieces.items():
            if self._is_turned(piece):
                elements = self._text(self._extent(piece.rows) * self._extent(piece.columns))
                groups = Binary("/", elements, IntLiteral(VECTOR))
                turns = Binary("/", Binary("+", groups, Binary("-", self._threads(), ONE)), self._threads())
                size = Binary("*", turns, IntLiteral(VECTOR))
                held.append(
                    Declare(self.frame.nest.array(name).type, self.frame.names[f"held_{name}"], (size,))
                )
        return tuple(held)

    def _places(self) -> tuple[Expr, ...]:
        """One coordinate: a block's threads apart. Two: in vectors, those a block's threads apart."""
        frame = self.frame
        first = frame.tile.coordinates[0]
        if not self._is_patched:
            return (Binary("+", Binary("*", frame.name("r0"), Name(first.threads)), frame.name("t0")),)
        places: list[Expr] = []
        for number, c in enumerate(frame.tile.coordinates):
            value, thread, vector = frame.name(f"r{number}"), frame.name(f"t{number}"), IntLiteral(VECTOR)
            apart = Binary("*", Binary("/", value, vector), Binary("*", vector, Name(c.threads)))
            places.append(
                Binary("+", Binary("+", apart, Binary("*", vector, thread)), Binary("%", value, vector))
            )
        return tuple(places)

    def _tiles(self) -> tuple[KernelStmt, ...]:
        tiles: list[KernelStmt] = []
        offset = Polynomial.constant(0)
        for name in self.pieces:
            type = self.frame.nest.array(name).type
            tiles.append(SharedTile(self.frame.names[f"shared_{name}"], type, self._text(offset)))
            offset = offset + self._words(name)
        return tuple(tiles)

    def _begun(self, jam: Jam) -> tuple[Stmt, ...]:
        """What comes before the loop, at points inside of the limits; scalars of the others are 0."""
        arrays: list[Stmt] = []
        zeros: list[Stmt] = []
        statements: list[Stmt] = []
        for statement in self.before:
            if isinstance(statement, Declare):
                arrays.append(Declare(statement.type, statement.name, jam.shape()))
                zeros.append(Assign(Index(statement.name, jam.indices()), "=", ZERO))
                if statement.initial is not None:
                    first = Assign(Name(statement.name), "=", statement.initial, statement.span)
                    statements.append(jam.one(first))
            else:
                statements.append(jam.one(statement))
        begun = jam.at_points(zeros) if zeros else ()
        return (
            *arrays,
            *begun,
            *(jam.at_points(statements, guards=self.frame.inside()) if statements else ()),
        )

    def _loaded(self, jam: Jam) -> tuple[Stmt, ...]:
        """The elements that the loop assigns, in registers; 0 outside of the limits."""
        result: list[Stmt] = []
        for name, reference in self.held.items():
            element = self._private(name)
            result.append(Declare(self.frame.nest.array(name).type, element.array, jam.shape()))
            result += jam.at_points((Assign(element, "=", ZERO),))
            result += jam.at_points(
                (Assign(element, "=", self.frame.flat(reference)),), guards=self.frame.inside()
            )
        return tuple(result)

    def _stored_points(self, jam: Jam) -> tuple[Stmt, ...]:
        """What follows the loop; addresses are not kept from before it, since registers are dear there."""
        origins = range(len(self.frame.tile.coordinates))
        again = tuple(
            constant(self.frame.names[f"e{n}"], Call("cf_again", (self.frame.name(f"o{n}"),)))
            for n in origins
        )
        ends = replace(
            jam,
            scalars=scalars_of(self.before),
            origins=tuple(self.frame.name(f"e{n}") for n in origins),
        )
        return (
            *again,
            *ends.at_points((*map(ends.one, self.after), *self._stores()), guards=self.frame.inside()),
        )

    def _stores(self) -> tuple[Stmt, ...]:
        return tuple(
            Assign(flat(reference, self.frame.strides), "=", self._private(name))
            for name, reference in self.held.items()
        )

    def _first_pieces(self) -> tuple[KernelStmt, ...]:
        frame = self.frame
        ahead = frame.name("ahead")
        begun = UniformIf(Binary("<", ahead, frame.name("steps")), self._stages(ahead, ahead))
        last = Binary("-", Name(frame.tile.stages), ONE)
        header = For(ScalarType.INT, ahead.identifier, ZERO, "<", last, ONE, (), unrolled=True)
        first = UniformIf(Binary("<", ZERO, frame.name("steps")), (*self._fetches(ZERO), *self._puts(ZERO)))
        second = UniformIf(Binary("<", ONE, frame.name("steps")), self._fetches(ONE))
        turned = (first, second) if first.then else ()
        return (UniformFor(header, (begun, Commit())), *turned)

    def _main_loop(self) -> KernelStmt:
        frame, tile = self.frame, self.frame.tile
        step, ahead = frame.name("step"), frame.name("ahead")
        header = For(ScalarType.INT, step.identifier, ZERO, "<", frame.name("steps"), ONE, ())
        begun = UniformIf(
            Binary("<", ahead, frame.name("steps")),
            self._stages(ahead, Binary("%", ahead, Name(tile.stages))),
        )
        left = Binary("-", self._limit(), Binary("*", step, Name(tile.depth)))
        whole = UniformIf(
            Binary(">=", left, Name(tile.depth)),
            (self._computed(Name(tile.depth), unrolled=True),),
            (self._computed(left, unrolled=False),),
        )
        pointers = tuple(self._pointer(name) for name in self.pieces)
        return UniformFor(
            header,
            (
                Await(Binary("-", Name(tile.stages), IntLiteral(2))),
                Barrier(),
                Plain((constant(ahead.identifier, Binary("+", step, Binary("-", Name(tile.stages), ONE))),)),
                begun,
                Commit(),
                *self._turned_ahead(step),
                Plain((constant(frame.names["slot"], Binary("%", step, Name(tile.stages))), *pointers)),
                whole,
            ),
        )

    def _turned_ahead(self, step: Expr) -> tuple[KernelStmt, ...]:
        """The next pieces that are turned leave their registers, and those after them come in."""
        frame = self.frame
        following, second = Binary("+", step, ONE), Binary("+", step, IntLiteral(2))
        puts = self._puts(Binary("%", following, Name(frame.tile.stages)))
        if not puts:
            return ()
        return (
            UniformIf(Binary("<", following, frame.name("steps")), puts),
            UniformIf(Binary("<", second, frame.name("steps")), self._fetches(second)),
        )

    def _fetches(self, step: Expr) -> tuple[KernelStmt, ...]:
        frame = self.frame
        return tuple(
            Fetch(
                frame.names[f"held_{name}"],
                self._source(piece, step),
                self._text(self._extent(piece.rows)),
                self._text(self._extent(piece.columns)),
                self._stride(piece),
                self._valid(piece.rows, step),
                self._valid(piece.columns, step),
                frame.name("thread"),
                self._threads(),
            )
            for name, piece in self.pieces.items()
            if self._is_turned(piece)
        )

    def _puts(self, slot: Expr) -> tuple[KernelStmt, ...]:
        frame = self.frame
        return tuple(
            Put(
                self._slot(name, slot),
                frame.names[f"held_{name}"],
                self._text(self._extent(piece.rows)),
                self._text(self._extent(piece.columns)),
                self._text(self._pitch(name)),
                frame.name("thread"),
                self._threads(),
            )
            for name, piece in self.pieces.items()
            if self._is_turned(piece)
        )

    def _slot(self, name: str, slot: Expr) -> Expr:
        """Where a piece of an array begins in shared memory."""
        at = ZERO if slot == ZERO else times(slot, self._text(self._elements(name)))
        return plus(self.frame.name(f"shared_{name}"), at)

    def _source(self, piece: Piece, step: Expr) -> Index:
        """The first element of a piece."""
        origin = Index(piece.array, tuple(self._origin(a, step) for a in self._subscripts(piece)))
        return flat(origin, self.frame.strides)

    def _stride(self, piece: Piece) -> Expr:
        return piece.stride or Name(self.frame.strides[piece.array][0].name)

    def _pointer(self, name: str) -> Stmt:
        """Where the piece of this step begins, as an offset into the shared memory of its array."""
        return constant(
            self.frame.names[f"piece_{name}"],
            times(self.frame.name("slot"), self._text(self._elements(name))),
        )

    def _stages(self, step: Expr, slot: Expr) -> tuple[KernelStmt, ...]:
        frame = self.frame
        stages: list[KernelStmt] = []
        for name, piece in self.pieces.items():
            if self._is_turned(piece):
                continue
            stages.append(
                Stage(
                    self._slot(name, slot),
                    self._source(piece, step),
                    self._text(self._extent(piece.rows)),
                    self._text(self._extent(piece.columns)),
                    self._text(self._pitch(name)),
                    self._stride(piece),
                    self._valid(piece.rows, step),
                    self._valid(piece.columns, step),
                    frame.name("thread"),
                    self._threads(),
                )
            )
        return tuple(stages)

    def _subscripts(self, piece: Piece) -> tuple[Axis, ...]:
        return (
            (piece.columns,) if self.frame.nest.array(piece.array).rank == 1 else (piece.rows, piece.columns)
        )

    def _origin(self, axis: Axis, step: Expr) -> Expr:
        """The subscript of the first element of a piece."""
        return axis.rest if axis.variable is None else plus(self._first(axis.variable, step), axis.rest)

    def _first(self, variable: str, step: Expr) -> Expr:
        if variable == self.loop.iterator:
            return Binary("*", step, Name(self.frame.tile.depth))
        return self.frame.name(f"o{self._number(variable)}")

    def _number(self, variable: str) -> int:
        return [c.name for c in self.frame.tile.coordinates].index(variable)

    def _valid(self, axis: Axis, step: Expr) -> Expr:
        """How many elements there are from the origin to the limit."""
        if axis.variable is None:
            return ONE
        number = len(self.frame.tile.coordinates)
        if axis.variable != self.loop.iterator:
            number = self._number(axis.variable)
        return Binary("-", self.frame.limit(number), self._first(axis.variable, step))

    def _computed(self, bound: Expr, *, unrolled: bool) -> KernelStmt:
        """The statements of the loop for a piece."""
        frame, z = self.frame, self.frame.name("z")
        scalars = scalars_of((*self.before, *self.loop.body))
        jam = Jam(frame, scalars, self._places(), self._of_piece)
        iterator = constant(
            self.loop.iterator, Binary("+", Binary("*", frame.name("step"), Name(frame.tile.depth)), z)
        )
        inner = tuple(s for statement in self.loop.body for s in self._jammed(jam, statement))
        header = For(
            ScalarType.INT, z.identifier, ZERO, "<", bound, ONE, (iterator, *inner), unrolled=unrolled
        )
        return Plain((header,))

    def _jammed(self, jam: Jam, statement: Stmt) -> tuple[Stmt, ...]:
        if isinstance(statement, Declare):
            return jam.declared(statement)
        return jam.at_points((jam.one(statement),))

    def _of_registers(self, expr: Expr) -> Expr:
        """The expression with its references in registers or in global memory."""

        def replaced(e: Expr) -> Expr:
            return self._private(e.array) if isinstance(e, Index) and e.array in self.held else e

        return self.frame.flat(map_expr(expr, replaced))

    def _of_piece(self, expr: Expr) -> Expr:
        """The expression with its references in registers or in the pieces of this step."""

        def replaced(e: Expr) -> Expr:
            return self._in_piece(e.array) if isinstance(e, Index) and e.array in self.pieces else e

        return self._of_registers(map_expr(expr, replaced))

    def _private(self, array: str) -> Index:
        """The element of an array that the loop assigns."""
        indices = tuple(self.frame.name(f"r{n}") for n in range(len(self.frame.tile.coordinates)))
        return Index(self.frame.names[f"private_{array}"], indices)

    def _in_piece(self, array: str) -> Index:
        """The element of an array that the point reads in this step."""
        piece = self.pieces[array]
        row, column = self._place(piece.rows), self._place(piece.columns)
        if self._is_turned(piece):
            row, column = column, row
        inside = plus(times(row, self._text(self._pitch(array))) if row != ZERO else ZERO, column)
        return Index(self.frame.names[f"shared_{array}"], (plus(self.frame.name(f"piece_{array}"), inside),))

    def _place(self, axis: Axis) -> Expr:
        if axis.variable is None:
            return ZERO
        if axis.variable == self.loop.iterator:
            return self.frame.name("z")
        return self._places()[self._number(axis.variable)]
