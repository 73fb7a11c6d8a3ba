"""The parameters of `tree --leaf`: those with which a leaf may run, as loops over them or as a list.

In: a compilation, the number of a leaf, values, a device or domains of parameters.  Out: for every region with that
leaf the loops, or the feasible points::

    for (B = 1; B <= T_B; B++)
      for (s = 1; 2*B*s <= Z_B - 2; s++)
        point(B, s);
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from comprehensive.algebra import (
    Atom,
    Points,
    System,
    Triangular,
    as_loops,
    box,
    divisors,
    feasible,
    is_integer_symbol,
    multiples,
    powers_of_two,
    triangularize,
)
from comprehensive.algebra.domains import Domain
from comprehensive.asserts import Assert, Asserts, not_checked, regions_of
from comprehensive.driver import Compilation
from comprehensive.loops.ir import Nest, Role, Variant
from comprehensive.machine.device import Device
from comprehensive.optimize.tree import Leaf, Tree
from comprehensive.values import Rational, demand_values, value_error

DOMAINS = "LOW:HIGH, powers_of_two:LIMIT, multiples:STEP:LIMIT or divisors:NUMBER"


class LeafLoops(Struct, frozen=True):
    """Loops over the parameters of one leaf; what they do not bound is in `description.uncovered`."""

    region: str
    leaf: int
    conditions: tuple[str, ...]
    values: Mapping[str, Rational]
    description: Triangular
    checks: tuple[str, ...] = ()
    """Asserts that are no bounds, as conditions of C that the loops test at each point."""
    unchecked: tuple[str, ...] = ()
    """Asserts, quoted, of which the loops say nothing."""


class LeafPoints(Struct, frozen=True):
    """The points of given domains with which one leaf runs, at values of all else."""

    region: str
    leaf: int
    conditions: tuple[str, ...]
    values: Mapping[str, Rational]
    points: Points
    unchecked: tuple[str, ...] = ()
    """Asserts, quoted, that the points were not held to."""


def domain(text: str) -> Domain:
    """Return the values of a domain: `1:64`, `powers_of_two:1024`, `multiples:32:1024` or `divisors:96`.

    ValueError where the text is none of these.
    """
    found = re.fullmatch(r"(?:([a-z_]+):)?(\d{1,18})(?::(\d{1,18}))?", text, re.ASCII)
    values: Domain = ()
    match found and (found[1], int(found[2]), None if found[3] is None else int(found[3])):
        case (None, low, int(high)):
            values = box(low, high)
        case ("powers_of_two", limit, None):
            values = powers_of_two(limit)
        case ("multiples", step, int(limit)) if step > 0:
            values = multiples(step, limit)
        case ("divisors", number, None) if 0 < number <= 10**12:
            values = divisors(number)
        case _:
            raise ValueError(f"expected {DOMAINS}")
    if not values:
        raise ValueError("there is no such value")
    return values


def leaf_loops(
    compilation: Compilation, leaf: int, values: Mapping[str, Rational], device: Device | None = None
) -> tuple[LeafLoops, ...]:
    """Loops over the program parameters of a leaf that have no value, in each region with such a leaf.

    Limits of the machine stay symbols without a device.  Raises CommandLineError as of `explain`.
    """
    limits = {} if device is None else {**device.parameters()}
    _demand(compilation, values)
    known = {**limits, **values}
    found: list[LeafLoops] = []
    for nest, tree, chosen, asserts in _leaves(compilation, leaf):
        system = _system(tree, chosen, asserts.atoms(values))
        read = {name for each in asserts.checked for name in each.names}
        used = {name: value for name, value in known.items() if name in system.symbols or name in read}
        put_in = System((), tuple(atom.substitute(used) for atom in system.all_atoms))
        others = [each for each in asserts.checked if not _is_conjunction(each, values)]
        spoken = {*put_in.symbols, *(name for each in others for name in each.names)}
        order = [name for name in _program_parameters(nest) if name in spoken and name not in used]
        description = triangularize(put_in, order)
        checks = tuple(each.with_numbers(values) for each in others)
        conditions = _conditions(tree, chosen, asserts)
        found.append(LeafLoops(nest.name, leaf, conditions, used, description, checks, asserts.unchecked))
    return tuple(found)


def leaf_points(
    compilation: Compilation,
    leaf: int,
    values: Mapping[str, Rational],
    device: Device,
    domains: Mapping[str, Domain],
) -> tuple[LeafPoints, ...]:
    """The feasible points of the domains, in each region with such a leaf and such parameters.

    Raises CommandLineError as of `explain`, for domains of what is no integer (CF0704), and where the leaf depends on
    what has neither value nor domain (CF0706).
    """
    _demand(compilation, {**dict.fromkeys(domains, 1), **values})
    known = {**device.parameters(), **values}
    pairs = [
        found
        for found in _leaves(compilation, leaf)
        if {*domains} <= {*_integers(found[0]), *device.parameters()}
    ]
    if not pairs:
        names = " and ".join(domains)
        raise value_error(
            "CF0701",
            f"no region with a leaf {leaf} has the integer parameters {names}",
            "name parameters of one region, or limits of the device",
        )
    found: list[LeafPoints] = []
    for nest, tree, chosen, asserts in pairs:
        given = {name: value for name, value in known.items() if name not in domains}
        open_names = {name for each in asserts.checked for name in each.names} - {*given, *domains}
        system = _system(
            tree,
            chosen,
            tuple(atom for atom in asserts.atoms(given) if open_names.isdisjoint(atom.symbols)),
        )
        used = {name: known[name] for name in system.symbols if name in known and name not in domains}
        missing = [name for name in system.symbols if name not in used and name not in domains]
        if missing:
            options = " ".join(f"--points {name}=1:1024" for name in missing)
            raise value_error(
                "CF0706",
                f"leaf {leaf} of {nest.name} also depends on {', '.join(missing)}",
                f"give values with -D, or domains as in {options}",
            )
        used |= {name: given[name] for each in asserts.checked for name in each.names if name in given}
        tested = [each for each in asserts.checked if open_names.isdisjoint(each.names)]
        others = [each for each in tested if not _is_conjunction(each, given)]
        points = feasible(system, domains, {name: used[name] for name in used if name in system.symbols})
        points = (
            points.where(
                lambda point, given=given, others=others: all(
                    each.holds({**given, **point}) for each in others
                )
            )
            if others
            else points
        )
        unchecked = (
            *asserts.unchecked,
            *(
                f"{each.quoted}, which depends on {', '.join(n for n in each.names if n in open_names)}"
                for each in asserts.checked
                if each not in tested
            ),
        )
        conditions = _conditions(tree, chosen, asserts)
        found.append(LeafPoints(nest.name, leaf, conditions, used, points, unchecked))
    return tuple(found)


def _demand(compilation: Compilation, values: Mapping[str, Rational]) -> None:
    limits = tuple(dict.fromkeys(name for tree in compilation.trees for name in tree.limits))
    demand_values(compilation, values, limits)


def _leaves(compilation: Compilation, leaf: int) -> list[tuple[Nest, Tree[Variant], Leaf[Variant], Asserts]]:
    found = [
        (nest, tree, chosen, asserts)
        for nest, tree, asserts in regions_of(compilation)
        for chosen in tree.leaves
        if chosen.index == leaf
    ]
    if not found:
        raise value_error("CF0703", f"there is no leaf {leaf}", "`comprehensive tree` lists the leaves")
    return found


def _system(tree: Tree[Variant], leaf: Leaf[Variant], asserted: tuple[Atom, ...]) -> System:
    """The conditions of a leaf and what is asserted, with the assumptions on what they speak of."""
    atoms = (*leaf.simplified.atoms, *asserted)
    used = {name for atom in atoms for name in atom.symbols}
    return System(tuple(atom for atom in tree.assumptions if used.issuperset(atom.symbols)), atoms)


def _conditions(tree: Tree[Variant], leaf: Leaf[Variant], asserts: Asserts) -> tuple[str, ...]:
    return (
        *leaf.simplified.format(tree.order, tree.limits),
        *(each.quoted for each in asserts.checked),
    )


def _is_conjunction(demanded: Assert, values: Mapping[str, Rational]) -> bool:
    """Return whether the assert is one conjunction, so that all of it is in the system."""
    found = demanded.alternatives(values)
    return found is not None and len(found) == 1


def _program_parameters(nest: Nest) -> tuple[str, ...]:
    return tuple(s.name for s in nest.scalars if s.role is Role.PROGRAM)


def _integers(nest: Nest) -> tuple[str, ...]:
    return tuple(s.name for s in nest.scalars if s.type.is_integer and is_integer_symbol(s.name))


def loops_text(found: tuple[LeafLoops, ...]) -> str:
    """Return the loops in the notation of C, with a heading for each region."""
    return "\n".join(
        _heading(each.region, each.leaf, each.conditions, each.values)
        + as_loops(each.description, _body(each.checks))
        + "".join(f"{line}\n" for line in not_checked(each.unchecked))
        for each in found
    )


def points_text(found: tuple[LeafPoints, ...]) -> str:
    """A line for each point, below the names; a heading each."""
    parts: list[str] = []
    for each in found:
        names, rows = each.points.names, [tuple(map(str, point)) for point in each.points]
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
            for row in (names, *rows)
        ]
        count = f"{len(rows)} point{'' if len(rows) == 1 else 's'}"
        heading = _heading(each.region, each.leaf, each.conditions, each.values)
        parts.append(heading + "\n".join([*lines, count, *not_checked(each.unchecked)]) + "\n")
    return "\n".join(parts)


def _body(checks: tuple[str, ...]) -> str:
    """Return what the loops call at a point, behind the asserts that no bound says."""
    return "".join(f"if ({check}) " for check in checks) + "point"


def _heading(region: str, leaf: int, conditions: tuple[str, ...], values: Mapping[str, Rational]) -> str:
    shown = f"; {', '.join(f'{name} = {value}' for name, value in values.items())}" if values else ""
    return f"{region}, leaf {leaf} where {', '.join(conditions) or 'always'}{shown}\n"


def loops_json(found: tuple[LeafLoops, ...]) -> dict[str, Any]:
    """The same as one JSON document, `specs/schema/loops.json`."""
    return {
        "schema": 1,
        "regions": [
            {
                **_subject(each.region, each.leaf, each.conditions, each.values),
                "order": list(each.description.order),
                "parameters": list(each.description.parameters),
                "pieces": [
                    {
                        "guard": [str(atom) for atom in piece.guard],
                        "levels": [
                            {
                                "name": level.name,
                                "lower": [str(limit.atom) for limit in level.lower],
                                "upper": [str(limit.atom) for limit in level.upper],
                                "checks": [str(atom) for atom in level.checks],
                            }
                            for level in piece.levels
                        ],
                    }
                    for piece in each.description.pieces
                ],
                "uncovered": [str(gap) for gap in each.description.uncovered],
                "checks": list(each.checks),
                "unchecked": list(each.unchecked),
                "loops": as_loops(each.description, _body(each.checks)),
            }
            for each in found
        ],
    }


def points_json(found: tuple[LeafPoints, ...]) -> dict[str, Any]:
    """The same as one JSON document, `specs/schema/points.json`."""
    return {
        "schema": 1,
        "regions": [
            {
                **_subject(each.region, each.leaf, each.conditions, each.values),
                "names": list(each.points.names),
                "points": [list(point) for point in each.points],
                "unchecked": list(each.unchecked),
            }
            for each in found
        ],
    }


def _subject(
    region: str, leaf: int, conditions: tuple[str, ...], values: Mapping[str, Rational]
) -> dict[str, Any]:
    return {
        "name": region,
        "leaf": leaf,
        "conditions": list(conditions),
        "values": {k: v if isinstance(v, int) else str(v) for k, v in values.items()},
    }
