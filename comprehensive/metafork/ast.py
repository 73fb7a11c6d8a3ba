"""The syntax tree of a `.mf` file.

A :class:`Program` is the text of the file cut into host text, kept to the byte, and functions that hold regions.
Inside a region everything is parsed.  Every node is a frozen value and carries its :class:`Span`, which takes no
part in comparison: two trees are equal when they mean the same text, wherever it stands.

Normalised while parsing: ``int a = 1, b = 2;`` is two :class:`Declare`; ``i++`` is ``i += 1``; parentheses leave
no node.  Example: ``c[i*N + j] += 1`` is ``Assign(Index("c", (Binary("+", ...),)), "+=", IntLiteral(1))``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeAlias

from msgspec import Struct
from typing_extensions import TypeVar

from comprehensive.diagnostics import GENERATED, SourceFile, Span
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.scalar_types import ScalarType


def _span() -> Span:
    return field(default=GENERATED, compare=False, repr=False)


# --- expressions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntLiteral:
    value: int
    type: ScalarType = ScalarType.INT
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FloatLiteral:
    """``text`` is the literal as written, without its suffix; ``type`` is FLOAT for an ``f`` suffix."""

    text: str
    type: ScalarType
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Name:
    identifier: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Index:
    """``array[subscripts[0]][subscripts[1]]...``; ``array`` names a data array or a local array."""

    array: str
    subscripts: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Unary:
    """``operator`` is one of ``- + ! ~``."""

    operator: str
    operand: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Binary:
    """``operator`` is one of ``+ - * / % << >> & | ^ < <= > >= == != && ||``."""

    operator: str
    left: Expr
    right: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Conditional:
    """``condition ? then : otherwise``"""

    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Cast:
    type: ScalarType
    operand: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a known pure function of the C library (``sqrtf``, ``fminf``, ``abs``...)."""

    function: str
    arguments: tuple[Expr, ...]
    span: Span = _span()


Expr: TypeAlias = IntLiteral | FloatLiteral | Name | Index | Unary | Binary | Conditional | Cast | Call

# --- statements ----------------------------------------------------------------------------------------------

Inner = TypeVar("Inner", covariant=True, default="Stmt")
"""The statements that may stand in a statement: those of a program, or these and more where an IR has its own.

A statement of one thread, one that a block runs together and one of a kernel are of the same classes: what stands in
them, and where they stand, tells them apart.
"""


