"""The parameters of a function with a region.

In: the tokens of the file and the place of the function.  Out: what the launcher is passed; what is not understood is
an error that says what to write::

    void f(int n, const float (*a)[n])  -->  Parameter("n", INT), Parameter("a", FLOAT, const, dims=(None, n))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from comprehensive.diagnostics import Diagnostic, Note
from comprehensive.metafork.ast import Parameter
from comprehensive.metafork.attempt import attempt
from comprehensive.metafork.brackets import between_commas
from comprehensive.metafork.expression_check import NamesOutside
from comprehensive.metafork.limits import too_deep_in_text, too_deep_in_tree
from comprehensive.metafork.literals import SUPPORTED_TYPES, shorten, type_to_use
from comprehensive.metafork.locate import FoundFunction
from comprehensive.metafork.tokens import Token
from comprehensive.records import replace


def parameters_of(
    text: Sequence[Token],
    found: FoundFunction,
    names: NamesOutside,
    other_types: Mapping[str, Token],
    differing: Mapping[str, Token],
) -> tuple[tuple[Parameter, ...], bool]:
    """The parameters that are understood, and whether all of them are.

    ``names`` and ``other_types`` are what the file says of names that are no types of the language, ``differing`` the
    members of structures that have another type than those before them.
    """
    if not found.parameters:
        return (), True
    sink = text[found.head].origin.sink
    parameters: list[Parameter] = []
    understood = True
    for first, last in between_commas(text, found.parameters.start, found.parameters.stop):
        words = text[first:last]
        if [word.text for word in words] == ["void"] and len(found.parameters) == 1:
            continue
        span = words[0].span.to(words[-1].span) if words else text[last].span
        parameter: Parameter | None = None
        diagnostics: tuple[Diagnostic, ...] = ()
        if words and too_deep_in_text(words) is None:
            parameter, diagnostics = attempt("parameter", words)
        dims = () if parameter is None else tuple(d for d in parameter.dims if d is not None)
        unknown = _unknown_type(words)
        if unknown is not None:
            understood = False
            known = other_types.get(unknown.text)
            is_structure = known is not None or any(word.type == "STRUCT" for word in words)
            sink.error(
                "CF0117",
                f"'{shorten(unknown.text)}' is not a type of the language",
                unknown.span,
                notes=_no_type(unknown, known, differing),
                help="pass what it is made of: a parameter or an array of its own for every member, "
                "'const float *x' for 'p[i].x'"
                if is_structure
                else names.help_if_missing(type_to_use(unknown.text)),
            )
        elif parameter is None or too_deep_in_tree(dims) is not None:
            understood = False
            reasons = tuple(Note(d.message, d.span) for d in diagnostics if d.code == "CF0117")
            sink.error(
                "CF0216",
                f"a parameter of '{found.name}', which holds a region, is not understood",
                span,
                notes=reasons,
                help=_open_extent(words)
                or _several_stars(found.name, words)
                or _complex(words)
                or "parameters are 'int n', 'float a[n][m]' or 'const float *a', with the types "
                + SUPPORTED_TYPES,
            )
        else:
            made = any(word.type == "LSQB" and word.span.text != word.text for word in words)
            parameters.append(replace(parameter, respelled=True) if made else parameter)
    return tuple(parameters), understood


def _no_type(unknown: Token, known: Token | None, differing: Mapping[str, Token]) -> tuple[Note, ...]:
    """Return why a name is no type of the language."""
    if unknown.text in differing:
        return (Note("this member has another type than those before it", differing[unknown.text].span),)
    return () if known is None else (Note("this is no name of a scalar type", known.span),)


def _unknown_type(words: Sequence[Token]) -> Token | None:
    """The word of a parameter that stands where its type should, before its name or before stars and its name."""
    names = [k for k, word in enumerate(words) if word.type == "NAME"]
    if not names or any(word.type == "TYPE_WORD" for word in words[: names[0]]):
        return None
    behind = words[names[0] + 1 :]
    while behind and behind[0].type in ("STAR", "QUALIFIER"):
        behind = behind[1:]
    return words[names[0]] if behind and behind[0].type == "NAME" else None


def _open_extent(words: Sequence[Token]) -> str | None:
    """Return what to write for ``float a[n][]``, where an extent after the first is left out; None for other words."""
    kinds = [word.type for word in words]
    name = next((word.text for word, after in pairwise(words) if after.type == "LSQB"), None)
    later = [
        k for k, pair in enumerate(pairwise(kinds)) if pair == ("LSQB", "RSQB") and kinds[k - 1] == "RSQB"
    ]
    if not later or name is None:
        return None
    extents = "".join(f"[{letter}]" for letter in "nmpqrstuvw"[: kinds.count("LSQB")])
    return f"only the first extent may be left out: write '{name}{extents}', with parameters for the extents"


def _complex(words: Sequence[Token]) -> str | None:
    """Return what to write for ``float complex *a``; None for other words."""
    word = next((word.text for word in words if word.text in ("complex", "_Complex")), None)
    return None if word is None else type_to_use(word)


def _several_stars(function: str, words: Sequence[Token]) -> str | None:
    """Return what to write for ``float **a``, rows each of which is memory of its own; None for other words."""
    kinds = [word.type for word in words]
    if kinds.count("STAR") < 2 or words[-1].type != "NAME":
        return None
    if function == "main":
        return "write the parallel loops into a function of its own that is passed sizes and arrays"
    kind, name = (
        " ".join(word.text for word in words if word.type in ("TYPE_WORD", "QUALIFIER")),
        words[-1].text,
    )
    return (
        f"the device has no pointers to rows: pass one block of memory, '{kind} (*{name})[m]' for {name}[i][j], or "
        f"'{kind} *{name}' for {name}[i*m + j]"
    )
