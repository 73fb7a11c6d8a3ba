"""The wording of a decision tree, the same in every form of it: a tree and a part of it in, text out."""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.algebra import Atom, System
from comprehensive.optimize.protocols import Fragment
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Open, Pruned, Tree, TriedStrategy

NOT_DECIDED = "not decided within the time limit"


def summary(tree: Tree[Fragment]) -> tuple[str, ...]:
    """Return how many cases there are, and in a second line what is assumed of what the tree speaks of, if anything."""
    counted = [
        _plural(len(tree.leaves), "leaf", "leaves"),
        _plural(len(tree.dead_ends), "dead end", "dead ends"),
        _plural(len(tree.pruned), "pruned branch", "pruned branches"),
    ]
    if tree.undecided:
        counted.append(f"{len(tree.undecided)} undecided")
    if tree.open:
        counted.append(f"{open_regions(tree)} {NOT_DECIDED}")
    assumed = ", ".join(atoms(tree, (a for a in tree.assumptions if tree.symbols.intersection(a.symbols))))
    return (", ".join(counted), *([f"assuming {assumed}"] if assumed else []))


def open_regions(tree: Tree[Fragment]) -> str:
    """Return how many regions there was no time for."""
    return _plural(len(tree.open), "region", "regions")


def value(tree: Tree[Fragment], node: Branch[Fragment] | DeadEnd) -> str:
    """Return ``counter = value``."""
    return f"{node.counter} = {node.evaluation.value.format(tree.order)}"


def doubt(node: Branch[Fragment] | Leaf[Fragment] | DeadEnd | Open) -> str:
    """Return why the solver could not tell whether a point arrives; empty where one does."""
    return "" if node.undecided is None else f" (undecided: {node.undecided})"


def consequence(node: Branch[Fragment]) -> str:
    """Return the strategy that a refuse edge takes; empty where there is none."""
    taken = next((tried for tried in node.tried if tried.taken), None)
    return "" if taken is None else f", so {taken.strategy} ({taken.note})"


def passed_over(node: Branch[Fragment]) -> tuple[str, ...]:
    """Return the strategies that a refuse edge did not take, each with its reason."""
    return tuple(f"not {tried.strategy}: {tried.note}" for tried in node.tried if not tried.taken)


def decisions(leaf: Leaf[Fragment]) -> str:
    """Return the decisions of a leaf, numbered as in the paper: ``(3a) (4a) (1)``."""
    return " ".join(f"({word})" for word in decision_words(leaf))


def decision_words(leaf: Leaf[Fragment]) -> tuple[str, ...]:
    """Return the decisions of a leaf, each once, in the order of its strategies: ``3a``, ``4a``, ``1``."""
    return tuple(dict.fromkeys(decision.text for decision in leaf.decisions if decision.text))


def notes(leaf: Leaf[Fragment], *, pruned: bool) -> tuple[str, ...]:
    """Return what each strategy has changed; with ``pruned`` also why others have not."""
    return tuple(
        f"{decision.strategy}: {'' if decision.taken else 'not applied, '}{decision.note}"
        for decision in leaf.decisions
        if decision.note and (decision.taken or pruned)
    )


def reason(tried: TriedStrategy) -> str:
    """Return why a dead end has no more use for a strategy."""
    return f"{tried.strategy}: {'already applied' if tried.taken else 'not applied'}, {tried.note}"


def contradiction(tree: Tree[Fragment], node: Pruned) -> str:
    """Return the contradictory part of the system of a pruned branch."""
    shown = atoms(tree, node.core)
    without_proof = "" if node.proof is not None else " (by the SMT solver, without a proof)"
    return (
        f"{shown[0]} is impossible" if len(shown) == 1 else f"{' and '.join(shown)} contradict each other"
    ) + without_proof


def conjunction(tree: Tree[Fragment], system: System) -> str:
    """Return the atoms of a system in a line."""
    return ", ".join(system.format(tree.order, tree.limits)) or "always"


def atoms(tree: Tree[Fragment], shown: Iterable[Atom]) -> tuple[str, ...]:
    """Return atoms with the limits alone on one side."""
    return tuple(atom.format(tree.order, tree.limits) for atom in shown)


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