@dataclass(frozen=True, slots=True)
class Initialiser:
    """``{0.25f, {0.5f, 1}}``: what the braces behind a declaration hold."""

    items: tuple[Expr | Initialiser, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Declare:
    """A local scalar (``dims`` empty) or a local array of constant size; ``initial`` only for scalars.

    ``elements`` are the braces behind an array, whose first extent they may give (``is_open``; it is 0 then).  Only the
    parser sees them: it writes them out as assignments (:mod:`initialisers`).  Only the parser sees pointers
    (``is_pointer``), too, for which it puts the arrays that they point into (:mod:`local_pointers`).
    """

    type: ScalarType
    name: str
    dims: tuple[Expr, ...] = ()
    initial: Expr | None = None
    const: bool = False
    span: Span = _span()
    elements: Initialiser | None = field(default=None, compare=False, repr=False)
    is_open: bool = field(default=False, compare=False, repr=False)
    is_pointer: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """``operator`` is ``=`` or a compound assignment ``+= -= *= /= %= &= |= ^= <<= >>=``.

    ``atomic`` marks a ``meta_atomic`` update of an element of data: iterations that run in parallel may update one
    element, in any order.  Its operator is one of ``+= -= &= |= ^=``.
    """

    target: Name | Index
    operator: str
    value: Expr
    span: Span = _span()
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class If(Generic[Inner]):
    """``if (condition) then else otherwise``

    Where it is ``uniform``, all threads that come to it decide alike; no source says so.
    """

    condition: Expr
    then: tuple[Inner, ...]
    otherwise: tuple[Inner, ...] = ()
    span: Span = _span()
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class For(Generic[Inner]):
    """``for (type iterator = start; iterator relation bound; iterator += step) body``

    ``type`` is None where the header assigns an outer variable instead of declaring one.  ``relation`` is one of
    ``< <= > >= !=``.  ``step`` is the signed increment (``i--`` has ``IntLiteral(-1)``; ``i -= e`` has
    ``Unary("-", e)``).  The compiler is told to unroll what is ``unrolled``, and to leave what is ``rolled``; all
    threads that come to what is ``uniform`` do the same turns.  No source says so.  What the program calls the iterator
    of a loop that the tool has made of one of its own is ``written``.
    """

    type: ScalarType | None
    iterator: str
    start: Expr
    relation: str
    bound: Expr
    step: Expr
    body: tuple[Inner, ...]
    span: Span = _span()
    unrolled: bool = False
    rolled: bool = False
    uniform: bool = False
    written: str | None = field(default=None, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """The iterator of the loop that the program has in its place."""
        return self.written or self.iterator

    @property
    def counts_up(self) -> bool:
        """Whether the loop counts from 0 to its bound by one."""
        return (self.start, self.relation, self.step) == (IntLiteral(0), "<", IntLiteral(1))


class Cut(Struct, frozen=True):
    """The loop that a block clause has cut into a loop of blocks and one of threads: its iterator, and its value in
    terms of theirs, of parameters and of host scalars."""

    iterator: str
    value: Expr


@dataclass(frozen=True, slots=True)
class MetaFor:
    """A parallel loop; the fields are those of :class:`For`, and the header always declares the iterator.

    ``cut`` is what the program has in its place, where a block clause has made it.
    """

    type: ScalarType
    iterator: str
    start: Expr
    relation: str
    bound: Expr
    step: Expr
    body: tuple[Stmt, ...]
    span: Span = _span()
    cut: Cut | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: tuple[Stmt, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class DoWhile:
    body: tuple[Stmt, ...]
    condition: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Break:
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Continue:
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Block:
    """Braces that open a scope of their own."""

    body: tuple[Stmt, ...]
    span: Span = _span()


Stmt: TypeAlias = (
    Declare | Assign | If["Stmt"] | For["Stmt"] | MetaFor | While | DoWhile | Break | Continue | Block
)

# --- programs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    Scalars have ``pointer=False`` and ``dims == ()``.  Data is ``pointer=True`` (``const float *a``) or has dims
    (``float a[n][n]``; the first may be None: ``float a[][n]``).  The C function does not have one that is ``added``:
    a scalar shapes the blocks of a region whose text says nothing of blocks, data is memory that the launcher has for
    regions with one between them.  What the source says in other words, by a structure, is ``respelled``.
    One ``of_file`` is a variable of the file, that the C function reaches by itself and the launcher is passed, one
    that ``is_result`` memory for what the C function returns.  Data that ``may_be_null`` is data of which the function
    asks whether it is there: nobody promises its elements.
    """

    name: str
    type: ScalarType
    const: bool = False
    pointer: bool = False
    dims: tuple[Expr | None, ...] = ()
    span: Span = _span()
    added: bool = False
    of_file: bool = False
    is_result: bool = False
    may_be_null: bool = False
    respelled: bool = field(default=False, compare=False, repr=False)

    @property
    def is_data(self) -> bool:
        return self.pointer or bool(self.dims)


@dataclass(frozen=True, slots=True)
class HostScalar:
    """A scalar that host code defines before a region.

    ``value`` is its defining expression in terms of parameters and earlier host scalars, where that is the only
    definition that reaches the region; None for a time-loop variable, for a variable assigned more than once and
    for what is not in the language: the region then takes the value as it is at the launch.  Host code does not have
    one that is ``added``: it is computed right before the region.  One that says whether data is there, 1 or 0, has the
    name of that parameter as its ``pointer``.
    """

    name: str
    type: ScalarType
    value: Expr | None
    span: Span = _span()
    added: bool = False
    pointer: str | None = None


@dataclass(frozen=True, slots=True)
class ConstantArray:
    """A constant array of the file; ``values`` are its elements in order, the last subscript counting fastest."""

    name: str
    type: ScalarType
    lengths: tuple[int, ...]
    values: tuple[Expr, ...]
    span: Span = _span()

    @property
    def dims(self) -> tuple[Expr, ...]:
        return tuple(map(IntLiteral, self.lengths))


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array that host code declares (``int a[2*N];``), used as data by a region."""

    name: str
    type: ScalarType
    dims: tuple[Expr, ...]
    span: Span = _span()


class Address(Struct, frozen=True):
    """The target of a pointer of host code: ``offset`` elements behind the first one of the parameter ``base``.

    An ``offset`` of None is not known; neither is the whole address where ``base`` is None.
    """

    base: str | None
    offset: Expr | None = IntLiteral(0)


@dataclass(frozen=True, slots=True)
class HostPointer:
    """A pointer to data that host code declares: ``float *next = b``, or to rows, ``float (*next)[n] = b``.

    ``dims`` are those of a parameter that is declared so: none, or an open one and those of a row.
    """

    name: str
    type: ScalarType
    const: bool = False
    dims: tuple[Expr | None, ...] = ()
    span: Span = _span()


Addresses: TypeAlias = tuple[tuple[str, Address], ...]
"""The targets of pointers at one time, by name, without parameters that still point to their own data."""


class HostLoop(Struct, frozen=True):
    """``for (int t = start; t < bound; t += step)`` of host code, every turn of which comes to the region.

    ``regions`` is how many regions a turn runs, one after the other, where it does nothing else but to exchange
    pointers behind them; else 0.  ``exchange`` says for each pointer that a turn changes which one pointed before it to
    where this one points behind it.
    """

    iterator: str
    start: Expr
    relation: str
    bound: Expr
    step: int
    regions: int = 0
    exchange: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MetaSchedule:
    """``meta_schedule cache(a, b) { body }``; ``cache`` is None where the clause is absent.

    ``scalars``, ``arrays`` and ``preconditions`` (the conditions of ``assert(...)``) are what the host code before
    the region establishes, in order of appearance.  ``facts`` hold at the region too, but not for the whole
    function: definitions ``src == t % 2`` and asserts in terms of what host code changes.  So do ``guards``, the
    conditions of ``if`` and ``while`` around the region: where one is false, the region does not run.  ``loops`` are
    all that governs the region, outermost first, or empty where something else does.  ``is_certain`` says that the
    region runs in every call that comes to these loops and whose loops turn; ``changed`` are names that host code may
    change.  ``pointers`` are those of host code that the region can see; ``addresses`` are all the ways in which they
    and the parameters may point where the region stands.  ``tables`` are the constant arrays of which it reads elements
    that are not known.  ``in_any_order``: the program lets what it puts together be put together in any order.
    ``is_checked``: that its loops are parallel has been looked at in the form that the program has.
    ``is_repeated``: a loop of host code may come to it more than once.
    """

    cache: tuple[str, ...] | None
    body: tuple[Stmt, ...]
    scalars: tuple[HostScalar, ...] = ()
    arrays: tuple[HostArray, ...] = ()
    preconditions: tuple[Expr, ...] = ()
    facts: tuple[Expr, ...] = ()
    guards: tuple[Expr, ...] = ()
    loops: tuple[HostLoop, ...] = ()
    span: Span = _span()
    is_certain: bool = False
    changed: frozenset[str] = frozenset()
    pointers: tuple[HostPointer, ...] = ()
    addresses: tuple[Addresses, ...] = ()
    tables: tuple[ConstantArray, ...] = ()
    in_any_order: bool = False
    is_checked: bool = False
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class HostAssert:
    """An ``assert(condition);`` of the host code; ``condition`` is None where it is outside the language."""

    condition: Expr | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Function:
    """A host function that holds at least one region.

    ``parts`` are the text of the body between its braces, in order and complete: host text (as spans), asserts
    and regions.
    """

    name: str
    parameters: tuple[Parameter, ...]
    parts: tuple[Span | HostAssert | MetaSchedule, ...]
    span: Span = _span()
    """The text from the first character of the return type to the closing brace."""
    body_span: Span = _span()
    """Between the braces, exclusive."""
    rewritten: tuple[tuple[Span, str], ...] = field(default=(), compare=False, repr=False)
    """Pieces of host code about pointers to rows, as they read where all data is behind plain pointers."""
    pointed: frozenset[str] = frozenset()
    """Parameters of which host code speaks as pointers: it copies, exchanges or compares them."""

    @property
    def regions(self) -> tuple[MetaSchedule, ...]:
        return tuple(part for part in self.parts if isinstance(part, MetaSchedule))

    @property
    def written_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the C function, the variables of the file that it uses, and memory for what it returns."""
        return tuple(p for p in self.parameters if not p.added)

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the C function alone."""
        return tuple(p for p in self.parameters if not (p.added or p.of_file or p.is_result))

    @property
    def memory(self) -> tuple[Parameter, ...]:
        """Arrays that the launcher has for regions with one between them; nobody passes them."""
        return tuple(p for p in self.parameters if p.added and p.is_data)


class Program(Struct, frozen=True):
    """A whole file: everything outside ``functions`` is host text that the tool never looks at."""

    file: SourceFile
    functions: tuple[Function, ...]
    configuration: Configuration = Configuration()
    settings: tuple[tuple[str, str | None], ...] = ()
    """Macros of the command line with their texts, and None for those that a condition of the file asks for and
    that are not defined."""
    included: tuple[SourceFile, ...] = ()
    """The files of the program that this one includes."""

    @property
    def include_flags(self) -> tuple[str, ...]:
        """Return the compiler options for where the file's includes are; none where it includes nothing of its own."""
        if not self.included and not self.configuration.directories:
            return ()
        beside = Path(self.file.path).absolute().parent
        places = (beside, *(directory.absolute() for directory in self.configuration.directories))
        return tuple(word for place in places for word in ("-I", str(place)))
