"""Behind `tree --region`: where in the space of the parameters which leaf runs.

In: a compilation, a device, one or two names, values of other parameters, ranges.  Out: for every region that has
these parameters its partition, as text, JSON or a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from comprehensive.descriptions import describe_leaf
from comprehensive.driver import Compilation
from comprehensive.loops.ir import Nest, Variant
from comprehensive.machine.device import Device
from comprehensive.optimize.partition import Ranges, partition, symbols_of
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
        (nest, tree)
        for nest, tree in zip(compilation.nests, compilation.trees, strict=True)
        if {*symbols} <= {*_parameters(nest), *limits, *limits_to_give((tree,))}
    ]
    if not pairs:
        raise value_error(
            "CF0701",
            f"no region has the integer parameters {' and '.join(symbols)}",
            "name parameters of one region, or limits of the device",
        )
    known = {name: value for name, value in {**device.parameters(), **values}.items() if name not in symbols}
    _demand_values([tree for _, tree in pairs], {*symbols, *known})
    return tuple(
        Titled(f"{nest.name} on {device.name}", partition(tree, symbols, known, ranges, describe_leaf))
        for nest, tree in pairs
    )


def _parameters(nest: Nest) -> tuple[str, ...]:
    return tuple(s.name for s in nest.scalars if s.type.is_integer)


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
