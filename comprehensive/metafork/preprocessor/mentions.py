"""The names of a program that a command line can define as macros.

In: a file, and where its included files are.  Out: the names that it mentions, and those that its code declares::

    #ifdef SMALL ... void f(int n, float a[N])   -->   mentions SMALL, n, a, N; declares n, a

``-D n=100`` is then a value of the parameter ``n``, and ``-D N=1024`` a macro.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.diagnostics import CompileError, DiagnosticSink, SourceFile
from comprehensive.metafork.named_constants import declared_names
from comprehensive.metafork.preprocessor.configuration import Configuration
from comprehensive.metafork.preprocessor.directives import directive
from comprehensive.metafork.preprocessor.includes import included, is_stand_in, named_file
from comprehensive.metafork.tokens import Origin, Token, tokens


class Mentions(Struct, frozen=True):
    mentioned: frozenset[str]
    declared: frozenset[str]

    def may_be_macro(self, name: str) -> bool:
        """Whether the program speaks of the name and declares no variable with it."""
        return name in self.mentioned and name not in self.declared


def mentions(source: SourceFile, configuration: Configuration) -> Mentions:
    """Return the mentions of a file and of all that it includes, whatever its conditions are."""
    found: list[Token] = []
    declared: frozenset[str] = frozenset()
    waiting, seen = [source], {source.path}
    while waiting:
        file = waiting.pop()
        text = list(tokens(Origin(file, DiagnosticSink())))
        code = [token for token in text if token.type != "DIRECTIVE"]
        found += code
        declared |= declared_names(code)
        for line in (directive(token) for token in text if token.type == "DIRECTIVE"):
            found += line.words
            named = named_file(line.words) if line.name == "include" else None
            header = None if named is None else _header(*named, file, configuration)
            if header is not None and header.path not in seen:
                seen.add(header.path)
                waiting.append(header)
    return Mentions(frozenset(token.text for token in found if token.text.isidentifier()), declared)


def _header(name: str, beside: bool, file: SourceFile, configuration: Configuration) -> SourceFile | None:
    try:
        found = included(name, beside, file, configuration)
    except CompileError:
        return None  # the run itself says so
    return None if found is None or is_stand_in(found) else found
