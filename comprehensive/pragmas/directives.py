"""Directives: the text of a pragma of OpenMP or OpenACC in, its name and its clauses out.

::

    #pragma omp parallel for collapse(2) \\
                reduction(+: s)   -->   Directive("omp", ("parallel", "for"), (collapse "2", reduction "+: s"))

``_Pragma("omp parallel for")`` is the same.  Nothing is judged here: any word with or without an argument in
parentheses is a clause.  The model of ``#pragma scop`` and ``#pragma endscop`` has no word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from comprehensive.diagnostics import SourceFile, Span
from comprehensive.metafork.tokens import Token

MODELS = ("omp", "acc", "scop")
NAMES = {"omp": "OpenMP", "acc": "OpenACC", "scop": "a scop"}

_CONTINUING = {
    "omp": frozenset(
        [
            "parallel",
            "for",
            "simd",
            "target",
            "teams",
            "distribute",
            "loop",
            "sections",
            "data",
            "enter",
            "exit",
            "update",
            "declare",
            "taskloop",
            "masked",
            "master",
            "end",
            "point",
            "variant",
            "reduction",
            "mapper",
        ]
    ),
    "acc": frozenset(("loop", "data", "end")),
    "scop": frozenset[str](),
}
"""Words that belong to the name of a directive behind its first word; any other word begins the clauses."""

_HEAD = re.compile(r"#[ \t]*pragma[ \t]+(?:(omp|acc)\b|(?=(?:end)?scop\b))")
_ANY_PRAGMA = re.compile(r"#[ \t]*pragma\b")
_HIDDEN = re.compile(r"\\\r?\n|/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*")
_PIECE = re.compile(r"(?P<word>[^\W\d]\w*)|(?P<open>\()|(?P<other>\S)")


class Clause(Struct, frozen=True):
    """``reduction(+: s)``; ``argument`` is None for a word without parentheses."""

    name: str
    argument: str | None
    span: Span


class Directive(Struct, frozen=True):
    """``model`` is one of ``MODELS``; ``words`` are the name of the directive."""

    model: str
    words: tuple[str, ...]
    clauses: tuple[Clause, ...]
    span: Span

    @property
    def name(self) -> str:
        """The directive as it is written: ``#pragma omp parallel for``."""
        model = () if self.model == "scop" else (self.model,)
        return " ".join(("#pragma", *model, *self.words))

    def of(self, *names: str) -> tuple[Clause, ...]:
        """The clauses with one of these names."""
        return tuple(clause for clause in self.clauses if clause.name in names)


def directive(token: Token) -> Directive | None:
    """The directive that a preprocessor line is; None for one of another kind."""
    text = _HIDDEN.sub(lambda match: " " * len(match.group()), token.text)
    head = _HEAD.match(text)
    return None if head is None else _read(head[1] or "scop", text, head.end(), token)


def mentions(source: SourceFile, model: str) -> bool:
    """Whether a text has directives of a model, or speaks of some."""
    return re.search(rf"pragma[ \t]+{model}\b|_Pragma\s*\(\s*\"\s*{model}\b", source.text) is not None


def is_pragma(token: Token) -> bool:
    """Whether a preprocessor line is a pragma of any kind."""
    return token.type == "DIRECTIVE" and _ANY_PRAGMA.match(token.text) is not None


def operator_directive(tokens: Sequence[Token], position: int) -> tuple[Directive | None, int] | None:
    """``_Pragma("...")`` at a position: its directive, None if not of OpenMP or OpenACC, and the position after it."""
    found = tokens[position : position + 4]
    if [token.type for token in found] != ["NAME", "LPAR", "STRING", "RPAR"] or found[0].text != "_Pragma":
        return None
    text = found[2]
    words = re.match(r'"[ \t]*(?:(omp|acc)\b|(?=(?:end)?scop\b))', text.text)
    if words is None:
        return None, position + 4
    inner = text.text.removesuffix('"')
    read = _read(words[1] or "scop", inner, words.end(), text)
    span = found[0].span.to(found[3].span)
    return Directive(read.model, read.words, read.clauses, span), position + 4


def _read(model: str, text: str, start: int, token: Token) -> Directive:
    words: list[str] = []
    clauses: list[Clause] = []
    for name, argument, first, last in _words(text, start):
        goes_on = not words or (not clauses and name in _CONTINUING[model])
        if goes_on and argument is None:
            words.append(name)
            continue
        if not words:
            words.append(name)
            continue
        span = Span(token.origin.file, token.start + first, token.start + last)
        clauses.append(Clause(name, argument, span))
    return Directive(model, tuple(words), tuple(clauses), _trimmed(token, text))


def _trimmed(token: Token, text: str) -> Span:
    """The directive without the comments behind it."""
    return Span(token.origin.file, token.start, token.start + len(text.rstrip()))


def _words(text: str, start: int) -> Iterator[tuple[str, str | None, int, int]]:
    """Words, each with its argument in parentheses, if it has one, and with its first and last position."""
    position = start
    while (found := _PIECE.search(text, position)) is not None:
        position = found.end()
        if found.lastgroup != "word":
            continue
        behind = re.compile(r"\s*\(").match(text, position)
        if behind is None:
            yield found.group(), None, found.start(), position
            continue
        end = _closing(text, behind.end() - 1)
        yield found.group(), text[behind.end() : end - 1].strip(), found.start(), end
        position = end


def _closing(text: str, opening: int) -> int:
    """The position after the parenthesis that closes the one at ``opening``, or the end of the text."""
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position + 1
    return len(text) + 1
