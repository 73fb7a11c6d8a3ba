"""The launches of ``picture`` and ``explain --accesses``: the kernel of each region that is looked at, and its numbers.

In: a compilation, a device, values of some parameters, perhaps the number of a leaf or tile.  Out: a :class:`Case` for
each region.  Where everything has a value it has a launch; else its symbols stay symbols.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.asserts import asserts_of
from comprehensive.driver import Compilation
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.interpreter import scalar_values
from comprehensive.loops.ir import Nest, Role
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.model.choice import leaf_candidate
from comprehensive.model.defaults import left_to_launcher
from comprehensive.model.launched import Launched, launched
from comprehensive.model.warp_accesses import lines_of
from comprehensive.plan.plan import FunctionPlan, LeafPlan, RegionPlan, TilePlan
from comprehensive.values import Rational, demand_values, value_error


class Case(Struct, frozen=True):
    """A leaf of a region, or one of its tiles with the sizes of an instance.

    ``launch`` is None while scalars are ``missing``; ``values`` are those that are known.
    """

    region: str
    name: str
    kernel: Kernel
    nest: Nest
    leaf: LeafPlan | None
    tile: TilePlan | None
    sizes: Mapping[str, int]
    values: Mapping[str, int]
    missing: tuple[str, ...]
    launch: Launched | None

    @property
    def together(self) -> int:
        """The number of elements that a tile accesses together (vector width) on aligned data; 0 where it has no
        choice."""
        return max(self.kernel.together, default=0)


def cases(
    compilation: Compilation,
    device: Device,
    values: Mapping[str, Rational],
    number: int | None = None,
    line: int | None = None,
) -> tuple[Case, ...]:
    """The leaf that runs in each region, or that with the ``number``; without all values the first one.

    With a ``line`` only regions are looked at that access memory there.  Program parameters are those that the launcher
    takes where none is given and everything else is.  Raises CommandLineError for values that make no sense (as
    `demand_values`), a number that no region has (CF0703), where no leaf runs (CF0740), and for a line of no region
    (CF0742), which names those that are.
    """
    demand_values(compilation, values, MACHINE_PARAMETERS)
    if line is not None:
        _demand_line(compilation, line)
    found: list[Case] = []
    asserted = iter(asserts_of(compilation))
    for function in compilation.plan.functions:
        for region in function.regions:
            asserts = next(asserted)
            if number is not None and not _has(region, number):
                continue
            if line is not None and line not in _lines(region.nest):
                continue
            known, missing = _values(function, region, device, values)
            broken = [] if missing else [a.quoted for a in asserts.checked if a.holds(known) is False]
            if broken:
                raise value_error(
                    "CF0740",
                    f"no kernel of '{region.name}' runs: {broken[0]} does not hold",
                    "give other values",
                )
            found.append(_case(region, device, known, missing, number))
    if not found:
        raise value_error("CF0703", f"there is no leaf {number}", "`comprehensive tree` lists the leaves")
    return tuple(found)


def _demand_line(compilation: Compilation, line: int) -> None:
    there = sorted({each for nest in compilation.nests for each in _lines(nest)})
    if line not in there:
        raise value_error(
            "CF0742",
            f"line {line} of {compilation.source.path} accesses no memory of a region",
            f"lines that do are {', '.join(map(str, there))}",
        )


def _lines(nest: Nest) -> frozenset[int]:
    return frozenset[int]().union(*lines_of(nest).values())


def _has(region: RegionPlan, number: int) -> bool:
    return number in range(len(region.leaves)) or region.tiling_of(number) is not None


def _values(
    function: FunctionPlan, region: RegionPlan, device: Device, values: Mapping[str, Rational]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """All integer scalars of a region that are known, and the names of those that have to be given."""
    scalars = [s for s in region.nest.scalars if s.type.is_integer]
    given = {s.name: int(values.get(s.name, 1)) for s in scalars if s.name in values or s.pointer is not None}
    missing = tuple(s.name for s in scalars if s.value is None and s.name not in given)
    if missing and all(s.role is Role.PROGRAM for s in scalars if s.name in missing):
        left = left_to_launcher(function, device.machine(), values)
        if left is not None and left.chosen is not None:
            given |= {name: value for name, value in left.parameters.items() if name in missing}
            missing = ()
    if missing:
        return given, missing
    others = {s.name: 1.0 for s in region.nest.scalars if not s.type.is_integer}
    try:
        computed = scalar_values(region.nest, {**others, **given})
    except (ValueError, UndefinedBehaviour) as error:
        raise value_error(
            "CF0705", f"host code cannot compute its scalars: {error}", "give other values"
        ) from None
    return {s.name: int(computed[s.name]) for s in scalars}, ()


def _case(
    region: RegionPlan,
    device: Device,
    known: Mapping[str, int],
    missing: tuple[str, ...],
    number: int | None,
) -> Case:
    tiling = None if number is None else region.tiling_of(number)
    if tiling is not None and number is not None:
        plan, sizes = tiling
        launch = None if missing else launched(plan.kernel, plan.nest, known, sizes)
        name = f"{plan.kind} {region.tile_of(number)}"
        return Case(region.name, name, plan.kernel, plan.nest, None, plan, sizes, known, missing, launch)
    if number is None and not missing:
        runs = leaf_candidate(region, device.machine(), known)
        if runs is None:
            raise value_error(
                "CF0740",
                f"no leaf of '{region.name}' runs on {device.name} at these values",
                "`comprehensive explain` says why not; --leaf N shows a leaf all the same",
            )
        number = runs.number
    leaf = region.leaves[number or 0]
    launch = None if missing else launched(leaf.kernel, leaf.nest, known, {})
    return Case(
        region.name, f"leaf {leaf.index}", leaf.kernel, leaf.nest, leaf, None, {}, known, missing, launch
    )
