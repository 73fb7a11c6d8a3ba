"""The map of `tree --region`: where in the space of the parameters which leaf runs.

In: a compilation, a device, one or two names, values of other parameters, ranges.  Out: for every region that has
these parameters its partition, as text, JSON or a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from comprehensive.algebra import System
from comprehensive.asserts import Asserts, regions_of
from comprehensive.descriptions import describe_leaf
from comprehensive.driver import Compilation
from comprehensive.loops.ir import Nest, Variant
from comprehensive.machine.device import Device
from comprehensive.optimize.partition import PartitionCase, Ranges, partition, symbols_of
from comprehensive.optimize.tree import Tree
from comprehensive.report.partition_json import partition_document
from comprehensive.report.partition_svg import partitions_svg
from comprehensive.report.partition_text import partition_text
from comprehensive.report.partition_words import Titled
from comprehensive.values import Rational, demand_known, limits_to_give, value_error


def divide(
    compilation: Compilation,
    device: Device,
    symbols: Sequence[str],
    values: Mapping[str, Rational],
    ranges: Ranges,
) -> tuple[Titled, ...]:
    """The partition of every region that has the given parameters; `values` may also replace limits of the device.

    Raises CommandLineError for a name that no region knows (CF0701), a value that makes no sense (CF0702, CF0704), and
    parameters without a value (CF0706).
    """
    limits = tuple(device.parameters())
    demand_known(compilation, {**dict.fromkeys(symbols, 1), **values}, limits)
    pairs = [
        (nest, tree, asserts)
        for nest, tree, asserts in regions_of(compilation)
        if {*symbols}
        <= {*(s.name for s in nest.scalars if s.type.is_integer), *limits, *limits_to_give((tree,))}
    ]
    if not pairs:
        raise value_error(
            "CF0701",
            f"no region has the integer parameters {' and '.join(symbols)}",
            "name parameters of one region, or limits of the device",
        )
    known = {name: value for name, value in {**device.parameters(), **values}.items() if name not in symbols}
    _demand_values([tree for _, tree, _ in pairs], {*symbols, *known})
    return tuple(
        divide_region(nest, tree, asserts, device, symbols, known, ranges) for nest, tree, asserts in pairs
    )


def divide_region(
    nest: Nest,
    tree: Tree[Variant],
    asserts: Asserts,
    device: Device,
    symbols: Sequence[str],
    known: Mapping[str, Rational],
    ranges: Ranges,
) -> Titled:
    """Return the partition of one region; ``known`` has values of all else, limits of the device among them."""
    refusals, unchecked = _refusals(asserts, {*symbols}, known)
    divided = partition(tree, symbols, known, ranges, describe_leaf, refusals)
    return Titled(f"{nest.name} on {device.name}", divided, unchecked)


def _refusals(
    asserts: Asserts, symbols: set[str], known: Mapping[str, Rational]
) -> tuple[tuple[PartitionCase, ...], tuple[str, ...]]:
    """Return the cases where asserts refuse a call, and quotes of the asserts that no case stands for.

    Each quote says why.
    """
    cases: list[PartitionCase] = []
    unchecked = list(asserts.unchecked)
    for each in asserts.checked:
        missing = [name for name in each.names if name not in known and name not in symbols]
        refused = None
        if not missing:
            # Boundaries are named by their parameters where the assert is made of polynomials before values are put in.
            symbolic = None if symbols.isdisjoint(each.names) else each.alternatives({}, wanted=False)
            refused = each.alternatives(known, wanted=False) if symbolic is None else symbolic
        if refused is None:
            because = f"depends on {', '.join(missing)}" if missing else "is made of no polynomials"
            unchecked.append(f"{each.quoted}, which {because}")
        else:
            cases += [
                PartitionCase("assert", each.line, System((), atoms), f"refused by {each.quoted}")
                for atoms in refused
            ]
    return tuple(cases), tuple(unchecked)


def _demand_values(trees: Sequence[Tree[Variant]], known: set[str]) -> None:
    missing = sorted({name for tree in trees for name in symbols_of(tree)} - known)
    if missing:
        options = " ".join(f"-D {name}=..." for name in missing)
        raise value_error(
            "CF0706", f"the choice also depends on {', '.join(missing)}", f"give values: {options}"
        )


def to_text(found: Sequence[Titled]) -> str:
    """Character maps and critical values, for a terminal."""
    return "\n".join(map(partition_text, found))


def to_json(found: Sequence[Titled]) -> dict[str, Any]:
    """The same as one JSON document."""
    return {"schema": 1, "regions": [partition_document(each) for each in found]}


def to_svg(found: Sequence[Titled]) -> str:
    """The same as one self-contained picture."""
    return partitions_svg(found)
