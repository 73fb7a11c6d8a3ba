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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from comprehensive.algebra import Polynomial
from comprehensive.codegen.frame import ONE, PATCH, ZERO, Frame
from comprehensive.codegen.jam import Jam, is_short, scalars_of
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
from comprehensive.codegen.terms import expression, plus, product, times
from comprehensive.codegen.tiles import words_per_element
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.rewrite import expressions_in, map_expr, statements_in, subexpressions
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Conditional,
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
class _Axis:
    """A direction of a piece: along ``variable`` (a coordinate, the iterator, or None for one element)."""

    variable: str | None
    rest: Expr
    """The subscript where the variable is 0."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What the loop reads of an array; ``stride`` is the distance of rows, None for that of the array."""

    array: str
    rows: _Axis
    columns: _Axis
    stride: Expr | None


class _NoPieceError(Exception):
    pass


def serial_loop(body: Sequence[Stmt]) -> For | None:
    """The loop of a point if it has one that is no loop of a few constant steps."""
    loops = [s for s in statements_in(tuple(body)) if isinstance(s, For) and not is_short(s)]
    return loops[0] if loops else None


def reduction_obstacle(nest: Nest, tile: RegisterTile, body: tuple[Stmt, ...], loop: For) -> str | None:
    """Why the operands of the loop cannot go through shared memory; None where they can."""
    if loop not in body or any(isinstance(s, For) for s in statements_in(loop.body)):
        return "there are loops in each other"
    if sum(isinstance(s, For) for s in body) > 1:
        return "there are several loops"
    if (loop.start, loop.relation, loop.step) != (ZERO, "<", ONE):
        return f"the loop over '{loop.iterator}' does not count up from 0"
    if len(tile.coordinates) > 2:
        return "there are more than two coordinates beside the serial loop"
    try:
        _operands(nest, tile, body, loop)
    except _NoPieceError as error:
        return str(error)
    return None


def _operands(
    nest: Nest, tile: RegisterTile, body: tuple[Stmt, ...], loop: For
) -> tuple[dict[str, Index], dict[str, _Piece]]:
    """The elements that the loop assigns, and the pieces that it reads, by array."""
    data = {a.name for a in nest.arrays}
    held: dict[str, Index] = {}
    for statement in statements_in(loop.body):
        if isinstance(statement, Assign) and isinstance(statement.target, Index):
            held.setdefault(statement.target.array, statement.target)
    pieces: dict[str, _Piece] = {}
    found: dict[str, Index] = {}
    for reference in _references(loop.body, data):
        known = held.get(reference.array) or found.setdefault(reference.array, reference)
        if known != reference:
            raise _NoPieceError(f"the loop reads different elements of '{reference.array}'")
    for name, reference in held.items():
        if loop.iterator in names_read(reference):
            raise _NoPieceError(f"the loop assigns other elements of '{name}' in each step")
    around = tuple(s for s in body if s is not loop)
    for reference in _references(around, data):
        if reference.array in held and reference != held[reference.array]:
            raise _NoPieceError(f"'{reference.array}' is used in the loop and beside it")
    written = {
        s.target.array for s in statements_in(around) if isinstance(s, Assign) and isinstance(s.target, Index)
    }
    variables = (*(c.name for c in tile.coordinates), loop.iterator)
    known = {s.name for s in nest.scalars} | set(variables)
    for name, reference in (*held.items(), *found.items()):
        read = [e for s in reference.subscripts for e in subexpressions(s)]
        names = {e.identifier for e in read if isinstance(e, Name)}
        if any(isinstance(e, Index) for e in read) or not names <= known:
            raise _NoPieceError(f"a subscript of '{name}' is computed by the point or read from data")
    conditional = {e.array for x in expressions_in(loop.body) for e in _conditional(x)} & set(found)
    if conditional:
        raise _NoPieceError(f"'{min(conditional)}' is read under a condition")
    for name, reference in found.items():
        if name in written:
            raise _NoPieceError(f"'{name}' is read in the loop and assigned beside it")
        if loop.iterator in names_read(reference):
            pieces[name] = _piece(reference, variables)
        elif set(variables) & names_read(reference):
            raise _NoPieceError(f"the element of '{name}' is the same in all steps")
    return held, pieces


