"""The pictures of ``picture`` and ``explain --accesses``: what warps touch and what blocks hold, also as tables.

In: a compilation, a device, values of parameters.  Out: SVG, text or a JSON document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from msgspec import Struct

from comprehensive.counters.work import UncountableError
from comprehensive.driver import Compilation
from comprehensive.launches import Case, cases
from comprehensive.loops.access import names_read
from comprehensive.loops.reading_order import reading_order
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS, WARP_THREADS
from comprehensive.metafork.ast import Expr
from comprehensive.model.access_rows import rows
from comprehensive.model.block_shape import block_shape, with_sweeps
from comprehensive.model.staged_copies import staged_copies
from comprehensive.model.values import wide_value
from comprehensive.records import replace
from comprehensive.report.accesses import Accesses
from comprehensive.report.tile_svg import tiles_svg
from comprehensive.report.tiles import Drawn
from comprehensive.values import Rational, value_error


class Place(Struct, frozen=True):
    """The warp that is looked at: its number in the block, and the block's along x, y and z."""

    block: tuple[int, ...] = (0, 0, 0)
    warp: int = 0


def accesses_of(
    compilation: Compilation,
    device: Device,
    values: Mapping[str, Rational],
    number: int | None = None,
    place: Place | None = None,
    line: int | None = None,
) -> tuple[Accesses, ...]:
    """Return the accesses of the kernel that runs in each region, or of that with the ``number``.

    With a ``line`` those of regions that access memory there.  CommandLineError as of `cases`, and for a block or warp
    that the launch does not have (CF0741).
    """
    found = cases(compilation, device, values, number, line)
    return tuple(_accesses(case, place or Place()) for case in found)


def _accesses(case: Case, place: Place) -> Accesses:
    block = (*place.block, 0, 0)[:3]
    found = Accesses(
        case.region,
        case.name,
        tuple(case.values.items()),
        case.missing,
        block,
        place.warp,
        (),
        reading_order(case.nest),
        copies=case.kernel.has_copies,
    )
    if case.launch is not None:
        _demand_place(case, block, place.warp)
    try:
        table = rows(case.kernel, case.nest, case.launch, tuple(reversed(block)), place.warp, case.together)
    except UncountableError:
        names = ", ".join(case.missing)
        return replace(found, because=f"a kernel over tiles has no strides as symbols: give {names} a value")
    return replace(found, rows=table)


def _demand_place(case: Case, block: Sequence[int], warp: int) -> None:
    launch = case.launch
    assert launch is not None
    grid = tuple(reversed(launch.grid))
    if any(not 0 <= at < extent for at, extent in zip(block, grid, strict=True)):
        shown = " x ".join(map(str, grid))
        raise value_error(
            "CF0741",
            f"{case.region} {case.name} has no block {','.join(map(str, block))} at these values: its grid is {shown}",
            "name a block of the grid, x first",
        )
    warps = ceil(launch.threads / WARP_THREADS)
    if warp >= warps:
        raise value_error(
            "CF0741",
            f"a block of {case.region} {case.name} has {launch.threads} threads, and no warp {warp}",
            f"give --warp a value below {warps}",
        )


def accesses_at(
    compilation: Compilation, found: Sequence[Accesses], line: int
) -> tuple[tuple[Accesses, ...], str]:
    """Return the accesses for one line of the source, and the text of the line."""
    kept = tuple(
        replace(each, rows=tuple(row for row in each.rows if line in row.site.lines)) for each in found
    )
    text = compilation.source.text.splitlines()[line - 1].strip()
    return kept, f"{compilation.plan.source_path}:{line}: {text}"


def tiles_of(
    compilation: Compilation, device: Device, values: Mapping[str, Rational], number: int | None = None
) -> tuple[Drawn, ...]:
    """Return what a block of each region holds. CommandLineError as of `cases`."""
    return tuple(_drawn(case, device) for case in cases(compilation, device, values, number))


def tiles_picture(compilation: Compilation, found: Sequence[Drawn]) -> str:
    """The same as one picture."""
    return tiles_svg(found, f"{compilation.plan.source_path}: what a block holds")


def _drawn(case: Case, device: Device) -> Drawn:
    shape = block_shape(case.kernel, case.nest)
    if case.tile and case.kernel.does_sweeps:
        shape = with_sweeps(shape, case.tile.tile.coordinates, case.sizes)
    known = {**case.values, **case.sizes}
    return Drawn(
        case.region,
        case.name,
        shape,
        known,
        _numbers(case, shape.threads),
        _numbers(case, [tile.offset_words for tile in shape.shared]),
        None if case.launch is None else case.launch.shared_words,
        tuple(_conditions(case, device)),
        reading_order(case.nest),
        staged_copies(case.kernel, case.launch, (0, 0, 0), 0, case.together)
        if case.launch is not None and case.kernel.has_copies
        else (),
    )


def _numbers(case: Case, expressions: Sequence[Expr]) -> tuple[int, ...] | None:
    """The numbers of expressions; None where one depends on what is not known, or on the thread."""
    known = {**case.values, **case.sizes}
    if any(not names_read(each) <= known.keys() for each in expressions):
        return None
    return tuple(wide_value(case.nest, each, known) for each in expressions)


def _conditions(case: Case, device: Device) -> Iterator[str]:
    """The conditions on registers, shared memory and threads, with the numbers that are known."""
    leaf = case.leaf or case.tile
    assert leaf is not None
    order = reading_order(case.nest)
    point = {**device.parameters(), **case.values, **case.sizes}
    for atom in leaf.system.atoms:
        limits = [name for name in MACHINE_PARAMETERS if name in atom.symbols]
        if limits:
            left, right = atom.positive_sides()
            known = {name: value for name, value in point.items() if name in atom.symbols}
            numbers = " ".join(
                (left.substitute(known).format(order), atom.sign, right.substitute(known).format(order))
            )
            yield f"{atom.format(order, limits)}: {numbers}"
