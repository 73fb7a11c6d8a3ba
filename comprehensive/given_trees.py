"""Trees over given values behind ``comprehensive tree --counters-from``: a program and a file in, text or JSON out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from comprehensive import __version__
from comprehensive.descriptions import describe
from comprehensive.diagnostics import Diagnostic, DiagnosticSink
from comprehensive.driver import Options, checked_nests
from comprehensive.generate import fragment_to_json
from comprehensive.given.decisions import decisions
from comprehensive.given.fragment import Given
from comprehensive.given.grow import grow, problem_of, region_of
from comprehensive.given.read import read_values
from comprehensive.given.values import GivenValues
from comprehensive.loops.ir import Nest
from comprehensive.metafork.read import read_source
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.tree import Tree
from comprehensive.report.tree_json import tree_to_json
from comprehensive.report.tree_text import ASCII, UNICODE, render_tree


class GivenTree(Struct, frozen=True):
    """The tree of a region over given values, with what it was grown from."""

    path: str
    nest: Nest
    values: GivenValues
    problem: Problem[Given]
    tree: Tree[Given]
    decisions: tuple[tuple[str, ...], ...]
    """The words of each leaf along its path."""
    diagnostics: tuple[Diagnostic, ...]


def given_tree(source: Path, values_path: Path, options: Options, order: Sequence[str] = ()) -> GivenTree:
    """The tree of the region that the values are of.

    `order` are counters, `options.strategies` strategies, as for :func:`comprehensive.given.grow.problem_of`.
    CommandLineError where it is not clear which region is meant.
    """
    values = read_values(values_path)
    sink = DiagnosticSink()
    _, nests = checked_nests(read_source(source), options, sink)
    nest = region_of(nests, values)
    problem = problem_of(nest, values, order=order, only=options.strategies, performance=options.performance)
    tree = grow(nest, problem)
    return GivenTree(str(source), nest, values, problem, tree, decisions(tree, values), sink.diagnostics)


def to_text(found: GivenTree, *, pruned: bool = False, ascii_only: bool = False) -> str:
    """The tree for a terminal, with where its values are from, and the remarks of their file behind it."""
    text = render_tree(
        found.tree,
        pruned,
        lambda fragment: describe(fragment.variant),
        ASCII if ascii_only else UNICODE,
        lambda leaf: found.decisions[leaf.index],
    )
    where = f"{found.path}:{found.nest.span.position[0]}"
    lines = [
        f"{found.nest.name} ({where})",
        f"counters from {found.values.file.path}: {found.values.source}",
        text,
        *(f"remark: {remark}" for remark in found.values.remarks),
    ]
    return "\n".join(lines) + "\n"


def to_json(found: GivenTree) -> dict[str, Any]:
    """The tree as `specs/schema/tree.json` describes it, and the decisions of its leaves as they fell."""
    return {
        "schema": 1,
        "tool": f"comprehensive {__version__}",
        "counters_from": {
            "file": found.values.file.path,
            "source": found.values.source,
            "remarks": list(found.values.remarks),
        },
        "region": found.nest.name,
        "tree": tree_to_json(found.tree, lambda fragment: fragment_to_json(fragment.variant)),
        "decisions": [list(words) for words in found.decisions],
    }
