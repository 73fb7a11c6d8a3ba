"""The translation of syntax trees to loop nests: one nest per ``meta_schedule``.

In: a checked :class:`Program`.  Out: its nests, in program order.  Example::

    meta_for (int v = 0; v < n/B; v++)          grid v < n/B
      for (int k = 0; k < s; k++)                 for (k = 0; k < s; k++)
        meta_for (int u = 1; u <= B; u++)           Threads u < B { a[v*B + (1 + u)] = k; }
          a[v*B + u] = k;

The outermost run of ``meta_for`` is the grid, the inner one the threads; an even perfect nest splits in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.loops.access import names_read
from comprehensive.loops.classify import classify
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.ir import (
    Array,
    BlockStmt,
    HostState,
    Loop,
    Nest,
    Repetition,
    Role,
    Scalar,
    Threads,
)
from comprehensive.loops.normalize.counting import counted_from_zero
from comprehensive.loops.normalize.inductions import with_closed_forms
from comprehensive.loops.scopes import Scope, free_names
from comprehensive.loops.types import with_prototypes
from comprehensive.metafork.ast import (
    Declare,
    Expr,
    For,
    Function,
    HostLoop,
    If,
    Index,
    MetaFor,
    MetaSchedule,
    Name,
    Program,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.structure import perfect_run, split_nest
from comprehensive.metafork.walk import assigned_scalars, declared, statements_in, subexpressions
from comprehensive.records import replace


def build(program: Program, sink: DiagnosticSink) -> tuple[Nest, ...]:
    """The nests of all regions: named after their function, numbered from 1 where it has several.

    Raises CompileError for a region that is no grid of thread blocks.  The checks of ``metafork`` report these
    with more detail, so that CF0318 is met only by trees that did not go through them.
    """
    nests: list[Nest] = []
    for function in program.functions:
        regions = function.regions
        for number, region in enumerate(regions, 1):
            name = function.name if len(regions) == 1 else f"{function.name}_{number}"
            try:
                nests.append(with_closed_forms(_RegionBuilder(function, region, name).build()))
            except _MalformedError as error:
                sink.error(
                    "CF0318",
                    error.message,
                    error.span,
                    help="a region is a grid of blocks of threads: see specs/",
                )
    sink.stop_on_errors()
    return tuple(nests)


class _MalformedError(Exception):
    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message, self.span = message, span


class _RegionBuilder:
    def __init__(self, function: Function, region: MetaSchedule, name: str) -> None:
        self._region = region
        self._name = name
        self._scalars, self._arrays = _known(function, region)
        self._extents: list[Expr] | None = None
        self._launch: frozenset[str] = frozenset()

    def build(self) -> Nest:
        region = self._region
        known = {s.name: s.type for s in self._scalars}
        preconditions = tuple(
            with_prototypes(p, known) for p in region.preconditions if names_read(p) <= known.keys()
        )
        used = self._closure(preconditions)
        scalars = tuple(s for s in self._scalars if s.name in used)
        arrays = tuple(a for a in self._arrays if a.name in used)
        for array in arrays:
            if array.dims is not None and None in array.dims[1:]:
                raise _MalformedError(f"the extents of '{array.name}' are not known", array.span)
        types = {s.name: s.type for s in scalars} | {a.name: a.type for a in arrays}
        self._launch = frozenset(s.name for s in scalars)
        state = self._state(used)
        taken = used | {s.name for s in state.scalars} | _declared(region.body)
        scope = Scope({}, {}, frozenset(types), taken, types)
        grid, body = self._grid(region.body, scope)
        threads = self._extents or []
        return Nest(
            name=self._name,
            scalars=classify(scalars, arrays, [g.extent for g in grid], threads),
            arrays=arrays,
            preconditions=preconditions,
            grid=grid,
            body=body,
            cached=region.cache or (),
            span=region.span,
            state=state,
            repetition=self._repetition(),
            in_any_order=region.in_any_order,
            is_checked=region.is_checked,
            is_repeated=region.is_repeated,
        )

    def _repetition(self) -> Repetition | None:
        """The innermost loop around the region, if regions are all that it does."""
        known = {s.name: s for s in self._scalars}
        match self._region.loops:
            case (*_, HostLoop(regions=regions) as loop) if regions > 0:
                needed = {loop.iterator} | names_read(loop.start) | names_read(loop.bound)
                if needed <= known.keys():
                    return Repetition(
                        self._with_prototypes(loop), tuple(s for s in self._scalars if s.name in needed)
                    )
            case _:
                pass
        return None

    def _state(self, used: frozenset[str]) -> HostState:
        """Return what host code says of its scalars.

        Where the region uses none but those with known values, that is only what has to hold for the region
        to run.
        """
        region, known = self._region, {s.name: s for s in self._scalars}
        types = {s.name: s.type for s in self._scalars}
        positive = {s.name for s in self._scalars if s.role in (Role.PROGRAM, Role.DATA)}

        def understood(conditions: tuple[Expr, ...]) -> tuple[Expr, ...]:
            return tuple(
                c for c in conditions if names_read(c) <= known.keys() and is_exact(c, types, positive)
            )

        guards = understood(region.guards)
        facts: tuple[Expr, ...] = ()
        loops: tuple[HostLoop, ...] = ()
        if any(s.name in used and s.role is Role.HOST and s.value is None for s in self._scalars):
            facts = understood(region.facts)
            ranges = [names_read(loop.start) | names_read(loop.bound) for loop in region.loops]
            is_known = all(names <= known.keys() for names in ranges)
            loops = tuple(map(self._with_prototypes, region.loops)) if is_known else ()
        named = {loop.iterator for loop in loops}.union(
            *(names_read(loop.start) | names_read(loop.bound) for loop in loops),
            *map(names_read, (*facts, *guards)),
        )
        needed = names_behind(named, self._scalars)
        return HostState(tuple(s for s in self._scalars if s.name in needed - used), facts, guards, loops)

    def _with_prototypes(self, loop: HostLoop) -> HostLoop:
        types = {s.name: s.type for s in self._scalars}
        start, bound = with_prototypes(loop.start, types), with_prototypes(loop.bound, types)
        return replace(loop, start=start, bound=bound)

    def _closure(self, preconditions: tuple[Expr, ...]) -> frozenset[str]:
        """Names that the region uses, and what their definitions, their dimensions and the asserts mention."""
        used = set(free_names(self._region.body)) | set(self._region.cache or ())
        for condition in preconditions:
            used |= names_read(condition)
        for array in self._arrays:
            if array.name in used:
                for dim in array.dims or ():
                    used |= frozenset() if dim is None else names_read(dim)
        return frozenset(names_behind(used, self._scalars))

    # --- the grid ---------------------------------------------------------------------------------------------

    def _grid(self, body: tuple[Stmt, ...], scope: Scope) -> tuple[tuple[Loop, ...], tuple[BlockStmt, ...]]:
        if len(body) != 1 or not isinstance(outermost := body[0], MetaFor):
            raise _MalformedError("a region holds one nest of meta_for loops", self._region.span)
        run, inner = split_nest(outermost)
        if not run:
            raise _MalformedError("one meta_for is no grid of blocks", outermost.span)
        grid, scope = self._parallel(run, scope)
        return grid, self._block_body(inner, scope)

    def _parallel(self, run: tuple[MetaFor, ...], scope: Scope) -> tuple[tuple[Loop, ...], Scope]:
        loops: list[Loop] = []
        for loop in run:
            if loop.iterator in assigned_scalars(loop.body):
                raise _MalformedError(f"the iterator '{loop.iterator}' is assigned in its loop", loop.span)
            start, bound, step = scope.expr(loop.start), scope.expr(loop.bound), scope.expr(loop.step)
            varying = sorted((names_read(start) | names_read(bound) | names_read(step)) - self._launch)
            if varying:
                raise _MalformedError(f"the range of a meta_for depends on '{varying[0]}'", loop.span)
            header = replace(loop, start=start, bound=bound, step=step)
            iterator, _ = scope.declare(loop.iterator, ScalarType.INT)
            normalized = counted_from_zero(header, loop.type, iterator, scope.types)
            if normalized is None:
                raise _MalformedError("the loop steps away from its bound", loop.span)
            _, scope = scope.declare(loop.iterator, ScalarType.INT, normalized.value)
            loops.append(Loop(iterator, normalized.extent, loop.span, loop.cut))
        return tuple(loops), scope

    # --- between grid and threads -----------------------------------------------------------------------------

    def _block_body(self, body: tuple[Stmt, ...], scope: Scope) -> tuple[BlockStmt, ...]:
        result: list[BlockStmt] = []
        for statement in body:
            match statement:
                case MetaFor():
                    result.append(self._threads(statement, scope))
                case Declare(dims=(), initial=initial) if initial is not None:
                    value = scope.expr(initial)
                    name, scope = scope.declare(statement.name, statement.type)
                    result.append(Declare(statement.type, name, (), value, True, statement.span))
                case For(type=type) if type is not None:
                    start = scope.expr(statement.start)
                    name, inner = scope.declare(statement.iterator, type)
                    bound, step = inner.expr(statement.bound), inner.expr(statement.step)
                    within = self._block_body(statement.body, inner)
                    result.append(
                        For(type, name, start, statement.relation, bound, step, within, statement.span)
                    )
                case If():
                    then, otherwise = (
                        self._block_body(statement.then, scope),
                        self._block_body(statement.otherwise, scope),
                    )
                    result.append(If(scope.expr(statement.condition), then, otherwise, statement.span))
                case _:
                    raise _MalformedError(
                        "this statement stands between the grid and the thread loops", statement.span
                    )
        return tuple(result)

    def _threads(self, outermost: MetaFor, scope: Scope) -> Threads:
        run = perfect_run(outermost)
        body = run[-1].body
        further = next((s for s in statements_in(body) if isinstance(s, MetaFor)), None)
        if further is not None:
            raise _MalformedError("a third level of meta_for loops", further.span)
        loops, inner = self._parallel(run, scope)
        extents = [loop.extent for loop in loops]
        if self._extents is not None and extents != self._extents:
            raise _MalformedError("thread loops of one region differ in their extents", outermost.span)
        self._extents = extents
        return Threads(loops, inner.body(body), outermost.span)


def _declared(body: tuple[Stmt, ...]) -> frozenset[str]:
    named = (
        {s.iterator} if isinstance(s, For | MetaFor) else declared(s).keys() for s in statements_in(body)
    )
    return frozenset[str]().union(*named)


def _known(function: Function, region: MetaSchedule) -> tuple[tuple[Scalar, ...], tuple[Array, ...]]:
    """All scalars and arrays that the region could use, in order of definition."""
    redefined = {s.name for s in (*region.scalars, *region.arrays, *region.pointers)}
    scalars = [
        Scalar(p.name, p.type, Role.SCALAR, span=p.span)
        for p in function.parameters
        if not p.is_data and p.name not in redefined
    ]
    known = {s.name: s.type for s in scalars}
    for host in region.scalars:
        value = host.value
        if value is not None:
            value = with_prototypes(value, known) if _reads_only(value, known.keys()) else None
        scalars.append(Scalar(host.name, host.type, Role.HOST, value, host.span, pointer=host.pointer))
        known[host.name] = host.type
    arrays = [
        Array(p.name, p.type, _dims(p.dims, known) if p.dims else None, p.const, p.span)
        for p in function.parameters
        if p.is_data and p.name not in redefined
    ]
    arrays += [
        Array(p.name, p.type, _dims(p.dims, known) if p.dims else None, p.const, p.span)
        for p in region.pointers
    ]
    arrays += [Array(t.name, t.type, t.dims, True, t.span, values=t.values) for t in region.tables]
    arrays += [Array(a.name, a.type, _dims(a.dims, known), span=a.span) for a in region.arrays]
    return tuple(scalars), tuple(arrays)


def _reads_only(expr: Expr, names: Set[str]) -> bool:
    return all(
        e.identifier in names if isinstance(e, Name) else not isinstance(e, Index)
        for e in subexpressions(expr)
    )


def _dims(dims: tuple[Expr | None, ...], known: Mapping[str, ScalarType]) -> tuple[Expr | None, ...]:
    """Extents in terms of scalars; None for what is not known (C allows that in the first place)."""
    return tuple(
        with_prototypes(d, known) if d is not None and _reads_only(d, known.keys()) else None for d in dims
    )
