"""Code side by side for a page: kernels and their sources in, lines of markup that know each other out.

code_of(kernel)[5]              # CodeLine(html=Markup('for (...)'), source=18)
difference(parent, kernel)      # what a strategy changed, a DiffLine for each line
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from markupsafe import Markup
from msgspec import Struct

from comprehensive.codegen.cuda import print_kernel
from comprehensive.codegen.source_lines import of_statements
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.records import replace
from comprehensive.report.highlight import highlighted


class CodeLine(Struct, frozen=True):
    """A line of a kernel, and the line of the source that it comes from."""

    html: Markup
    source: int | None


class DiffLine(Struct, frozen=True):
    """A line of two kernels: in both (" "), only in the first one ("-") or only in the second one ("+")."""

    sign: str
    html: Markup


def code_of(kernel: Kernel) -> tuple[CodeLine, ...]:
    """The lines of a kernel."""
    lines = [*of_statements(print_kernel(kernel, marked=True))]
    marked = highlighted("\n".join(text for text, _ in lines))
    return tuple(CodeLine(html, source) for html, (_, source) in zip(marked, lines, strict=True))


def difference(old: Kernel, new: Kernel) -> tuple[DiffLine, ...]:
    """Return the lines in which the new kernel differs from the old one, their names aside."""
    before, after = (_lines(replace(each, name=new.name)) for each in (old, new))
    old_html, new_html = (highlighted("\n".join(lines)) for lines in (before, after))
    found: list[DiffLine] = []
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found += _all(" ", new_html[k:m])
        else:
            found += [*_all("-", old_html[i:j]), *_all("+", new_html[k:m])]
    return tuple(found)


def _lines(kernel: Kernel) -> list[str]:
    return print_kernel(kernel).removesuffix("\n").split("\n")


def _all(sign: str, lines: Sequence[Markup]) -> list[DiffLine]:
    return [DiffLine(sign, line) for line in lines]
