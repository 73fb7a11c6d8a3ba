"""Included files: from the words of an ``#include`` line to the text that it stands for.

In: a line of a file and a :class:`Configuration`.  Out: a :class:`SourceFile`, or None for what is not read here:
the headers of the system have declarations of which a region uses none, and macros of which ``specs/headers`` has
those that regions may use, such as ``FLT_MAX``::

    #include "helpers.h"   -->   helpers.h beside the file, or in a directory of -I
    #include <float.h>     -->   float.h in a directory of -I, or specs/headers/float.h
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from comprehensive.data import spec_directory
from comprehensive.diagnostics import SourceFile
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.read import read_source
from comprehensive.metafork.tokens import Token


def named_file(words: Sequence[Token]) -> tuple[str, bool] | None:
    """The name in ``"name"`` or ``<name>`` and whether it is looked for beside the file; None for other words."""
    if len(words) == 1 and words[0].type == "STRING" and len(words[0].text) > 2:
        return words[0].text[1:-1], True
    if len(words) > 2 and words[0].text == "<" and words[-1].text == ">":
        return "".join(word.text for word in words[1:-1]), False
    return None


def included(name: str, beside: bool, source: SourceFile, configuration: Configuration) -> SourceFile | None:
    """The file, None where it is none of the program's. CompileError where it is there and cannot be read."""
    directories = [*([Path(source.path).parent] if beside else []), *configuration.directories]
    for directory in directories:
        path = directory / name
        if path.is_file():
            return read_source(path)
    stand_in = spec_directory() / "headers" / name
    return SourceFile(f"<{name}>", stand_in.read_text(encoding="utf-8")) if stand_in.is_file() else None


@cache
def defining_header(name: str) -> str | None:
    """The header of the system whose macro of this name regions may use; None where there is none."""
    for header in sorted((spec_directory() / "headers").glob("*.h")):
        if re.search(rf"^#define {re.escape(name)}\b", header.read_text(encoding="utf-8"), re.MULTILINE):
            return header.name
    return None


def is_stand_in(file: SourceFile) -> bool:
    """Whether the file is the tool's own, and none of the program."""
    return file.path.startswith("<")
