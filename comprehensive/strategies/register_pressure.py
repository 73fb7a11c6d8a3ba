"""Register pressure, three levels: a variant in, one whose threads need fewer registers at a time out.

1. Definitions sink to just before their first use, into a branch where all uses are there::

       int p = i*B + j;  c[q] = 0;  d[p] = 1;      -->      c[q] = 0;  int p = i*B + j;  d[p] = 1;

2. Cheap integer scalars are computed again where they are used::

       int q = p + 1;  ... a[q] ... b[q] ...       -->      ... a[p + 1] ... b[p + 1] ...

3. The compiler is told the number of registers to keep to, and spills what does not fit (``__maxnreg__``): 32, or
   255 where the kernel needs more than a thread may have.

The first two change the source CFG and the third one the IR (comprehensive, section 5, strategy (i) with three
levels of optimization; there by LLVM).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from comprehensive.algebra import Polynomial
from comprehensive.counters.registers import Registers
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.traverse import map_bands
from comprehensive.loops.types import environment_of, type_of, with_declarations, within_bodies
from comprehensive.metafork.ast import (
    Binary,
    Declare,
    Expr,
    If,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.rewrite import map_expressions, substitute, with_bodies
from comprehensive.metafork.walk import assigned_scalars, subexpressions
from comprehensive.optimize.protocols import Applied, Counter, NotApplicable
from comprehensive.records import replace
from comprehensive.strategies.effects import effects_of, is_single_definition, may_change, reads_name
from comprehensive.strategies.hoist import written_arrays
from comprehensive.toolchain.usage import MOST_REGISTERS

CHEAP_OPERATIONS = 2
"""A scalar of at most so many additions and multiplications costs less than a register that is held for it."""
REGISTER_CAP = 32
"""The most registers with which an sm_90 multiprocessor is full: 65536 registers / 2048 threads."""


@dataclass(frozen=True, slots=True)
class RegisterPressure:
    """One level; ``cap`` matters to level 3 only."""

    level: int
    cap: int = REGISTER_CAP
    improves: tuple[str, ...] = (
        "registers_per_thread",
        "occupancy_by_registers",
        "latency_hiding_by_registers",
    )

    registers: Counter[Variant] | None = field(default=None, compare=False)
    """The counter of registers; None for the estimate."""

    @property
    def name(self) -> str:
        return f"register-pressure-{self.level}"

    @property
    def on_ir(self) -> bool:
        return self.level == 3

    @property
    def decision(self) -> tuple[str, str]:
        return f"1-{self.level}", "1"

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        nest = fragment.nest
        match self.level:
            case 1:
                changed = map_bands(nest, lambda _, body: _sink(body, _constants(nest)))
                note, reason = (
                    "definitions moved to their uses",
                    "every definition stands before its first use",
                )
            case 2:
                changed = map_bands(nest, lambda number, body: _recompute(body, environment_of(nest, number)))
                note, reason = (
                    "cheap index scalars computed at their uses",
                    "no local scalar is cheap to compute again",
                )
            case 3:
                cap = self._cap(fragment)
                if fragment.register_cap is not None and fragment.register_cap <= cap:
                    return NotApplicable(f"the compiler keeps to {fragment.register_cap} registers already")
                capped = replace(fragment, register_cap=cap, demoted=False)
                return Applied(capped, f"at most {cap} registers, by spilling")
            case _:
                raise ValueError(f"there is no level {self.level} of register pressure")
        if changed == nest:
            return NotApplicable(reason)
        return Applied(replace(fragment, nest=changed), note)

    def _cap(self, fragment: Variant) -> int:
        """A kernel that needs more than a thread may have keeps what it can have; for others there is a full device."""
        counted = (self.registers or Registers()).evaluate(fragment).value
        needed = counted.constant_value() if isinstance(counted, Polynomial) and counted.is_constant else 0
        return MOST_REGISTERS if needed > MOST_REGISTERS else self.cap


def _constants(nest: Nest) -> frozenset[str]:
    return frozenset(a.name for a in nest.arrays) - written_arrays(nest)


# --- level 1 -------------------------------------------------------------------------------------------------


def _sink(body: tuple[Stmt, ...], constants: frozenset[str]) -> tuple[Stmt, ...]:
    items = list(body)
    # From the last one to the first: a definition then follows those that it feeds.
    for position in reversed(range(len(items))):
        statement = items[position]
        if isinstance(statement, Declare) and is_single_definition(statement, body):
            _sink_one(items, position, statement, constants)
    return tuple(with_bodies(item, partial(_sink, constants=constants)) for item in items)


def _sink_one(items: list[Stmt], position: int, statement: Declare, constants: frozenset[str]) -> None:
    assert statement.initial is not None
    first = next(
        (k for k in range(position + 1, len(items)) if reads_name((items[k],), statement.name)), None
    )
    if first is None:
        return
    if may_change(statement.initial, effects_of(tuple(items[position + 1 : first])), constants):
        return
    user = items[first]
    used_later = reads_name(tuple(items[first + 1 :]), statement.name)
    if isinstance(user, If) and not used_later and statement.name not in names_read(user.condition):
        in_then, in_else = reads_name(user.then, statement.name), reads_name(user.otherwise, statement.name)
        if in_then != in_else:
            then = (statement, *user.then) if in_then else user.then
            otherwise = (statement, *user.otherwise) if in_else else user.otherwise
            items[first] = replace(user, then=then, otherwise=otherwise)
            del items[position]
            return
    # Definitions for one statement keep their order, so that sinking again changes nothing.
    while first > position + 1 and isinstance(items[first - 1], Declare):
        first -= 1
    items.insert(first, statement)
    del items[position]


# --- level 2 -------------------------------------------------------------------------------------------------


def _recompute(body: tuple[Stmt, ...], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    types = with_declarations(types, body)
    items = list(body)
    # From the last one to the first: a definition is judged by what it says before others are put into it.
    for position in reversed(range(len(items))):
        statement = items[position]
        if not isinstance(statement, Declare) or not is_single_definition(statement, body):
            continue
        if statement.initial is None or not _is_cheap(statement, statement.initial, types):
            continue
        rest = tuple(items[position + 1 :])
        if names_read(statement.initial) & assigned_scalars(rest):
            continue
        values = {statement.name: statement.initial}
        items[position:] = map_expressions(rest, lambda e, values=values: substitute(e, values))
    return within_bodies(items, types, _recompute)


def _is_cheap(statement: Declare, initial: Expr, types: Mapping[str, ScalarType]) -> bool:
    """Whether the definition may take the place of the name: same type, no memory, few operations."""
    if not statement.type.is_exact or type_of(initial, types) is not statement.type:
        return False
    operations = 0
    for e in subexpressions(initial):
        match e:
            case Name() | IntLiteral():
                pass
            case Binary(operator="+" | "-" | "*"):
                operations += 1
            case _:
                return False
    return operations <= CHEAP_OPERATIONS
