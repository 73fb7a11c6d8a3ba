"""Names of types: what ``typedef`` and the headers of C call a scalar type, as the words that it stands for.

In: the tokens of a file and of those that it includes, macros expanded.  Out: the same tokens with words of types in
the places of such names::

    typedef float real;  real x; size_t n;   -->   typedef float real;  float x; unsigned long n;

The words have the span of the name, so that text and places stay those of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.preprocessor.stream import Preprocessed
from comprehensive.metafork.tokens import Token

_OF_HEADERS: Mapping[str, str] = {
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "intmax_t": "long",
    "uintmax_t": "unsigned long",
    **{
        f"{sign}int{kind}{bits}_t": ("unsigned " if sign else "signed ") + words
        for kind in ("", "_least")
        for bits, words in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
        for sign in ("", "u")
    },
}
"""The types of stddef.h, stdint.h and sys/types.h on Linux of 64 bits."""

STORAGE_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("half", "_Float16", "__half"), ScalarType.HALF.value),
    **dict.fromkeys(("bfloat16", "__bf16", "nv_bfloat16", "__nv_bfloat16"), ScalarType.BFLOAT16.value),
}
"""What compilers and CUDA call the floating types of 16 bits, by the name that is meant."""


def with_type_names(text: Preprocessed) -> tuple[Preprocessed, Mapping[str, Token]]:
    """The text with the names of scalar types resolved, and the names that ``typedef`` gives to other types.

    Included files come first: their names are known in the text.
    """
    places, others = _resolved((*text.included, *text.tokens))
    made: list[Token] = []
    skipped: set[int] = set()
    for position, words in enumerate(places[len(text.included) :]):
        if position in text.skipped:
            skipped |= set(range(len(made), len(made) + len(words)))
        made += words
    included = tuple(word for words in places[: len(text.included)] for word in words)
    return replace(text, tokens=tuple(made), included=included, skipped=frozenset(skipped)), others


def _resolved(tokens: Sequence[Token]) -> tuple[list[tuple[Token, ...]], Mapping[str, Token]]:
    """What each token stands for, and the names of other types.

    A name is a type from its ``typedef`` on, but where it is declared as something else: after the words of a type,
    after a ``.`` and as the tag of a structure.  A name of a header is none in a file that declares a variable so.
    """
    variables = _variables(tokens)
    of_headers = {**_OF_HEADERS, **STORAGE_NAMES}
    words = {name: tuple(text.split()) for name, text in of_headers.items() if name not in variables}
    others: dict[str, Token] = {}
    places: list[tuple[Token, ...]] = []
    definition: list[Token] | None = None
    """What stands behind the ``typedef`` at hand."""
    depth = 0
    before: Token | None = None
    for token in tokens:
        is_other = before is not None and (
            before.type in ("TYPE_WORD", "DOT") or (before.type == "STRUCT" and before.text != "typedef")
        )
        place = (token,)
        if token.type == "NAME" and token.text in words and not is_other:
            place = tuple(token._replace(type="TYPE_WORD", text=word) for word in words[token.text])
        places.append(place)
        before = place[-1]
        depth += (token.type == "LBRACE") - (token.type == "RBRACE")
        if token.type == "STRUCT" and token.text == "typedef":
            definition, depth = [], 0
        elif token.type == "SEMI" and definition is not None and depth == 0:
            _define(definition, words, others)
            definition = None
        elif definition is not None:
            definition += place
    return places, others


def storage_names(tokens: Sequence[Token]) -> Mapping[str, str]:
    """The names of storage types to which the text of a file gives no meaning of its own, with what each stands for."""
    taken = _variables([word for words in _resolved(tokens)[0] for word in words])
    return {name: meant for name, meant in STORAGE_NAMES.items() if name not in taken}


def _variables(tokens: Sequence[Token]) -> frozenset[str]:
    """The names that stand behind words of C's own types, as those of variables do, with or without a star."""
    found: set[str] = set()
    is_typed = False
    for token in tokens:
        if token.type == "NAME" and is_typed:
            found.add(token.text)
        is_typed = token.type == "TYPE_WORD" or (token.type in ("STAR", "QUALIFIER") and is_typed)
    return frozenset(found)


def _define(definition: Sequence[Token], words: dict[str, tuple[str, ...]], others: dict[str, Token]) -> None:
    """Enters what stands between ``typedef`` and ``;``."""
    head = [token for token in definition if token.type in ("TYPE_WORD", "QUALIFIER")]
    meant = tuple(token.text for token in head if token.type == "TYPE_WORD")
    rest = [token for token in definition if token.type not in ("TYPE_WORD", "QUALIFIER")]
    names = rest[::2]
    is_scalar = scalar_type(meant) is not None and all(token.type == "NAME" for token in names)
    if is_scalar and all(token.type == "COMMA" for token in rest[1::2]):
        words.update((token.text, meant) for token in names)
    elif names := [token for token in rest if token.type == "NAME"]:
        others[names[-1].text] = names[-1]
        words.pop(names[-1].text, None)
