"""A decision tree for programs: a tree in, plain data out, as `specs/schema/tree.json` describes it.

::

    {"schema": 1, "root": 0, "nodes": [{"kind": "branch", "accept": 1, "refuse": 2, ...}, ...], ...}

Nodes stand in one list in preorder and refer to each other by position, so that no reader needs recursion.
Numbers that may be rational are text (``"9/2"``); polynomials come both as text and as terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

from comprehensive.algebra import Atom, Polynomial, RationalFunction, System
from comprehensive.optimize.protocols import Fragment, Value
from comprehensive.optimize.tree import (
    Branch,
    DeadEnd,
    Leaf,
    Node,
    Open,
    Point,
    Pruned,
    Tree,
    TriedStrategy,
    walk,
)

SCHEMA = 1
Json: TypeAlias = dict[str, Any]


def tree_to_json(tree: Tree[Fragment], fragment_to_json: Callable[[Fragment], Any]) -> Json:
    """The tree as dictionaries, lists, text and whole numbers, the same in every run."""
    nodes = [node for node, _ in walk(tree.root)]
    # Identity: two pruned branches may be equal values.
    position = {id(node): index for index, node in enumerate(nodes)}
    return {
        "schema": SCHEMA,
        "performance": tree.performance,
        "assumptions": [_atom(tree, atom) for atom in tree.assumptions],
        "counters": [
            {"name": counter.name, "limit": counter.limit, "kind": counter.kind.value}
            for counter in tree.counters
        ],
        "strategies": [
            {
                "name": strategy.name,
                "improves": [c.name for c in tree.counters if c.name in strategy.improves],
                "on_ir": strategy.on_ir,
            }
            for strategy in tree.strategies
        ],
        "root": 0,
        "nodes": [_node(tree, node, position) for node in nodes],
        "leaves": [
            {
                **_case(tree, leaf),
                "applied": list(leaf.applied),
                "decisions": [
                    {"strategy": d.strategy, "taken": d.taken, "text": d.text, "note": d.note}
                    for d in leaf.decisions
                ],
                "fragment": fragment_to_json(leaf.fragment),
            }
            for leaf in tree.leaves
        ],
        "dead_ends": [
            {
                **_case(tree, end),
                "counter": end.counter,
                "value": _value(tree, end.evaluation.value),
                "reasons": _tried(end.reasons),
            }
            for end in tree.dead_ends
        ],
    }


def _node(tree: Tree[Fragment], node: Node[Fragment], position: dict[int, int]) -> Json:
    match node:
        case Leaf():
            return {"kind": "leaf", "leaf": node.index}
        case DeadEnd():
            return {"kind": "dead_end", "dead_end": node.index}
        case Open():
            return {"kind": "open", **_case(tree, node), "waiting": list(node.waiting)}
        case Pruned():
            core = [_atom(tree, atom) for atom in node.core]
            return {"kind": "pruned", "edge": node.edge, "core": core, "proved": node.proof is not None}
        case Branch():
            return {
                "kind": "branch",
                "id": node.id,
                "counter": node.counter,
                "value": _value(tree, node.evaluation.value),
                "source": node.evaluation.source,
                "accept_if": [_atom(tree, atom) for atom in node.accept_atoms],
                "refuse_if": [_atom(tree, atom) for atom in node.refuse_atoms],
                "tried": _tried(node.tried),
                "strategy": node.strategy,
                "accept": position[id(node.accept)],
                "refuse": position[id(node.refuse)],
                "undecided": node.undecided,
            }
        case _:
            assert_never(node)


def _case(tree: Tree[Fragment], case: Leaf[Fragment] | DeadEnd | Open) -> Json:
    return {
        "index": case.index,
        "system": _system(tree, case.system),
        "simplified": _system(tree, case.simplified),
        "sample": _point(case.sample),
        "undecided": case.undecided,
    }


def _tried(strategies: Iterable[TriedStrategy]) -> list[Json]:
    return [
        {"strategy": tried.strategy, "counter": tried.counter, "taken": tried.taken, "note": tried.note}
        for tried in strategies
    ]


def _system(tree: Tree[Fragment], system: System) -> list[Json]:
    return [_atom(tree, atom) for atom in system.atoms]


def _atom(tree: Tree[Fragment], atom: Atom) -> Json:
    """Return ``terms relation 0`` as JSON, and the text that isolates the limits."""
    return {
        "text": atom.format(tree.order, tree.limits),
        "relation": atom.relation.value,
        "terms": _terms(atom.polynomial),
    }


def _value(tree: Tree[Fragment], value: Value) -> Json:
    over = value if isinstance(value, RationalFunction) else RationalFunction(value)
    return {
        "text": value.format(tree.order),
        "numerator": _terms(over.numerator),
        "denominator": _terms(over.denominator),
    }


def _terms(polynomial: Polynomial) -> list[Json]:
    return [
        {"coefficient": str(term.coefficient), "powers": dict(term.powers)} for term in polynomial.terms()
    ]


def _point(point: Point | None) -> Json | None:
    return None if point is None else {name: str(Fraction(point[name])) for name in sorted(point)}
