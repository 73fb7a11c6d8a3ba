"""Names of types: what ``typedef`` and the headers of C call a scalar type, as the words that it stands for.

In: the tokens of a file.  Out: the same tokens with words of types in the places of such names::

    typedef float real;  real x; size_t n;   -->   typedef float real;  float x; unsigned long n;

The words have the span of the name, so that text and places stay those of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.literals import scalar_type
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


def with_type_names(tokens: Sequence[Token]) -> tuple[list[Token], Mapping[str, Token]]:
    """The tokens with the names of scalar types resolved, and the names that ``typedef`` gives to other types.

    A name is a type from its ``typedef`` on, but where it is declared as something else: after the words of a type,
    after a ``.`` and as the tag of a structure.  A name of a header is none in a file that declares a variable so.
    """
    variables = _variables(tokens)
    of_headers = {**_OF_HEADERS, **STORAGE_NAMES}
    words = {name: tuple(text.split()) for name, text in of_headers.items() if name not in variables}
    others: dict[str, Token] = {}
    result: list[Token] = []
    definition: int | None = None
    """Where the definition at hand begins in the result."""
    depth = 0
    for token in tokens:
        before = result[-1] if result else token
        is_other = before.type in ("TYPE_WORD", "DOT") or (
            before.type == "STRUCT" and before.text != "typedef"
        )
        if token.type == "NAME" and token.text in words and not is_other:
            result += [token._replace(type="TYPE_WORD", text=word) for word in words[token.text]]
            continue
        result.append(token)
        if token.type == "STRUCT" and token.text == "typedef":
            definition, depth = len(result), 0
        depth += (token.type == "LBRACE") - (token.type == "RBRACE")
        if token.type == "SEMI" and definition is not None and depth == 0:
            _define(result[definition:-1], words, others)
            definition = None
    return result, others


def storage_names(tokens: Sequence[Token]) -> Mapping[str, str]:
    """The names of storage types to which the text of a file gives no meaning of its own, with what each stands for."""
    taken = _variables(with_type_names(tokens)[0])
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
