"""The work of a block of a kernel: a variant in, its accesses and operations out, each with how often it is done.

    c[p*n + q] += shared_a[v*B0 + z] * shared_b[z*B1 + u]      B0*B1 threads, a loop over z < B0
    -->  read and write of c: B0^2*B1 times, neighbours 1 apart; two operations as often; read of shared_b likewise, ...

Counts are those of all threads of a block together, so that a loop which strides by the threads of the block has a
whole number of steps: the extent of what it copies. They are of the kernel as it is written, in a block where all
conditions without an `else` hold; where there is an `else`, every case is counted by itself, and both sides of `?:` are
counted. Divisions in extents are exact quotients. What has no such count, as a loop that data ends, has None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import islice, product
from typing import assert_never

from msgspec import Struct

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.counters.shared_words import KERNEL_NAME
from comprehensive.counters.threads import quotient
from comprehensive.kernel_ir.axes import on_axes
from comprehensive.kernel_ir.kernel import Barrier, Comment, Kernel, KernelStmt, OfTiles, SharedTile, Source
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import AXES, Nest, Variant
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
from comprehensive.metafork.terms import product as product_of
from comprehensive.metafork.walk import assigned_scalars, elements, reads_data, statements_in
from comprehensive.records import replace

Count = RationalFunction | None
"""The number of times that something is done in a block; None where it is not known."""

_MOST_CASES = 64
_ARITHMETIC = frozenset("+-*/%")
_LANE = "threadIdx.x"
_VARYING = "#"
_UNIFORM = "="
"""Begin the names of values of which nothing is known, but that those of the second kind are the same in a warp."""


class UncountableError(Exception):
    """The kernel has statements that are not counted here; the message says which."""


@dataclass(frozen=True, slots=True)
class Access:
    """A read or a write of one element, ``size_bytes`` long, in global memory or in shared memory.

    Neighbours along ``threadIdx.x`` are ``stride`` elements apart, None where that is not the same for all.
    """

    array: str
    size_bytes: int
    is_shared: bool
    writes: bool
    stride: Polynomial | None
    count: Count
    reference: Index | None = field(default=None, compare=False, repr=False)
    """The reference of the kernel; two that do the same are equal."""


class Work(Struct, frozen=True):
    """The work of one block, in one case.

    ``waits`` counts how often a thread comes to use what it has read of global memory.
    """

    accesses: tuple[Access, ...] = ()
    operations: tuple[Count, ...] = ()
    waits: tuple[Count, ...] = ()
    guarded: bool = False
    """Whether something is done under a condition."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.accesses + other.accesses,
            self.operations + other.operations,
            self.waits + other.waits,
            self.guarded or other.guarded,
        )


def work_of(variant: Variant) -> tuple[Work, ...]:
    """The work of a block, in each case that there is. UncountableError for kernels over tiles with own statements."""
    from comprehensive.lowering.lower import lower

    return work_of_kernel(lower(variant, KERNEL_NAME), variant.nest)


def work_of_kernel(kernel: Kernel, nest: Nest) -> tuple[Work, ...]:
    """The same for a kernel that a variant of the nest has become."""
    return _work(kernel, frozenset(s.name for s in nest.scalars))


@lru_cache(maxsize=4096)
def _work(kernel: Kernel, scalars: frozenset[str]) -> tuple[Work, ...]:
    walk = _Walk(kernel, scalars)
    return walk.cases(kernel.body, walk.begin(kernel))


def total(counts: Iterable[Count]) -> Count:
    """The sum; None where a summand is not known."""
    found = RationalFunction(0)
    for count in counts:
        if count is None:
            return None
        found = found + count
    return found


class _Scope(Struct, frozen=True):
    """Values of names in terms of threads, blocks and scalars; names of data; steps of the loops around the place."""

    values: dict[str, Polynomial]
    quotients: dict[str, RationalFunction]
    """Values of names that are quotients of scalars, where these leave no remainder."""
    data: frozenset[str]
    steps: Count
    shared_out: frozenset[str]
    """The axes of the block along which a loop around the place divides its steps among the threads."""

    def binding(self, name: str, value: Polynomial) -> _Scope:
        others = {other: whole for other, whole in self.quotients.items() if other != name}
        return replace(self, values={**self.values, name: value}, quotients=others)


_NOWHERE = _Scope({}, {}, frozenset(), RationalFunction(1), frozenset())


