"""The kernel IR: one CUDA kernel, complete except for its spelling.

In: what :func:`comprehensive.lowering.lower.lower` builds from a variant of a nest.  Out: read by the CUDA printer,
the register counter and the dispatcher.  A body has the statements of one thread, whose references are flat
(``Index(pointer, (offset,))``), beside those that only kernels have; all of them may stand in ``For`` and ``If``::

    For k, uniform                    for (int k = 0; k < n / B0; k++) {
      For (copies)                      for (...) shared_a[...] = a[...];
      Barrier                           __syncthreads();
      Assign ...                        ...
      Barrier                           __syncthreads();

Barriers stand under loops and conditions that are ``uniform``, and under no other: all threads of a block come to them
(:func:`comprehensive.kernel_ir.verify.verify`).
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.staircase import Staircase
from comprehensive.metafork.ast import Expr, For, If, Index, IntLiteral, Name, ScalarType, Stmt, Unary
from comprehensive.metafork.own_statement import OwnCall, OwnStatement
from comprehensive.metafork.walk import statements_in

WIDTH = "cf_width"
"""The constant of kernels that access vectors: how many elements are accessed together in global memory, 4, 2 or 1."""
CONTRACTS = "cf_contracts"
"""A function of kernels with tensor cores: whether ``a * b + c`` is one multiply-add in them, as those compute it."""
MULTIPLIES_HALVES = "cf_multiplies_halves"
MULTIPLIES_BYTES = "cf_multiplies_bytes"
"""A function of kernels: whether the device has the tensor cores for elements of 16 bits that they are written for."""
OPAQUE = "cf_opaque"
"""A function of kernels that returns its argument, which the compiler then takes for something new."""
BLOCK_FIRST, BLOCK_STEPS = "cf_block_first", "cf_block_steps"
"""Functions of kernels over tiles: of a loop of so many steps (first argument) the first step that a block does, and
how many it does, where its points ask for as many as the second argument says."""
EXPECTED = "__builtin_expect"
"""A function that returns its first argument, a condition; the second one says whether it usually holds."""
VECTOR = 4
"""Elements of a vector: neighbouring points of a thread, whose operands and results are together in memory."""


class Source(Enum):
    """The sources from which the host takes the value of a kernel parameter."""

    ARRAY = "array"
    """The device pointer of the array ``of``."""
    SCALAR = "scalar"
    """The scalar ``of`` of the nest."""
    EXTENT = "extent"
    """The extent of the grid loop with iterator ``of`` (host: ``Kernel.grid``)."""
    STRIDE = "stride"
    """Elements between neighbours along dimension ``dimension`` of the array ``of`` (row strides, never the last)."""
    LIMIT = "limit"
    """The limit ``of`` (host: ``Kernel.limits``)."""
    SWEEPS = "sweeps"
    """The number of sweeps that the launch does."""
    STAIRCASE = "staircase"
    """The number ``of`` of the launch of a grid with a slanted edge (host: ``Kernel.staircase``)."""


class KernelParameter(Struct, frozen=True):
    """A parameter, called ``name`` in the kernel.

    Pointers have ``pointer=True`` and point to ``const`` data where never written.
    """

    name: str
    type: ScalarType
    source: Source
    of: str
    dimension: int = 0
    pointer: bool = False
    const: bool = False


class Barrier(OwnCall, Struct, frozen=True):
    """All threads of the block meet (``__syncthreads``)."""


class Comment(OwnStatement, Struct, frozen=True):
    text: str


class SharedTile(OwnStatement, Struct, frozen=True):
    """A tile: ``type *name`` points to dynamic shared memory, ``offset_words`` after its start."""

    name: str
    type: ScalarType
    offset_words: Expr
    """The offset in 4-byte words, an expression over scalars of the nest; it may differ between threads."""
    of: str = ""
    """The array of the program whose elements it holds; empty for what the kernel has for itself."""

    @property
    def declared(self) -> dict[str, ScalarType]:
        return {self.name: self.type}


class OfTiles(OwnStatement):
    """A statement that only kernels over tiles have."""

    __slots__ = ()


class Feed(OfTiles, Struct, frozen=True):
    """A feed: ``name`` copies an array into shared memory, ``rows`` x ``columns`` elements at a time.

    ``source`` is the first element of the first piece; each piece begins ``down`` rows and ``right`` columns after
    the one before.  Of the first one only ``valid_rows`` and ``valid_columns`` are there, of the others so many
    fewer.  ``stride`` is elements from one row to the next in global memory, ``pitch`` in shared memory; where
    ``swizzled``, element ``z`` of row ``r`` lies in the place of ``z ^ r % 8 * v`` with ``v`` elements of 16 bytes.
    Where ``turned``, columns become rows in shared memory, ``pitch`` elements long, and pieces follow each other in
    their rows.  What is constant is over ``Kernel.constants``.  With ``row_numbers``, the number of the first row of
    the first piece is there, that of the next one behind it, and ``source`` is in row 0 of the array.  Where it goes
    ``leftwards``, each piece begins ``right`` columns before the one before, and what is there of it are its last
    columns.
    """

    name: str
    type: ScalarType
    source: Index
    rows: Expr
    columns: Expr
    pitch: Expr
    swizzled: bool
    down: Expr
    right: Expr
    stride: Expr
    valid_rows: Expr
    valid_columns: Expr
    thread: Expr
    threads: Expr
    """The threads of the block, each with its number ``thread``."""
    turned: bool
    vectors: Expr
    """Whether pieces that are turned are read 16 bytes at a time, and are prefetched and stored, not staged; of others
    :data:`WIDTH`, 4 for copies of 16 bytes."""
    row_numbers: Index | None = None
    row_number_type: ScalarType = ScalarType.INT
    leftwards: bool = False

    @property
    def constants(self) -> tuple[Expr, ...]:
        """The sizes of the feed that are known when the kernel is compiled."""
        if self.turned:
            return (self.vectors, self.rows, self.columns, self.pitch, self.threads)
        right = Unary("-", self.right) if self.leftwards else self.right
        layout = (IntLiteral(int(self.swizzled)), self.down, right)
        padded = () if self.pitch == self.columns and self.row_numbers is None else (self.pitch,)
        return (self.vectors, self.rows, self.columns, *layout, self.threads, *padded)

    @property
    def numbers(self) -> tuple[Expr, ...]:
        """The numbers of the feed that are known when the kernel runs."""
        return (self.stride, self.valid_rows, self.valid_columns, self.thread)


class Stage(OfTiles, OwnCall, Struct, frozen=True):
    """All threads of the block begin to copy the next piece of a feed to shared memory, at ``shared``."""

    feed: str
    shared: Expr


class StageRow(OfTiles, OwnCall, Struct, frozen=True):
    """The lanes of a row begin to copy ``count`` elements of it to shared memory; ``vectors``: 16 bytes at a time."""

    shared: Expr
    type: ScalarType
    source: Index
    """The first element."""
    count: Expr
    lane: Expr
    lanes: Expr
    """The threads of the row, each with its number ``lane``; a constant."""
    vectors: Expr


class Prefetch(OfTiles, OwnCall, Struct, frozen=True):
    """All threads of the block read the next piece of a feed that is turned into registers, ahead of its use."""

    feed: str


class StorePrefetched(OfTiles, OwnCall, Struct, frozen=True):
    """A store of what has been prefetched into shared memory, at ``shared``."""

    feed: str
    shared: Expr


class Box(OfTiles, Struct, frozen=True):
    """A feed of boxes: ``name`` copies boxes of an array into shared memory, of up to four axes.

    ``extents`` are elements along each axis of a box, ``pitches`` how far apart neighbours along it are in shared
    memory, ``strides`` in global memory, where they are neighbours along the last axis.  Extents and pitches are over
    ``Kernel.constants``.  So many elements are copied ``together``, where shared memory has them side by side, too.
    """

    name: str
    type: ScalarType
    extents: tuple[Expr, ...]
    pitches: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    together: Expr
    thread: Expr
    threads: Expr
    """The threads of the block, each with its number ``thread``."""

    @property
    def constants(self) -> tuple[Expr, ...]:
        """The sizes that are known when the kernel is compiled."""
        return (self.together, self.threads, *self.extents, *self.pitches)


class StageBox(OfTiles, OwnCall, Struct, frozen=True):
    """All threads of the block begin to copy a box to shared memory, at ``shared``; of each axis what is ``valid``."""

    feed: str
    shared: Expr
    source: Index
    """The first element; with ``places`` the one at these, counted from 0 along each axis."""
    valid: tuple[Expr, ...]
    places: tuple[str, ...] = ()


class Vectors(OfTiles, OwnCall, Struct, frozen=True):
    """Each thread reads ``count`` elements into registers, in vectors of four that are ``apart`` from each other."""

    registers: Index
    """The first element of the array that they come into."""
    source: Index
    """The first element."""
    count: Expr
    apart: Expr
    together: Expr
    """The number of elements of one access."""


class VectorStore(OfTiles, OwnCall, Struct, frozen=True):
    """Each thread writes four elements from registers, at ``target`` and after it."""

    target: Index
    registers: Index
    """The first one."""


class LoadMatrices(OfTiles, OwnCall, Struct, frozen=True):
    """The threads of each warp load four matrices of 8 x 8 elements of 16 bits from shared memory into registers.

    Thread ``l`` of a warp says with ``source`` where row ``l % 8`` of matrix ``l / 8`` begins.  ``registers`` are
    four numbers of 32 bits, and number ``m`` of thread (g, q) has the elements ``2*q`` and ``2*q + 1`` of row ``g``
    of matrix ``m``; where ``turned``, those of column ``g`` (PTX ISA, ``ldmatrix.sync.m8n8.x4``).  Of elements of a
    byte each of 16 bits is two that are neighbours in a row, so that a matrix has 16 columns and is not turned.
    """

    registers: Index
    source: Index
    """The first element of a row."""
    turned: bool


class MultiplyAdd(OfTiles, OwnCall, Struct, frozen=True):
    """The threads of each warp add products of elements of a type to all their sums, some steps on tensor cores.

    A warp has 8 x 4 threads, and thread (g, q) ``rows`` x ``columns`` sums: of row ``8*i + g`` and of column
    ``8*(j/2) + 2*q + j%2``.  Of doubles these are eight steps: ``left[i][e]`` is of row ``8*i + g`` and
    ``right[j][e]`` of column ``8*j + g``, both of step ``4*e + q`` (PTX ISA, fragments of ``mma.m16n8k8`` with
    ``.f64``).  Of elements of 16 bits they are sixteen: ``left[i]`` and ``right[j]`` are as :class:`LoadMatrices`
    leaves them, of 16 rows or columns each.  Matrix ``m`` of the left operand has the rows from ``8*(m%2)`` and the
    steps from ``8*(m/2)`` on, that of the right one the columns from ``8*(m/2)`` and the steps from ``8*(m%2)`` on.
    Of bytes all numbers of steps are twice as many.
    """

    type: ScalarType
    sums: Name
    left: Index
    right: Index
    rows: Expr
    columns: Expr


class Commit(OfTiles, OwnCall, Struct, frozen=True):
    """The end of a step of the pipeline, to which everything belongs that has begun since the last one."""


class Await(OfTiles, OwnCall, Struct, frozen=True):
    """The thread's own copies are there, but for those of the last ``pending`` steps."""

    pending: Expr


