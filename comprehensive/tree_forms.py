"""The forms of ``tree --format``: the trees of a compilation as pictures and for other tools.

In: a compilation and the name of a form.  Out: its text.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from comprehensive.descriptions import describe
from comprehensive.driver import Compilation
from comprehensive.report.tree_dot import trees_dot
from comprehensive.report.tree_html import trees_html
from comprehensive.report.tree_latex import trees_latex
from comprehensive.report.tree_mermaid import trees_mermaid
from comprehensive.report.tree_outline import outline
from comprehensive.report.tree_smt import trees_smt
from comprehensive.report.tree_svg import trees_svg

Form: TypeAlias = Literal["svg", "dot", "mermaid", "html", "smt2", "latex"]


def tree_form(compilation: Compilation, form: Form, *, pruned: bool = False) -> str:
    """All trees in one text, which ends in a newline; ``smt2`` has the pruned branches in any case."""
    title = compilation.plan.source_path
    named = [(nest.name, tree) for nest, tree in zip(compilation.nests, compilation.trees, strict=True)]
    match form:
        case "smt2":
            return trees_smt(named, title)
        case "latex":
            return trees_latex(named, title, describe, pruned=pruned)
        case "svg" | "dot" | "mermaid" | "html":
            draw = {"svg": trees_svg, "dot": trees_dot, "mermaid": trees_mermaid, "html": trees_html}[form]
            return draw(
                [outline(tree, name, pruned=pruned, describe=describe) for name, tree in named], title
            )
        case _:
            assert_never(form)