def _conditional(expr: Expr) -> list[Index]:
    """References that are evaluated only where something else in the expression says so."""
    parts: list[Expr] = []
    for e in subexpressions(expr):
        match e:
            case Conditional(then=then, otherwise=otherwise):
                parts += [then, otherwise]
            case Binary(operator="&&" | "||", right=right):
                parts.append(right)
            case _:
                pass
    return [e for part in parts for e in subexpressions(part) if isinstance(e, Index)]


def _references(body: tuple[Stmt, ...], data: set[str]) -> list[Index]:
    """References to data, targets included."""
    found = [e for x in expressions_in(body) for e in subexpressions(x) if isinstance(e, Index)]
    found += [s.target for s in statements_in(body) if isinstance(s, Assign) and isinstance(s.target, Index)]
    return [e for e in found if e.array in data]


def _piece(reference: Index, variables: Sequence[str]) -> _Piece:
    axes = [_axis(reference.array, subscript, variables) for subscript in reference.subscripts]
    if len(axes) == 2:
        return _Piece(reference.array, axes[0], axes[1], None)
    if len(axes) != 1:
        raise _NoPieceError(f"'{reference.array}' has more than two dimensions")
    return _Piece(reference.array, _Axis(None, ZERO), axes[0], ONE)


def _axis(array: str, subscript: Expr, variables: Sequence[str]) -> _Axis:
    ring = Ring()
    value = ring.read(subscript)
    found = [v for v in variables if v in ring.names_in(value)]
    if len(found) > 1:
        raise _NoPieceError(f"a subscript of '{array}' reads several of {', '.join(found)}")
    if not found:
        return _Axis(None, subscript)
    rest = value.coefficient(found[0], 0)
    if value.degree(found[0]) != 1 or value.coefficient(found[0], 1) != 1 or found[0] in ring.names_in(rest):
        raise _NoPieceError(f"a subscript of '{array}' is not {found[0]} and what does not change")
    return _Axis(found[0], ring.write(rest))


