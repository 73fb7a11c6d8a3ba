"""Text to tokens: the one lexer for host C and for regions.

In: a :class:`SourceFile` and a range of it.  Out: tokens without white space and comments; the time is linear in
the length of the text, whatever the text is::

    [t.type for t in tokens("c[i] += 1;")] == ["NAME", "LSQB", "NAME", "RSQB", "COMPOUND", "INT_LITERAL", "SEMI"]

Words and signs of C outside the language have types of their own (``GOTO``, ``DOT``, ``STRING``, ``DIRECTIVE``...):
the grammar has no use for them, so that they end up in a syntax error that can name them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, SourceFile, Span

OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
"""The types of brackets of every kind."""
END = "$END"
"""The type of what stands behind the last token of a text, where something has to."""


class Origin(Struct, frozen=True):
    """The text that tokens come from, and where to report what is wrong with them."""

    file: SourceFile
    sink: DiagnosticSink


class Token(NamedTuple):
    """A token; ``type`` is the name of a terminal of the grammar, offsets are those of the file."""

    type: str
    text: str
    start: int
    end: int
    origin: Origin

    @property
    def span(self) -> Span:
        return Span(self.origin.file, self.start, self.end)


# Quantifiers are possessive and unterminated constants run to the end of their line (comments: of the file), so
# that no text is scanned twice.
_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)|//(?:[^\n\\]|\\(?:\r\n|[\s\S])|\\\Z)*+"
_STRING = r'"(?:[^"\\\n]|\\(?:\r\n|[\s\S]))*+(?:"|\\\Z)?'
_CHARACTER = _STRING.replace('"', "'")
_DIRECTIVE = rf"""[#](?:[^\n/"'\\]++|\\(?:\r\n|[\s\S]|\Z)|{_COMMENT}|{_STRING}|{_CHARACTER}|/)*+"""
_TOKEN = re.compile(
    rf"""(?P<SPACE>(?:\s|\\\r?\n|\ufeff)++)
    |(?P<WORD>[^\W\d]\w*+)
    |(?P<NUMBER>\.?\d(?:[eEpP][+-]|'\w|[\w.])*+)
    |(?P<COMMENT>{_COMMENT})
    |(?P<STRING>{_STRING})
    |(?P<CHARACTER>{_CHARACTER})
    |(?P<DIRECTIVE>{_DIRECTIVE})
    |(?P<SIGN><<=|>>=|\.\.\.|[-+*/%&|^<>=!]=|\+\+|--|->|<<|>>|&&|\|\||<%|%>|<:|:>|[^\s\w])
    """.replace("\n    ", "")
)

_WORDS = {
    **dict.fromkeys(("int", "unsigned", "long", "float", "double", "char"), "TYPE_WORD"),
    **dict.fromkeys(("short", "signed", "void", "_Bool", "bool", "_Complex"), "TYPE_WORD"),
    **dict.fromkeys(("__half", "__nv_bfloat16"), "TYPE_WORD"),
    **dict.fromkeys(
        (
            "const",
            "volatile",
            "restrict",
            "__restrict",
            "__restrict__",
            "static",
            "extern",
            "register",
            "inline",
        ),
        "QUALIFIER",
    ),
    **dict.fromkeys(("struct", "union", "enum", "typedef"), "STRUCT"),
    **dict.fromkeys(("switch", "case", "default"), "SWITCH"),
    "sizeof": "SIZEOF",
    "goto": "GOTO",
    "return": "RETURN",
    "meta_schedule": "META_SCHEDULE",
    "meta_for": "META_FOR",
    "meta_atomic": "META_ATOMIC",
    "for": "FOR",
    "if": "IF",
    "else": "ELSE",
    "while": "WHILE",
    "do": "DO",
    "break": "BREAK",
    "continue": "CONTINUE",
}

_SIGNS = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "<:": "LSQB",
    ":>": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
    "<%": "LBRACE",
    "%>": "RBRACE",
    ";": "SEMI",
    ",": "COMMA",
    "?": "QUESTION",
    ":": "COLON",
    "=": "ASSIGN",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "&": "AND",
    "!": "NOT",
    "~": "NOT",
    ".": "DOT",
    "->": "DOT",
    **dict.fromkeys(("++", "--"), "INCDEC"),
    **dict.fromkeys(("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="), "COMPOUND"),
    **dict.fromkeys(
        ("/", "%", "<<", ">>", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"),
        "OPERATOR",
    ),
}

_FLOAT = re.compile(r"0[xX][\da-fA-F.]*[pP]|(?!0[xX])[\d.]*(?:[.eE])")


def tokens(origin: Origin, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of ``origin.file.text[start:end]``; ``start`` must not lie inside a token or a comment."""
    for match in _TOKEN.finditer(origin.file.text, start, len(origin.file.text) if end is None else end):
        group = match.lastgroup
        if group == "SPACE" or group == "COMMENT":
            continue
        text = match.group()
        if group == "SIGN":
            kind = _SIGNS.get(text, "UNKNOWN")
        elif group == "WORD":
            kind = _WORDS.get(text, "NAME")
        elif group == "NUMBER":
            kind = "FLOAT_LITERAL" if _FLOAT.match(text) else "INT_LITERAL"
        else:
            kind = str(group)
        yield Token(kind, text, match.start(), match.end(), origin)


def unterminated_comment(origin: Origin) -> Span | None:
    """The comment that runs into the end of the file, if there is one."""
    text = origin.file.text
    last = text.rfind("/*")
    if last < 0 or text.find("*/", last + 2) >= 0:
        return None
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "COMMENT" and match.end() == len(text) and match.group().startswith("/*"):
            return Span(origin.file, match.start(), match.start() + 2)
        if match.lastgroup == "DIRECTIVE" and match.end() == len(text):
            inner = _unterminated_in_directive(match.group())
            if inner is not None:
                return Span(origin.file, match.start() + inner, match.start() + inner + 2)
    return None


_IN_DIRECTIVE = re.compile(rf"(?P<COMMENT>{_COMMENT})|{_STRING}|{_CHARACTER}")


def _unterminated_in_directive(text: str) -> int | None:
    for match in _IN_DIRECTIVE.finditer(text, 1):
        comment = match.group("COMMENT")
        if comment is None or not comment.startswith("/*") or match.end() < len(text):
            continue
        if len(comment) < 4 or not comment.endswith("*/"):
            return match.start()
    return None


def is_closed(token: Token) -> bool:
    """Whether a string or character constant has its closing quote."""
    text = token.text
    quote = text[0]
    backslashes = len(text[:-1]) - len(text[:-1].rstrip("\\"))
    return len(text) >= 2 and text[-1] == quote and backslashes % 2 == 0
