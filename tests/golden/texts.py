"""What is generated for a program, without what does not vary: the golden files.

In: a compilation with its outputs.  Out: texts by file name::

    compilation = compile_file(Path("cube.mf"), OPTIONS)
    golden_texts(compilation, source_texts(compilation.plan))["cube.cu"]

Where the code that is the same for all programs stands, a line names the file in `expected/library` that has it.  The
version of the tool, the directory of the source, and the numbers of lines of the generated file are left out, or every
golden file would change with the first line of that code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from comprehensive import __version__
from comprehensive.codegen.environment import render_template
from comprehensive.codegen.host import shared_part
from comprehensive.codegen.source_view import source_view
from comprehensive.diagnostics import render
from comprehensive.driver import Compilation
from comprehensive.generate import tree_text
from tests.compiled_specs import compiled

# Templates that print the same for every program that has need of them.
LIBRARY = {
    "runtime.h": "host/runtime.h.j2",
    "prologue.cu": "cuda/prologue.cu.j2",
    "vectors.cu": "cuda/vectors.cu.j2",
    "stage.cu": "cuda/stage.cu.j2",
    "language.h": "launcher/cplusplus.h.j2",
    "launch.h": "launcher/launch.h.j2",
    "memory.h": "launcher/memory.h.j2",
}


@cache
def library_texts() -> Mapping[str, str]:
    """The code that is the same for all programs, as the smallest one has it."""
    view = source_view(compiled("reverse").plan, defaultdict(str), __version__)
    return {file: render_template(template, view=view, **shared_part()) for file, template in LIBRARY.items()}


def golden_texts(compilation: Compilation, outputs: Mapping[str, str]) -> Mapping[str, str]:
    """The header, the kernels with their launchers, and the tree with what is said of the program."""
    stem, source = compilation.plan.stem, compilation.source
    messages = "".join(f"{render(diagnostic)}\n" for diagnostic in compilation.diagnostics)
    tree = messages + tree_text(compilation)
    texts = {
        name: _without_library(_without_own_lines(outputs[name], name)).replace(
            f"comprehensive {__version__}", "comprehensive", 1
        )
        for name in (f"{stem}.h", f"{stem}.cu")
    }
    return {**texts, f"{stem}.tree.txt": tree.replace(source.path, Path(source.path).name)}


def used_library(text: str) -> set[str]:
    """The files of the library that a golden file names."""
    return set(re.findall(r"^<library/(\S+)>$", text, re.MULTILINE))


def _without_library(text: str) -> str:
    for file, shared in library_texts().items():
        # As whole lines: a short text may end like the beginning of something else.
        text = re.sub(rf"(?m)^{re.escape(shared)}", f"<library/{file}>\n", text)
    return text


def _without_own_lines(text: str, name: str) -> str:
    """Directives that lead back to the generated file have the number of the next line: checked, and left out."""
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        found = re.fullmatch(rf'#line (\d+) "{re.escape(name)}"', line)
        if found:
            assert int(found[1]) == number + 1, f"{name}:{number}: {line}"
            lines[number - 1] = f'#line "{name}"'
    return "\n".join(lines)
