"""Kernels without what is idle: a body in, the same body for readers out, of which a compiler makes the same.

::

    int p = i * B0 + v; shared_c[v] = 0;              -->   shared_c[v] = 0;                        without_unused
    const int i0 = block;  const int o0 = i0 * T0;    -->   const int o0 = block * T0;              without_aliases
    in[row * w + w * 0 + (first + 1) + 0]             -->   in[row * w + (first + 1)]               folded
    if (c) { { float value = a[i]; b[i] = value; } }  -->   if (c) { float value = a[i]; b[i] = value; }    spliced

When a reference moves to a tile, the index scalars that it was written with often have no reader left.  A declaration
is read by what follows it in its own scope; expressions have no effects, so that one without a reader can always go.

Of second names neither may change: a constant, or the iterator of a loop whose body leaves it alone.  What is read of a
launch, as ``threadIdx.x``, keeps the name that it is given: it has no sign, and the name has one.

What is folded is exact in C (`loops/fold.py`).  What a block at the end of a body declares is then declared in that
body, where nothing follows that could mean another variable of that name; a block stays where the body, or what begins
it, has declared such a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import overload

from comprehensive.kernel_ir.kernel import KernelParameter, KernelStmt, SharedTile
from comprehensive.kernel_ir.names import names_in_kernel, types_in_kernel
from comprehensive.loops.fold import fold
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Block, Declare, For, Name, ScalarType, Stmt
from comprehensive.metafork.rewrite import map_expressions, substitute, with_all_bodies, with_bodies
from comprehensive.metafork.walk import assigned_scalars, declared


def without_aliases(body: tuple[KernelStmt, ...], known: Set[str] = frozenset()) -> tuple[KernelStmt, ...]:
    """Return the body of a kernel with one name for each constant, and those that are ``known`` elsewhere."""
    return _body(body, {}, known)


def _body(
    body: tuple[KernelStmt, ...], fixed: Mapping[str, ScalarType], known: Set[str]
) -> tuple[KernelStmt, ...]:
    """Return statements without second names, where ``fixed`` are constants around them with their types."""
    result: list[KernelStmt] = []
    while body:
        statement, body = body[0], body[1:]
        match statement:
            case Declare(const=True, name=name, initial=Name(identifier=first), dims=()) if (
                name not in known
                and fixed.get(first) is statement.type
                and not {name, first} & declared_names(body)
            ):
                place = {name: Name(first)}
                body = map_expressions(body, lambda e, place=place: substitute(e, place))
                continue
            case Declare(name=name):
                is_fixed = statement.const and not statement.dims
                fixed = {**_without(fixed, name), **({name: statement.type} if is_fixed else {})}
                result.append(statement)
            case For(type=kind, iterator=iterator):
                inside = _without(fixed, iterator)
                if kind is not None and iterator not in assigned_scalars(statement.body):
                    inside = {**inside, iterator: kind}
                result.append(_inside(statement, inside, known))
            case _:
                result.append(_inside(statement, fixed, known))
    return tuple(result)


def _inside(statement: KernelStmt, fixed: Mapping[str, ScalarType], known: Set[str]) -> KernelStmt:
    return with_all_bodies(statement, lambda inner: _body(inner, fixed, known))


def _without(fixed: Mapping[str, ScalarType], name: str) -> dict[str, ScalarType]:
    return {other: kind for other, kind in fixed.items() if other != name}


def folded(body: tuple[KernelStmt, ...], parameters: Sequence[KernelParameter]) -> tuple[KernelStmt, ...]:
    """The body of a kernel with these parameters, its constants folded."""
    types = types_in_kernel(body, {p.name: p.type for p in parameters})
    return map_expressions(body, lambda expr: fold(expr, types))


def spliced(body: tuple[KernelStmt, ...], parameters: Sequence[KernelParameter]) -> tuple[KernelStmt, ...]:
    """The body of a kernel with these parameters, without idle braces."""
    return _without_last_block(body, {p.name for p in parameters})


def _without_last_block(body: tuple[KernelStmt, ...], known: Iterable[str]) -> tuple[KernelStmt, ...]:
    """The body without idle braces, where ``known`` are names that are declared in its scope before it."""
    inside = tuple(map(_in_bodies, body))
    match inside:
        case (*before, Block(body=last)) if not _names(last) & ({*known} | _names(before)):
            return (*before, *last)
        case _:
            return inside


def _in_bodies(statement: KernelStmt) -> KernelStmt:
    iterator = {statement.iterator} if isinstance(statement, For) else set[str]()
    return with_all_bodies(statement, lambda inner: _without_last_block(inner, iterator))


def _names(body: Iterable[KernelStmt]) -> set[str]:
    """The names that a body declares, itself or in blocks: of blocks that declare the same all stay, or none."""
    inside = (inner for s in body for inner in (s.body if isinstance(s, Block) else (s,)))
    return {name for statement in inside for name in declared(statement)}


@overload
def without_unused(body: Sequence[Stmt]) -> tuple[Stmt, ...]: ...
@overload
def without_unused(body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]: ...
def without_unused(body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]:
    """The body without declarations that are never read, nor read only by such declarations."""
    kept: list[KernelStmt] = []
    later: frozenset[str] = frozenset()
    for statement in reversed(body):
        if isinstance(statement, Declare | SharedTile) and statement.name not in later:
            continue
        remaining = with_bodies(statement, without_unused)
        kept.append(remaining)
        later |= names_in_kernel((remaining,))
    return tuple(reversed(kept))
