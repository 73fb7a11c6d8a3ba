"""Calls of the C library in host code, which is written in C and compiled as C++.

In: what the `.cu` copies of a file.  Out: the same text with a using-declaration for each function of which C++ has
overloads, and the prototypes that these declarations name::

    { float r = sqrt(x); }  -->  { using cf_c::sqrt; { float r = sqrt(x); } }      cf_c: double sqrt(double)

C has one function of a name and converts the arguments to its prototype; C++ chooses an overload by their types, so
that ``sqrt`` of a float is rounded to float, and ``abs`` of a long does not convert to int.  A using-declaration hides
the overloads in the function that it stands in, and the text of the user stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, DiagnosticSink, Span
from comprehensive.metafork.ast import Function, HostAssert
from comprehensive.metafork.brackets import depths
from comprehensive.metafork.file_scope import Kind, Piece
from comprehensive.metafork.stability import macro_names, names_in_macros
from comprehensive.metafork.tokens import Origin, Token, tokens

NAMESPACE = "cf_c"

_OF_ONE_NUMBER = """
acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p log2 logb
nearbyint rint round sin sinh sqrt tan tanh tgamma trunc
"""
_OF_TWO_NUMBERS = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder"


class Prototype(Struct, frozen=True):
    """A function of C99's math.h or stdlib.h that has overloads in C++; ``parameters`` are types."""

    result: str
    name: str
    parameters: tuple[str, ...]

    @property
    def definition(self) -> str:
        """The function with this prototype and no overloads."""
        letters = "xyz"[: len(self.parameters)]
        declared = ", ".join(
            f"{type} {letter}" for type, letter in zip(self.parameters, letters, strict=True)
        )
        return (
            f"inline {self.result} {self.name}({declared}) {{ return ::{self.name}({', '.join(letters)}); }}"
        )


_PROTOTYPES = {
    prototype.name: prototype
    for prototype in (
        *(Prototype("double", name, ("double",)) for name in _OF_ONE_NUMBER.split()),
        *(Prototype("double", name, ("double", "double")) for name in _OF_TWO_NUMBERS.split()),
        Prototype("double", "fma", ("double", "double", "double")),
        Prototype("double", "frexp", ("double", "int *")),
        Prototype("double", "ldexp", ("double", "int")),
        Prototype("double", "modf", ("double", "double *")),
        Prototype("double", "nexttoward", ("double", "long double")),
        Prototype("double", "remquo", ("double", "double", "int *")),
        Prototype("double", "scalbln", ("double", "long")),
        Prototype("double", "scalbn", ("double", "int")),
        Prototype("int", "abs", ("int",)),
        Prototype("int", "ilogb", ("double",)),
        Prototype("div_t", "div", ("int", "int")),
        Prototype("long", "lrint", ("double",)),
        Prototype("long", "lround", ("double",)),
        Prototype("long long", "llrint", ("double",)),
        Prototype("long long", "llround", ("double",)),
    )
}
_NOT_GENERIC = frozenset(("abs", "div", "modf"))
"""These are no macros of tgmath.h, which makes the others choose by type in C, too."""


class HostCalls(Struct, frozen=True):
    """The functions of the C library that a file may call in host code.

    ``known`` are the functions that mean those of the C library in a file; its ``macros`` mention
    ``in_macros``.
    """

    known: frozenset[str]
    macros: frozenset[str]
    in_macros: frozenset[str]

    @staticmethod
    def of(pieces: Sequence[Piece]) -> HostCalls:
        """Return what a file says of the C library's calls outside its functions with regions."""
        directives = [t for p in pieces if p.kind is Kind.DIRECTIVE for t in _tokens(p.span)]
        is_generic = any("tgmath.h" in token.text for token in directives)
        own = {name for p in pieces if p.kind is not Kind.DIRECTIVE for name in _declared(_tokens(p.span))}
        macros = macro_names(directives)
        known = (_NOT_GENERIC if is_generic else frozenset(_PROTOTYPES)) - own - macros
        return HostCalls(known, macros, known & names_in_macros(directives))

    def used(self, pieces: Sequence[Piece], functions: Iterable[Function]) -> tuple[Prototype, ...]:
        """The prototypes of all that is called somewhere, by name."""
        names = {name for function in functions for name in self.in_function(function)}
        names |= {
            name for piece in pieces if piece.kind is Kind.OWN for name in self._in_text(_tokens(piece.span))
        }
        return tuple(_PROTOTYPES[name] for name in sorted(names))

    def in_function(self, function: Function) -> tuple[str, ...]:
        """Return the names of the C library that the host code of a function with regions calls."""
        spans = [
            part if isinstance(part, Span) else part.span
            for part in function.parts
            if isinstance(part, Span | HostAssert)
        ]
        found = self._in_text([token for span in spans if span is not GENERATED for token in _tokens(span)])
        return tuple(name for name in found if name not in {p.name for p in function.parameters})

    def declared_in(self, piece: Piece) -> str:
        """The text of a piece that defines a function, with declarations of what it calls; any other as it is."""
        text = piece.span.text.rstrip()
        inside = _tokens(piece.span)
        names = self._in_text(inside) if inside and inside[-1].type == "RBRACE" else ()
        if not names:
            return text
        first = next(token for token in inside if token.type == "LBRACE").end - piece.span.start
        return f"{text[:first]} {using(names)} {{{text[first:]} }}"

    def _in_text(self, text: Sequence[Token]) -> tuple[str, ...]:
        called = {
            token.text
            for before, token, after in zip((None, *text), text, text[1:], strict=False)
            if after.type == "LPAR" and token.type == "NAME" and (before is None or before.type != "DOT")
        }
        # Which macro a text uses, and which that one uses, is not looked at: a declaration without use does no harm.
        uses_macros = any(token.text in self.macros for token in text)
        return tuple(sorted(called & self.known | (self.in_macros if uses_macros else frozenset())))


def using(names: Iterable[str]) -> str:
    """Return using-declarations of names: ``using cf_c::abs; using cf_c::sqrt;``."""
    return " ".join(f"using {NAMESPACE}::{name};" for name in names)


def _declared(text: Sequence[Token]) -> Iterable[str]:
    """The functions that a piece declares or defines: names before a parenthesis outside all braces."""
    for depth, (token, after) in zip(depths(text), pairwise(text), strict=False):
        if depth == 0 and token.type == "NAME" and after.type == "LPAR":
            yield token.text


def _tokens(span: Span) -> tuple[Token, ...]:
    return tuple(tokens(Origin(span.file, DiagnosticSink()), span.start, span.end))
