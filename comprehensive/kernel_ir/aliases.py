"""Kernels without second names: a body in, the same body without constants that are other constants out.

::

    const int i0 = block;  const int o0 = i0 * T0;   -->   const int o0 = block * T0;

Neither may change: a constant, or the iterator of a loop whose body leaves it alone.  What is read of a launch, as
``threadIdx.x``, keeps the name that it is given: it has no sign, and the name has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from comprehensive.kernel_ir.kernel import KernelStmt
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Declare, For, Name, ScalarType
from comprehensive.metafork.rewrite import map_expressions, substitute, with_all_bodies
from comprehensive.metafork.walk import assigned_scalars


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
