"""The loop-nest IR: the paper's source control-flow graph G_C of one ``meta_schedule`` region (section 3.3).

A :class:`Nest` is a grid of thread blocks over a body; inside the body one or several :class:`Threads` bands say
what each thread of a block does::

    grid i < dim0, j < dim1                      loops of the grid, outermost first, each from 0 in steps of 1
      for (k = 0; k < n/B0; k++)                 serial loops, conditions on uniform values, uniform scalars
        Threads v < B0, u < ub1 { ... }          a band; all bands of a nest have the same extents

All statements are those of the syntax tree: inside of a band they are of one thread, outside of it a whole block runs
them together.  ``meta_for`` never occurs in them.  The serial elision (every loop of the
grid and of a band run in order) is the meaning of a nest.  Between two bands, and between two iterations of a
serial loop around a band, the threads of a block meet at a barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from operator import is_
from typing import TypeAlias

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, Span
from comprehensive.metafork.ast import (
    Binary,
    Cut,
    Declare,
    Expr,
    For,
    HostLoop,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.own_statement import OnExpression, OnPlace, OwnStatement
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace


class Role(Enum):
    """The role of a scalar in a region (comprehensive, Definition 1, refined)."""

    DATA = "data"
    """Gives a dimension of an array: a data parameter."""
    PROGRAM = "program"
    """An integer that shapes tiles: it occurs in the extent of a thread loop or as a divisor of a grid extent,
    and gives no dimension of an array.  The tool and its users choose its value; it is at least 1."""
    SCALAR = "scalar"
    """Any other argument of the function (``float alpha``, a size of data behind a pointer)."""
    HOST = "host"
    """A scalar of the surrounding host code (``dim0``, the variable of a time loop)."""
    TILE = "tile"
    """A size of a register tile that the tool has added: a constant of each instance of the kernel, at least 1."""


AXES = ("x", "y", "z")  # along which a grid and a block have extents


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar that the region reads and never writes.

    ``value`` is the definition of a HOST scalar in terms of those before it, where it is known, ``pointer`` the data of
    which it says whether it is there.  A kernel may have a scalar in ``int`` that callers pass in a type ``passed``.
    """

    name: str
    type: ScalarType
    role: Role
    value: Expr | None = None
    span: Span = field(default=GENERATED, compare=False, repr=False)
    passed: ScalarType | None = None
    pointer: str | None = None

    @property
    def type_on_host(self) -> ScalarType:
        return self.passed or self.type


@dataclass(frozen=True, slots=True)
class Array:
    """Data of the region: ``dims`` are its extents in elements, or None behind a plain pointer.

    The first of ``dims`` may be None (``float a[][n]``).  ``const`` data is never written.  ``view_of`` is the array
    whose data this one shows, where it is no argument itself.  Without ``whole_rows`` the program promises no more
    elements of a row than it accesses.
    """

    name: str
    type: ScalarType
    dims: tuple[Expr | None, ...] | None
    const: bool = False
    span: Span = field(default=GENERATED, compare=False, repr=False)
    view_of: str | None = None
    whole_rows: bool = True
    values: tuple[Expr, ...] | None = None
    """The elements of a constant array of the file, in order; None for what callers pass."""

    @property
    def pointer(self) -> str:
        """The argument of the function through which the data is reached."""
        return self.view_of or self.name

    @property
    def rank(self) -> int:
        return 1 if self.dims is None else len(self.dims)


