"""The case discussion of a region as plain data for the header's templates.

In: a :class:`RegionPlan` and the interface of its function.  Out: a :class:`Dispatch`: the distinct conditions of
all systems, each decided once, and for every leaf the numbers of its conditions.  Example::

    leaf 1: 2*B + 2 <= Z_B      facts = (2*B + 2 <= Z_B, Z_B < 2*B + 2)
    leaf 2: Z_B < 2*B + 2       variants = (1: [0], 2: [1])

The selection that is printed from it evaluates both sides of a condition with non-negative coefficients only, in
saturating 64-bit counts, so that a condition is right unless both sides are beyond 64 bits. What is said to be C text
below is JavaScript where a page is printed (`comprehensive report`): the same expressions in another language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial, Quotient, Relation, System
from comprehensive.kernel_ir.c_expr import count, difference, is_wide, wide
from comprehensive.kernel_ir.languages import C, Language
from comprehensive.loops.ir import Role
from comprehensive.loops.reading_order import reading_order
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.metafork.ast import Binary, Expr, ScalarType
from comprehensive.metafork.printer import print_expr
from comprehensive.plan.host_scalars import over_arguments
from comprehensive.plan.interface import Argument, Interface, fresh
from comprehensive.plan.plan import LeafPlan, RegionPlan, TilePlan
from comprehensive.plan.sizes_read import bounded_names, decided, identifiers, selection_sizes, shape_names
from comprehensive.records import names_of, replace

# The field of `cf_machine` for every machine parameter.
MACHINE_FIELDS: Mapping[str, str] = {
    "R_B": "registers_per_thread",
    "Z_B": "shared_words_per_block",
    "T_B": "threads_per_block",
    "R_SM": "registers_per_multiprocessor",
    "Z_SM": "shared_words_per_multiprocessor",
    "T_SM": "threads_per_multiprocessor",
    "W_SM": "warps_per_multiprocessor",
    "B_SM": "blocks_per_multiprocessor",
    "R_U": "registers_per_unit_of_a_warp",
    "Q_SM": "sub_partitions_per_multiprocessor",
    "Z_U": "shared_words_per_unit",
    "Z_0": "shared_words_of_the_system_per_block",
    "O_W": "operations_per_word",
    "F_SM": "words_in_flight_per_multiprocessor",
}

_RELATIONS = {Relation.GE: "CF_AT_MOST", Relation.GT: "CF_LESS", Relation.EQ: "CF_EQUAL"}


class Fact(Struct, frozen=True):
    """A condition ``needed relation available``; the sides are C text, ``kind`` is one of the header's."""

    text: str
    kind: str
    needed: str
    relation: str
    available: str
    powers: tuple[tuple[str, int], ...] = ()
    """The symbols that it reads, each with its highest power."""


class Case(Struct, frozen=True):
    """A leaf, or with a negative number a dead end: the positions of its conditions."""

    leaf: int
    facts: tuple[int, ...]
    comment: str


class Guard(Struct, frozen=True):
    """A condition that comes before the case discussion; ``condition`` is C text, 0 where it is violated."""

    text: str
    condition: str
    needed: str
    available: str


class Names(Struct, frozen=True):
    """The names of the generated functions' own parameters, chosen so that they hide no name of the user."""

    machine: str
    params: str
    choice: str
    wanted: str
    feasible: str
    leaf: str
    stream: str
    why: str
    device: str
    chosen: str


class Dispatch(Struct, frozen=True):
    """Everything that selection for one region is printed from."""

    name: str
    params_type: str
    sizes: tuple[Argument, ...]
    """Integers that the caller of the selection passes, in order of definition."""
    program: tuple[Argument, ...]
    """The program parameters that this region reads, out of those of the function."""
    machine: tuple[tuple[str, str], ...]
    """Symbols that occur, with their fields."""
    smallest: tuple[Guard, ...]
    """Program parameters are at least 1; what gives dimensions or occurs in a system is not negative."""
    preconditions: tuple[Guard, ...]
    facts: tuple[Fact, ...]
    cases: tuple[Case, ...]
    dead_ends: tuple[str, ...]
    explanations: tuple[tuple[int, str], ...]
    names: Names
    quotients: tuple[tuple[str, str, str], ...]
    """Quotients that facts read: name and value as C text, and what it is, in order."""


