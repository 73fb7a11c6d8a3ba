"""The text that an editor shows of a word: an analysis and an offset in, Markdown out.

hover(analysis, offset)     # "`x`: float data ... a block touches `B + 2` elements"
"""

from __future__ import annotations

import re
from functools import lru_cache

from comprehensive.diagnostics import CompileError
from comprehensive.driver import Options, grow
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.language_server.analysis import Analysis
from comprehensive.loops.ir import Array, Nest, Role, Scalar
from comprehensive.loops.normalize import normalize
from comprehensive.poly.footprint import footprint
from comprehensive.poly.model import Level, Opaque


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


_WORD = re.compile(r"\w+")
_ROLES = {
    Role.DATA: "a data parameter: it gives an extent of an array",
    Role.PROGRAM: "a program parameter: it shapes blocks, is at least 1, and is chosen by the tool or by the caller",
    Role.SCALAR: "a scalar argument",
    Role.HOST: "a scalar of host code",
    Role.TILE: "the size of a tile",
}


def hover(analysis: Analysis, offset: int) -> str | None:
    """Return what is known of the word at an offset, as Markdown; None where that is nothing."""
    text = analysis.source.text
    word = next((m.group() for m in _WORD.finditer(text) if m.start() <= offset < m.end()), None)
    if word is None:
        return None
    if word == "meta_schedule":
        found = [nest for nest in analysis.nests if nest.span.start <= offset < nest.span.end]
        return decisions(found[0]) if found else None
    shown = dict.fromkeys(line for nest in _near(analysis, offset) for line in _of_name(nest, word))
    return "\n\n".join(shown) or None


def _near(analysis: Analysis, offset: int) -> tuple[Nest, ...]:
    """The nest around the offset; all of them outside of regions."""
    inside = tuple(nest for nest in analysis.nests if nest.span.start <= offset < nest.span.end)
    return inside or analysis.nests


def _of_name(nest: Nest, name: str) -> tuple[str, ...]:
    scalars = tuple(_of_scalar(each) for each in nest.scalars if each.name == name)
    return scalars + tuple(_of_array(nest, each) for each in nest.arrays if each.name == name)


def _of_scalar(scalar: Scalar) -> str:
    return f"`{scalar.type.value} {scalar.name}`: {_ROLES[scalar.role]}"


def _of_array(nest: Nest, array: Array) -> str:
    parts = [f"`{array.type.value}` array `{array.name}` in region {nest.name}"]
    for band in range(len(nest.bands)):
        found = footprint(nest, band, array.name, Level.BLOCK)
        if isinstance(found, Opaque):
            parts.append(f"no footprint: `{found.term}` {found.reason}")
        else:
            count = "" if found.count is None else f", `{found.count}` of them touched"
            words = found.elements * words_per_element(array.type)
            parts.append(f"a block has a tile of `{found.elements}` elements (`{words}` words){count}")
    return "; ".join(dict.fromkeys(parts))
