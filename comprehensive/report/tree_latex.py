r"""The case discussion of a decision tree as the paper prints it: trees in, LaTeX for a document with `amsmath` out.

    \text{leaf 0} & \begin{cases} 2 s B + 2 \le Z_B \\ 14 \le R_B \end{cases} && \text{(3a) (4a) (1)} \\

A row for each leaf and dead end: its system, one inequality a line, and the decisions that lead to it.  Rows may be
parted by pages.  Floors and ceilings are written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from comprehensive.algebra import Atom, System
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Leaf, Pruned, Tree
from comprehensive.report.system_latex import Mathematics
from comprehensive.report.tree_words import decisions, notes, reason, summary

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def trees_latex(
    regions: Sequence[tuple[str, Tree[Any]]], title: str, describe: Callable[[Any], str], *, pruned: bool
) -> str:
    """A paragraph a region and one for each alternative, ending in a newline."""
    lines = [f"% comprehensive tree {' '.join(title.split())}; \\usepackage{{amsmath}}"]
    for name, tree in regions:
        for each in tree.alternatives:
            heading = f"{name}, {each.recipe}"
            if isinstance(each.tree, NotApplicable):
                lines += [rf"\paragraph{{{_words(heading)}}} Not applied: {_words(each.tree.reason)}.", ""]
            else:
                lines += _Discussion(each.tree, describe, pruned).lines(heading)
        heading = f"{name}, as written" if tree.alternatives else name
        lines += _Discussion(tree, describe, pruned).lines(heading)
    return "\n".join(lines).rstrip("\n") + "\n"


class _Discussion:
    def __init__(self, tree: Tree[Any], describe: Callable[[Any], str], pruned: bool) -> None:
        self._tree = tree
        self._describe = describe
        self._pruned = pruned
        self._atom = Mathematics(tuple(tree.order), tuple(tree.limits), tuple(tree.quotients)).atom

    def lines(self, heading: str) -> Iterator[str]:
        tree = self._tree
        yield rf"\paragraph{{{_words(heading)}}} {_words(summary(tree)[0])}"
        assumed = ",\\; ".join(map(self._atom, tree.assumptions))
        yield rf"assuming \({assumed}\):" if assumed else "in all:"
        yield r"\begingroup\allowdisplaybreaks"
        yield r"\begin{align*}"
        rows = [self._row(f"leaf {leaf.index}", leaf.simplified, self._of_leaf(leaf)) for leaf in tree.leaves]
        for end in tree.dead_ends:
            told = [f"{end.counter} refused, no strategy is left"]
            told += map(reason, end.reasons) if self._pruned else []
            rows.append(self._row(f"dead end {end.index}", end.simplified, told))
        if self._pruned:
            rows += [self._of_pruned(number, each) for number, each in enumerate(tree.pruned)]
        yield " \\\\\n".join(rows)
        yield r"\end{align*}"
        yield r"\endgroup"
        yield ""

    def _of_leaf(self, leaf: Leaf[Any]) -> list[str]:
        shown = notes(leaf, pruned=True) if self._pruned else ()
        return [each for each in (decisions(leaf), self._describe(leaf.fragment), *shown) if each]

    def _of_pruned(self, number: int, node: Pruned) -> str:
        system = "".join(rf"{self._atom(atom)} \\ " for atom in node.core).removesuffix(r"\\ ")
        return rf"\text{{pruned {number}}} & \begin{{cases}} {system}\end{{cases}} && \text{{impossible}}"

    def _row(self, name: str, system: System, told: Sequence[str]) -> str:
        atoms = r" \\ ".join(self._atom(atom) for atom in self._ordered(system)) or r"\text{always}"
        lines = r" \\ ".join(rf"\text{{{_words(each)}}}" for each in told) or r"\text{}"
        return (
            rf"\text{{{name}}} & \begin{{cases}} {atoms} \end{{cases}}"
            rf" && \begin{{array}}{{l}} {lines} \end{{array}}"
        )

    def _ordered(self, system: System) -> Sequence[Atom]:
        """The atoms in the order in which they are printed as text."""
        place = {words: n for n, words in enumerate(system.format(self._tree.order, self._tree.limits))}
        return sorted(system.atoms, key=lambda a: place[a.format(self._tree.order, self._tree.limits)])


def _words(words: str) -> str:
    """Text with what LaTeX reads otherwise written out."""
    return "".join(_SPECIAL.get(c, c) for c in words)
