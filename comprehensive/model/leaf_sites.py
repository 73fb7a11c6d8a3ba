"""The sites of a leaf's kernel: its code as tables over numbers that the launch computes.

In: a :class:`Kernel` and its nest.  Out: :class:`Profile`, the :class:`~comprehensive.machine.sites.Sites` and the
expressions over scalars of the nest whose values these point to::

    for (k < n) sum += a[p * n + k] * b[k * n + q];
        -->  context: n turns; access of a: 0 between threads, 1 between turns; of b: 1 between threads, n between turns

Nothing is computed for a thread: a distance between neighbouring threads, turns or blocks is a coefficient of the
subscript, or a difference of two of its values where it is no polynomial.  What depends on a block, a thread or a turn
otherwise is taken for those in the middle.  A condition without ``else`` counts as true; of one on data both branches
count, since lanes of a warp take both.  A loop of which data decides the turns is taken for a few (`turns.py`), and the
profile names its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import assert_never

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.kernel_ir.axes import axis_extents, on_axes
from comprehensive.kernel_ir.instructions import is_fused, of_function, of_operator, waits_of
from comprehensive.kernel_ir.kernel import Barrier, Comment, Kernel, KernelStmt, OfTiles, SharedTile, Source
from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import AXES, Nest
from comprehensive.loops.types import exact_product
from comprehensive.machine.sites import MOST_LOOPS, ROUND, UNKNOWN, Access, Context, Region, Sites
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Unary,
    While,
)
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import all_statements_in, assigned_scalars
from comprehensive.model.depth import LOADED, Data, depth_of, forget, taken_for
from comprehensive.model.leaf_numbers import Numbers
from comprehensive.model.leaf_values import Value, data_of, integer_of, is_of_data, without_casts
from comprehensive.model.looked_up import calculated, looked_up, with_likes
from comprehensive.model.turns import TURNS_OF_DATA
from comprehensive.plan.profile import Profile
from comprehensive.records import replace

TURN_INSTRUCTIONS = 1
"""The instructions of counting and comparing, a turn: loops are unrolled in part."""
LOOP_INSTRUCTIONS = 12
"""The instructions of coming to a loop: where it begins and ends, addresses, how many turns are left of
rounds."""
MOST_UNROLLED = 16
"""Turns of a loop with a literal bound, up to which the compiler unrolls it."""

_Operand = tuple[Expr, Value]
"""An expression as it is written, and its value."""


@lru_cache(maxsize=1024)
def leaf_profile(kernel: Kernel, nest: Nest) -> Profile:
    """The profile of a kernel of a leaf, which is no kernel over tiles."""
    walk = _Walk(kernel, nest)
    walk.statements(kernel.body, 0, {})
    return walk.profile()


class _Open(Struct):
    """A region that is being gone through."""

    context: int
    number: int
    depth: int = 0
    read: set[str] = set()
    stored: set[str] = set()
    """The arrays in global memory that it reads, and those that it stores to."""


class _Walk:
    def __init__(self, kernel: Kernel, nest: Nest) -> None:
        self.kernel, self.nest = kernel, nest
        self.numbers = Numbers()
        self.contexts: list[Context] = [Context(-1, 1, is_loop=False, instructions=0, wide=0)]
        self.regions: list[Region] = []
        self.accesses: list[Access] = []
        self.loops: dict[int, tuple[str, int]] = {}
        """The contexts that are loops, each with the name of its turn and the context around."""
        self.types = {p.name: p.type for p in kernel.parameters if p.pointer}
        self.assumed: list[Span] = []
        self.arrays = {p.name: place for place, p in enumerate(p for p in kernel.parameters if p.pointer)}
        self.shared: set[str] = set()
        self.own: dict[str, ScalarType] = {}
        """The types of arrays that each thread has for itself."""
        self.wide = ScalarType.DOUBLE in self.types.values()
        types = {s.name: s.type for s in nest.scalars}
        self.block = axis_extents(kernel.block, types)
        self.constants = self._constants()
        for axis, extent in zip(AXES, self.block, strict=True):
            self.numbers.middles[f"threadIdx.{axis}"] = self.numbers.half(extent)
        grid = axis_extents([extent for _, extent in kernel.grid], types)
        for axis, extent in zip(AXES, grid, strict=True):
            self.numbers.middles[f"blockIdx.{axis}"] = self.numbers.half(extent)
        self.places = self._places()
        x, y, z = (self.numbers.position(extent) for extent in self.block)
        self.extents = (x, y, z)
        self.region = self._opened(0)
        self.seen: dict[tuple[object, ...], int] = {}

    def _places(self) -> dict[str, Expr]:
        """Return what stands for iterators of a grid of which not all blocks are launched: the middle one is."""
        staircase = self.kernel.staircase
        if staircase is None:
            return {}
        along = on_axes([iterator for iterator, _ in self.kernel.grid])
        places = {names: Name(f"blockIdx.{axis}") for names, axis in zip(along, AXES, strict=False)}
        return {name: places[(name,)] for name in (staircase.row, staircase.column)}

    def _constants(self) -> dict[str, Expr]:
        """Return the values of parameters and block extents, over scalars of the nest."""
        found: dict[str, Expr] = {f"blockDim.{a}": e for a, e in zip(AXES, self.block, strict=True)}
        extents = dict(self.kernel.grid)
        types = {s.name: s.type for s in self.nest.scalars}
        for p in self.kernel.parameters:
            if p.source is Source.EXTENT:
                found[p.name] = extents[p.of]
            elif p.source is Source.STRIDE:
                stride: Expr = ONE
                for dim in (self.nest.array(p.of).dims or ())[p.dimension + 1 :]:
                    assert dim is not None
                    stride = dim if stride == ONE else exact_product(stride, dim, types)
                found[p.name] = stride
        return found

    def profile(self) -> Profile:
        self._closed()
        used = sorted(
            {r for a in self.accesses for r in [a.region]}
            | {n for n, r in enumerate(self.regions) if r.depth or r.barriers}
        )
        place = {number: position for position, number in enumerate(used)}
        return Profile(
            tuple(self.numbers.all),
            Sites(
                tuple(self.contexts),
                tuple(self.regions[number] for number in used),
                tuple(replace(a, region=place[a.region]) for a in _together(self.accesses)),
            ),
            tuple(self.assumed),
        )

    # --- regions

    def _opened(self, context: int) -> _Open:
        self.regions.append(Region(context, 1, 0, 0))
        return _Open(context, len(self.regions) - 1)

    def _closed(self, *, barrier: bool = False, is_round: bool = False) -> None:
        opened = self.region
        rounds = ROUND if is_round and opened.read.isdisjoint(opened.stored) else 1
        depth = -(-opened.depth // rounds)  # turns of a round overlap
        self.regions[opened.number] = Region(opened.context, rounds, depth, int(barrier))

    def _end_region(self, context: int, environment: dict[str, Value], *, barrier: bool = False) -> None:
        self._closed(barrier=barrier)
        self.region = self._opened(context)
        forget(environment)

    # --- statements

    def statements(self, body: Sequence[KernelStmt], context: int, environment: dict[str, Value]) -> None:
        for statement in body:
            match statement:
                case Declare(dims=(), initial=None):
                    environment[statement.name] = LOADED
                case Declare(dims=(_, *_)):
                    self.own[statement.name] = statement.type
                case Declare() if statement.name in self.places:
                    environment[statement.name] = self.places[statement.name]
                case Declare():
                    assert statement.initial is not None
                    value = self._value(statement.initial, context, environment)
                    environment[statement.name] = value if statement.type.is_integer else data_of(value)
                case Assign():
                    self._assign(statement, context, environment)
                case If():
                    self._condition(statement, context, environment)
                case For():
                    self._loop(statement, context, environment)
                case Block():
                    self.statements(statement.body, context, environment)
                case While() | DoWhile():
                    self._while(statement, context, environment)
                case Barrier():
                    self._end_region(context, environment, barrier=True)
                case SharedTile():
                    self.shared.add(statement.name)
                    self.types[statement.name] = statement.type
                    self.arrays[statement.name] = len(self.arrays)
                case Comment() | MetaFor() | Break() | Continue():
                    pass
                case OfTiles():
                    raise ValueError(f"{self.kernel.name} is a kernel over tiles")
                case _:
                    assert_never(statement)

    def _assign(self, statement: Assign, context: int, environment: dict[str, Value]) -> None:
        value = self._value(statement.value, context, environment)
        target, operator = statement.target, statement.operator[:-1]
        if isinstance(target, Name):
            old = environment.get(target.identifier, LOADED)
            environment[target.identifier] = self._updated(
                operator, (target, old), (statement.value, value), context
            )
            return
        if operator and not statement.atomic:
            old = self._value(target, context, environment)
            self._updated(operator, (target, old), (statement.value, value), context)
        if target.array in self.arrays:
            self._access(target, context, environment, stores=True)
            self.region.read |= {target.array} if statement.atomic else set()
        elif not operator or statement.atomic:
            self._own(target, context, environment, stores=True)

    def _updated(self, operator: str, old: _Operand, value: _Operand, context: int) -> Value:
        if not operator:
            return value[1]
        if isinstance(old[1], Data) or isinstance(value[1], Data):
            return self._computed(operator, old, value, context)
        return Binary(operator, old[1], value[1])

    # --- control flow

    def _condition(self, statement: If[KernelStmt], context: int, environment: dict[str, Value]) -> None:
        then, otherwise = statement.then, statement.otherwise
        held = self._value(statement.condition, context, environment)
        if not otherwise or isinstance(held, Data):
            self.statements(then, context, environment)
            self.statements(otherwise, context, dict(environment))
            return
        chosen = self.numbers.middle(integer_of(held))
        for body, holds in ((then, chosen), (otherwise, Unary("!", chosen))):
            inside = self._context(context, self.numbers.position(Binary("!=", holds, ZERO)))
            self.statements(body, inside, dict(environment))

    def _context(self, parent: int, turns: int, *, is_loop: bool = False, instructions: int = 0) -> int:
        self.contexts.append(Context(parent, turns, is_loop, instructions, 0))
        return len(self.contexts) - 1

    def _loop(self, loop: For[KernelStmt], context: int, environment: dict[str, Value]) -> None:
        header = [self._index(e, environment) for e in (loop.start, loop.bound, loop.step)]
        start, bound, step = map(integer_of, header)
        if isinstance(loop.start, Index) and loop.start.array in self.arrays and isinstance(header[0], Data):
            # Rows that begin at data follow each other.
            row = integer_of(self._index(loop.start.subscripts[0], environment))
            start = times(IntLiteral(TURNS_OF_DATA), row)
        if isinstance(start, Name) and start.identifier.startswith("blockIdx."):
            # A block is one turn: the grid has as many as there are.
            environment[loop.iterator] = start
            self.statements(loop.body, context, environment)
            return
        first = {f"threadIdx.{axis}": ZERO for axis in AXES}
        if any(isinstance(each, Data) for each in header):
            self.assumed.append(loop.span)
            turns: Expr = IntLiteral(TURNS_OF_DATA)
        else:
            begin = self.numbers.middle(substitute(start, first))
            turns = self.numbers.turns(loop.relation, begin, self.numbers.middle(bound), step)
        inside = self._turning(turns, context)
        within = dict(environment)
        self._unknown(loop.body, within)
        within[loop.iterator] = plus(start, times(step, Name(self.loops[inside][0])))
        outer = self.extents
        self.extents = self._taking_part(start, bound, step)
        if not isinstance(loop.bound, IntLiteral):
            around = self.contexts[context]
            self.contexts[context] = replace(around, instructions=around.instructions + LOOP_INSTRUCTIONS)
        meets = any(isinstance(s, Barrier) for s in all_statements_in(loop.body))
        is_one_region = isinstance(loop.bound, IntLiteral) and loop.bound.value <= MOST_UNROLLED and not meets
        if is_one_region:
            depth, before = self.region.depth, self.region.number
            self.statements(loop.body, inside, within)
            added = max(0, self.region.depth - depth)
            count = fold(turns)
            if self.region.number != before:  # a loop in it has turns of its own
                self._end_region(context, environment)
            elif isinstance(count, IntLiteral):
                self.region.depth += added * max(0, count.value - 1)
        else:
            self._closed()
            self.region = self._opened(inside)
            forget(within)
            before = self.region.number
            self.statements(loop.body, inside, within)
            # A loop with others in it, or with barriers, does not begin a turn before the last one ends.
            self._closed(is_round=self.region.number == before)
            self.region = self._opened(context)
            forget(environment)
        self.extents = outer
        self._unknown(loop.body, environment)

    def _turning(self, turns: Expr, context: int) -> int:
        """A context that is done so many times, one turn after the other."""
        inside = self._context(
            context, self.numbers.position(turns), is_loop=True, instructions=TURN_INSTRUCTIONS
        )
        self.loops[inside] = (f"turn@{inside}", context)
        self.numbers.middles[self.loops[inside][0]] = self.numbers.half(turns)
        return inside

    def _while(self, loop: While | DoWhile, context: int, environment: dict[str, Value]) -> None:
        """A loop of which nothing says how often it turns; no turn begins before the last one ends."""
        self.assumed.append(loop.span)
        inside = self._turning(IntLiteral(TURNS_OF_DATA), context)
        self._unknown(loop.body, environment)
        self._end_region(inside, environment)
        self._value(loop.condition, inside, environment)
        self.statements(loop.body, inside, environment)
        self._end_region(context, environment)
        self._unknown(loop.body, environment)

    def _taking_part(self, start: Expr, bound: Expr, step: Expr) -> tuple[int, int, int]:
        """Return the threads that take part along each axis, where threads share turns.

        Along their axis there are no more than there are turns for all.
        """
        found = list(self.extents)
        for axis, extent in zip(range(3), self.block, strict=True):
            if start == Name(f"threadIdx.{AXES[axis]}") and step == extent:
                found[axis] = self.numbers.position(self.numbers.middle(bound))
        return (found[0], found[1], found[2])

    def _unknown(self, body: tuple[KernelStmt, ...], environment: dict[str, Value]) -> None:
        """Forget the values that the body changes, since they differ from turn to turn."""
        for name in assigned_scalars(body):
            if name in environment:
                environment[name] = Data(depth_of(environment[name]))

    # --- expressions

    def _index(self, expr: Expr, environment: Mapping[str, Value]) -> Value:
        """An integer over scalars, block, thread and turns; Data where data decides."""
        plain = without_casts(expr)
        values = {name: environment[name] for name in names_read(plain) if name in environment}
        integers = {name: taken_for(value) for name, value in values.items()}
        if None in integers.values():
            return LOADED
        data = frozenset(name for name, value in values.items() if isinstance(value, Data))
        looked = with_likes(plain, self.types, data)
        if looked is None:
            return LOADED
        found = substitute(substitute(looked, integers), self.constants)
        if is_of_data(found):
            return LOADED
        return Data(like=found) if data or looked != plain else found

    def _value(self, expr: Expr, context: int, environment: Mapping[str, Value]) -> Value:
        match expr:
            case IntLiteral():
                return expr
            case FloatLiteral():
                return LOADED
            case Name():
                found = environment.get(expr.identifier)
                if found is not None:
                    return found
                is_number = expr.identifier in self.constants or self._is_integer(expr.identifier)
                return substitute(expr, self.constants) if is_number else LOADED
            case Index():
                if expr.array not in self.arrays:
                    return self._own(expr, context, environment)
                self._access(expr, context, environment)
                is_integer = self.types[expr.array].is_integer
                return looked_up(self._index(expr.subscripts[0], environment)) if is_integer else LOADED
            case Unary():
                value = self._value(expr.operand, context, environment)
                return Data(value.depth) if isinstance(value, Data) else Unary(expr.operator, value)
            case Binary():
                left, right = (self._value(e, context, environment) for e in (expr.left, expr.right))
                if isinstance(left, Data) or isinstance(right, Data):
                    return self._computed(expr.operator, (expr.left, left), (expr.right, right), context)
                return Binary(expr.operator, left, right)
            case Conditional():
                parts = [
                    self._value(e, context, environment) for e in (expr.condition, expr.then, expr.otherwise)
                ]
                if any(isinstance(part, Data) for part in parts):
                    return Data(max(map(depth_of, parts)))
                condition, then, otherwise = map(integer_of, parts)
                return Conditional(condition, then, otherwise)
            case Cast():
                value = self._value(expr.operand, context, environment)
                return value if expr.type.is_integer else data_of(value)
            case Call(function=function, arguments=arguments):
                values = [self._value(argument, context, environment) for argument in arguments]
                return self._after(max(map(depth_of, values), default=0), of_function(function), context)

    def _is_integer(self, name: str) -> bool:
        if "." in name:
            return True  # threadIdx.x and its like
        return any(s.name == name and s.type.is_integer for s in self.nest.scalars)

    def _computed(self, operator: str, left: _Operand, right: _Operand, context: int) -> Data:
        """Arithmetic on data: a product that is added is one instruction, which has been counted."""
        depth = max(depth_of(left[1]), depth_of(right[1]))
        like = calculated(operator, left[1], right[1])
        if any(isinstance(value, Data) and is_fused(operator, written) for written, value in (left, right)):
            return Data(depth, like)
        return replace(self._after(depth, of_operator(operator), context, waits_of(operator)), like=like)

    def _after(self, depth: int, instructions: int, context: int, waits: int | None = None) -> Data:
        """Count instructions, whose result is waited for as long as for so many unless ``waits`` says otherwise."""
        found = self.contexts[context]
        wide = found.wide + (instructions if self.wide else 0)
        self.contexts[context] = replace(found, instructions=found.instructions + instructions, wide=wide)
        ready = depth + (instructions if waits is None else waits)
        self.region.depth = max(self.region.depth, ready)
        return Data(ready)

    # --- memory

    def _access(
        self, reference: Index, context: int, environment: Mapping[str, Value], *, stores: bool = False
    ) -> None:
        array = reference.array
        subscript = self._index(reference.subscripts[0], environment)
        is_shared = array in self.shared
        if isinstance(subscript, Data):
            self._value(reference.subscripts[0], context, environment)
        place = None if is_shared and isinstance(subscript, Data) else taken_for(subscript)
        found = self._walk(context, place, array, stores=stores, is_shared=is_shared)
        key = (self.region.number, array, stores, place)
        if key in self.seen and place is not None:
            return  # the compiler reads an element once
        self.seen[key] = len(self.accesses)
        if not is_shared:
            (self.region.stored if stores else self.region.read).add(array)
        self.accesses.append(found)

    def _own(
        self, reference: Index, context: int, environment: Mapping[str, Value], *, stores: bool = False
    ) -> Data:
        """An element of an array of the thread: a register, or where data decides which one, as far away as shared
        memory is, since the first-level cache has it, with those of neighbouring threads beside each other."""
        places = [self._value(s, context, environment) for s in reference.subscripts]
        if reference.array in self.own and any(isinstance(place, Data) for place in places):
            place = Name("threadIdx.x")
            self.accesses.append(self._walk(context, place, reference.array, stores=stores, is_shared=True))
        return LOADED

    def _walk(self, context: int, place: Expr | None, array: str, *, stores: bool, is_shared: bool) -> Access:
        """An access at a place, which is None where data decides; of an array that is no shared memory if global."""
        numbers, loops, around = self.numbers, list[int](), context
        while around > 0 and len(loops) < MOST_LOOPS:
            loops += [around] if around in self.loops else []
            around = self.contexts[around].parent
        threads = grid = (UNKNOWN, UNKNOWN, UNKNOWN)
        steps, origin = tuple((loop, 0) for loop in loops), 0
        if place is not None:
            threads = numbers.three("threadIdx", place)
            steps = tuple((loop, numbers.distance(place, self.loops[loop][0])) for loop in loops)
            grid = (0, 0, 0) if is_shared else numbers.three("blockIdx", place)
            origin = 0 if is_shared else numbers.position(numbers.simple(numbers.origin(place)))
        region, number = self.region.number, self.arrays.get(array, UNKNOWN)
        bytes_ = {**self.types, **self.own}[array].size_bytes
        taking = self.extents
        return Access(
            context, region, number, bytes_, stores, is_shared, threads, taking, steps, grid, (origin,)
        )


def _together(accesses: Sequence[Access]) -> list[Access]:
    """Walks that differ in their origins alone as one, since they touch much the same."""
    found: dict[Access, list[int]] = {}
    for access in accesses:
        found.setdefault(replace(access, origins=()), []).extend(access.origins)
    return [replace(access, origins=tuple(origins)) for access, origins in found.items()]
