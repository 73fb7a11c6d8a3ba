"""Leaves in a line: the code of a variant in, what of it tells it from others out.

cached: a, b; decisions (3a) (4a) (1)
"""

from __future__ import annotations

from comprehensive.loops.ir import Variant
from comprehensive.metafork.printer import print_expr
from comprehensive.optimize.tree import Leaf


def describe(variant: Variant) -> str:
    """One line about a leaf's code."""
    if variant.tile is not None:
        sizes = " x ".join(f"{c.threads}*{c.each}" for c in variant.tile.coordinates)
        each = " x ".join(c.each for c in variant.tile.coordinates)
        most = print_expr(variant.tile.sweeps.most)
        return variant.tile.kind.described.format(sizes=sizes, each=each, most=most)
    cached = f"cached: {', '.join(variant.nest.cached)}" if variant.nest.cached else "nothing cached"
    cap = "" if variant.register_cap is None else f"; at most {variant.register_cap} registers"
    if variant.demoted:
        cap += ", others in shared memory"
    return cached + cap


def describe_leaf(leaf: Leaf[Variant]) -> str:
    """The code of a leaf and the decisions that led to it."""
    decisions = dict.fromkeys(f"({decision.text})" for decision in leaf.decisions if decision.text)
    return "; ".join([describe(leaf.fragment), *([f"decisions {' '.join(decisions)}"] if decisions else [])])
