"""Split reduction: several threads share the serial loop of a point, whose sum is put together as a tree.

::

    float sum = 0.5;  for (k) sum += a[y][k] * x[k];  y[y] = sum
        -->
    float sum = 0
    for (step < steps)   for s < S: four neighbouring steps of the loop a thread, beside those of the D - 1 others:
                         sum += a[y][..] * x[..]
    what is left of it:  every D-th step
    parts[thread] = sum;  barrier
    for (reach = 1; reach < D; reach += reach)  every 2 * reach-th: parts[thread] += parts[thread + reach];  barrier
    the first of D:  float sum = 0.5;  sum += parts[thread];  y[y] = sum

Measured on one H200, a matrix and a vector, sums in the order of the source and shared: 512 rows of 524288 elements
3.69 and 0.24 ms, 64 of 4194304 29.5 and 0.35 ms, 16384 of 16384 0.25 and 0.24 ms, 1048576 of 256 0.25 and 0.33 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import VECTOR, WIDTH, Alignment, Barrier, KernelStmt, Vectors
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import conjunction, constant, counting, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.loops.types import environment_of, type_of, with_declarations
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute
from comprehensive.metafork.walk import statements_in, subexpressions
from comprehensive.records import replace
from comprehensive.reductions.operators import Operator, update_of
from comprehensive.schedule.context import ONE, ZERO, TileContext, commented
from comprehensive.schedule.operands import OperandTile, has_steps, operands_of
from comprehensive.schedule.window import values_of

MOST_LANES = 1024
"""Threads that share a loop; a power of two."""


class Sum(Struct, frozen=True):
    """The value that a loop adds up, or puts together in another way: a scalar of the point, or an element of an array.

    Its parts are put together by ``operator``.
    """

    name: str
    type: ScalarType
    operator: Operator


def sums_of(nest: Nest, tile: RegisterTile, loop: For) -> tuple[Sum, ...] | str:
    """Return the sums that the loop computes, or why it does more."""
    body = tile.alternatives[0].body
    held, pieces = operands_of(nest, tile, body, loop)
    points = {c.name for c in tile.coordinates}
    if across := [name for name, piece in pieces.items() if piece.columns.variable in points]:
        return f"neighbouring points read neighbours of '{across[0]}', neighbouring steps do not"
    if falling := [name for name, piece in pieces.items() if piece.columns.downward]:
        return f"'{falling[0]}' is read downwards"
    before = body[: body.index(loop)]
    stored = {s.target.array for s in before if isinstance(s, Assign) and isinstance(s.target, Index)}
    if read_again := sorted(
        stored & {name for s in before for value in values_of(s) for name in names_read(value)}
    ):
        return f"'{read_again[0]}' is stored and read before the loop"
    types = with_declarations(environment_of(nest), (*body, *loop.body))
    types |= {c.name: ScalarType.INT for c in tile.coordinates} | {loop.iterator: ScalarType.INT}
    inside = {s.name for s in statements_in(loop.body) if isinstance(s, Declare)}
    sums: dict[str, Sum] = {}
    read: set[str] = set()
    for statement in loop.body:
        match statement:
            case Declare(initial=initial):
                read |= frozenset() if initial is None else names_read(initial)
            case Assign(target=Name(identifier=name), value=value) if name in inside:
                read |= names_read(value)
            case _:
                update = update_of(statement)
                if update is None:
                    return "a step does more than to put a value into a sum, or the like"
                target, operator = update.target, update.operator
                name = target.array if isinstance(target, Index) else target.identifier
                type = nest.array(name).type if name in held else types[name]
                if operator.rounds(type, (type_of(value, types) for value in update.read)):
                    return f"each step rounds '{name}' to an integer"
                # Parts of a sum are not stored: they need not be rounded as it is.
                part = ScalarType.FLOAT if type.is_storage else type
                found = Sum(name, part, operator)
                if sums.setdefault(name, found) != found:
                    return f"'{name}' is updated in two ways, '{sums[name].operator.symbol}' and '{operator.symbol}'"
                read = read.union(*map(names_read, update.read))
    if both := sorted(read & sums.keys()):
        return f"a step reads '{both[0]}', which the one before has changed"
    if begun := sorted(s.name for s in sums.values() if s.operator.neutral is None and s.name in stored):
        return f"'{begun[0]}' is stored before the loop, and every thread would have to know what"
    return tuple(sums.values())


class SplitReduction(Struct, frozen=True):
    """The parts of the kernel; ``before`` and ``after`` are the statements of a point around its loop."""

    context: TileContext
    before: tuple[Stmt, ...]
    loop: For
    after: tuple[Stmt, ...]
    held: Mapping[str, Index]
    pieces: Mapping[str, OperandTile]
    sums: tuple[Sum, ...]
    parts: tuple[str, ...]
    """Names of the parts of the sums in shared memory."""

    @staticmethod
    def of(context: TileContext, body: tuple[Stmt, ...], loop: For) -> SplitReduction:
        held, pieces = operands_of(context.nest, context.tile, body, loop)
        sums = sums_of(context.nest, context.tile, loop)
        assert not isinstance(sums, str)
        at = body.index(loop)
        # 8-byte elements first: every part is then aligned without padding.
        ordered = tuple(sorted(sums, key=lambda s: -s.type.size_bytes))
        name = Namer(
            all_names(context.nest) | declared_names(body) | set(context.names.values()) | set(context.limits)
        )
        parts = tuple(name(f"{context.names['parts']}_{found.name}") for found in ordered)
        return SplitReduction(context, body[:at], loop, body[at + 1 :], held, pieces, ordered, parts)

    # --- sizes

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block: a part of each sum for each thread."""
        return sum((self._words(found) for found in self.sums), Polynomial.constant(0))

    def constraints(self) -> tuple[Expr, ...]:
        """The conditions on sizes that the shapes need.

        There is one row of threads a point, and threads can be halved.
        """
        (c,) = self.context.tile.coordinates
        halves = Binary("%", IntLiteral(MOST_LANES), self._lanes)
        return (Binary("==", halves, ZERO), Binary("==", Name(c.each), ONE))

    def alignments(self) -> tuple[Alignment, ...]:
        """The alignments that reads of 16 bytes ask for: rows begin at multiples of them."""
        rests = ((name, self.pieces[name].columns.rest) for name in self._vectors)
        return tuple(Alignment(name, () if rest == ZERO else (rest,)) for name, rest in rests)

    def threads(self) -> Expr:
        """The number of threads in a block."""
        (c,) = self.context.tile.coordinates
        return product([Name(c.threads), self._lanes])

    def _words(self, found: Sum) -> Polynomial:
        tile = self.context.tile
        (c,) = tile.coordinates
        threads = Polynomial.symbol(c.threads) * Polynomial.symbol(tile.depth)
        return threads * words_per_element(found.type)

    @property
    def _lanes(self) -> Expr:
        return Name(self.context.tile.depth)

    @property
    def _limit(self) -> Expr:
        """The number of steps of the loop."""
        return self.context.limit(1)

    @property
    def _vectors(self) -> tuple[str, ...]:
        """The arrays of which neighbouring steps read neighbours."""
        return tuple(n for n, piece in self.pieces.items() if piece.columns.variable == self.loop.iterator)

    # --- the kernel

    def body(self) -> tuple[KernelStmt, ...]:
        """Return the statements of the kernel behind those that place blocks and threads."""
        context = self.context
        (c,) = context.tile.coordinates
        steps = context.name("steps")
        each = product([IntLiteral(VECTOR), self._lanes, Name(context.tile.stages)])
        is_there = c.inside(Name(c.name), context.limit(0))
        is_first = Binary("==", context.name("lane"), ZERO)
        return (
            *self._tiles(),
            commented(
                context,
                "split_reduction",
                self.pieces,
                "the lanes of a row share the steps and the sum",
            ),
            constant(c.name, Binary("+", context.name("o0"), context.name("t0"))),
            *(Declare(s.type, self._part(s).identifier) for s in self.sums),
            *self._neutral(0),
            If(
                is_there,
                (
                    *self._known(),
                    constant(steps.identifier, Binary("/", self._limit, each)),
                    counting(context.names["step"], steps, self._together(each), uniform=True),
                    self._left(Binary("*", steps, each)),
                ),
            ),
            *self._tree(),
            If(conjunction([is_first, is_there]), self._ended()),
        )

    def _tiles(self) -> tuple[KernelStmt, ...]:
        return self.context.shared_tiles((self._parts(s), s.type, self._words(s), "") for s in self.sums)

    def _neutral(self, otherwise: int | None) -> tuple[Stmt, ...]:
        """Parts with nothing in them; of an operator without such a value they get another one, or none."""
        values = ((s, otherwise if s.operator.neutral is None else s.operator.neutral) for s in self.sums)
        return tuple(Assign(self._part(s), "=", IntLiteral(v)) for s, v in values if v is not None)

    def _known(self) -> tuple[Stmt, ...]:
        """Scalars of the point that the loop reads: what comes before it without stores, then neutral sums again.

        Sums without a neutral value begin with what they hold before the loop.
        """
        sums = {found.name for found in self.sums}
        result: list[Stmt] = []
        for statement in self._flat(self.before):
            match statement:
                case Assign(target=Index()):
                    pass
                case Declare(name=name, initial=initial) if name in sums:
                    if initial is not None:
                        result.append(Assign(Name(name), "=", initial, statement.span))
                case _:
                    result.append(statement)
        begun = [s for s in self.sums if s.operator.neutral is None]
        for held in (s for s in begun if s.name in self.held):
            load = Assign(self._part(held), "=", flat(self.held[held.name], self.context.strides))
            result.append(If(has_steps(self._limit), (load,)))
        return (*result, *self._neutral(None)) if begun or {_name(s) for s in result} - sums else ()

    def _together(self, each: Expr) -> tuple[KernelStmt, ...]:
        """Return several steps of the loop at once; all vectors are read before the first one is used."""
        context = self.context
        turn, place, stages = context.name("turn"), context.name("z"), Name(context.tile.stages)
        row = Binary("+", product([turn, self._lanes]), context.name("lane"))
        first = Binary("+", Binary("*", context.name("step"), each), Binary("*", IntLiteral(VECTOR), row))
        begin = constant(context.names["first"], first)
        fragments: list[Stmt] = []
        reads: list[KernelStmt] = []
        fragment: dict[str, Index] = {}
        for name in self._vectors:
            registers = context.names[f"fragment_{name}"]
            shape = (stages, IntLiteral(VECTOR))
            fragments.append(Declare(context.nest.array(name).type, registers, shape))
            source = self._element(name, context.name("first"))
            four = IntLiteral(VECTOR)
            reads.append(Vectors(Index(registers, (turn, ZERO)), source, four, four, Name(WIDTH)))
            fragment[name] = Index(registers, (turn, place))
        step = self._step(Binary("+", context.name("first"), place), fragment)
        computed = counting(place.identifier, IntLiteral(VECTOR), step, unrolled=True)
        return (
            *fragments,
            counting(turn.identifier, stages, (begin, *reads), unrolled=True, uniform=True),
            counting(turn.identifier, stages, (begin, computed), unrolled=True, uniform=True),
        )

    def _left(self, begin: Expr) -> Stmt:
        """The steps of the loop that are behind those done together."""
        place = self.context.name("z")
        body = self._step(Binary("+", begin, place), {})
        left = Binary("-", self._limit, begin)
        return For(ScalarType.INT, place.identifier, self.context.name("lane"), "<", left, self._lanes, body)

    def _step(self, number: Expr, fragment: Mapping[str, Index]) -> tuple[Stmt, ...]:
        """The statements of the loop; what is in no fragment is read where it is."""

        def replaced(e: Expr) -> Expr:
            if not isinstance(e, Index):
                return e
            if e.array in self.held:
                return self._private(e.array)
            return fragment.get(e.array, e)

        def read(expr: Expr) -> Expr:
            return self.context.flat(map_expression(expr, replaced))

        result: list[Stmt] = [constant(self.loop.iterator, number)]
        for statement in map_expressions(self.loop.body, read):
            match statement:
                case Assign(target=Index(array=array)) if array in self.held:
                    result.append(replace(statement, target=self._private(array)))
                case _:
                    result.append(statement)
        return tuple(result)

    def _tree(self) -> tuple[KernelStmt, ...]:
        """Parts in pairs, pairs in pairs, and so on."""
        reach, thread = self.context.name("reach"), Name("threadIdx.x")
        stores = tuple(Assign(self._of_thread(s, thread), "=", self._part(s)) for s in self.sums)
        other = Binary("+", thread, reach)
        added = tuple(
            s.operator.update(self._of_thread(s, thread), self._of_thread(s, other)) for s in self.sums
        )
        pair = Binary("%", self.context.name("lane"), Binary("*", IntLiteral(2), reach))
        level = (If(Binary("==", pair, ZERO), added), Barrier())
        return (
            *stores,
            Barrier(),
            For(ScalarType.INT, reach.identifier, ONE, "<", self._lanes, reach, level, uniform=True),
        )

    def _ended(self) -> tuple[Stmt, ...]:
        """The point as it is written, with the sum of the parts in the place of the loop."""
        sums: list[Stmt] = []
        for found in self.sums:
            target: Name | Index = Name(found.name)
            if found.name in self.held:
                target = flat(self.held[found.name], self.context.strides)
            parts = self._of_thread(found, Name("threadIdx.x"))
            update: Stmt = replace(found.operator.update(target, parts), span=self.loop.span)
            # A loop without steps touches no element, and makes no 1 of 5.
            if found.name in self.held or found.operator.is_logical:
                update = If(has_steps(self._limit), (update,))
            sums.append(update)
        return (*self._flat(self.before), *sums, *self._flat(self.after))

    # --- where things are

    def _part(self, found: Sum) -> Name:
        """Return the name of the part of a sum that a thread has."""
        return self._private(found.name) if found.name in self.held else Name(found.name)

    def _private(self, array: str) -> Name:
        return self.context.name(f"private_{array}")

    def _parts(self, found: Sum) -> str:
        return self.parts[self.sums.index(found)]

    def _of_thread(self, found: Sum, thread: Expr) -> Index:
        return Index(self._parts(found), (thread,))

    def _element(self, name: str, number: Expr) -> Index:
        """Return the element of an array that a step reads."""
        (reference,) = {
            e
            for s in statements_in(self.loop.body)
            for value in values_of(s)
            for e in subexpressions(value)
            if isinstance(e, Index) and e.array == name
        }
        found = self.context.flat(substitute(reference, {self.loop.iterator: number}))
        assert isinstance(found, Index)
        return found

    def _flat(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements with their references flat."""
        result: list[Stmt] = []
        for statement in map_expressions(tuple(body), self.context.flat):
            match statement:
                case Assign(target=Index() as target):
                    result.append(replace(statement, target=self.context.flat(target)))
                case _:
                    result.append(statement)
        return tuple(result)


def _name(statement: Stmt) -> str | None:
    """The scalar that a statement is about."""
    match statement:
        case Declare(name=name) | Assign(target=Name(identifier=name)):
            return name
        case _:
            return None