@dataclass(frozen=True, slots=True)
class Reduction:
    """The parts of the kernel; ``before`` and ``after`` are the statements of a point around its loop."""

    frame: Frame
    before: tuple[Stmt, ...]
    loop: For
    after: tuple[Stmt, ...]
    held: Mapping[str, Index]
    pieces: Mapping[str, _Piece]

    @staticmethod
    def of(frame: Frame, body: tuple[Stmt, ...], loop: For) -> Reduction:
        held, pieces = _operands(frame.nest, frame.tile, body, loop)
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

    def _is_turned(self, piece: _Piece) -> bool:
        """Whether columns become rows in shared memory: points that are neighbours then find neighbours."""
        along = (piece.rows.variable, piece.columns.variable)
        return self._is_patched and along[0] is not None and along[1] == self.loop.iterator

    @property
    def _is_patched(self) -> bool:
        return len(self.frame.tile.coordinates) == 2

    def _extent(self, axis: _Axis) -> Polynomial:
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
            Plain((*self._thread(), _int(frame.names["steps"], steps), *self._held_pieces())),
            Plain((*self._loaded(jam), *self._begun(jam))),
            *self._first_pieces(),
            self._main_loop(),
            Plain(self._stored_points(jam)),
        )

    def _limit(self) -> Expr:
        return self.frame.limit(len(self.frame.tile.coordinates))

    def _thread(self) -> tuple[Stmt, ...]:
        return () if self._is_patched else (_int(self.frame.names["thread"], self.frame.name("t0")),)

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
        return (*arrays, *begun, *(jam.at_points(statements, guarded=True) if statements else ()))

    def _loaded(self, jam: Jam) -> tuple[Stmt, ...]:
        """The elements that the loop assigns, in registers; 0 outside of the limits."""
        result: list[Stmt] = []
        for name, reference in self.held.items():
            private = self.frame.names[f"private_{name}"]
            element = Index(private, jam.indices())
            result.append(Declare(self.frame.nest.array(name).type, private, jam.shape()))
            result += jam.at_points((Assign(element, "=", ZERO),))
            result += jam.at_points((Assign(element, "=", self.frame.flat(reference)),), guarded=True)
        return tuple(result)

    def _stored_points(self, jam: Jam) -> tuple[Stmt, ...]:
        """What follows the loop; addresses are not kept from before it, since registers are dear there."""
        origins = range(len(self.frame.tile.coordinates))
        again = tuple(
            _int(self.frame.names[f"e{n}"], Call("cf_again", (self.frame.name(f"o{n}"),))) for n in origins
        )
        ends = replace(
            jam,
            scalars=scalars_of(self.before),
            origins=tuple(self.frame.name(f"e{n}") for n in origins),
        )
        return (*again, *ends.at_points((*map(ends.one, self.after), *self._stores(jam)), guarded=True))

    def _stores(self, jam: Jam) -> tuple[Stmt, ...]:
        stores: list[Stmt] = []
        for name, reference in self.held.items():
            target = self.frame.flat(reference)
            assert isinstance(target, Index)
            stores.append(Assign(target, "=", Index(self.frame.names[f"private_{name}"], jam.indices())))
        return tuple(stores)

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
                Plain((_int(ahead.identifier, Binary("+", step, Binary("-", Name(tile.stages), ONE))),)),
                begun,
                Commit(),
                *self._turned_ahead(step),
                Plain((_int(frame.names["slot"], Binary("%", step, Name(tile.stages))), *pointers)),
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

    def _source(self, piece: _Piece, step: Expr) -> Index:
        """The first element of a piece."""
        origin = Index(piece.array, tuple(self._origin(a, step) for a in self._subscripts(piece)))
        source = self.frame.flat(origin)
        assert isinstance(source, Index)
        return source

    def _stride(self, piece: _Piece) -> Expr:
        return piece.stride or Name(self.frame.strides[piece.array][0].name)

    def _pointer(self, name: str) -> Stmt:
        """Where the piece of this step begins, as an offset into the shared memory of its array."""
        return _int(
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

    def _subscripts(self, piece: _Piece) -> tuple[_Axis, ...]:
        return (
            (piece.columns,) if self.frame.nest.array(piece.array).rank == 1 else (piece.rows, piece.columns)
        )

    def _origin(self, axis: _Axis, step: Expr) -> Expr:
        """The subscript of the first element of a piece."""
        return axis.rest if axis.variable is None else plus(self._first(axis.variable, step), axis.rest)

    def _first(self, variable: str, step: Expr) -> Expr:
        if variable == self.loop.iterator:
            return Binary("*", step, Name(self.frame.tile.depth))
        return self.frame.name(f"o{self._number(variable)}")

    def _number(self, variable: str) -> int:
        return [c.name for c in self.frame.tile.coordinates].index(variable)

    def _valid(self, axis: _Axis, step: Expr) -> Expr:
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
        iterator = _int(
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
        indices = tuple(self.frame.name(f"r{n}") for n in range(len(self.frame.tile.coordinates)))

        def replaced(e: Expr) -> Expr:
            if isinstance(e, Index) and e.array in self.held:
                return Index(self.frame.names[f"private_{e.array}"], indices)
            return e

        return self.frame.flat(map_expr(expr, replaced))

    def _of_piece(self, expr: Expr) -> Expr:
        """The expression with its references in registers or in the pieces of this step."""

        def replaced(e: Expr) -> Expr:
            if not isinstance(e, Index):
                return e
            if e.array in self.held:
                indices = tuple(self.frame.name(f"r{n}") for n in range(len(self.frame.tile.coordinates)))
                return Index(self.frame.names[f"private_{e.array}"], indices)
            piece = self.pieces.get(e.array)
            if piece is None:
                return self.frame.flat(e)
            row, column = self._place(piece.rows), self._place(piece.columns)
            if self._is_turned(piece):
                row, column = column, row
            inside = plus(times(row, self._text(self._pitch(e.array))) if row != ZERO else ZERO, column)
            return Index(
                self.frame.names[f"shared_{e.array}"], (plus(self.frame.name(f"piece_{e.array}"), inside),)
            )

        return map_expr(expr, replaced)

    def _place(self, axis: _Axis) -> Expr:
        if axis.variable is None:
            return ZERO
        if axis.variable == self.loop.iterator:
            return self.frame.name("z")
        return self._places()[self._number(axis.variable)]


def _int(name: str, value: Expr) -> Declare:
    return Declare(ScalarType.INT, name, initial=value, const=True)
