"""The decisions about a region, in words: a nest in, its leaves with conditions and decisions out."""

from __future__ import annotations

from functools import lru_cache

from comprehensive.diagnostics import CompileError
from comprehensive.driver import Options, grow
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize import normalize


@lru_cache(maxsize=8)
def decisions(nest: Nest) -> str:
    """The leaves of the region as written, as Markdown; registers are estimated."""
    try:
        tree = grow(normalize(nest), Options("estimate"))
    except CompileError as error:
        return error.diagnostics[0].message
    lines = [f"**{nest.name}**: {len(tree.leaves)} leaves, {len(tree.dead_ends)} dead ends"]
    for leaf in tree.leaves:
        where = ", ".join(leaf.simplified.format(tree.order)) or "always"
        decided = " ".join(decision.text for decision in leaf.decisions if decision.text)
        lines.append(f"- leaf {leaf.index} where `{where}`; decisions {decided}")
    return "\n".join(lines)
