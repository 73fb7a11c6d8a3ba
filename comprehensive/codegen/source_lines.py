"""The lines of a generated file that come from the source: text with marks in, text with ``#line`` out.

A mark is a line of its own before the text that it speaks of.  Directives are written where counting on from the
last one would give a wrong line, so that a body laid out like its source needs one::

    mark 18                               #line 18 "matmul.mf"
    int p = i * B0 + v;                   int p = i * B0 + v;
    mark 19                         -->   int q = j * ub1 * s + u;
    int q = j * ub1 * s + u;              #line 42 "matmul.cu"
    mark, generated                       __syncthreads();
    __syncthreads();

Compilers, profilers and sanitizers then name the line that the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from comprehensive.diagnostics import GENERATED
from comprehensive.kernel_ir.c_expr import c_string
from comprehensive.metafork.own_statement import OwnStatement
from comprehensive.metafork.walk import Statement

_MARK = re.compile("\x01([0-9]*)")
_LINE = re.compile(r'#line (\d+) "')
HOST_CODE = "// ---- the host code"
"""The beginning of the line of a CUDA source after which the user's own code stands."""
GENERATED_LINE = "\x01\n"
"""The mark of text that stands in no source."""


def source_line(line: int) -> str:
    """Return the mark which says that what follows is line ``line`` of the source, counted from 1."""
    return f"\x01{line}\n"


def mark(statement: Statement) -> str:
    """The mark of a statement; one that only kernels have stands in no source."""
    span = GENERATED if isinstance(statement, OwnStatement) else statement.span
    return GENERATED_LINE if span.file is GENERATED.file else source_line(span.position[0])


def placed(text: str) -> Iterator[tuple[str, int | None]]:
    """Yield the lines of a text without its marks, each with its line of the source; None for generated ones."""
    wanted: int | None = None
    # Only at the ends that C knows: a form feed or U+2028 in a comment ends no line.
    for line in text.removesuffix("\n").split("\n"):
        found = _MARK.fullmatch(line)
        if found:
            wanted = int(found[1]) if found[1] else None
            continue
        yield line, wanted
        wanted = None if wanted is None else wanted + 1


def of_statements(text: str) -> Iterator[tuple[str, int | None]]:
    """Yield the lines of a text without its marks, each with the line of the statement that it is a part of.

    It is None for generated lines and for braces of their own: what belongs to no statement in particular.
    """
    stands: int | None = None
    for line in text.removesuffix("\n").split("\n"):
        found = _MARK.fullmatch(line)
        if found:
            stands = int(found[1]) if found[1] else None
        else:
            yield line, None if line.strip() in ("{", "}", "} else {", "else") else stands


def resolved(text: str, source: str, generated: str) -> str:
    """The text with directives for its marks; ``source`` and ``generated`` are the names of the two files."""
    lines: list[str] = []
    # The line of the source that the compiler would give the next line; None in generated text.
    counted: int | None = None
    for line, wanted in placed(text):
        if wanted is None and counted is not None:
            lines.append(f"#line {len(lines) + 2} {c_string(generated)}")
        elif wanted is not None and wanted != counted:
            lines.append(f"#line {wanted} {c_string(source)}")
        lines.append(line)
        counted = None if wanted is None else wanted + 1
    return "\n".join(lines) + "\n"


def origins(text: str) -> tuple[str, tuple[int | None, ...]]:
    """Return a text of :func:`resolved`, its directives emptied, and the source line of each of its lines."""
    lines = text.split("\n")
    places: list[int | None] = []
    counted: int | None = None
    for number, line in enumerate(lines, 1):
        directive = _LINE.match(line)
        if directive is None:
            places.append(counted)
            counted = None if counted is None else counted + 1
            continue
        places.append(None)
        lines[number - 1] = ""
        # A directive that gives a line its own number ends what comes from the source.
        counted = None if int(directive[1]) == number + 1 else int(directive[1])
    return "\n".join(lines), tuple(places)
