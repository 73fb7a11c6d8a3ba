"""The page of a program: a compilation, a device and values of some parameters in, views and the text of it out.

    to_html(page_of(compilation, load_device("h200"), {"n": 4096}))

Everything is computed here; what the page computes by itself is selection, thresholds and occupancy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from comprehensive import __version__
from comprehensive.asserts import Asserts, asserts_of
from comprehensive.codegen.levels import with_levels
from comprehensive.descriptions import describe
from comprehensive.driver import Compilation
from comprehensive.interactive_report.bounds import rankings_of
from comprehensive.interactive_report.leaves import leaves_of, registers_of
from comprehensive.interactive_report.planes import NO_TIME, planes_of
from comprehensive.interactive_report.sliders import (
    Start,
    slider_of_limit,
    sliders_of,
    start_of,
)
from comprehensive.loops.ir import Variant
from comprehensive.loops.printer import print_nest
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Tree
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, RegionPlan
from comprehensive.records import replace
from comprehensive.report.highlight import highlighted
from comprehensive.report.page import FunctionView, LeafView, PageView, RegionView, render_page
from comprehensive.report.page_model import model_table
from comprehensive.report.page_selection import given, selection_of
from comprehensive.report.page_tree import NodeView, TreeViews
from comprehensive.report.tree_words import open_regions, summary
from comprehensive.values import Rational, demand_levels, demand_values, limits_to_give
from comprehensive.watch import UNWATCHED, Watch

MOST_BYTES = 1_000_000
SHORT = 80
"""Functions of so many lines are shown in full; of a longer one, its regions."""


def page_of(
    compilation: Compilation,
    device: Device,
    values: Mapping[str, Rational],
    watch: Watch = UNWATCHED,
) -> PageView:
    """Return everything that the page of a program shows.

    Where the time is over, it has the tree so far without planes and with fewer bounds, and says what is missing.

    Raises CommandLineError as of `explain`, and for a level of performance without a value (CF0706).
    """
    wanted = limits_to_give(compilation.trees)
    levels = {name: value for name, value in values.items() if name in wanted}
    demand_levels(compilation, levels)
    unstated = [name for name in MACHINE_PARAMETERS if name not in device.parameters()]
    demand_values(compilation, values, unstated)
    gathering = _Gathering(compilation, device, values, levels, watch)
    plan = with_levels(compilation.plan, levels)
    functions = tuple(gathering.function(function) for function in plan.functions)
    return PageView(
        title=Path(compilation.source.path).name,
        tool=f"comprehensive {__version__}",
        digest=plan.source_digest,
        device=device.name,
        arch=device.arch,
        machine=tuple(device.parameters().items()),
        functions=functions,
        codes=tuple((text, highlighted(code)) for text, code in gathering.views.codes),
        given=tuple((name, str(value)) for name, value in values.items()),
    )


def to_html(page: PageView) -> str:
    """The page as one file, ending in a newline.

    Of one that would be larger than MOST_BYTES parts are left out, the least needed first, and the page says which.
    """
    left_out: list[str] = []
    text = render_page(page)
    for name, without in _WITHOUT:
        if len(text.encode()) <= MOST_BYTES:
            break
        left_out.append(name)
        page = replace(_each(page, without), left_out=tuple(left_out))
        text = render_page(page)
    return text


def _each(page: PageView, change: Callable[[RegionView], RegionView]) -> PageView:
    functions = (replace(f, regions=tuple(map(change, f.regions))) for f in page.functions)
    return replace(page, functions=tuple(functions))


def _without_bounds(region: RegionView) -> RegionView:
    first = dict([*region.model["points"].items()][:1])
    return replace(region, model={**region.model, "points": first})


def _without_planes(region: RegionView) -> RegionView:
    return replace(region, planes=(), no_planes="the page would be too large") if region.planes else region


def _without_differences(region: RegionView) -> RegionView:
    leaves = (replace(leaf, difference=None if leaf.parent else leaf.difference) for leaf in region.leaves)
    return replace(region, leaves=tuple(leaves))


_WITHOUT = (
    ("bounds of the model beside the starting point", _without_bounds),
    ("planes", _without_planes),
    ("differences between kernels", _without_differences),
)


class _Gathering:
    """Makes the views of functions, in program order."""

    def __init__(
        self,
        compilation: Compilation,
        device: Device,
        values: Mapping[str, Rational],
        levels: Mapping[str, Rational],
        watch: Watch,
    ) -> None:
        self.views: TreeViews[Variant] = TreeViews(describe, lambda variant: print_nest(variant.nest))
        self._device, self._values, self._levels = device, values, levels
        self._watch, self._done, self._count = watch, 0, len(compilation.trees)
        self._of_regions: Iterator[tuple[Tree[Variant], Asserts]] = zip(
            compilation.trees, asserts_of(compilation), strict=True
        )
        self._source = highlighted(compilation.source.text)

    def function(self, function: FunctionPlan) -> FunctionView:
        scalars = {s.name: s for region in function.regions for s in given(region)}
        start = start_of(function, self._device, self._values)
        sliders = sliders_of(scalars.values(), start)
        regions = tuple(
            self._region(function, position, region, start)
            for position, region in enumerate(function.regions)
        )
        texts = [region.selection.selection for region in regions]
        read = {name for text in texts for fact in text.facts for name, _ in fact.powers}
        read |= {symbol for text in texts for symbol, _ in text.machine}
        limits = tuple(
            slider_of_limit(name, value) for name, value in self._device.parameters().items() if name in read
        )
        first, last = _shown(function, [leaf for region in regions for leaf in region.leaves])
        return FunctionView(
            function.function.name,
            first,
            self._source[first - 1 : last],
            sliders,
            limits,
            tuple((name, str(start.values[name]), why) for name, why in start.assumed.items()),
            regions,
        )

    def _region(self, function: FunctionPlan, position: int, region: RegionPlan, start: Start) -> RegionView:
        tree, asserts = next(self._of_regions)
        self._watch.tell("regions put into the page", self._done, self._count)
        self._done += 1
        device, values = self._device, {**start.values, **self._levels}
        planes, no_planes = planes_of(region, tree, asserts, device, values, self._watch)
        sliders = sliders_of(given(region), start)
        rankings, all_bounds = rankings_of(region, device, asserts, sliders, self._watch)
        counts, *assumed = summary(tree)
        made_of = [(each, each.alternatives({})) for each in asserts.checked]
        atoms = dict.fromkeys(atom for _, cases in made_of for case in cases or () for atom in case)
        opaque = {name for each, cases in made_of if cases is None for name in each.names}
        return RegionView(
            name=region.name,
            line=function.function.regions[position].span.position[0],
            summary=counts,
            assumptions=", ".join(assumed),
            trees=self._trees(tree),
            refused=tuple(
                (each.recipe, each.tree.reason)
                for each in tree.alternatives
                if isinstance(each.tree, NotApplicable)
            ),
            leaves=leaves_of(region, tree),
            planes=planes,
            no_planes=no_planes,
            unchecked=asserts.unchecked,
            registers=registers_of(tree),
            model=model_table(rankings),
            selection=selection_of(region, tree, interface(function), tuple(atoms), opaque),
            missing=(
                *([f"{open_regions(tree)} of the tree"] if tree.open else []),
                *(["planes of parameters"] if tree.open or no_planes == NO_TIME else []),
                *([] if all_bounds else ["bounds of the model"]),
            ),
        )

    def _trees(self, tree: Tree[Variant]) -> tuple[tuple[str, NodeView], ...]:
        written = ("as written", self.views.of(tree))
        others = (
            (each.recipe, self.views.of(each.tree))
            for each in tree.alternatives
            if not isinstance(each.tree, NotApplicable)
        )
        return (written, *others)


def _shown(function: FunctionPlan, leaves: Sequence[LeafView]) -> tuple[int, int]:
    """The first and the last line of the source that stands beside the kernels of a function."""
    spans = [function.function.span]
    text = spans[0].file.text
    if spans[0].text.count("\n") >= SHORT:
        spans = [region.span for region in function.function.regions]
    first = min(text.count("\n", 0, span.start) + 1 for span in spans)
    last = max(text.count("\n", 0, span.end) + 1 for span in spans)
    read = {line.source for leaf in leaves for line in leaf.code if line.source is not None}
    return min({first, *read}), max({last, *read})
