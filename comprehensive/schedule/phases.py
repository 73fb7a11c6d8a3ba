"""The phases of a point: what threads that share it do one after the other.

::

    for (j) most = max(most, a[j]);  for (j) { y[j] = expf(a[j] - most);  sum += y[j]; }  y[0] = sum
        -->  Parallel(loop over j, most), Pieces(y[j] = .. by all, sum += .. by one), Straight(y[0] = sum)

`distribute.py` makes them of the statements of a point, `row_phases.py` a kernel of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from comprehensive.kernel_ir.names import names_in_kernel
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Assign, Declare, For, If, Index, ScalarType, Stmt
from comprehensive.metafork.walk import assigned_scalars, bodies
from comprehensive.schedule.any_order import AnyOrder


class Straight(Struct, frozen=True):
    """A statement beside the loops: what all lanes compute, or one of them stores (:func:`is_store`)."""

    statement: Declare | Assign | If


class Parallel(Struct, frozen=True):
    """A loop of which every lane does a share of the steps; ``merged`` are put together from all lanes behind it."""

    loop: For
    merged: tuple[AnyOrder, ...]


class Ordered(Struct, frozen=True):
    """Loops, and statements between them, that one lane does in the order of the source."""

    body: tuple[Stmt, ...]


class Pieces(Struct, frozen=True):
    """A loop of which the lanes do some steps, and then one of them what has an order in these steps."""

    lanes: Parallel
    chain: For


Phase: TypeAlias = Straight | Parallel | Ordered | Pieces


def in_order(phase: Phase) -> Iterator[tuple[int, Stmt, For | None]]:
    """The statements of a phase, numbered, each with the loop around it."""
    match phase:
        case Straight(statement):
            yield 0, statement, None
        case Parallel(loop):
            yield from ((time, s, loop) for time, s in enumerate(loop.body))
        case Pieces(Parallel(loop), chain):
            steps = (*((s, loop) for s in loop.body), *((s, chain) for s in chain.body))
            yield from ((time, s, around) for time, (s, around) in enumerate(steps))
        case Ordered(body):
            time = 0
            for statement in body:
                inner = statement.body if isinstance(statement, For) else (statement,)
                loop = statement if isinstance(statement, For) else None
                for each in inner:
                    yield time, each, loop
                    time += 1


def scalars_told(phases: Sequence[Phase], number: int) -> Mapping[str, ScalarType]:
    """The scalars that one lane computes in an ordered phase and all lanes read later, in order."""
    phase = phases[number]
    assert isinstance(phase, Ordered | Pieces)
    types = {
        s.name: s.type
        for each in phases
        for _, s, loop in in_order(each)
        if isinstance(s, Declare) and not loop
    }
    steps = {s.name for _, s, loop in in_order(phase) if loop is not None and isinstance(s, Declare)}
    later = names_read_after(phases, number, by_all=True) - steps
    changed = (name for _, s, _ in in_order(phase) for name in written(s) if name in later)
    return {name: types[name] for name in changed}


def names_read_after(phases: Sequence[Phase], number: int, *, by_all: bool = False) -> frozenset[str]:
    """The names that later phases read; ``by_all`` lanes, so that what one of them does alone does not count."""
    names = frozenset[str]()
    for phase in phases[number + 1 :]:
        match phase:
            case Ordered() if by_all:
                continue
            case Straight(statement) if by_all and is_store(statement):
                continue
            case Pieces(lanes) if by_all:
                names |= names_in_kernel(lanes.loop.body)
            case _:
                names |= names_in_kernel(tuple(s for _, s, _ in in_order(phase)))
    return names


def is_store(statement: Stmt) -> bool:
    """Whether a statement does nothing but assign elements, perhaps under conditions."""
    match statement:
        case Assign(target=Index()):
            return True
        case If():
            return all(is_store(s) for body in bodies(statement) for s in body)
        case _:
            return False


def written(statement: Stmt) -> set[str]:
    """The scalars that a statement gives a value."""
    match statement:
        case Declare(name=name):
            return {name}
        case _:
            return set(assigned_scalars((statement,)) - declared_names((statement,)))
