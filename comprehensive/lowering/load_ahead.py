"""Load ahead: a thread that walks along a loop in order loads what several turns read before the first of them.

In: the body of a kernel, and the loops of the nest that are walks.  Out: the same with loads ahead::

    for (r < n) { before = x[r*w + c] + a * before;  x[r*w + c] = before; }
        -->  for (first < n / 8 * 8; first += 8) {
                 for z in 0..7:  ahead_x[z] = x[(first + z)*w + c]
                 for z in 0..7:  before = ahead_x[z] + a * before;  x[(first + z)*w + c] = before
             }
             for (r = n / 8 * 8; r < n; r++) ...

A turn waits some 600 cycles for a load from memory, and the compiler does not move a load above a store to the same
array: it cannot know that they are apart.  What a loop does not store it begins to load early by itself.  Arithmetic
keeps its order.
Legal where no two turns of the loop refer to one element that one of them stores (`poly.legality`), for what a turn
reads in any case and before it stores to the array, at places that are known before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import overload

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.kernel_ir.kernel import Comment, KernelStmt
from comprehensive.kernel_ir.terms import counting, product
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Array, Nest
from comprehensive.loops.traverse import declared_names, map_bands, names_read_in, rename
from comprehensive.lowering.loop_references import Types, references_of, runs, with_reads
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Declare,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import replace_statements, with_bodies
from comprehensive.metafork.terms import value_left
from comprehensive.metafork.walk import (
    arrays_assigned,
    assigned_scalars,
    elements_in,
    reads_data,
    statements_in,
)
from comprehensive.poly.legality import serial_is_parallel
from comprehensive.poly.model import Parallel
from comprehensive.records import replace

MOST_TURNS = (8, 4)
"""The turns whose loads begin together: as many as registers have room for."""
MOST_WORDS = 32
"""The words of registers that loads ahead may take."""

Walk = tuple[str, Span]
"""A loop: its iterator, and where it stands in the source.  Copies of a loop are one."""


def walks_of(nest: Nest, name: Namer) -> frozenset[Walk]:
    """Return the innermost loops of threads that hand scalars on and whose turns meet in no element they store."""
    found: dict[Walk, bool] = {}
    for number, band in enumerate(nest.bands):
        for statement in statements_in(band.body):
            if isinstance(statement, For) and _may_walk(statement):
                key = (statement.iterator, statement.span)
                found[key] = found.get(key, True) and _turns_are_apart(nest, number, key, name)
    return frozenset(key for key, apart in found.items() if apart)


def _turns_are_apart(nest: Nest, band: int, walk: Walk, name: Namer) -> bool:
    """Whether turns of a loop never meet.

    What threads do before and after the loop is left out, unless it decides about what the loop does; the question is
    about a name, so that the loop gets one of its own.
    """
    own = name(walk[0])
    threads = nest.bands[band]
    around = tuple(s for s in threads.body if isinstance(s, Declare) or _holds(s, walk))
    read = names_read_in(around)

    def alone(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for s in body:
            if isinstance(s, For) and (s.iterator, s.span) == walk:
                result += rename((s,), {s.iterator: own})
            elif isinstance(s, Declare) or _holds(s, walk) or assigned_scalars((s,)) & read:
                result.append(with_bodies(s, alone))
        return tuple(result)

    left = map_bands(nest, lambda number, body: alone(body) if number == band else ())
    return isinstance(serial_is_parallel(left, band, own), Parallel)


def _holds(statement: Stmt, walk: Walk) -> bool:
    return any(isinstance(s, For) and (s.iterator, s.span) == walk for s in statements_in((statement,)))


def _may_walk(loop: For) -> bool:
    """Whether a loop that counts up from 0 by one hands a scalar on, reads an array that it stores to, and has no loop
    in it."""
    changed = assigned_scalars(loop.body)
    return (
        loop.counts_up
        and not loop.uniform
        and bool(changed - declared_names(loop.body) - {loop.iterator})
        and loop.iterator not in changed
        and loop.type in (ScalarType.INT, ScalarType.LONG)
        and all(isinstance(s, Assign | Declare | If | Block | Comment) for s in statements_in(loop.body))
        and not arrays_assigned(loop.body).isdisjoint(e.array for e in elements_in(loop.body))
    )


class LoadAhead(Struct, frozen=True):
    """Rewrites walks; ``arrays`` are those in global memory, ``types`` the types of all names."""

    walks: Set[Walk]
    arrays: Mapping[str, Array]
    types: Types
    name: Callable[[str], str]

    @overload
    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]: ...
    @overload
    def body(self, body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]: ...
    def body(self, body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]:
        result: list[KernelStmt] = []
        for statement in body:
            if isinstance(statement, For) and (statement.iterator, statement.span) in self.walks:
                result += self._walk(statement)
            else:
                result.append(with_bodies(statement, self.body))
        return tuple(result)

    def _walk(self, loop: For[KernelStmt]) -> Sequence[KernelStmt]:
        loop = replace(loop, body=replace_statements(loop.body, _spelled_out))
        ahead = self._ahead(loop)
        words = sum(-(-self.arrays[e.array].type.size_bytes // WORD_BYTES) for e in ahead)
        together = next((turns for turns in MOST_TURNS if turns * words <= MOST_WORDS), 0)
        if not ahead or not together or loop.type is None:
            return (loop,)
        all_, z, first, whole = (
            IntLiteral(together),
            self.name("z"),
            self.name("first"),
            self.name(f"whole_{loop.iterator}"),
        )
        registers = {e: self.name(f"ahead_{e.array}") for e in ahead}
        here = Declare(
            loop.type, loop.iterator, initial=Binary("+", Name(first), Name(z)), span=loop.span, const=True
        )
        held = {e: Index(name, (Name(z),)) for e, name in registers.items()}
        loads = (Assign(held[e], "=", e, loop.span) for e in ahead)
        steps = with_reads(loop, self.types, held).body
        turns: tuple[KernelStmt, ...] = (
            *(Declare(self.arrays[e.array].type, name, (all_,)) for e, name in registers.items()),
            counting(z, all_, (here, *loads), unrolled=True),
            counting(z, all_, (here, *steps), unrolled=True),
        )
        said = Comment(f"load_ahead({', '.join(dict.fromkeys(e.array for e in ahead))}): {together} turns")
        return (
            said,
            Declare(loop.type, whole, initial=product([Binary("/", loop.bound, all_), all_]), const=True),
            replace(loop, iterator=first, bound=Name(whole), step=all_, body=turns),
            replace(loop, start=Name(whole)),
        )

    def _ahead(self, loop: For[KernelStmt]) -> tuple[Index, ...]:
        """Return the elements to load ahead; none where the compiler sees by itself that it may do so."""
        found = references_of(loop, self.types)
        if found.leaves or names_read(loop.bound) & found.varying or reads_data(loop.bound):
            return ()
        stored = {self._memory(r.index) for r in found.references if r.is_write}
        seen: set[str] = set()
        candidates: dict[Index, bool] = {}
        for r in found.references:
            if r.is_write:
                seen.add(self._memory(r.index))
                continue
            is_known = r.reached.surely and r.reached.conditions == (runs(loop),)
            candidates[r.index] = candidates.get(r.index, is_known) and self._memory(r.index) not in seen
        ahead = tuple(
            e for e, is_ahead in candidates.items() if is_ahead and self._is_placed(e, loop, found.varying)
        )
        ahead = tuple(e for e in ahead if e.array not in found.atomic)
        return ahead if any(self._memory(e) in stored for e in ahead) else ()

    def _memory(self, element: Index) -> str:
        """The pointer behind which an element of global memory lies, of which the nest may have several views."""
        array = self.arrays.get(element.array)
        return element.array if array is None else array.pointer

    def _is_placed(self, element: Index, loop: For[KernelStmt], varying: Set[str]) -> bool:
        """Whether the place of an element is another one in each turn, and known before the loop."""
        names = frozenset[str]().union(*map(names_read, element.subscripts))
        is_known = not names & (varying - {loop.iterator}) and not any(map(reads_data, element.subscripts))
        return element.array in self.arrays and loop.iterator in names and is_known


def _spelled_out(statement: KernelStmt) -> tuple[KernelStmt]:
    """A statement in which an element that is updated is read like others: ``x[k] += v  -->  x[k] = x[k] + v``."""
    if isinstance(statement, Assign) and isinstance(statement.target, Index) and not statement.atomic:
        return (replace(statement, operator="=", value=value_left(statement)),)
    return (statement,)
