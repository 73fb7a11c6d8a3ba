"""The leaves of a region for a page: a region and its tree in, what there is to say of each leaf out.

leaves_of(region, tree)[1].difference      # how its kernel differs from that of the leaf it was made of
"""

from __future__ import annotations

from comprehensive.descriptions import describe
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Leaf, Tree
from comprehensive.plan.plan import RegionPlan, TilePlan
from comprehensive.report.page import CounterView, LeafView
from comprehensive.report.page_code import code_of, difference
from comprehensive.report.page_tree import parent_of


def leaves_of(region: RegionPlan, tree: Tree[Variant]) -> tuple[LeafView, ...]:
    """Return the leaves as written in the order of the tree, then the kernels over tiles."""
    seen: dict[str, tuple[str, str]] = {}
    found: list[LeafView] = []
    for leaf, plan in zip(tree.leaves, region.leaves, strict=True):
        anchor, name = f"{region.name}-leaf-{leaf.index}", f"leaf {leaf.index}"
        same = seen.get(plan.kernel.name)
        seen.setdefault(plan.kernel.name, (anchor, name))
        parent = parent_of(tree, leaf)
        older = None if parent is None else region.leaves[parent[0].index].kernel
        found.append(
            LeafView(
                anchor=anchor,
                name=name,
                kind="leaf",
                index=leaf.index,
                description=describe(leaf.fragment),
                system=leaf.simplified.format(tree.order, tree.limits),
                decisions=_decisions(leaf),
                counters=_counters(tree, leaf.fragment),
                instances=(),
                kernel=plan.kernel.name,
                code=() if same else code_of(plan.kernel),
                same_as=same,
                parent=None
                if parent is None
                else (f"{region.name}-leaf-{parent[0].index}", f"leaf {parent[0].index}"),
                strategy=_made_by(parent is not None and f"{parent[1].strategy}: {parent[1].note}", leaf),
                difference=() if older is None else difference(older, plan.kernel),
            )
        )
    grown = [each.tree for each in tree.alternatives if not isinstance(each.tree, NotApplicable)]
    tiles = zip(region.tilings, grown, strict=True)
    return (*found, *(_tile(region, plan, other) for plan, other in tiles))


def _made_by(strategy: str | bool, leaf: Leaf[Variant]) -> str:
    if isinstance(strategy, str):
        return strategy
    if leaf.applied or any(decision.taken for decision in leaf.decisions):
        return "no leaf is left where its last strategy was not asked for"
    return "the program as it was written: no strategy was asked for"


def _tile(region: RegionPlan, plan: TilePlan, tree: Tree[Variant]) -> LeafView:
    (leaf,) = tree.leaves
    return LeafView(
        anchor=f"{region.name}-{plan.kernel.name}",
        name=plan.recipe,
        kind=plan.kind,
        index=plan.first,
        description=describe(leaf.fragment),
        system=leaf.simplified.format(tree.order, tree.limits),
        decisions=(),
        counters=_counters(tree, leaf.fragment),
        instances=tuple(
            (
                f"{plan.kind} {region.tile_of(plan.first + number)}",
                ", ".join(f"{name} = {size}" for name, size in plan.sizes(instance).items()),
            )
            for number, instance in enumerate(plan.instances)
        ),
        kernel=plan.kernel.name,
        code=code_of(plan.kernel),
        same_as=None,
        parent=None,
        strategy="an alternative at the root of the tree: it is made of the program by a recipe of its own",
        difference=(),
    )


def _decisions(leaf: Leaf[Variant]) -> tuple[str, ...]:
    return tuple(
        f"({d.text}) {d.strategy}" + (f": {'' if d.taken else 'not applied, '}{d.note}" if d.note else "")
        for d in leaf.decisions
        if d.text or (d.taken and d.note)
    )


def _counters(tree: Tree[Variant], variant: Variant) -> tuple[CounterView, ...]:
    counted = ((counter, counter.evaluate(variant)) for counter in tree.counters)
    return tuple(
        CounterView(counter.name, found.value.format(tree.order), counter.limit, found.source)
        for counter, found in counted
    )


def registers_of(tree: Tree[Variant]) -> str:
    """Return the sources of the register counts, in words."""
    sources = (_counters(tree, leaf.fragment) for leaf in tree.leaves)
    found = (view.source for views in sources for view in views if view.limit == "R_B")
    return ", ".join(dict.fromkeys(found)) or "not counted"
