"""Names in nests and kernels: what is taken, what a kernel body really uses.

In: a nest or a kernel body.  Out: sets of identifiers, for choosing fresh names and for passing only the
parameters that a kernel needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from comprehensive.kernel_ir.kernel import (
    Await,
    Barrier,
    Box,
    Comment,
    Commit,
    Feed,
    Fetch,
    KernelStmt,
    MultiplyAdd,
    OfTiles,
    Plain,
    Put,
    SharedTile,
    Stage,
    StageBox,
    StageRow,
    ThreadIf,
    UniformFor,
    UniformIf,
    Vectors,
    VectorStore,
)
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import declared_names as names_declared_in
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.walk import statements_in


def declared_names(nest: Nest) -> frozenset[str]:
    """Everything that already has a name in the nest: scalars, arrays, iterators, locals."""
    names = {s.name for s in nest.scalars} | {a.name for a in nest.arrays}
    names |= {loop.iterator for loop in nest.grid}
    return names_declared_in(nest.body).union(names)


class _Types(dict[str, ScalarType]):
    """The types of names, of which those that are not declared are ``int``, such as ``threadIdx.x``."""

    def __missing__(self, name: str) -> ScalarType:
        return ScalarType.INT

    def declare(self, name: str, type: ScalarType) -> None:
        """A name with two types counts as a ``double``, of which the least is known."""
        self[name] = type if self.get(name, type) is type else ScalarType.DOUBLE


def types_in_kernel(body: Iterable[KernelStmt], known: Mapping[str, ScalarType]) -> Mapping[str, ScalarType]:
    """The types of all names in a kernel body, with those that are ``known`` from outside."""
    types = _Types(known)
    _declare(body, types)
    return types


def _declare(body: Iterable[KernelStmt], types: _Types) -> None:
    for statement in body:
        match statement:
            case Plain():
                for inner in statements_in(statement.body):
                    match inner:
                        case Declare():
                            types.declare(inner.name, inner.type)
                        case For(type=type) if type is not None:
                            types.declare(inner.iterator, type)
                        case _:
                            pass
            case UniformFor():
                types.declare(statement.header.iterator, statement.header.type or ScalarType.INT)
                _declare(statement.body, types)
            case UniformIf() | ThreadIf():
                _declare((*statement.then, *statement.otherwise), types)
            case SharedTile():
                types.declare(statement.name, statement.type)
            case Barrier() | Comment() | OfTiles():
                pass
            case _:
                assert_never(statement)


def names_in_kernel(body: Iterable[KernelStmt]) -> frozenset[str]:
    """The identifiers that a kernel body reads or writes."""
    names: set[str] = set()
    for statement in body:
        match statement:
            case Plain():
                names |= names_in_body(statement.body)
            case UniformFor():
                names |= names_in_body((statement.header,)) | names_in_kernel(statement.body)
            case UniformIf() | ThreadIf():
                names |= names_read(statement.condition)
                names |= names_in_kernel(statement.then) | names_in_kernel(statement.otherwise)
            case SharedTile():
                names |= names_read(statement.offset_words)
            case Feed():
                names |= _read_by((statement.source, *statement.constants, *statement.numbers))
            case Stage() | Put():
                names |= {statement.feed} | names_read(statement.shared)
            case StageRow(shared, _, source, count, lane, lanes, vectors):
                names |= _read_by((shared, source, count, lane, lanes, vectors))
            case Fetch():
                names.add(statement.feed)
            case Box(strides=strides, thread=thread):
                names |= _read_by((*statement.constants, *strides, thread))
            case StageBox(feed=feed, shared=shared, source=source, valid=valid):
                names |= {feed} | _read_by((shared, source, *valid))
            case Vectors(registers=registers, source=source):
                names |= _read_by((registers, source, statement.count, statement.apart))
            case VectorStore(target=target, registers=registers):
                names |= _read_by((target, registers))
            case MultiplyAdd(sums=sums, left=left, right=right):
                names |= _read_by((sums, left, right))
            case Await():
                names |= names_read(statement.pending)
            case Barrier() | Comment() | Commit():
                pass
            case _:
                assert_never(statement)
    return frozenset(names)


def _read_by(expressions: Iterable[Expr]) -> frozenset[str]:
    return frozenset[str]().union(*map(names_read, expressions))


def names_in_body(body: Iterable[Stmt]) -> frozenset[str]:
    """The identifiers that plain statements read or write."""
    names: set[str] = set()
    for statement in body:
        match statement:
            case Declare():
                if statement.initial is not None:
                    names |= names_read(statement.initial)
            case Assign():
                target = statement.target
                names |= {target.identifier} if isinstance(target, Name) else names_read(target)
                names |= names_read(statement.value)
            case For() | MetaFor():
                if statement.type is None:
                    names.add(statement.iterator)
                for expr in (statement.start, statement.bound, statement.step):
                    names |= names_read(expr)
                names |= names_in_body(statement.body)
            case If():
                names |= names_read(statement.condition)
                names |= names_in_body(statement.then) | names_in_body(statement.otherwise)
            case While() | DoWhile():
                names |= names_read(statement.condition) | names_in_body(statement.body)
            case Block():
                names |= names_in_body(statement.body)
            case Break() | Continue():
                pass
            case _:
                assert_never(statement)
    return frozenset(names)
