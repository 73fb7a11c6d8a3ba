"""Keywords and clauses that are nearly right: each is reported once and then read as what it was meant to be.

In: the tokens of a file.  Out: the same tokens with misspelt keywords and clauses replaced, so that what follows
them is not misread::

    meta_shedule block(B) { metafor (int i = 0; ...   -->   meta_schedule block(B) { meta_for (int i = 0; ...

A word counts as a keyword only where C has no other use for it: before a brace or a clause, before a loop header,
before another name.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from comprehensive.diagnostics import Fix
from comprehensive.metafork.brackets import end_of_group
from comprehensive.metafork.locate import CLAUSES
from comprehensive.metafork.tokens import Token

_LIKENESS = 0.75
"""The part of two words that must agree, as difflib measures it: 'metafor' and 'meta_for' have 0.93."""
_BRACES = frozenset(("LBRACE", "RBRACE"))
_KINDS = {"meta_schedule": "META_SCHEDULE", "meta_for": "META_FOR", "meta_atomic": "META_ATOMIC"}


def corrected(tokens: Sequence[Token]) -> list[Token]:
    """The tokens as they were meant (CF0128 for each that is not what it should be)."""
    result = list(tokens)
    position = 0
    while position < len(result):
        token = result[position]
        if token.type == "NAME":
            meant = _meant_keyword(result, position)
            if meant is not None:
                _report(token, f"'{token.text}' is no keyword", f"write '{meant}'", meant)
                token = result[position] = token._replace(type=_KINDS[meant], text=meant)
        if token.type == "META_SCHEDULE":
            _correct_clauses(result, position + 1)
        position += 1
    return result


def _meant_keyword(tokens: Sequence[Token], position: int) -> str | None:
    if position + 1 == len(tokens):
        return None
    following = tokens[position + 1]
    if following.type == "LPAR" and _is_loop_header(tokens, position + 1):
        return "meta_for" if _is_like(tokens[position].text, "meta_for") else None
    # `atomic ++h[i]`, but not the end of `for (...; atomic++)`.
    updates = following.type == "INCDEC" and [t.type for t in tokens[position + 2 : position + 3]] == ["NAME"]
    if following.type == "NAME" or updates:
        return "meta_atomic" if _is_like(tokens[position].text, "meta_atomic") else None
    if following.type == "LBRACE" or _is_clause(tokens, position + 1):
        return "meta_schedule" if _is_like(tokens[position].text, "meta_schedule") else None
    return None


def _correct_clauses(tokens: list[Token], position: int) -> None:
    """Replaces the names of clauses that are nearly right and removes clauses that there are not."""
    while _is_clause(tokens, position):
        word, end = tokens[position], end_of_group(tokens, position + 1, _BRACES)
        if word.text in CLAUSES:
            position = end
            continue
        close = get_close_matches(word.text.lower(), CLAUSES, 1, _LIKENESS)
        known = " and ".join(f"'{clause}(...)'" for clause in CLAUSES)
        help = f"write '{close[0]}(...)'" if close else f"the clauses are {known}"
        _report(word, f"meta_schedule has no clause '{word.text}'", help, close[0] if close else None)
        if close:
            tokens[position] = word._replace(text=close[0])
            position = end
        else:
            del tokens[position:end]


def _report(token: Token, message: str, help: str, meant: str | None) -> None:
    fix = None if meant is None else Fix.write(token.span, meant)
    token.origin.sink.error("CF0128", message, token.span, help=help, fix=fix)


def _is_like(word: str, keyword: str) -> bool:
    plain = word.lower().replace("_", ""), keyword.replace("_", "")
    return bool(get_close_matches(plain[0], plain[1:], 1, _LIKENESS))


def _is_clause(tokens: Sequence[Token], position: int) -> bool:
    """Whether ``word(...)`` stands here, followed by a brace or by more of its kind."""
    while position + 1 < len(tokens) and tokens[position].type == "NAME":
        if tokens[position + 1].type != "LPAR":
            return False
        position = end_of_group(tokens, position + 1, _BRACES)
        if position < len(tokens) and tokens[position].type == "LBRACE":
            return True
    return False


def _is_loop_header(tokens: Sequence[Token], opening: int) -> bool:
    end = end_of_group(tokens, opening, _BRACES)
    return sum(token.type == "SEMI" for token in tokens[opening:end]) == 2
