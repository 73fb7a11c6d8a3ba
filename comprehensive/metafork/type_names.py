"""Names of types: what ``typedef`` and the headers of C call a scalar type, as the words that it stands for.

In: the tokens of a preprocessed file and of the files that it includes.  Out: the same with words of types in the
places of such names::

    typedef float real;  real x; size_t n;   -->   typedef float real;  float x; unsigned long n;

The words have the span of the name, so that text and places stay those of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.preprocessor.stream import Preprocessed
from comprehensive.metafork.tokens import Token
from comprehensive.records import replace

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
"""The names that compilers and CUDA have for the floating types of 16 bits, by the name that is meant."""


def with_type_names(text: Preprocessed) -> tuple[Preprocessed, Mapping[str, Token]]:
    """The text with the names of scalar types resolved, and the names that ``typedef`` gives to other types.

    A name is a type from its ``typedef`` on, but where it is declared as something else: after the words of a type,
    after a ``.`` and as the tag of a structure.  A name of a header is none in a file that declares a variable so.
    Included files come before the file that includes them.
    """
    before = len(text.included)
    together = (*text.included, *text.tokens)
    names = _Names(together, frozenset(position + before for position in text.skipped))
    found = [names.resolved(position) for position in range(len(together))]
    resolved = [token for tokens in found[before:] for token in tokens]
    is_skipped = [position in text.skipped for position, tokens in enumerate(found[before:]) for _ in tokens]
    changed = replace(
        text,
        tokens=tuple(resolved),
        skipped=frozenset(position for position, skipped in enumerate(is_skipped) if skipped),
        included=tuple(token for tokens in found[:before] for token in tokens),
    )
    return changed, names.others


class _Names:
    """The names that are types at a place of a text, which is read from its beginning to its end."""

    def __init__(self, tokens: Sequence[Token], skipped: frozenset[int]) -> None:
        variables = _variables(tokens)
        of_headers = {**_OF_HEADERS, **STORAGE_NAMES}
        self._tokens = tokens
        self._skipped = skipped
        self._words = {
            name: tuple(text.split()) for name, text in of_headers.items() if name not in variables
        }
        self._before: Token | None = None
        self._definition: list[Token] | None = None
        """The tokens behind the ``typedef`` that is open."""
        self._depth = 0
        self.others: dict[str, Token] = {}

    def resolved(self, position: int) -> tuple[Token, ...]:
        """The token that comes next, or the words in its place."""
        token = self._tokens[position]
        result = (token,)
        if token.type == "NAME" and token.text in self._words and not self._is_other():
            result = tuple(token._replace(type="TYPE_WORD", text=word) for word in self._words[token.text])
        elif token.type == "STRUCT" and token.text == "typedef":
            self._definition, self._depth = [], 0
            self._before = token
            return result
        self._depth += (token.type == "LBRACE") - (token.type == "RBRACE")
        if token.type == "SEMI" and self._definition is not None and self._depth == 0:
            self._define(self._definition, position in self._skipped)
            self._definition = None
        if self._definition is not None:
            self._definition += result
        self._before = result[-1]
        return result

    def _is_other(self) -> bool:
        """Whether a name behind the last token is that of a variable, a member or a structure."""
        if self._before is None:
            return False
        is_tag = self._before.type == "STRUCT" and self._before.text != "typedef"
        return is_tag or self._before.type in ("TYPE_WORD", "DOT")

    def _define(self, definition: Sequence[Token], is_skipped: bool) -> None:
        """Enters what stands between ``typedef`` and ``;``; what a C compiler skips hides nothing."""
        head = [token for token in definition if token.type in ("TYPE_WORD", "QUALIFIER")]
        meant = tuple(token.text for token in head if token.type == "TYPE_WORD")
        rest = [token for token in definition if token.type not in ("TYPE_WORD", "QUALIFIER")]
        names = rest[::2]
        is_scalar = scalar_type(meant) is not None and all(token.type == "NAME" for token in names)
        if is_scalar and all(token.type == "COMMA" for token in rest[1::2]):
            for token in names:
                if not is_skipped or token.text not in self._words:
                    self._words[token.text] = meant
        elif names := [token for token in rest if token.type == "NAME"]:
            self.others[names[-1].text] = names[-1]
            self._words.pop(names[-1].text, None)


def storage_names(tokens: Sequence[Token]) -> Mapping[str, str]:
    """Return what each name of a storage type means to which the text of a file gives no meaning of its own."""
    names = _Names(tokens, frozenset())
    taken = _variables([word for position in range(len(tokens)) for word in names.resolved(position)])
    return {name: meant for name, meant in STORAGE_NAMES.items() if name not in taken}


def _variables(tokens: Sequence[Token]) -> frozenset[str]:
    """The names that stand behind a type, as those of variables do: a word of C, with or without a star, or a name."""
    found: set[str] = set()
    is_typed = is_named = False
    for token in tokens:
        if token.type == "NAME" and (is_typed or is_named):
            found.add(token.text)
        is_named = token.type == "NAME" and not is_named
        is_typed = token.type == "TYPE_WORD" or (token.type in ("STAR", "QUALIFIER") and is_typed)
    return frozenset(found)
