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
from typing import overload

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Comment, KernelStmt
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.lowering.loop_references import Found, Reference, Types, references_of, runs, with_names
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
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import reads_data
from comprehensive.records import replace


class Pointers(Struct, frozen=True):
    """The memory of which a kernel may hold elements: global arrays and shared tiles, with their types."""

    arrays: Mapping[str, ScalarType]
    tiles: Mapping[str, ScalarType]


def with_held_elements(
    body: Sequence[KernelStmt],
    pointers: Pointers,
    types: Types,
    positive: Set[str],
    name: Callable[[str], str],
) -> tuple[KernelStmt, ...]:
    """The body of a kernel with elements in registers.

    ``types`` are those of all names, ``positive`` names that are at least 1; ``name`` gives free names.
    """
    return _Holder(pointers, types, positive, name).body(body)


class _Held(Struct, frozen=True):
    """An element that registers hold.

    ``private`` holds ``element`` of an array; ``guard`` is what has to hold beside that the loop runs.
    """

    private: str
    element: Index
    guard: tuple[Expr, ...]


class _Holder(Struct, frozen=True):
    pointers: Pointers
    types: Types
    positive: Set[str]
    name: Callable[[str], str]

    # --- the loops of a kernel, outermost first

    @overload
    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]: ...
    @overload
    def body(self, body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]: ...
    def body(self, body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]:
        result: list[KernelStmt] = []
        for statement in body:
            if isinstance(statement, For):
                result += self._loop(statement)
            else:
                result.append(with_bodies(statement, self.body))
        return tuple(result)

    def _loop(self, loop: For[KernelStmt]) -> list[KernelStmt]:
        held = self._held(loop)
        if not held:
            return [replace(loop, body=self.body(loop.body))]
        replaced = with_names(loop, self.types, {h.element: h.private for h in held})
        inside = replace(replaced, body=self.body(replaced.body))
        names = ", ".join(dict.fromkeys(h.element.array for h in held))
        said = Comment(f"accumulate({names}): in registers while the loop runs")
        around: list[KernelStmt] = [said, *self._loads(held), inside, *_stores(held)]
        condition = runs(loop)
        return around if self._always(condition) else [If(condition, tuple(around), uniform=loop.uniform)]

    # --- what a loop holds

    def _held(self, loop: For[KernelStmt]) -> tuple[_Held, ...]:
        if loop.type is None or not loop.type.is_integer:
            return ()
        found = references_of(loop, self.types)
        if found.leaves or not self._is_fixed(runs(loop), found):
            return ()
        candidates = self.pointers.arrays
        if not loop.uniform:
            candidates = {**candidates, **self.pointers.tiles}
        return tuple(
            held
            for array in candidates
            if array not in found.atomic
            for held in self._held_of(array, found, loop)
        )

    def _held_of(self, array: str, found: Found, loop: For[KernelStmt]) -> list[_Held]:
        mine = [r for r in found.references if r.index.array == array]
        if loop.uniform and len({(r.index, r.band) for r in mine}) > 1:
            return []
        written = {r.index.array for r in found.references if r.is_write}
        held: list[_Held] = []
        for element in dict.fromkeys(r.index for r in mine if r.is_write):
            names = frozenset[str]().union(*map(names_read, element.subscripts))
            if names & (found.varying | written):
                continue
            if any(r.index != element and not _is_elsewhere(r.index, element) for r in mine):
                continue
            guard = self._guard([r for r in mine if r.index == element], found, loop)
            if guard is not None:
                held.append(_Held(self.name(f"private_{array}"), element, guard))
        return held

    def _is_fixed(self, condition: Expr, found: Found) -> bool:
        """Whether a condition has the same value before the loop and in all its steps."""
        return not reads_data(condition) and not names_read(condition) & found.varying

    def _guard(
        self, references: Sequence[Reference], found: Found, loop: For[KernelStmt]
    ) -> tuple[Expr, ...] | None:
        """Return what must hold so that one reference happens in every step, and without which none happens.

        None if that is not known.
        """
        for reference in references:
            if not reference.reached.surely:
                continue
            conditions = reference.reached.conditions
            left = tuple(dict.fromkeys(c for c in conditions if c != runs(loop) and not self._always(c)))
            is_fixed = all(self._is_fixed(c, found) for c in left)
            if is_fixed and all(set(left) <= set(r.reached.conditions) for r in references):
                return left
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


def _is_elsewhere(one: Index, other: Index) -> bool:
    """Return whether two references to an array surely are to different elements.

    Their subscripts are then a constant distance apart.
    """
    ring = Ring()
    distances = (ring.read(a) - ring.read(b) for a, b in zip(one.subscripts, other.subscripts, strict=True))
    return any(d.is_constant and d for d in distances)
