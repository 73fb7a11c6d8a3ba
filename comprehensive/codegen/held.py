"""Elements that a loop accesses again and again are held in registers.

In: the body of a kernel.  Out: the same with a scalar for each such element, as ``private_c`` of the paper's figure 4::

    for (z) c[p][q] += a[v][z] * b[z][u];
        -->  if (0 < B0) { float private_c = c[p][q];  for (z) private_c += ...;  c[p][q] = private_c; }

It is held around the outermost loop in which it stays the same element.  Every other reference to the array in the loop
must name another element: distinct arrays do not overlap, and of one array two subscripts are told apart by a constant
distance.  It is loaded and stored only where the source surely accesses it: there no other thread does, or the loops
would not be parallel.  The scalar has the type of the element, so that every value is rounded as in memory.

Around a loop that all threads of a block run together, and in which they may meet at barriers, that is so if one band
alone refers to the array, always to this element.  Elements in shared memory are held too, but only in loops of a
thread: a register saves two accesses and the wait for them in each step; between barriers tiles may trade places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import assert_never

from comprehensive.codegen.kernel import (
    Barrier,
    Comment,
    KernelStmt,
    OfTiles,
    Plain,
    SharedTile,
    ThreadIf,
    UniformFor,
    UniformIf,
)
from comprehensive.codegen.terms import conjunction
from comprehensive.loops.access import assigned_names, names_read, substitute
from comprehensive.loops.integers import Ring
from comprehensive.loops.rewrite import conditional_parts, map_expr, subexpressions
from comprehensive.loops.types import promote, type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Cast,
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
    Stmt,
    Unary,
    While,
)

_Types = Mapping[str, ScalarType]
_Conditions = tuple[Expr, ...] | None
"""What has to hold for a place to be reached; None where that cannot be said beforehand."""


@dataclass(frozen=True, slots=True)
class Pointers:
    """What a kernel may hold elements of: arrays in global memory, and tiles in shared memory, with their types."""

    arrays: Mapping[str, ScalarType]
    tiles: Mapping[str, ScalarType]


def with_held_elements(
    body: Sequence[KernelStmt],
    pointers: Pointers,
    types: _Types,
    positive: Set[str],
    name: Callable[[str], str],
) -> tuple[KernelStmt, ...]:
    """The body of a kernel with elements in registers.

    ``types`` are those of all names, ``positive`` names that are at least 1; ``name`` gives free names.
    """
    return _Holder(pointers, types, positive, name).kernel(body)


@dataclass(frozen=True, slots=True)
class _Reference:
    """An access with the scalars of the loop put in its subscripts, and what has to hold for it to happen."""

    index: Index
    is_write: bool
    conditions: _Conditions
    band: int
    """Which of the statements that all threads run one after the other it is in."""


@dataclass(slots=True)
class _Found:
    """What a loop does to memory, and which names do not keep one value in it."""

    references: list[_Reference] = field(default_factory=list[_Reference])
    atomic: set[str] = field(default_factory=set[str])
    varying: set[str] = field(default_factory=set[str])
    leaves: bool = False
    bands: int = 0


@dataclass(frozen=True, slots=True)
class _Held:
    """``private`` holds ``element`` of an array; ``guard`` is what has to hold beside that the loop runs."""

    private: str
    element: Index
    guard: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class _Holder:
    pointers: Pointers
    types: _Types
    positive: Set[str]
    name: Callable[[str], str]

    # --- the loops of a kernel, outermost first

    def kernel(self, body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]:
        result: list[KernelStmt] = []
        for statement in body:
            match statement:
                case UniformFor():
                    result += self._uniform(statement)
                case UniformIf() | ThreadIf():
                    then, otherwise = self.kernel(statement.then), self.kernel(statement.otherwise)
                    result.append(replace(statement, then=then, otherwise=otherwise))
                case Plain():
                    result.append(Plain(self.plain(statement.body)))
                case Barrier() | Comment() | SharedTile() | OfTiles():
                    result.append(statement)
                case _:
                    assert_never(statement)
        return tuple(result)

    def _uniform(self, loop: UniformFor) -> list[KernelStmt]:
        held = self._held(loop)
        if not held:
            return [replace(loop, body=self.kernel(loop.body))]
        walk = _Walk(self.types, _assigned(loop), _replacing(held))
        (replaced,) = walk.kernel((loop,), (), {})
        assert isinstance(replaced, UniformFor)
        inside = replace(replaced, body=self.kernel(replaced.body))
        around: list[KernelStmt] = [Plain(self._loads(held)), inside, Plain(_stores(held))]
        runs = _runs(loop.header)
        return around if self._always(runs) else [UniformIf(runs, tuple(around))]

    def plain(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case For():
                    result += self._loop(statement)
                case If():
                    then, otherwise = self.plain(statement.then), self.plain(statement.otherwise)
                    result.append(replace(statement, then=then, otherwise=otherwise))
                case While() | DoWhile() | Block() | MetaFor():
                    result.append(replace(statement, body=self.plain(statement.body)))
                case Declare() | Assign() | Break() | Continue():
                    result.append(statement)
                case _:
                    assert_never(statement)
        return tuple(result)

    def _loop(self, loop: For) -> list[Stmt]:
        held = self._held(loop)
        if not held:
            return [replace(loop, body=self.plain(loop.body))]
        (replaced,) = _Walk(self.types, _assigned(loop), _replacing(held)).plain((loop,), (), {})
        assert isinstance(replaced, For)
        inside = replace(replaced, body=self.plain(replaced.body))
        around: list[Stmt] = [*self._loads(held), inside, *_stores(held)]
        return around if self._always(_runs(loop)) else [If(_runs(loop), tuple(around))]

    # --- what a loop holds

    def _held(self, loop: For | UniformFor) -> tuple[_Held, ...]:
        header = loop if isinstance(loop, For) else loop.header
        if header.type is None or not header.type.is_integer:
            return ()
        found = _Found()
        walk = _Walk(self.types, _assigned(loop), _recording(found), found)
        if isinstance(loop, For):
            walk.plain((loop,), (), {})
        else:
            walk.kernel((loop,), (), {})
        if found.leaves or not self._is_fixed(_runs(header), found):
            return ()
        candidates = self.pointers.arrays
        if isinstance(loop, For):
            candidates = {**candidates, **self.pointers.tiles}
        return tuple(
            held
            for array in candidates
            if array not in found.atomic
            for held in self._held_of(array, found, _runs(header), together=isinstance(loop, UniformFor))
        )

    def _held_of(self, array: str, found: _Found, runs: Expr, *, together: bool) -> list[_Held]:
        mine = [r for r in found.references if r.index.array == array]
        if together and len({(r.index, r.band) for r in mine}) > 1:
            return []
        written = {r.index.array for r in found.references if r.is_write}
        held: list[_Held] = []
        for element in dict.fromkeys(r.index for r in mine if r.is_write):
            names = frozenset[str]().union(*map(names_read, element.subscripts))
            if names & (found.varying | written):
                continue
            if any(r.index != element and not _is_elsewhere(r.index, element) for r in mine):
                continue
            guard = self._guard([r for r in mine if r.index == element], found, runs)
            if guard is not None:
                held.append(_Held(self.name(f"private_{array}"), element, guard))
        return held

    def _is_fixed(self, condition: Expr, found: _Found) -> bool:
        """Whether a condition has the same value before the loop and in all its steps."""
        reads_data = any(isinstance(e, Index) for e in subexpressions(condition))
        return not reads_data and not names_read(condition) & found.varying

    def _guard(self, references: Sequence[_Reference], found: _Found, runs: Expr) -> tuple[Expr, ...] | None:
        """What has to hold for one of the references to happen in every step of the loop; None if that is not known."""
        for reference in references:
            if reference.conditions is not None:
                left = [c for c in reference.conditions if c != runs and not self._always(c)]
                if all(self._is_fixed(c, found) for c in left):
                    return tuple(dict.fromkeys(left))
        return None

    def _always(self, condition: Expr) -> bool:
        match condition:
            case Binary(operator="<", left=IntLiteral(value=0), right=Name(identifier=name)):
                return name in self.positive
            case Binary(operator="<", left=IntLiteral(value=small), right=IntLiteral(value=large)):
                return small < large
            case _:
                return False

    def _loads(self, held: Sequence[_Held]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for h in held:
            type = {**self.pointers.arrays, **self.pointers.tiles}[h.element.array]
            if h.guard:
                load = Assign(Name(h.private), "=", h.element)
                result += [Declare(type, h.private, initial=IntLiteral(0)), If(conjunction(h.guard), (load,))]
            else:
                result.append(Declare(type, h.private, initial=h.element))
        return tuple(result)


def _stores(held: Sequence[_Held]) -> tuple[Stmt, ...]:
    result: list[Stmt] = []
    for h in held:
        store = Assign(h.element, "=", Name(h.private))
        result.append(If(conjunction(h.guard), (store,)) if h.guard else store)
    return tuple(result)


def _runs(loop: For) -> Expr:
    """Whether the loop does any step."""
    start = loop.start
    if not isinstance(start, IntLiteral) and loop.type is not None:
        start = Cast(loop.type, start)
    return Binary(loop.relation, start, loop.bound)


def _is_elsewhere(one: Index, other: Index) -> bool:
    """Whether two references to an array are a constant distance apart."""
    ring = Ring()
    distances = (ring.read(a) - ring.read(b) for a, b in zip(one.subscripts, other.subscripts, strict=True))
    return any(d.is_constant and d for d in distances)


def _assigned(loop: For | UniformFor) -> frozenset[str]:
    """Scalars that statements of a loop assign."""
    if isinstance(loop, For):
        return assigned_names((loop,))
    return frozenset[str]().union(*map(_assigned_in, loop.body))


def _assigned_in(statement: KernelStmt) -> frozenset[str]:
    match statement:
        case Plain(body=body):
            return assigned_names(body)
        case UniformFor():
            return _assigned(statement)
        case UniformIf(then=then, otherwise=otherwise) | ThreadIf(then=then, otherwise=otherwise):
            return frozenset[str]().union(*map(_assigned_in, (*then, *otherwise)))
        case Barrier() | Comment() | SharedTile() | OfTiles():
            return frozenset()
        case _:
            assert_never(statement)


# --- references of a loop, in order


_OnReference = Callable[[Index, Index, bool, bool, _Conditions], Expr]
"""Called with a reference as it is, with scalars of the loop put in, whether it is written and whether that is atomic,
and what has to hold for it to happen; returns what takes its place."""


def _recording(found: _Found) -> _OnReference:
    def record(index: Index, full: Index, is_write: bool, atomic: bool, conditions: _Conditions) -> Expr:
        found.references.append(_Reference(full, is_write, conditions, found.bands))
        if atomic:
            found.atomic.add(index.array)
        return index

    return record


def _replacing(held: Sequence[_Held]) -> _OnReference:
    private = {h.element: Name(h.private) for h in held}

    def replaced(index: Index, full: Index, is_write: bool, atomic: bool, conditions: _Conditions) -> Expr:
        return private.get(full, index)

    return replaced


@dataclass(frozen=True, slots=True)
class _Walk:
    types: _Types
    assigned: frozenset[str]
    on_reference: _OnReference
    found: _Found = field(default_factory=_Found)

    def kernel(
        self, body: Sequence[KernelStmt], conditions: _Conditions, values: Mapping[str, Expr]
    ) -> tuple[KernelStmt, ...]:
        values = dict(values)
        result: list[KernelStmt] = []
        for statement in body:
            match statement:
                case Plain():
                    self.found.bands += 1
                    result.append(Plain(self._scope(statement.body, conditions, values)))
                case UniformFor(header=header):
                    head, inside = self._header(header, conditions, values)
                    result.append(UniformFor(head, self.kernel(statement.body, inside, values)))
                case UniformIf() | ThreadIf():
                    test, then, otherwise = self._test(statement.condition, conditions, values)
                    both = (
                        self.kernel(statement.then, then, values),
                        self.kernel(statement.otherwise, otherwise, values),
                    )
                    result.append(replace(statement, condition=test, then=both[0], otherwise=both[1]))
                case Barrier() | Comment() | SharedTile() | OfTiles():
                    result.append(statement)
                case _:
                    assert_never(statement)
        return tuple(result)

    def plain(
        self, body: Sequence[Stmt], conditions: _Conditions, values: Mapping[str, Expr]
    ) -> tuple[Stmt, ...]:
        return self._scope(body, conditions, dict(values))

    def _scope(
        self, body: Sequence[Stmt], conditions: _Conditions, values: dict[str, Expr]
    ) -> tuple[Stmt, ...]:
        """Statements one after the other; ``values`` are those of scalars, which they add to."""
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case Declare(initial=initial):
                    if initial is not None:
                        initial = self._expr(initial, conditions, values)
                    self._declare(statement, values)
                    result.append(replace(statement, initial=initial))
                case Assign(target=target):
                    value = self._expr(statement.value, conditions, values)
                    if isinstance(target, Index):
                        inner = tuple(self._expr(s, conditions, values) for s in target.subscripts)
                        target = replace(target, subscripts=inner)
                        found = self._reference(target, True, statement.atomic, conditions, values)
                        assert isinstance(found, Name | Index)
                        target = found
                    else:
                        self.found.varying.add(target.identifier)
                    result.append(replace(statement, target=target, value=value))
                case For():
                    head, inside = self._header(statement, conditions, values)
                    result.append(replace(head, body=self.plain(statement.body, inside, values)))
                case If():
                    test, then, otherwise = self._test(statement.condition, conditions, values)
                    first = self.plain(statement.then, then, values)
                    second = self.plain(statement.otherwise, otherwise, values)
                    result.append(replace(statement, condition=test, then=first, otherwise=second))
                case While() | DoWhile():
                    test = self._expr(statement.condition, None, values)
                    result.append(
                        replace(statement, condition=test, body=self.plain(statement.body, None, values))
                    )
                case Block():
                    result.append(replace(statement, body=self.plain(statement.body, conditions, values)))
                case Break() | Continue():
                    self.found.leaves = True
                    result.append(statement)
                case MetaFor():
                    raise ValueError("a meta_for in a kernel")
                case _:
                    assert_never(statement)
        return tuple(result)

    def _declare(self, statement: Declare, values: dict[str, Expr]) -> None:
        """An index scalar stands for its value; any other one is not known before the loop."""
        values.pop(statement.name, None)
        initial = statement.initial
        if (
            initial is not None
            and statement.type in (ScalarType.INT, ScalarType.LONG)
            and promote(type_of(initial, self.types)) is statement.type
            and not (names_read(initial) | {statement.name}) & self.assigned
            and not any(isinstance(e, Index) for e in subexpressions(initial))
        ):
            values[statement.name] = substitute(initial, values)
        else:
            self.found.varying.add(statement.name)

    def _header(self, loop: For, conditions: _Conditions, values: dict[str, Expr]) -> tuple[For, _Conditions]:
        start, bound, step = (self._expr(e, conditions, values) for e in (loop.start, loop.bound, loop.step))
        self.found.varying.add(loop.iterator)
        values.pop(loop.iterator, None)
        inside = None
        if conditions is not None and loop.type is not None:
            inside = (*conditions, substitute(_runs(loop), values))
        return replace(loop, start=start, bound=bound, step=step), inside

    def _test(
        self, condition: Expr, conditions: _Conditions, values: Mapping[str, Expr]
    ) -> tuple[Expr, _Conditions, _Conditions]:
        test = self._expr(condition, conditions, values)
        if conditions is None:
            return test, None, None
        full = substitute(condition, values)
        return test, (*conditions, full), (*conditions, Unary("!", full))

    def _expr(self, expr: Expr, conditions: _Conditions, values: Mapping[str, Expr]) -> Expr:
        if any(conditional_parts(expr)):
            conditions = None

        def one(e: Expr) -> Expr:
            if not isinstance(e, Index):
                return e
            return self._reference(e, False, False, conditions, values)

        return map_expr(expr, one)

    def _reference(
        self, index: Index, is_write: bool, atomic: bool, conditions: _Conditions, values: Mapping[str, Expr]
    ) -> Expr:
        full = replace(index, subscripts=tuple(substitute(s, values) for s in index.subscripts))
        return self.on_reference(index, full, is_write, atomic, conditions)