class _Walk:
    """Walks a kernel; a sequence has the products of the cases of its statements."""

    def __init__(self, kernel: Kernel, scalars: frozenset[str]) -> None:
        self._scalars = scalars | frozenset(kernel.constants)
        self._global = {p.name: p.type for p in kernel.parameters if p.source is Source.ARRAY}
        self._shared: dict[str, ScalarType] = {}
        self._assigned = assigned_scalars(kernel.body)
        self._axes = {
            f"threadIdx.{axis}": self._quotient(product_of(extents), _NOWHERE)
            for axis, extents in zip(AXES, on_axes(kernel.block), strict=False)
        }
        self._unknown = 0

    def begin(self, kernel: Kernel) -> _Scope:
        """The scope of the body, in which limits are known."""
        limits = {name: self._quotient(limit, _NOWHERE) for name, limit in kernel.limits}
        return replace(
            _NOWHERE, quotients={name: limit for name, limit in limits.items() if limit is not None}
        )

    # --- statements

    def cases(self, body: Sequence[KernelStmt], scope: _Scope) -> tuple[Work, ...]:
        parts: list[tuple[Work, ...]] = []
        waiting: frozenset[str] | None = None  # names of what is on its way from global memory
        for statement in body:
            reads = self._reads_global(statement)
            straight = isinstance(statement, Declare | Assign)
            used = waiting is not None and (not straight or not waiting.isdisjoint(_read_by(statement)))
            if waiting is not None and used:
                parts.append((Work(waits=(self._count(scope),)),))
                waiting = None
            part, scope = self._statement(statement, scope)
            parts.append(part)
            if straight and reads:
                arrives = _loaded(statement)
                if arrives is None:
                    parts.append((Work(waits=(self._count(scope),)),))
                    waiting = None
                else:
                    waiting = frozenset((arrives, *(waiting or ())))
        if waiting is not None:
            parts.append((Work(waits=(self._count(scope),)),))
        return _combined(parts)

    def _statement(self, statement: KernelStmt, scope: _Scope) -> tuple[tuple[Work, ...], _Scope]:
        match statement:
            case Barrier() | Comment() | Break() | Continue():
                return (Work(),), scope
            case SharedTile():
                self._shared[statement.name] = statement.type
                return (Work(),), scope
            case If():
                return self._if(statement.condition, statement.then, statement.otherwise, scope), scope
            case For():
                return self._loop(statement, scope), scope
            case While() | DoWhile():
                inner = replace(scope, steps=None)
                return (
                    _combined(
                        [self._evaluated((statement.condition,), inner), self.cases(statement.body, inner)]
                    ),
                    scope,
                )
            case Block():
                return self.cases(statement.body, scope), scope
            case Declare():
                initial = () if statement.initial is None else (statement.initial,)
                return self._evaluated(initial, scope), self._declared(statement, scope)
            case Assign():
                return (self._assigned_by(statement, scope),), scope
            case MetaFor():
                raise ValueError("a meta_for in a kernel")
            case OfTiles():
                return (self._of_tiles(statement, scope),), scope
            case _:
                assert_never(statement)

    def _of_tiles(self, statement: OfTiles, scope: _Scope) -> Work:
        """UncountableError: the conditions under which blocks copy pieces are not those of all threads."""
        raise UncountableError(f"{type(statement).__name__} of a kernel over tiles")

    def _if(
        self, condition: Expr, then: Sequence[KernelStmt], otherwise: Sequence[KernelStmt], scope: _Scope
    ) -> tuple[Work, ...]:
        tested = self._evaluated((condition,), scope)
        if not otherwise:
            return _combined([tested, self.cases(then, scope), (Work(guarded=True),)])
        return _combined([tested, (*self.cases(then, scope), *self.cases(otherwise, scope))])

    def _loop(self, loop: For[KernelStmt], scope: _Scope) -> tuple[Work, ...]:
        bounds = self._evaluated((loop.start, loop.bound, loop.step), scope)
        steps, axes = self._steps(loop, scope)
        leaves = any(isinstance(s, Break | Continue) for s in statements_in(loop.body))
        counted = None if steps is None or scope.steps is None or leaves else scope.steps * steps
        value = Polynomial.symbol(loop.iterator)
        if axes:
            value = self._value(loop.start, scope) + value
        elif not names_read(loop.start).isdisjoint(scope.values) and self._varies(loop.start, scope):
            value = self._anything()
        inner = replace(scope.binding(loop.iterator, value), steps=counted)
        inner = replace(inner, shared_out=inner.shared_out | axes)
        return _combined([bounds, self.cases(loop.body, inner)])

    def _steps(self, header: For[KernelStmt], scope: _Scope) -> tuple[Count, frozenset[str]]:
        """The number of steps, that of all threads together for a loop shared out along axes, and these."""
        bound = self._quotient(header.bound, scope)
        start, step = self._value(header.start, scope), self._value(header.step, scope)
        own = {str(Polynomial.symbol(axis.replace("threadIdx", "blockDim"))): axis for axis in self._axes}
        if header.relation == "<" and str(step) in own and start == Polynomial.symbol(own[str(step)]):
            return bound, frozenset((own[str(step)],))
        if header.relation == "<" and start.coefficient(_LANE, 1) == 1 and _names(start) >= self._axes.keys():
            return bound, frozenset(self._axes)
        if isinstance(header.start, Name) and header.start.identifier.startswith("blockIdx"):
            return RationalFunction(1), frozenset()
        first, by = self._quotient(header.start, scope), self._quotient(header.step, scope)
        if bound is None or first is None or by is None or by == RationalFunction(0):
            return None, frozenset()
        match header.relation:
            case "<" | ">" | "!=":
                return (bound - first) / by, frozenset()
            case "<=" | ">=":
                return (bound - first) / by + 1, frozenset()
            case _:
                return None, frozenset()

    def _declared(self, statement: Declare, scope: _Scope) -> _Scope:
        if statement.dims:
            return replace(scope, data=scope.data | {statement.name})
        fixed = statement.initial is not None and statement.name not in self._assigned
        value = self._value(statement.initial, scope) if fixed and statement.initial else self._anything()
        whole = self._quotient(statement.initial, scope) if fixed and statement.initial else None
        scope = scope.binding(statement.name, value)
        if whole is not None:
            scope = replace(scope, quotients={**scope.quotients, statement.name: whole})
        of_data = statement.initial is not None and _operations(statement.initial, scope.data)[1]
        if of_data or not statement.type.is_integer:
            return replace(scope, data=scope.data | {statement.name})
        return scope

    def _assigned_by(self, statement: Assign, scope: _Scope) -> Work:
        operations, of_data = _operations(statement.value, scope.data)
        target = statement.target
        # The cache of the device carries an atomic update out: the thread only sends what is to be added.
        compound = statement.operator != "=" and not statement.atomic
        is_data = of_data or isinstance(target, Index) or target.identifier in scope.data
        operations += compound and is_data
        references = [(index, False) for index in elements(statement.value)]
        if isinstance(target, Index):
            references += [(index, False) for s in target.subscripts for index in elements(s)]
            references += [(target, False)] * compound + [(target, True)]
        return Work(self._accesses(references, scope), (self._count(scope),) * operations)

    def _evaluated(self, expressions: Sequence[Expr], scope: _Scope) -> tuple[Work, ...]:
        references = [(index, False) for expression in expressions for index in elements(expression)]
        operations = sum(_operations(expression, scope.data)[0] for expression in expressions)
        return (Work(self._accesses(references, scope), (self._count(scope),) * operations),)

    # --- counts and places

    def _count(self, scope: _Scope) -> Count:
        """Return how often the threads of a block come here, all together."""
        count = scope.steps
        for axis, extent in self._axes.items():
            if axis not in scope.shared_out:
                count = None if count is None or extent is None else count * extent
        return count

    def _accesses(self, references: Iterable[tuple[Index, bool]], scope: _Scope) -> tuple[Access, ...]:
        found: list[Access] = []
        for index, writes in references:
            is_shared = index.array in self._shared
            type = self._shared.get(index.array) or self._global.get(index.array)
            if type is not None:  # an array of the thread's own is neither
                stride, count = self._stride(index, scope), self._count(scope)
                found.append(
                    Access(index.array, type.size_bytes, is_shared, writes, stride, count, reference=index)
                )
        return tuple(found)

    def _reads_global(self, statement: KernelStmt) -> bool:
        if isinstance(statement, Declare) and statement.initial is not None:
            return any(index.array in self._global for index in elements(statement.initial))
        if not isinstance(statement, Assign):
            return False
        read = list(elements(statement.value))
        if statement.operator != "=" and not statement.atomic and isinstance(statement.target, Index):
            read.append(statement.target)
        return any(index.array in self._global for index in read)

    def _stride(self, index: Index, scope: _Scope) -> Polynomial | None:
        (place,) = index.subscripts
        address = self._value(place, scope)
        if address.degree(_LANE) > 1:
            return None
        stride = address.coefficient(_LANE, 1)
        unknown = [name for name in address.symbols if name.startswith(_VARYING)]
        return None if unknown or _LANE in stride.symbols else stride

    def _value(self, expr: Expr, scope: _Scope) -> Polynomial:
        """Return the value in terms of scalars, threads and blocks.

        What may differ between threads in another way is unknown.
        """
        match expr:
            case IntLiteral():
                return Polynomial.constant(expr.value)
            case Name():
                known = scope.values.get(expr.identifier)
                if known is None:
                    known = Polynomial.symbol(expr.identifier)
                return self._anything() if expr.identifier in self._assigned else known
            case Unary(operator="-"):
                return -self._value(expr.operand, scope)
            case Unary(operator="+"):
                return self._value(expr.operand, scope)
            case Binary(operator="+"):
                return self._value(expr.left, scope) + self._value(expr.right, scope)
            case Binary(operator="-"):
                return self._value(expr.left, scope) - self._value(expr.right, scope)
            case Binary(operator="*"):
                return self._value(expr.left, scope) * self._value(expr.right, scope)
            case Cast() if expr.type.is_integer:
                return self._value(expr.operand, scope)
            case _:
                # What is made of values that are the same for a whole warp is the same there.
                return self._anything(_VARYING if self._varies(expr, scope) else _UNIFORM)

    def _varies(self, expr: Expr, scope: _Scope) -> bool:
        if reads_data(expr) or not names_read(expr).isdisjoint(self._assigned):
            return True
        values = (scope.values.get(name, Polynomial.symbol(name)) for name in names_read(expr))
        return any(s == _LANE or s.startswith(_VARYING) for value in values for s in value.symbols)

    def _anything(self, kind: str = _VARYING) -> Polynomial:
        """A value of its own: two that are equal are not known to be."""
        self._unknown += 1
        return Polynomial.symbol(f"{kind}{self._unknown}")

    def _quotient(self, expr: Expr, scope: _Scope) -> Count:
        """An extent over scalars of the nest; None for any other."""

        def of_name(name: str) -> Count:
            if name in scope.quotients:
                return scope.quotients[name]
            value = scope.values.get(name, Polynomial.symbol(name))
            return RationalFunction(value) if self._scalars.issuperset(value.symbols) else None

        return quotient(expr, of_name)


