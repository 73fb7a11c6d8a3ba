"""Reads of what the next thread along x has read become warp shuffles.

In: a kernel and names of arrays.  Out: the kernel with fewer loads, ``shuffled`` says of which arrays::

    if (j < n - 1)                                const unsigned lanes = cf_lanes();
      b[j] = a[j-1] + a[j] + a[j+1];     -->      const int holds = j < n - 1;
                                                  const unsigned within = cf_lanes_where(lanes, holds);
                                                  if (holds) {
                                                    const float a_here = a[j-1];
                                                    const float a_next = cf_next(within, 1, a_here, a[j]);
                                                    const float a_next_1 = cf_next(within, 1, a_next, a[j+1]);
                                                    b[j] = a_here + a_next + a_next_1;
                                                  }

A value goes from neighbour to neighbour, so that of each value only the ends of rows and warps are loaded.  Across the
steps of a loop it does the same: of ``in[j + x]``, x < 5, the first step loads, and is written before the loop.

Why it is right.  Statements of a list are run together by all threads of its ``lanes``: those of the warp to begin
with, which no thread leaves; a vote where a condition differs between threads (what stands behind its ``else`` stays);
and the same ones in a loop of which all threads run the same steps.  So a shuffle meets its partner in the same
statement and the same step (CUDA asks for no more), whose address is ours, since the two differ by one along x and by
nothing else.  The array is written nowhere in the kernel.  Whoever has no partner loads (``lanes.cu.j2``), which holds
for blocks of all shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import (
    LANES,
    LANES_WHERE,
    NEXT,
    Kernel,
    KernelStmt,
    Plain,
    UniformFor,
    UniformIf,
)
from comprehensive.kernel_ir.names import names_in_kernel
from comprehensive.loops.access import assigned_names, substitute
from comprehensive.loops.traverse import always_evaluated, map_expr, map_stmt_exprs, statements_in
from comprehensive.lowering.lane_values import LANE, LaneValues, Scope, Varies
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Continue,
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

_BOOLEAN = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))


def with_shuffles(kernel: Kernel, arrays: Sequence[str]) -> Kernel:
    """The kernel with shuffles for what it reads of these arrays."""
    rewriter = _Rewriter(kernel, arrays)
    body, _ = rewriter.block_level(kernel.body, rewriter.values.start)
    found = tuple(name for name in arrays if name in rewriter.shuffled)
    return replace(kernel, body=body, shuffled=found) if found else kernel


class _Lanes:
    """The name of a set of lanes, which is taken when it is needed first."""

    def __init__(self, wish: str, fresh: Namer) -> None:
        self._wish, self._fresh = wish, fresh
        self._name: str | None = None

    @property
    def name(self) -> str:
        if self._name is None:
            self._name = self._fresh(self._wish)
        return self._name


@dataclass(slots=True)
class _Carried:
    """Values that go from one step of a loop to the next; ``first`` writes the first step."""

    symbol: str
    """The symbol of the iterator."""
    step: int
    first: bool = True
    names: list[str] = field(default_factory=list[str])
    types: list[ScalarType] = field(default_factory=list[ScalarType])
    met: int = 0


@dataclass(frozen=True, slots=True)
class _Read:
    """An element that is read: how it comes to the thread, from ``source`` of the thread ``by`` further along x."""

    index: Index
    by: int = 0
    source: Polynomial | None = None
    carried: bool = False


class _Rewriter:
    def __init__(self, kernel: Kernel, arrays: Sequence[str]) -> None:
        plain = tuple(_plain(kernel.body))
        everything = tuple(statements_in(plain))
        declared = {s.name for s in everything if isinstance(s, Declare)}
        outer = {s.iterator for s in everything if isinstance(s, For) and s.type is None}
        self.values = LaneValues(kernel, assigned_names(plain) | outer)
        self._types = {
            p.of: p.type
            for p in kernel.parameters
            if p.pointer and p.const and p.of in arrays and p.name not in declared
        }
        iterators = {s.iterator for s in everything if isinstance(s, For)}
        parameters = {p.name for p in kernel.parameters}
        self._fresh = Namer(names_in_kernel(kernel.body) | declared | iterators | parameters)
        self._assigned = assigned_names(plain) | outer
        self.shuffled: set[str] = set()

    # --- what a block runs together

    def block_level(self, body: Sequence[KernelStmt], scope: Scope) -> tuple[tuple[KernelStmt, ...], Scope]:
        found: list[KernelStmt] = []
        for statement in body:
            match statement:
                case Plain():
                    lanes = _Lanes("lanes", self._fresh)
                    inner, scope = self._list(statement.body, scope, lanes)
                    if inner != statement.body:
                        all_lanes = Declare(
                            ScalarType.UNSIGNED, lanes.name, initial=Call(LANES, ()), const=True
                        )
                        statement = Plain((all_lanes, *inner))
                    found.append(statement)
                case UniformFor():
                    header = statement.header
                    assert header.type is not None
                    steps, _ = self.values.stepping(scope, header.iterator, header.type)
                    found.append(replace(statement, body=self.block_level(statement.body, steps)[0]))
                case UniformIf():
                    then, _ = self.block_level(statement.then, scope)
                    otherwise, _ = self.block_level(statement.otherwise, scope)
                    found.append(replace(statement, then=then, otherwise=otherwise))
                case _:
                    found.append(statement)
        return tuple(found), scope

    # --- what the threads of `lanes` run together

    def _list(
        self, body: Sequence[Stmt], scope: Scope, lanes: _Lanes, carried: _Carried | None = None
    ) -> tuple[tuple[Stmt, ...], Scope]:
        reads = self._reads(body, scope, carried)
        sources = {read.source for read in reads.values()}
        held: dict[Polynomial, str] = {}
        found: list[Stmt] = []
        for statement in body:
            match statement:
                case Declare() | Assign():
                    for place in self._places(statement, scope):
                        read = reads[place]
                        wanted = read.by or read.carried or place in sources
                        if wanted and place not in held:
                            held[place] = self._hold(place, read, held, lanes, carried, found)
                    found.append(self._with_held(statement, scope, held))
                    if isinstance(statement, Declare):
                        initial = None if statement.dims else statement.initial
                        scope = self.values.declared(scope, statement.name, statement.type, initial)
                case If():
                    found += self._if(statement, scope, lanes)
                case For():
                    found += self._for(statement, scope, lanes)
                case Block():
                    found.append(replace(statement, body=self._list(statement.body, scope, lanes)[0]))
                case _:
                    found.append(statement)
        return tuple(found), scope

    def _hold(
        self,
        place: Polynomial,
        read: _Read,
        held: Mapping[Polynomial, str],
        lanes: _Lanes,
        carried: _Carried | None,
        found: list[Stmt],
    ) -> str:
        """Adds what brings the element into a register, and names that."""
        array = read.index.array
        type = self._types[array]
        if read.carried:
            assert carried is not None
            if carried.first:
                carried.names.append(self._fresh(f"{array}_next"))
                carried.types.append(type)
            name = carried.names[carried.met]
            carried.met += 1
            brought = read.index if carried.first else self._next(lanes, read.by, name, read.index)
            found.append(Assign(Name(name), "=", brought))
            return name
        if read.by == 0:
            name = self._fresh(f"{array}_here")
            found.append(Declare(type, name, initial=read.index, const=True))
            return name
        assert read.source is not None
        name = self._fresh(f"{array}_next")
        brought = self._next(lanes, read.by, held[read.source], read.index)
        found.append(Declare(type, name, initial=brought, const=True))
        return name

    def _next(self, lanes: _Lanes, by: int, own: str, index: Index) -> Expr:
        self.shuffled.add(index.array)
        return Call(NEXT, (Name(lanes.name), IntLiteral(by), Name(own), index))

    def _reads(self, body: Sequence[Stmt], scope: Scope, carried: _Carried | None) -> dict[Polynomial, _Read]:
        """How the elements that a list reads itself come to its threads, in the order in which they are first read."""
        reads: dict[Polynomial, _Read] = {}
        for statement in body:
            if isinstance(statement, Declare | Assign):
                for place, index in self._places(statement, scope).items():
                    if place in reads:
                        continue
                    stride = _stride(place)
                    before, behind = place - stride, place + stride
                    if _of(reads, before, index.array):
                        reads[place] = _Read(index, 1, before)
                    elif _of(reads, behind, index.array):
                        reads[place] = _Read(index, -1, behind)
                    else:
                        by = 0 if carried is None else _carried_by(place, stride, carried)
                        reads[place] = _Read(index, by, None, by != 0)
            if isinstance(statement, Declare):
                initial = None if statement.dims else statement.initial
                scope = self.values.declared(scope, statement.name, statement.type, initial)
        return reads

    def _places(self, statement: Stmt, scope: Scope) -> dict[Polynomial, Index]:
        """Return the places where a statement reads in any case, those of neighbours along x in order.

        Each has one of its references.
        """
        found: dict[Polynomial, Index] = {}
        for index in _reads_in_any_case(statement):
            place = self._place(index, scope)
            if place is not None:
                found.setdefault(place, index)
        return dict(sorted(found.items(), key=lambda item: _position(item[0])))

    def _place(self, index: Index, scope: Scope) -> Polynomial | None:
        if index.array not in self._types:
            return None
        (offset,) = index.subscripts
        value = self.values.value(offset, scope)
        if value is None or value.degree(LANE) != 1:
            return None
        stride = value.coefficient(LANE, 1)
        if not stride.is_constant or not value.is_integral:
            return None
        return value + Polynomial.symbol(f"&{index.array}")

    def _with_held(self, statement: Declare | Assign, scope: Scope, held: Mapping[Polynomial, str]) -> Stmt:
        def replaced(expr: Expr) -> Expr:
            if isinstance(expr, Index):
                place = self._place(expr, scope)
                if place is not None and place in held:
                    return Name(held[place])
            return expr

        (changed,) = map_stmt_exprs((statement,), lambda expr: map_expr(expr, replaced))
        return changed

    def _if(self, statement: If, scope: Scope, lanes: _Lanes) -> list[Stmt]:
        if self.values.varies(statement.condition, scope) is Varies.NOWHERE:
            then, _ = self._list(statement.then, scope, lanes)
            otherwise, _ = self._list(statement.otherwise, scope, lanes)
            return [replace(statement, then=then, otherwise=otherwise)]
        voted = _Lanes("within", self._fresh)
        then, _ = self._list(statement.then, scope, voted)
        if then == statement.then:
            return [statement]
        holds, condition = self._fresh("holds"), statement.condition
        if not (isinstance(condition, Binary) and condition.operator in _BOOLEAN):
            condition = Binary("!=", condition, IntLiteral(0))
        vote = Call(LANES_WHERE, (Name(lanes.name), Name(holds)))
        return [
            Declare(ScalarType.INT, holds, initial=condition, const=True),
            Declare(ScalarType.UNSIGNED, voted.name, initial=vote, const=True),
            replace(statement, condition=Name(holds), then=then),
        ]

    def _for(self, loop: For, scope: Scope, lanes: _Lanes) -> list[Stmt]:
        parts = (loop.start, loop.bound, loop.step)
        together = (
            loop.type is not None
            and loop.iterator not in self._assigned
            and all(self.values.varies(part, scope) is Varies.NOWHERE for part in parts)
            and not any(isinstance(s, Break | Continue) for s in statements_in(loop.body))
        )
        if not together or loop.type is None:
            return [loop]
        steps, symbol = self.values.stepping(scope, loop.iterator, loop.type)
        start, step = loop.start, loop.step
        if _begins(loop) and isinstance(start, IntLiteral) and isinstance(step, IntLiteral):
            carried = _Carried(symbol, step.value)
            first, _ = self._list(loop.body, steps, lanes, carried)
            if carried.names:
                return self._carrying(loop, steps, lanes, carried, first, start, step)
        return [replace(loop, body=self._list(loop.body, steps, lanes)[0])]

    def _carrying(
        self,
        loop: For,
        steps: Scope,
        lanes: _Lanes,
        carried: _Carried,
        first: tuple[Stmt, ...],
        start: IntLiteral,
        step: IntLiteral,
    ) -> list[Stmt]:
        """The first step, and the loop over the others."""
        once = map_stmt_exprs(first, lambda expr: substitute(expr, {loop.iterator: start}))
        carried.first, carried.met = False, 0
        others, _ = self._list(loop.body, steps, lanes, carried)
        second = replace(start, value=start.value + step.value)
        held = zip(carried.types, carried.names, strict=True)
        return [
            *(Declare(type, name) for type, name in held),
            Block(once),
            replace(loop, start=second, body=others),
        ]


def _begins(loop: For) -> bool:
    """Return whether a loop has a first step in any case, and its iterator is declared nowhere inside."""
    inside = {s.name for s in statements_in(loop.body) if isinstance(s, Declare)}
    inside |= {s.iterator for s in statements_in(loop.body) if isinstance(s, For)}
    match loop:
        case For(start=IntLiteral(value=start), relation="<", bound=IntLiteral(value=bound)):
            return start < bound and loop.iterator not in inside
        case _:
            return False


def _stride(place: Polynomial) -> Polynomial:
    return place.coefficient(LANE, 1)


def _position(place: Polynomial) -> tuple[object, ...]:
    """Sorts what differs by numbers only in the order in which threads along x come to it."""
    constant = place.evaluate(dict.fromkeys(place.symbols, 0))
    rest = place - Polynomial.constant(constant)
    return (str(rest), constant if _stride(place).constant_value() > 0 else -constant)


def _of(reads: Mapping[Polynomial, _Read], place: Polynomial, array: str) -> bool:
    return place in reads and reads[place].index.array == array


def _carried_by(place: Polynomial, stride: Polynomial, carried: _Carried) -> int:
    """Return the neighbour that has read the element a step before, 1 or -1; 0 where none has."""
    if place.degree(carried.symbol) != 1:
        return 0
    moved = place.coefficient(carried.symbol, 1) * carried.step
    return 1 if moved == stride else -1 if moved == -stride else 0


def _reads_in_any_case(statement: Stmt) -> Iterator[Index]:
    evaluated: tuple[Expr, ...] = ()
    match statement:
        case Declare() if statement.initial is not None:
            evaluated = (statement.initial,)
        case Assign(target=Index(subscripts=subscripts)):
            evaluated = (*subscripts, statement.value)
        case Assign():
            evaluated = (statement.value,)
        case _:
            pass
    for expr in evaluated:
        yield from (each for each in always_evaluated(expr) if isinstance(each, Index))


def _plain(body: Sequence[KernelStmt]) -> Iterator[Stmt]:
    for statement in body:
        match statement:
            case Plain():
                yield from statement.body
            case UniformFor():
                yield replace(statement.header, body=())
                yield from _plain(statement.body)
            case UniformIf():
                yield from _plain((*statement.then, *statement.otherwise))
            case _:
                pass