def names_beside(taken: Iterable[str]) -> Names:
    used = frozenset(taken)
    return Names(*(fresh(field, used) for field in names_of(Names)))


def dispatch(region: RegionPlan, host: Interface, language: Language = C) -> Dispatch:
    """The view of a region, its texts in a language.

    ValueError for a system over symbols that nothing gives a value.
    """
    nest = region.nest
    names = {s.name for s in nest.scalars}
    given = frozenset(a.name for a in host.program)
    bounded = bounded_names(region, given)
    program = tuple(a for a in host.program if a.name in names)
    chosen = selection_sizes(region, given)
    sizes = tuple(Argument(s.name, s.type) for s in chosen)
    known = {a.name: a.type for a in (*sizes, *program)}
    _check_symbols(region, known)
    order = reading_order(nest)
    own = {quotient.symbol: f"cf_quotient{number}" for number, quotient in enumerate(region.quotients)}
    defined = frozenset(atom for quotient in region.quotients for atom in quotient.definition)

    def conditions(system: System) -> tuple[Atom, ...]:
        return tuple(atom for atom in decided(system, given) if atom not in defined)

    atoms = tuple(dict.fromkeys(atom for system in region.systems for atom in conditions(system)))
    cases = tuple(
        Case(number, tuple(atoms.index(atom) for atom in conditions(system)), comment)
        for number, system, comment in _numbered(region)
    )
    read = _read(atoms, region.quotients)
    return Dispatch(
        name=region.name,
        params_type=f"{host.name}_params",
        sizes=sizes,
        program=program,
        machine=tuple((symbol, field) for symbol, field in MACHINE_FIELDS.items() if symbol in read),
        smallest=tuple(_at_least(a.name, 1, language) for a in program)
        + tuple(
            as_size(s.name, s.type, language)
            for s in chosen
            if (s.role is Role.DATA or s.name in bounded) and not is_size(s.type)
        ),
        preconditions=tuple(
            replace(guard(read, known, language), text=print_expr(p))
            for p in nest.preconditions
            for read in (over_arguments(nest, p, known),)
            if is_wide(read, known)
        ),
        facts=tuple(fact(atom, order, own, language) for atom in atoms),
        cases=cases,
        dead_ends=tuple(_system_text(system, order) for system in region.dead_ends),
        explanations=(
            *((leaf.index, _explanation(leaf, order)) for leaf in region.leaves),
            *(line for tile in region.tilings for line in _tile_explanations(tile, order)),
        ),
        # What decides about several sweeps at once also reads scalars of the loop around them.
        names=names_beside((*host.program_names, *(s.name for each in region.nests for s in each.scalars))),
        quotients=tuple(quotient_text(q, own, language) for q in region.quotients if q.symbol in read),
    )


def _read(atoms: Iterable[Atom], quotients: Sequence[Quotient]) -> frozenset[str]:
    """The symbols that conditions read, and those that the quotients among them are made of."""
    read = {symbol for atom in atoms for symbol in atom.symbols}
    for quotient in reversed(quotients):
        if quotient.symbol in read:
            read |= {*quotient.above.symbols, *quotient.below.symbols}
    return frozenset(read)


def quotient_text(quotient: Quotient, own: Mapping[str, str], language: Language = C) -> tuple[str, str, str]:
    """Return the variable that a quotient is computed into, its value, and what it is."""
    named = {symbol: Polynomial.symbol(name) for symbol, name in own.items()}
    above, below = (difference(side.substitute(named), language) for side in (quotient.above, quotient.below))
    return (
        own[quotient.symbol],
        f"{'cf_up' if quotient.rounds_up else 'cf_down'}({above}, {below})",
        quotient.symbol,
    )