@dataclass(frozen=True, slots=True)
class Loop:
    """A parallel loop ``0 <= iterator < extent``; the extent reads scalars of the nest only.

    ``cut`` is the loop of the program that a block clause has cut into this one and another.
    """

    iterator: str
    extent: Expr
    span: Span = field(default=GENERATED, compare=False, repr=False)
    cut: Cut | None = field(default=None, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """The iterator of the loop that the program has in its place."""
        return self.iterator if self.cut is None else self.cut.iterator


@dataclass(frozen=True, slots=True)
class Threads(OwnStatement):
    """A band of thread loops, outermost first: the innermost is the one along ``threadIdx.x``."""

    loops: tuple[Loop, ...]
    body: tuple[Stmt, ...]
    span: Span = field(default=GENERATED, compare=False, repr=False)

    @property
    def own_expressions(self) -> tuple[Expr, ...]:
        return tuple(loop.extent for loop in self.loops)

    def with_own_expressions(self, change: OnExpression, place: OnPlace) -> Threads:
        extents = [change(loop.extent) for loop in self.loops]
        if all(map(is_, extents, self.own_expressions)):
            return self
        loops = tuple(replace(loop, extent=e) for loop, e in zip(self.loops, extents, strict=True))
        return replace(self, loops=loops)

    @property
    def declared(self) -> dict[str, ScalarType]:
        return {loop.iterator: ScalarType.INT for loop in self.loops}

    @property
    def thread_body(self) -> tuple[Stmt, ...]:
        return self.body

    def with_thread_body(self, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Threads:
        body = change(self.body)
        return self if body is self.body else replace(self, body=body)


BlockStmt: TypeAlias = Threads | For["BlockStmt"] | If["BlockStmt"] | Declare
"""A statement that a whole block runs: a band, or what all its threads do together.

The loop declares its iterator, the condition is the same for all threads, and the declaration is ``const`` and has the
only definition of its scalar, for the statements after it.
"""


class HostState(Struct, frozen=True):
    """The facts on host scalars while a region runs, for the analyses only: generated code knows none.

    ``facts``, ``guards`` and ``loops`` (as in ``ast.MetaSchedule``) speak of scalars of the nest and of ``scalars``.
    """

    scalars: tuple[Scalar, ...] = ()
    facts: tuple[Expr, ...] = ()
    guards: tuple[Expr, ...] = ()
    loops: tuple[HostLoop, ...] = ()

    @property
    def conditions(self) -> tuple[Expr, ...]:
        """Everything that holds while the region runs."""
        return (*self.facts, *self.guards)


class Repetition(Struct, frozen=True):
    """A loop of host code around a region that does nothing but regions: ``loop.regions`` of them in every turn.

    ``scalars`` are its variable and what its header reads.
    """

    loop: HostLoop
    scalars: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Nest:
    """One region, ready to be optimized.

    ``cached`` names the arrays to be copied into shared memory around each band.  ``preconditions`` hold for
    every launch (the host's asserts).  ``scalars`` are in order of definition: function parameters first.
    """

    name: str
    scalars: tuple[Scalar, ...]
    arrays: tuple[Array, ...]
    preconditions: tuple[Expr, ...]
    grid: tuple[Loop, ...]
    body: tuple[BlockStmt, ...]
    cached: tuple[str, ...] = ()
    span: Span = field(default=GENERATED, compare=False, repr=False)
    state: HostState = HostState()
    repetition: Repetition | None = None
    """The innermost loop around the region, where it does nothing but regions."""
    in_any_order: bool = False
    """Whether the program lets sums be added up in any order, and what else is put together."""
    is_checked: bool = False
    """Whether it has been looked at, in another form, that its loops are parallel."""
    is_repeated: bool = False
    """Whether a loop of host code may come to it more than once."""

    def scalar(self, name: str) -> Scalar:
        return next(s for s in self.scalars if s.name == name)

    def array(self, name: str) -> Array:
        return next(a for a in self.arrays if a.name == name)

    def with_role(self, role: Role) -> tuple[Scalar, ...]:
        return tuple(s for s in self.scalars if s.role is role)

    @property
    def bands(self) -> tuple[Threads, ...]:
        """All thread bands, in program order."""
        return tuple(s for s in statements_in(self.body) if isinstance(s, Threads))

    @property
    def thread_loops(self) -> tuple[Loop, ...]:
        """The loops of the first band; every band has the same extents."""
        return self.bands[0].loops


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate of points: ``0 <= name < limit``, in parallel.

    A block has ``threads`` threads along it, and each does ``each`` values.

    Tiles overlap where a tile does ``lead`` values more than it is there for, at either end.  The first tile begins
    ``shift`` values before 0.  With ``turns`` a block does so many tiles of its threads, one after the other along the
    coordinate.  ``shown`` is what the program calls it, for messages.
    """

    name: str
    limit: Expr
    threads: str
    each: str
    lead: Expr | None = None
    shift: int = 0
    turns: str | None = None
    shown: str = field(default="", compare=False)

    @property
    def extent(self) -> Expr:
        """The number of values of the coordinate that a block does."""
        once = Binary("*", Name(self.threads), Name(self.each))
        return once if self.turns is None else Binary("*", once, Name(self.turns))

    @property
    def step(self) -> Expr:
        """The number of values of the coordinate that a tile is there for."""
        if self.lead is None:
            return self.extent
        return Binary("-", self.extent, Binary("*", IntLiteral(2), self.lead))

    def tiles(self, limit: Expr) -> Expr:
        """The number of tiles up to a limit: the limit over the step, rounded up."""
        more = Binary("-", self.step, IntLiteral(1)) if self.shift == 0 else self.step
        if self.shift > 1:
            more = Binary("+", more, IntLiteral(self.shift - 1))
        return Binary("/", Binary("+", limit, more), self.step)

    def inside(self, value: Expr, limit: Expr) -> Expr:
        """Return the condition that a value of the coordinate is inside of the limits.

        The tile has no lead.
        """
        below = Binary("<", value, limit)
        return Binary("&&", Binary("<=", IntLiteral(0), value), below) if self.shift else below

    def origin(self, tile: Expr) -> Expr:
        """The first value that a tile does."""
        begin: Expr = Binary("*", tile, self.step)
        if self.lead is not None:
            begin = Binary("-", begin, self.lead)
        return Binary("-", begin, IntLiteral(self.shift)) if self.shift else begin


class Batch(Struct, frozen=True):
    """A coordinate along which a tile is one point wide: ``0 <= name < limit``, in parallel, a value a block."""

    name: str
    limit: Expr


class Alternative(Struct, frozen=True):
    """The work at every point where ``condition``, which is the same for all points, holds; None is always."""

    condition: Expr | None
    body: tuple[Stmt, ...]


class Sweep(Struct, frozen=True):
    """The work of a region at a point: ``written``, an element of a grid, from neighbours in another grid.

    ``reads`` are the references to that grid, each with its distance from the point along every coordinate: where the
    other sweep wrote the element, its point was there.
    """

    body: tuple[Stmt, ...]
    written: Index
    reads: tuple[tuple[Index, tuple[int, ...]], ...]


class SweepPair(Struct, frozen=True):
    """Two sweeps that take turns where ``condition``, which is the same for all points, holds; None is always."""

    condition: Expr | None
    first: Sweep
    second: Sweep


class Sweeps(Struct, frozen=True):
    """The sweeps of a launch: one, or several that take turns between two grids, as they follow a region.

    There is a pair for each case in which the region does the first of them.  What one sweep reads is at most ``halo``
    points away, along each coordinate.  A launch does an odd number of sweeps, at most ``most``, which is 1 or a
    constant of the kernel.  ``left`` is how many the loop of the host has yet to do, that of the region included.
    """

    pairs: tuple[SweepPair, ...] = ()
    halo: tuple[int, ...] = ()
    most: IntLiteral | Name = IntLiteral(1)
    left: Expr = IntLiteral(1)

    @property
    def sizes(self) -> tuple[str, ...]:
        """The constants of a kernel that say how many sweeps it does; none for one sweep."""
        return (self.most.identifier,) if isinstance(self.most, Name) else ()


class TileKind(Enum):
    """The kinds of tiles, each with the words for it, which have places for sizes and for the most sweeps.

    ``ending`` is what names of their kernels end in.
    """

    REGISTER = (
        "register tile",
        "tile",
        "in registers",
        "tiles of {sizes} points, {each} a thread in registers",
        "fits",
    )
    TIME = (
        "time tile",
        "time",
        "up to {most} sweeps a launch",
        "up to {most} sweeps a launch, in tiles of {sizes} points in shared memory, {each} a thread",
        "fits, where four sweeps of the loop or more are left",
    )

    def __init__(self, shown: str, ending: str, how: str, described: str, fits: str) -> None:
        self.shown, self.ending, self.how, self.described, self.fits = shown, ending, how, described, fits


class StepRange(Struct, frozen=True):
    """The steps of a serial loop that a point does: ``count`` of them, from ``first`` on, before ``behind``.

    They are over scalars of the nest and coordinates of the point.
    """

    first: Expr
    behind: Expr
    count: Expr

    def condition(self, step: Expr) -> Expr:
        """Return the condition that a point does a step."""
        below = Binary("<", step, self.behind)
        return below if self.first == IntLiteral(0) else Binary("&&", Binary("<=", self.first, step), below)


class Why(Enum):
    """The reason why a subscript of an array behind a pointer has no rows, with places for its terms."""

    PRODUCT = "'{}' is a product of numbers that vary"
    WRAPS = "'{}' may wrap around, or be cut off by a conversion"
    APART = "none of '{}' and '{}' is a whole number of rows of the other"
    COLUMN = "what is added to '{}' may be longer than a row"


@dataclass(frozen=True, slots=True)
class KeptLinear:
    """``terms`` over coordinates are the parts of the subscript of a reference to ``array`` that are the reason."""

    array: str
    why: Why
    terms: tuple[Expr, ...]
    span: Span = field(default=GENERATED, compare=False, repr=False)


class Points(Struct, frozen=True):
    """``0 <= name < limit`` for every coordinate, outermost first, and what is done at each point.

    ``shown`` are the iterators of the program that a coordinate stands for.  Limits wrap around nowhere.  A launch has
    to see to it that they are no larger than ``LARGEST_COUNT``, and that ``conditions`` over scalars of the nest hold.
    ``called`` are names of the program with their values over the coordinates, until these have names of it.
    """

    names: tuple[str, ...]
    shown: tuple[str, ...]
    limits: tuple[Expr, ...]
    alternatives: tuple[Alternative, ...]
    conditions: tuple[Expr, ...] = ()
    called: tuple[tuple[str, Expr], ...] = ()


class RegisterTile(Struct, frozen=True):
    """A region as statements over points, and the names of the constants that cut the points into tiles.

    ``coordinates`` are outermost first; neighbours along the last one are neighbours in memory.  A serial loop of the
    bodies runs in steps of ``depth`` with ``stages`` of them in flight.  A multiprocessor shall have room for so many
    ``blocks``.  Points may run in any order.  A tile that does several ``sweeps`` in one launch has no alternatives:
    its points do what these say.
    ``conditions`` over scalars of the nest and the constants have to hold for a launch.  A ``batch`` of tiles lies
    along further coordinates, outermost first, which come before the others.  ``linear`` are references that might have
    rows.
    """

    coordinates: tuple[Coordinate, ...]
    alternatives: tuple[Alternative, ...]
    depth: str
    stages: str
    blocks: str
    sweeps: Sweeps = Sweeps()
    kind: TileKind = TileKind.REGISTER
    predicate: Expr | None = None
    """A condition on coordinates: points that do not meet it store nothing (`schedule/predicate.py`)."""
    masked: bool = False
    """Whether that is one of the serial loop alone: all points store, with or without it (`schedule/mask.py`)."""
    steps: StepRange | None = None
    """The steps of the serial loop that a point does, where these differ between points (`schedule/equalize.py`)."""
    recipe: str = ""
    """The name of the recipe by which the points are cut (`schedule/recipe.py`)."""
    lanes: str | None = None
    """The constant that says how many threads share a point, its loop or its copies; None where each point has one."""
    share: str = ""
    """A name for a constant that a recipe may take for ``lanes``."""
    reassociated: bool = False
    """Whether sums are added up in another order than that of the source."""
    conditions: tuple[Expr, ...] = ()
    batch: tuple[Batch, ...] = ()
    linear: tuple[KeptLinear, ...] = ()

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the sizes of a tile: threads, then values of a thread, along each coordinate."""
        return (*(c.threads for c in self.coordinates), *(c.each for c in self.coordinates))

    @property
    def limits(self) -> dict[str, Expr]:
        """The limits of all coordinates, those of the batch among them, by name."""
        return {c.name: c.limit for c in (*self.coordinates, *self.batch)}

    @property
    def bodies(self) -> tuple[tuple[Stmt, ...], ...]:
        """All that is done at a point, in one case or another."""
        swept = (sweep.body for pair in self.sweeps.pairs for sweep in (pair.first, pair.second))
        return (*(alternative.body for alternative in self.alternatives), *swept)


@dataclass(frozen=True, slots=True)
class Variant:
    """A nest with the procedures to be applied to its IR: G_C together with lambda defines the IR CFG G_L.

    It is a dataclass, as nests are, since strategies of other packages change both by ``dataclasses.replace``.
    ``register_cap`` is the limit of registers a thread that the compiler is told to keep (spilling if it must).
    """

    nest: Nest
    register_cap: int | None = None
    demoted: bool = False
    """Whether what does not fit the registers lies in shared memory, and is not spilled: Sakdhnagool, Sabne and
    Eigenmann, RegDem, 2019. It is done to the compiled kernel."""
    tile: RegisterTile | None = None
    """The tile that put the nest over coordinates, if one did; the nest is then lowered in another way."""