def _combined(parts: Sequence[tuple[Work, ...]]) -> tuple[Work, ...]:
    """Every choice of a case of each part. UncountableError where there are too many."""
    chosen = tuple(islice(product(*(dict.fromkeys(part) for part in parts)), _MOST_CASES + 1))
    if len(chosen) > _MOST_CASES:
        raise UncountableError(f"more than {_MOST_CASES} cases")
    return tuple(dict.fromkeys(reduce(Work.__add__, choice, Work()) for choice in chosen))


def _names(polynomial: Polynomial) -> frozenset[str]:
    return frozenset(polynomial.symbols)


def _read_by(statement: KernelStmt) -> frozenset[str]:
    match statement:
        case Declare():
            return frozenset() if statement.initial is None else names_read(statement.initial)
        case Assign():
            target = statement.target
            own = (
                names_read(target)
                if statement.operator != "=" or isinstance(target, Index)
                else frozenset[str]()
            )
            return names_read(statement.value) | own
        case _:
            return frozenset()


def _loaded(statement: KernelStmt) -> str | None:
    """The scalar into which a statement reads an element and does nothing else."""
    match statement:
        case Declare(initial=Index()):
            return statement.name
        case Assign(target=Name(identifier=name), operator="=", value=Index()):
            return name
        case _:
            return None


def _operations(expr: Expr, data: frozenset[str]) -> tuple[int, bool]:
    """Arithmetic on data, not on addresses; and whether the value is data."""
    match expr:
        case Index() | FloatLiteral():
            return 0, True
        case IntLiteral():
            return 0, False
        case Name():
            return 0, expr.identifier in data
        case Unary():
            count, of_data = _operations(expr.operand, data)
            return count, of_data  # a sign is a part of the instruction that reads the value
        case Cast():
            count, of_data = _operations(expr.operand, data)
            return count, of_data or not expr.type.is_integer
        case Binary():
            (left, first), (right, second) = _operations(expr.left, data), _operations(expr.right, data)
            of_data = first or second
            return left + right + (of_data and expr.operator in _ARITHMETIC), of_data
        case Conditional():
            parts = [_operations(part, data) for part in (expr.condition, expr.then, expr.otherwise)]
            return sum(count for count, _ in parts), any(of_data for _, of_data in parts[1:])
        case Call():
            return 1 + sum(_operations(argument, data)[0] for argument in expr.arguments), True
        case _:
            assert_never(expr)
