"""The planes of a page: a region, its tree and values of all else in, pictures of who runs where out."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from comprehensive.algebra.regions import Plane
from comprehensive.asserts import Asserts
from comprehensive.loops.ir import Role, Variant
from comprehensive.machine.device import Device
from comprehensive.optimize.partition import symbols_of
from comprehensive.optimize.tree import Tree
from comprehensive.parameter_space import divide_region
from comprehensive.plan.plan import RegionPlan
from comprehensive.report.page import PlaneView
from comprehensive.report.partition_svg import PLANE_FRAME, partitions_svg
from comprehensive.report.partition_words import Titled
from comprehensive.report.scale import Scale
from comprehensive.values import Rational
from comprehensive.watch import UNWATCHED, Watch

MOST_PLANES = 3
NO_TIME = "there was no time left"


def planes_of(
    region: RegionPlan,
    tree: Tree[Variant],
    asserts: Asserts,
    device: Device,
    values: Mapping[str, Rational],
    watch: Watch = UNWATCHED,
) -> tuple[tuple[PlaneView, ...], str]:
    """Return the planes of a region, and why there are no others, or none.

    They are of its program parameters in pairs, or of one and a limit.
    """
    if tree.open:
        return (), "the tree is not decided to its end"
    if tree.quotients:
        return (), "values that are rounded (occupancy, latency hiding) do not divide a plane by polynomials"
    spoken = symbols_of(tree)
    everything = {**device.parameters(), **values}
    missing = [name for name in spoken if name not in everything]
    if missing:
        return (), f"the choice also depends on {', '.join(missing)}, which host code computes"
    program = [s.name for s in region.nest.scalars if s.role is Role.PROGRAM and s.name in spoken]
    pairs = [*combinations(program, 2)][:MOST_PLANES] or _with_a_limit(program, tree)
    planes: list[PlaneView] = []
    for pair in pairs:
        if watch.is_over():
            return tuple(planes), NO_TIME
        known = {name: value for name, value in everything.items() if name not in pair}
        planes.append(_view(divide_region(region.nest, tree, asserts, device, pair, known, {}), pair))
    return tuple(planes), "" if planes else "the choice depends on fewer than two parameters and limits"


def _with_a_limit(program: Sequence[str], tree: Tree[Variant]) -> list[tuple[str, str]]:
    spoken = symbols_of(tree)
    limits = [name for name in ("Z_B", *tree.limits) if name in spoken]
    names = [*program, *dict.fromkeys(limits)]
    return [(names[0], names[1])] if len(names) > 1 else []


def _view(titled: Titled, pair: tuple[str, str]) -> PlaneView:
    partition = titled.partition
    assert isinstance(partition.divided, Plane)
    box, picture = partition.divided.box, partitions_svg((titled,))
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', picture)
    assert size is not None
    scales = Scale(box.x_low, box.x_high), Scale(box.y_low, box.y_high)
    return PlaneView(
        pair,
        titled.title,
        "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode(),
        int(size[1]),
        int(size[2]),
        PLANE_FRAME,
        tuple((float(scale.low), float(scale.high), scale.is_logarithmic) for scale in scales),
        tuple((name, str(value)) for name, value in partition.values.items()),
        titled.unchecked,
    )