def guard(condition: Expr, types: Mapping[str, ScalarType], language: Language = C) -> Guard:
    """An assertion as a guard; of a comparison, the side that must be less is what is needed."""
    needed, available = language.integer(0), language.integer(0)
    match condition:
        case Binary(operator="<" | "<=" | "==", left=left, right=right):
            needed, available = wide(left, types, language), wide(right, types, language)
        case Binary(operator=">" | ">=", left=left, right=right):
            needed, available = wide(right, types, language), wide(left, types, language)
        case _:
            pass
    return Guard(print_expr(condition), wide(condition, types, language), needed, available)


def _check_symbols(region: RegionPlan, known: Iterable[str]) -> None:
    made = {quotient.symbol for quotient in region.quotients}
    symbols = {
        name
        for system in region.systems
        for symbol in system.symbols
        if symbol not in made
        for name in identifiers(symbol)
    }
    scalars = {s.name for s in region.nest.scalars}
    unknown = sorted(symbols - scalars - set(MACHINE_FIELDS) | (shape_names(region) - set(known)))
    if unknown:
        raise ValueError(
            f"the discussion of {region.name} reads {', '.join(unknown)}, which nothing gives a value"
        )


def fact(atom: Atom, order: Sequence[str], own: Mapping[str, str], language: Language = C) -> Fact:
    """An atom as a condition of the discussion; ``own`` names the variables that quotients are computed into."""
    needed, available = atom.positive_sides()
    named = {symbol: Polynomial.symbol(name) for symbol, name in own.items()}
    if any(name in MACHINE_PARAMETERS for name in needed.symbols):
        kind = "CF_SCARCE"
    elif any(name in MACHINE_PARAMETERS for name in available.symbols):
        kind = "CF_ROOM"
    else:
        kind = "CF_RULE"
    text = atom.format(order, tuple(MACHINE_PARAMETERS))
    left, right = (count(side.substitute(named), language) for side in (needed, available))
    powers = tuple((symbol, atom.polynomial.degree(symbol)) for symbol in atom.symbols)
    return Fact(text, kind, left, _RELATIONS[atom.relation], right, powers)


def is_size(type: ScalarType) -> bool:
    """Whether every value of an integer type can be a size: not negative, and no more than ``long`` holds."""
    return type.lowest == 0 and ScalarType.LONG.holds(type)


def as_size(name: str, type: ScalarType, language: Language = C) -> Guard:
    """Return the guard under which a scalar, whose type has other values, too, is a size."""
    if type.is_signed:
        return _at_least(name, 0, language)
    text, variable = f"{name} <= {ScalarType.LONG.highest}", language.variable(name)
    return Guard(text, f"{variable} <= CF_LARGEST", f"cf_shown({variable})", "CF_LARGEST")


def _at_least(name: str, bound: int, language: Language) -> Guard:
    variable, least = language.variable(name), language.integer(bound)
    return Guard(f"{name} >= {bound}", f"{variable} >= {least}", least, variable)


def _numbered(region: RegionPlan) -> tuple[tuple[int, System, str], ...]:
    leaves = tuple(
        (leaf.index, leaf.system, f"leaf {leaf.index}: {leaf.kernel.name}") for leaf in region.leaves
    )
    ends = tuple((-1 - k, system, "no variant") for k, system in enumerate(region.dead_ends))
    return leaves + ends


def _system_text(system: System, order: Sequence[str]) -> str:
    return ", ".join(system.format(order, tuple(MACHINE_PARAMETERS))) or "always"


def _explanation(leaf: LeafPlan, order: Sequence[str]) -> str:
    return "; ".join((_system_text(leaf.system, order), *leaf.decisions))


def _tile_explanations(tile: TilePlan, order: Sequence[str]) -> tuple[tuple[int, str], ...]:
    system = _system_text(tile.system, (*order, *tile.kernel.constants))
    found: list[tuple[int, str]] = []
    for number, instance in enumerate(tile.instances):
        sizes = ", ".join(f"{name} = {size}" for name, size in tile.sizes(instance).items())
        found.append((tile.first + number, f"{system}; {tile.kind}: {sizes}"))
    return tuple(found)
