"""A report as one file: views of a program in, a page of HTML out that needs nothing else.

Everything that is shown is decided before a template is read: `templates/report/` only prints.  The page computes
selection, thresholds and occupancy with what :mod:`comprehensive.report.page_selection` prints; everything else is text
and tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from comprehensive.codegen.environment import render_template
from comprehensive.report.page_code import CodeLine, DiffLine
from comprehensive.report.page_selection import RegionSelection, selection_script
from comprehensive.report.page_tree import NodeView


class Control(Struct, frozen=True):
    """A slider: it jumps from stop to stop, any integer between the ends can be typed."""

    name: str
    meaning: str
    start: int
    low: int
    high: int
    stops: tuple[int, ...]


class CounterView(Struct, frozen=True):
    """A counter of a leaf: its value, its limit, and where the value comes from."""

    name: str
    value: str
    limit: str
    source: str


class LeafView(Struct, frozen=True):
    """A leaf, or a kernel over tiles; ``parent`` is what it was made of, by its anchor and its name."""

    anchor: str
    name: str
    kind: str
    index: int
    description: str
    system: tuple[str, ...]
    decisions: tuple[str, ...]
    counters: tuple[CounterView, ...]
    instances: tuple[tuple[str, str], ...]
    """The name and the sizes of each instance of a kernel over tiles."""
    kernel: str
    code: tuple[CodeLine, ...]
    same_as: tuple[str, str] | None
    """The anchor and the name of the leaf before it that has the same kernel."""
    parent: tuple[str, str] | None
    strategy: str
    """The strategy that made this leaf of its parent; without one, why there is none."""
    difference: tuple[DiffLine, ...] | None
    """None where there is no room for it."""


class PlaneView(Struct, frozen=True):
    """A plane of two parameters as a picture, with where the frame of the plane lies in it."""

    symbols: tuple[str, str]
    title: str
    picture: str
    """The picture as a data address."""
    width: int
    height: int
    frame: tuple[int, int, int, int]
    """Left, top, width and height, in units of the picture."""
    axes: tuple[tuple[float, float, bool], ...]
    """For each symbol the ends of its axis, and whether it is logarithmic."""
    fixed: tuple[tuple[str, str], ...]
    """The values of other symbols for which the plane was divided."""
    unchecked: tuple[str, ...]
    """Asserts, quoted, of which it says nothing."""


class RegionView(Struct, frozen=True):
    """A region; ``trees`` are that of the leaves as written, and those of its alternatives with their names."""

    name: str
    line: int
    summary: str
    assumptions: str
    trees: tuple[tuple[str, NodeView], ...]
    refused: tuple[tuple[str, str], ...]
    """Recipes that make no alternative, with the reasons."""
    leaves: tuple[LeafView, ...]
    planes: tuple[PlaneView, ...]
    no_planes: str
    unchecked: tuple[str, ...]
    registers: str
    model: dict[str, Any]
    selection: RegionSelection
    missing: tuple[str, ...] = ()
    """The parts that there was no time for."""


class FunctionView(Struct, frozen=True):
    """A function with its sliders; ``limits`` are those of the device on which selection depends."""

    name: str
    first: int
    """The first of its lines that are shown."""
    source: tuple[Markup, ...]
    controls: tuple[Control, ...]
    limits: tuple[Control, ...]
    assumed: tuple[tuple[str, str, str], ...]
    """Names and values that nobody gave, and where they come from."""
    regions: tuple[RegionView, ...]


class PageView(Struct, frozen=True):
    """The whole page; ``codes`` are those that quintuples refer to."""

    title: str
    tool: str
    digest: str
    device: str
    arch: str
    machine: tuple[tuple[str, int], ...]
    functions: tuple[FunctionView, ...]
    codes: tuple[tuple[str, tuple[Markup, ...]], ...]
    given: tuple[tuple[str, str], ...]
    """The values that the user gave."""
    left_out: tuple[str, ...] = ()
    """The parts that there is no room for."""

    @property
    def regions(self) -> tuple[RegionView, ...]:
        """The regions of all functions, in order."""
        return tuple(region for function in self.functions for region in function.regions)

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts that there was no time for, with the names of their regions."""
        return tuple(f"{part} of {region.name}" for region in self.regions for part in region.missing)


def render_page(page: PageView) -> str:
    """The text of the page."""
    script = selection_script([region.selection for region in page.regions])
    return render_template("report/page.html.j2", page=page, selection=Markup(script), data=page_data(page))


def page_data(page: PageView) -> dict[str, Any]:
    """Return the data that the script of the page reads besides selection."""
    atoms: dict[str, int] = {}
    return {
        "machine": {name: str(value) for name, value in page.machine},
        "functions": [
            {
                "name": function.name,
                "controls": [_control(c) for c in (*function.controls, *function.limits)],
                "regions": [region.name for region in function.regions],
            }
            for function in page.functions
        ],
        "nodes": [
            _node(node, atoms) for region in page.regions for _, root in region.trees for node in root.all
        ],
        "models": {region.name: region.model for region in page.regions},
        "atoms": [*atoms],
    }


def _control(control: Control) -> dict[str, Any]:
    # Text: JavaScript reads numbers of JSON as floats.
    return {
        "name": control.name,
        "low": str(control.low),
        "high": str(control.high),
        "stops": [str(stop) for stop in control.stops],
    }


def _node(node: NodeView, atoms: dict[str, int]) -> dict[str, Any]:
    quintuple = node.quintuple

    def numbers(texts: Sequence[str]) -> list[int]:
        return [atoms.setdefault(text, len(atoms)) for text in texts]

    return {
        "G": quintuple.code,
        "l": numbers(quintuple.applied),
        "o": numbers(quintuple.remaining),
        "g": numbers(quintuple.waiting),
        "C": numbers(quintuple.system),
        "notes": numbers(node.notes),
    }
