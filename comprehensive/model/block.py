"""One block of a kernel, gone through with the addresses of all its threads.

In: a :class:`Kernel`, values for its parameters and constants, the shape of the block and which one.  Out: its
:class:`Work`::

    block_work(kernel, {"T0": 16, "U0": 8, ..., "y0_limit": 384}, (16, 16), 4).instructions

Arithmetic on data is counted and not done; integers (addresses, conditions, bounds) are computed for every thread.
Turns of a loop that are alike are gone through once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, assert_never

import numpy as np
from msgspec import Struct

from comprehensive.kernel_ir.kernel import (
    EXPECTED,
    VECTOR,
    WIDTH,
    Await,
    Barrier,
    Box,
    Comment,
    Commit,
    Feed,
    Kernel,
    KernelStmt,
    LoadMatrices,
    MultiplyAdd,
    OfTiles,
    Prefetch,
    SharedTile,
    Stage,
    StageBox,
    StageRow,
    StorePrefetched,
    Vectors,
    VectorStore,
)
from comprehensive.loops.access import names_read
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.machine.work import Work
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
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
    While,
)
from comprehensive.metafork.walk import assigned_scalars
from comprehensive.model.accesses import Mask, Tally
from comprehensive.model.arithmetic import Arithmetic
from comprehensive.model.depth import LOADED, Data, forget, taken_for
from comprehensive.model.evaluation import Element, expressions_of
from comprehensive.model.integers import calculate, kept
from comprehensive.model.looked_up import Places
from comprehensive.model.moved_bytes import Copied, Copies
from comprehensive.model.thread_values import Value, converted, merged, vector_of
from comprehensive.model.turns import FIRST_TURNS, SAMPLES, TURNS_OF_DATA, later_weights, turns_left, weights


class Touch(Struct, frozen=True, eq=False):
    """An access of all active threads, as the kernel writes it: nothing is left out that is read before.

    ``begin`` is the byte where each begins, from the begin of the array or of shared memory; None where data decides.
    """

    reference: Index
    """The reference of the access; for several in a row, as of vectors, the first one."""
    is_shared: bool
    writes: bool
    begin: Any
    width: int
    """The bytes of a thread."""
    active: Mask | None
    """The threads that take part; None where all do."""
    times: float
    """The number of times that it is done, with turns of loops that are not gone through but alike."""


MATRIX_ROW = 8
"""The elements of a row of a matrix that a thread gives the address of (`LoadMatrices`)."""
BEGIN = Name("the first element")
"""The place of the first access of a statement; no name of a kernel."""


def block_work(
    kernel: Kernel,
    values: Mapping[str, Value],
    shape: Sequence[int],
    number: Sequence[int],
    together: int = 0,
) -> Work:
    """The work of the block with these numbers; they and the extents of a block, its ``shape``, have x last."""
    walk = Walk(kernel, {**values, WIDTH: together}, shape, number)
    walk.statements(kernel.body, 1)
    return walk.work()


class Walk:
    """A walk through a kernel for one block: which threads are active, and what integers they have.

    A ``number`` of the block may be one for each thread, as long as nothing but numbers is computed.
    ``watch`` is told of every access to memory but for copies of whole pieces, of which ``copied`` is told.
    """

    def __init__(
        self,
        kernel: Kernel,
        values: Mapping[str, Value],
        shape: Sequence[int],
        number: Sequence[Value],
        watch: Callable[[Touch], None] | None = None,
        copied: Callable[[Copied], None] | None = None,
    ) -> None:
        threads = prod(shape)
        self._watch = watch
        self.tally = Tally(threads)
        self._expressions = expressions_of(kernel)
        self._functions = self._expressions.made
        self.values: dict[str, Value] = {name: kept(value) for name, value in values.items()}
        place = np.arange(threads, dtype=np.int64)
        for axis, extent in zip("xyz", (*reversed(shape), 1, 1), strict=False):
            self.values[f"threadIdx.{axis}"] = place % extent if extent > 1 else 0
            self.values[f"blockDim.{axis}"] = extent
            self.values[f"gridDim.{axis}"] = 1 << 20
            place = place // extent
        for axis, position in zip("xyz", (*reversed(number), 0, 0), strict=False):
            self.values[f"blockIdx.{axis}"] = position
        self._active: Mask | None = None
        self._loops = 0
        self._data = {p.name: p.type for p in kernel.parameters if p.pointer}
        self._shared: dict[str, tuple[Value, ScalarType]] = {}
        self._copies = Copies(self.tally, self._number, copied)
        self._arithmetic = Arithmetic(self.tally, ScalarType.DOUBLE in self._data.values())
        self.registers: dict[Element, Data] = {}
        self.fixed: dict[int, Value] = {}
        self._looked_up = Places()

    def work(self) -> Work:
        """Return all that has been counted."""
        self._end_of_region(1)
        return self.tally.work()

    def _end_of_region(self, times: float) -> None:
        """End a region: what was computed is there for the next one."""
        self.tally.end_of_region(times)
        self.registers.clear()
        forget(self.values)

    # --- statements

    def statements(self, body: Sequence[KernelStmt], times: float) -> None:
        for statement in body:
            match statement:
                # The most frequent ones first.
                case Assign():
                    self._assign(statement, times)
                case Declare(dims=(), initial=None) | Declare(dims=(_, *_)):
                    self.values[statement.name] = LOADED
                case Declare():
                    assert statement.initial is not None
                    value = self._value(statement.initial, times)
                    self._set(statement.name, converted(statement.type, value), 0)
                case For():
                    self._loop(statement, times)
                case If(condition=Call(function=function, arguments=(_, IntLiteral(value=usual)))) if (
                    function == EXPECTED
                ):
                    self.statements(statement.then if usual else statement.otherwise, times)
                case If():
                    held = self._value(statement.condition, times)
                    if type(held) is int:
                        self.statements(statement.then if held else statement.otherwise, times)
                        continue
                    for _, taken in self.ways(held):
                        self.statements(statement.then if taken else statement.otherwise, times)
                    if isinstance(held, Data):
                        self.statements(statement.otherwise, times)
                case Block():
                    self.statements(statement.body, times)
                case While() | DoWhile():
                    for alike in weights(TURNS_OF_DATA):
                        self._value(statement.condition, times * alike)
                        self._turn(statement.body, times, alike, in_one_region=False)
                case Barrier():
                    self._end_of_region(times)
                    self.tally.barrier(times)
                    if not self._loops:
                        self.tally.next_pass()
                case SharedTile():
                    begin = 4 * self._value(statement.offset_words, 0)
                    self._shared[statement.name] = (begin, statement.type)
                case OfTiles():
                    self._of_tiles(statement, times)
                case Comment() | MetaFor() | Break() | Continue():
                    pass
                case _:
                    assert_never(statement)

    def _of_tiles(self, statement: OfTiles, times: float) -> None:
        match statement:
            case Feed():
                self._copies.feed(statement)
            case Stage():
                self._copies.staged(statement, times)
            case Box():
                self._copies.box(statement)
            case StageBox():
                self._copies.box_staged(statement, times)
            case StageRow():
                self._copies.row_staged(statement, times)
            case Prefetch():
                self._copies.fetched(statement.feed, times)
            case StorePrefetched():
                self._copies.put(statement, times)
            case Vectors():
                self._vectors(statement, times)
            case VectorStore():
                together = self.values[WIDTH]
                begin = self._value(statement.target.subscripts[0], times)
                for first in range(0, VECTOR, together):
                    place = self._moved(begin, first, times)
                    self._access(statement.target, place, together, times, stores=True)
            case LoadMatrices():
                place = self._value(statement.source.subscripts[0], times)
                self._access(statement.source, place, MATRIX_ROW, times)
            case MultiplyAdd():
                rows, columns = self._number(statement.rows), self._number(statement.columns)
                self._arithmetic.multiplied(rows, columns, statement.type.size_bytes, times)
            case Commit():
                pass
            case Await():
                self._end_of_region(times)
            case _:
                raise ValueError(f"{statement} is not known")

    def _vectors(self, statement: Vectors, times: float) -> None:
        apart, together = self._number(statement.apart), self._number(statement.together)
        begin = self._value(statement.source.subscripts[0], times)
        array, (*places, column) = self._register(statement.registers, times)
        for first in range(0, self._number(statement.count), together):
            place = self._moved(begin, first // VECTOR * apart + first % VECTOR, times)
            found = self._access(statement.source, place, together, times)
            if found.like is not None and together == 1:
                self.registers[array, (*places, column + first if column >= 0 else -1)] = found

    def _moved(self, begin: Value, elements: int, times: float) -> Value:
        """A place so many elements behind another one, which is computed where data decides about it."""
        if isinstance(begin, Data):
            return self.operated("+", (BEGIN, begin), (IntLiteral(elements), elements), times)
        return calculate("+", begin, elements)

    def _assign(self, statement: Assign, times: float) -> None:
        value = self._value(statement.value, times)
        operator = statement.operator[:-1]
        target = statement.target
        if isinstance(target, Name):
            old = self.values.get(target.identifier, LOADED)
            if operator:
                combined = self._expressions.combine(Binary(operator, target, statement.value))
                value = combined(self, old, value, times)
            self._set(target.identifier, value, old)
            return
        if operator and not statement.atomic:
            old = self._value(target, times)
            value = self.operated(operator, (target, old), (statement.value, value), times)
        if self._expressions.is_memory(target.array):
            self._access(target, self._value(target.subscripts[0], times), 1, times, stores=True)
        else:
            self.registers[self._register(target, 0 if operator else times)] = (
                value if isinstance(value, Data) else LOADED
            )

    def _set(self, name: str, value: Value, old: Value) -> None:
        self.values[name] = value if self._active is None else merged(self._active, value, old)

    # --- control flow

    def ways(self, held: Value) -> Iterator[tuple[Mask | None, bool]]:
        """The two ways of a condition with this value, for the threads that go them; nothing where none goes."""
        if not isinstance(held, np.ndarray):
            yield self._active, isinstance(held, Data) or bool(held)
            return
        holds: Mask = np.asarray(held, np.bool_)
        before = self._active
        for taken, those in ((True, holds), (False, ~holds)):
            both = those if before is None else before & those
            if both.any():
                self._active = None if both.all() else both
                yield self._active, taken
        self._active = before

    def _loop(self, loop: For[KernelStmt], times: float) -> None:
        self.values[loop.iterator] = start = self._value(loop.start, 0)
        if isinstance(loop.start, Index) and self._expressions.is_memory(loop.start.array):
            # Rows that begin at data follow each other.
            row = taken_for(self._value(loop.start.subscripts[0], 0))
            self.values[loop.iterator] = Data(like=None if row is None else row * TURNS_OF_DATA)
        turns = self._turns(loop, start)
        # Loops in constant steps of the source are unrolled by the compiler, whoever asks for it.
        in_one_region = loop.unrolled or isinstance(loop.bound, IntLiteral)
        if turns is None:
            self._uneven_loop(loop, times, in_one_region)
            return
        # Only unrolled loops that threads run together look at the number of their turn.
        every = loop.unrolled and loop.uniform
        if turns and loop.unrolled and not every and self._expressions.count_alike(loop):
            self.statements(loop.body, times * turns)
            return
        for alike in [1] * turns if every else weights(turns):
            self._turn(loop.body, times, alike, in_one_region=in_one_region)
            self._count_on(loop, 1)

    def _turn(self, body: Sequence[KernelStmt], times: float, alike: float, *, in_one_region: bool) -> None:
        """A turn of a loop that is done so many times, which stands for as many turns as are alike."""
        before = self.tally.chain + self.tally.repeated
        self._loops += 1
        self.statements(body, times * alike)
        self._loops -= 1
        if in_one_region:
            grown = self.tally.chain + self.tally.repeated - before
            self.tally.repeated += max(0, grown) * (alike - 1)
        else:
            self._end_of_region(times * alike)

    def _count_on(self, loop: For[KernelStmt], turns: int) -> None:
        """Let the iterator of a loop go on by so many turns."""
        number, step = self.values[loop.iterator], self._value(loop.step, 0)
        if turns and (like := taken_for(number)) is not None and not isinstance(step, Data):
            moved = calculate("+", like, turns * step)
            self.values[loop.iterator] = Data(number.depth, moved) if isinstance(number, Data) else moved

    def _uneven_loop(self, header: For[KernelStmt], times: float, in_one_region: bool) -> None:
        """A loop of which threads may do more or fewer turns."""
        before, turn, together = self._active, 0, 1
        while True:
            held = self._value(Binary(header.relation, Name(header.iterator), header.bound), 0)
            if isinstance(held, np.ndarray):
                going: Mask = np.asarray(held, np.bool_)
                going = going if self._active is None else going & self._active
                self._active = None if going.all() else going
                held = bool(going.any())
            # Where data decides how often, a few turns stand for all.
            if isinstance(held, Data):
                held = turn < TURNS_OF_DATA
            if not held:
                break
            turn += 1
            each: list[float] = [together]
            if turn == FIRST_TURNS + 1 and (left := self._turns_left(header)) is not None:
                least, most = left
                each, together = later_weights(least), -(-max(1, most - least) // SAMPLES)
            for alike in each:
                self._turn(header.body, times, alike, in_one_region=in_one_region)
                self._count_on(header, 1)
            self._count_on(header, round(sum(each)) - len(each))
        self._active = before

    def _turns_left(self, header: For[KernelStmt]) -> tuple[int, int] | None:
        """Return the fewest and the most turns that threads in a loop still do; None where it is not known."""
        changed = assigned_scalars(header.body) | {header.iterator}
        if changed & (names_read(header.bound) | names_read(header.step)):
            return None
        number, bound, step = (self._value(e, 0) for e in (Name(header.iterator), header.bound, header.step))
        if any(isinstance(value, Data) for value in (number, bound, step)):
            return None
        return turns_left(header.relation, number, bound, step, self._active)

    def _turns(self, header: For[KernelStmt], start: Value) -> int | None:
        """Return the trip count of a loop, if it is the same for all threads and the loop counts up in equal steps."""
        if header.relation != "<" or type(start) is not int:
            return None
        if not isinstance(header.step, IntLiteral) and header.iterator in names_read(header.step):
            return None
        bound, step = self._value(header.bound, 0), self._value(header.step, 0)
        if type(bound) is not int or type(step) is not int or step < 1:
            return None
        return max(0, -(-(bound - start) // step))

    # --- expressions

    def _value(self, expression: Expr, times: float) -> Value:
        known = self._functions.get(id(expression))
        return (self._expressions.of(expression) if known is None else known[1])(self, times)

    def _register(self, reference: Index, times: float) -> Element:
        """The element of a local array that is stored; where ``times`` are 0, it has been read before."""
        return self._expressions.element(reference)(self, times, True)

    def _number(self, expression: Expr) -> int:
        value = self._value(expression, 0)
        assert isinstance(value, int), expression
        return value

    def operated(
        self, operator: str, left: tuple[Expr, Value], right: tuple[Expr, Value], times: float
    ) -> Data:
        """Count an operation on data and return what it is."""
        return self._arithmetic.operated(operator, left, right, times, self._active)

    def called(self, function: str, values: Sequence[Value], times: float) -> Data:
        """Count a function and return what it is."""
        return self._arithmetic.called(function, values, times, self._active)

    # --- memory

    def own(self, times: float, *, stores: bool) -> None:
        """Count an access of an array of each thread, of which data decides the element: it is no register, but in the
        first-level cache, as far away as shared memory."""
        if times:
            self.tally.of_shared(None, WORD_BYTES, times, self._active, stores=stores)

    def load(self, reference: Index, place: Value, times: float) -> Data:
        """Count a load of an element of memory and return what it is."""
        return self._access(reference, place, 1, times)

    def _access(
        self, reference: Index, place: Value, elements: int, times: float, *, stores: bool = False
    ) -> Data:
        """An access of neighbouring elements from a place on, of memory; as a kernel writes it, by ``reference``.

        Returns what is loaded.
        """
        array, offset = reference.array, taken_for(place)
        if times == 0:
            return LOADED
        base, type = self._shared.get(array, (0, self._data.get(array, ScalarType.FLOAT)))
        begin = None if offset is None else base + offset * type.size_bytes
        found = LOADED
        # A watcher is told that data decides where threads may or may not look up the same.
        if type.is_integer and (isinstance(begin, int) or (begin is not None and self._watch is None)):
            found = Data(like=self._looked_up.at(array, begin))
        width = elements * type.size_bytes
        if self._watch is not None:
            self._watch(Touch(reference, array in self._shared, stores, begin, width, self._active, times))
        if array in self._shared and not stores and begin is not None:
            begin, width = vector_of(begin, width)
        if not stores and begin is not None and self.tally.is_loaded(array, begin, self._active):
            return found
        if array in self._shared:
            self.tally.of_shared(begin, width, times, self._active, stores=stores)
        else:
            self.tally.of_global(array, begin, width, times, self._active, stores=stores)
        return found
