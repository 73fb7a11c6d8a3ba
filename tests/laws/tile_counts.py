"""The work of a kernel over tiles in symbols, counted as `counters/work.py` counts that of any other kernel.

In: a kernel, and the nest that it is of.  Out: its :class:`~comprehensive.counters.work.Work`, with the accesses of
what only kernels over tiles have: pieces that all threads copy together, vectors, and matrices for tensor cores::

    a piece of T0*U0 x D elements, staged in each of `whole` turns    -->    read and written T0*U0*D*whole times

Counters do not count these, since all conditions hold for them: a block copies a piece in one turn of a loop
(``if (z == 0)``), in one of two ways (``if (held)``), and would seem to copy it in all turns and both ways.
"""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.counters.work import Access, Count, UncountableError, Work, _Scope, _Walk
from comprehensive.kernel_ir.kernel import (
    VECTOR,
    Await,
    Box,
    Commit,
    Feed,
    Kernel,
    LoadMatrices,
    MultiplyAdd,
    OfTiles,
    Prefetch,
    Stage,
    StageBox,
    StageRow,
    StorePrefetched,
    Vectors,
    VectorStore,
)
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Expr, Index, IntLiteral
from comprehensive.metafork.terms import product
from comprehensive.model.block import MATRIX_ROW


def work_of_tiles(kernel: Kernel, nest: Nest) -> tuple[Work, ...]:
    """The work of a block in each case that there is."""
    walk = _Tiles(kernel, frozenset(s.name for s in nest.scalars))
    return walk.cases(kernel.body, walk.begin(kernel))


class _Tiles(_Walk):
    def __init__(self, kernel: Kernel, scalars: frozenset[str]) -> None:
        super().__init__(kernel, scalars)
        self._declared_pieces: dict[str, Feed | Box] = {}

    def _of_tiles(self, statement: OfTiles, scope: _Scope) -> Work:
        match statement:
            case Feed() | Box():
                self._declared_pieces[statement.name] = statement
            case Stage():
                return self._read(statement.feed, None, scope) + self._written(statement, scope)
            case StageBox():
                return self._read(statement.feed, statement.source, scope) + self._written(statement, scope)
            case Prefetch():
                return self._read(statement.feed, None, scope)
            case StorePrefetched():
                return self._written(statement, scope)
            case StageRow():
                lanes, each = (self._quotient(e, scope) for e in (statement.lanes, statement.count))
                threads = self._count(scope)
                count = None if lanes is None or each is None or threads is None else threads / lanes * each
                return self._elements(statement.source, count, writes=False) + self._elements(
                    _in_tile(statement.shared, self._shared), count, writes=True
                )
            case Vectors():
                return self._each(statement.source, statement.count, scope, writes=False)
            case VectorStore():
                return self._each(statement.target, IntLiteral(VECTOR), scope, writes=True)
            case LoadMatrices():
                return self._each(statement.source, IntLiteral(MATRIX_ROW), scope, writes=False)
            case MultiplyAdd() | Commit() | Await():
                pass
            case _:
                raise UncountableError(f"{type(statement).__name__} of a kernel over tiles")
        return Work()

    def _read(self, piece: str, first: Index | None, scope: _Scope) -> Work:
        declared = self._declared_pieces[piece]
        source = declared.source if isinstance(declared, Feed) else first
        assert source is not None
        return self._elements(source, self._of_piece(declared, scope), writes=False)

    def _written(self, statement: Stage | StageBox | StorePrefetched, scope: _Scope) -> Work:
        count = self._of_piece(self._declared_pieces[statement.feed], scope)
        return self._elements(_in_tile(statement.shared, self._shared), count, writes=True)

    def _of_piece(self, declared: Feed | Box, scope: _Scope) -> Count:
        """The elements of the pieces that the threads of a block copy together."""
        extents = declared.extents if isinstance(declared, Box) else (declared.rows, declared.columns)
        each = self._quotient(product(extents), scope)
        return None if each is None or scope.steps is None else each * scope.steps

    def _each(self, first: Index, elements: Expr, scope: _Scope, *, writes: bool) -> Work:
        """Return the accesses of so many elements by each thread."""
        each, threads = self._quotient(elements, scope), self._count(scope)
        return self._elements(
            first, None if each is None or threads is None else each * threads, writes=writes
        )

    def _elements(self, first: Index, count: Count, *, writes: bool) -> Work:
        is_shared = first.array in self._shared
        type = self._shared[first.array] if is_shared else self._global[first.array]
        return Work((Access(first.array, type.size_bytes, is_shared, writes, Polynomial.constant(1), count),))


def _in_tile(shared: Expr, tiles: dict[str, object]) -> Index:
    (tile,) = names_read(shared) & tiles.keys()
    return Index(tile, (shared,))