OfKernel: TypeAlias = (
    Barrier
    | Comment
    | SharedTile
    | Feed
    | Stage
    | StageRow
    | Prefetch
    | StorePrefetched
    | Box
    | StageBox
    | Vectors
    | VectorStore
    | LoadMatrices
    | MultiplyAdd
    | Commit
    | Await
)
"""The statements that only kernels have."""

KernelStmt: TypeAlias = "Stmt | For[KernelStmt] | If[KernelStmt] | OfKernel"


class Alignment(Struct, frozen=True):
    """Demands of accesses of four elements or 16 bytes on an array: on its data and rows, and these numbers."""

    array: str
    multiples: tuple[Expr, ...]
    """Expressions over scalars of the nest: what is added to multiples of a vector where rows or vectors
    begin."""


class Kernel(Struct, frozen=True, cache_hash=True):
    """A parametric CUDA kernel.

    ``grid`` and ``block`` are the extents of the grid and thread loops, outermost first (the innermost is x), as C
    expressions over scalars of the nest; the host evaluates them.  A grid loop along y or z strides by ``gridDim``
    so that any extent is right; along x the extent is the number of blocks.
    ``shared_words`` is the dynamic shared memory of a block in 4-byte words, over scalars of the nest.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    grid: tuple[tuple[str, Expr], ...]
    """(iterator, extent), outermost first."""
    block: tuple[Expr, ...]
    shared_words: Polynomial
    order: tuple[str, ...]
    """The scalars of the nest in reading order."""
    body: tuple[KernelStmt, ...]
    register_cap: int | None = None
    demoted: bool = False
    """Whether values lie in shared memory in place of registers, where it is compiled with passes over its PTX."""
    slots: int = 0
    """The words of each thread that lie there then; a block counts as whole warps."""
    constants: tuple[str, ...] = ()
    """Names of integers that are constants of each instance: a kernel that has some is a template."""
    blocks: str | None = None
    """The constant that says how many blocks a multiprocessor shall have room for, which bounds registers."""
    constraints: tuple[Expr, ...] = ()
    """Conditions that the constants must meet."""
    alignments: tuple[Alignment, ...] = ()
    """The alignments of its vectors; for launches that do not meet them elements are accessed one by one."""
    together: tuple[int, ...] = ()
    """The values of ``WIDTH`` that a kernel with alignments is compiled for, those that ask for most first."""
    limits: tuple[tuple[str, Expr], ...] = ()
    """Bounds over scalars of the nest, by the names of the parameters that hold them."""
    extents: tuple[Expr, ...] = ()
    """Numbers over scalars of the nest, each at least 1 where there is something to do; others are not launched."""
    origins: tuple[str, ...] = ()
    """The variables of a kernel over tiles that hold the first value of its tile along each coordinate."""
    step: Expr = IntLiteral(1)
    """The turns that a kernel over tiles does at a time of the serial loop of its points, over the constants."""
    beside: bool = False
    """Whether the loops that limits bound stand beside each other, not in each other."""
    in_rows: bool = False
    """Whether a step may have as many turns of the loop around that one, too: where each of them has one step."""
    shares_outermost: bool = False
    """Whether threads share the turns of the outermost of loops in each other, and do all turns inside of theirs."""
    staircase: Staircase | None = None
    """The launch of a grid of which blocks outside of a slanted edge are left out; ``grid`` has these, too."""

    @property
    def does_sweeps(self) -> bool:
        """Whether a launch says how many sweeps it does."""
        return any(p.source is Source.SWEEPS for p in self.parameters)

    @property
    def shared_words_text(self) -> str:
        return self.shared_words.format(self.order)

    @property
    def has_feeds(self) -> bool:
        return any(isinstance(statement, Feed | Box) for statement in self.body)

    def accessed(self, together: int) -> int:
        """The vector width, of those that it is compiled for, where data allows ``together``; 0 without any."""
        return next((count for count in self.together if count <= together), 0)

    @property
    def tensor_core_bytes(self) -> int:
        """The bytes of the elements that threads multiply on tensor cores; 0 where they do not."""
        found = (s.type.size_bytes for s in statements_in(self.body) if isinstance(s, MultiplyAdd))
        return next(found, 0)

    @property
    def has_copies(self) -> bool:
        """Whether it copies to shared memory past registers."""
        return any(isinstance(statement, Feed | Box | StageRow) for statement in self.body)

    @property
    def uses_shared_memory(self) -> bool:
        """Whether the kernel has tiles, also where a loop without steps leaves one without elements."""
        tiles = any(isinstance(statement, SharedTile) for statement in self.body)
        return tiles or self.shared_words != Polynomial.constant(0)
