"""The texts that are generated for a program, as golden files: without what varies.

In: a compilation with its outputs.  Out: texts by file name::

    compilation = compile_file(Path("cube.mf"), OPTIONS)
    golden_texts(compilation, source_texts(compilation.plan))["cube.cu"]

The versions of the tool and of the files that all programs share, the directory of the source, and the numbers of lines
of the generated file are left out, or every golden file would change with a line of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from comprehensive import __version__
from comprehensive.codegen.runtime_files import runtime_digest
from comprehensive.diagnostics import render
from comprehensive.driver import Compilation, Options
from comprehensive.generate import tree_text
from comprehensive.records import replace
from tests.compiled_specs import OPTIONS

# Programs that show what an option does.
OF_OPTIONS = {
    "reassociated": replace(OPTIONS, reassociate=True),
    "mixed_precision": replace(OPTIONS, reassociate=True),
    "split_resident_rows": replace(OPTIONS, reassociate=True),
    "openmp": replace(OPTIONS, pragma="omp"),
    "openacc": replace(OPTIONS, pragma="acc"),
    "reductions": replace(OPTIONS, pragma="omp"),
}


def options_of(program: str) -> Options:
    return OF_OPTIONS.get(program, OPTIONS)


def golden_texts(compilation: Compilation, outputs: Mapping[str, str]) -> Mapping[str, str]:
    """The header, the kernels with their launchers, and the tree with what is said of the program."""
    stem, source = compilation.plan.stem, compilation.source
    messages = "".join(f"{render(diagnostic)}\n" for diagnostic in compilation.diagnostics)
    tree = messages + tree_text(compilation)
    texts = {
        name: _without_own_lines(outputs[name], name)
        .replace(f"comprehensive {__version__}", "comprehensive", 1)
        .replace(runtime_digest(), "...")
        for name in (f"{stem}.h", f"{stem}.cu")
    }
    return {**texts, f"{stem}.tree.txt": tree.replace(source.path, Path(source.path).name)}


def _without_own_lines(text: str, name: str) -> str:
    """Directives that lead back to the generated file have the number of the next line: checked, and left out."""
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        found = re.fullmatch(rf'#line (\d+) "{re.escape(name)}"', line)
        if found:
            assert int(found[1]) == number + 1, f"{name}:{number}: {line}"
            lines[number - 1] = f'#line "{name}"'
    return "\n".join(lines)
