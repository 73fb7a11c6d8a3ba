"""The diagnostics of syntax errors: the construct of C that is not in the language, or what was found and expected.

In: the token that does not fit, the one before it, and what would fit.  Out: one diagnostic::

    matmul.mf:9:15: error: found ')', expected an expression [CF0110]
"""

from __future__ import annotations

from comprehensive.diagnostics import Edit, Fix, Span
from comprehensive.metafork.literals import SUPPORTED_TYPES, shorten, type_fix, type_to_use
from comprehensive.metafork.tokens import Token

_BY_TOKEN = {
    "GOTO": ("CF0112", "goto is not supported in a region", "use if/else, or break out of a serial loop"),
    "RETURN": (
        "CF0112",
        "return is not supported in a region",
        "use if/else: every iteration runs to its end",
    ),
    "DOT": (
        "CF0114",
        "this is no member of a structure that a region can use",
        "structures whose members all have one type are arrays of it: p[i].x of a parameter p; of others pass an array "
        "of its own for every member, x[i] for p[i].x, and scalars for those of one structure; one that host code "
        "declares stays there, and a region declares its own",
    ),
    "STRUCT": (
        "CF0114",
        "type definitions are not supported in a region",
        f"the types are {SUPPORTED_TYPES}",
    ),
    "STRING": (
        "CF0119",
        "strings are not supported in a region",
        "a region computes on numbers only: store what is to be printed in an array, and print it after the call",
    ),
    "META_SCHEDULE": (
        "CF0305",
        "a meta_schedule cannot stand inside another one",
        "end the outer region first; two regions one after the other run in this order",
    ),
}

_NO_UPDATE = frozenset(
    ("SEMI", "TYPE_WORD", "QUALIFIER", "FOR", "META_FOR", "META_ATOMIC", "IF", "WHILE", "DO")
) | {"BREAK", "CONTINUE", "LBRACE", "RBRACE"}
"""The tokens that begin a statement that is no update, or end one."""
_ENDS_EXPRESSION = frozenset({"NAME", "INT_LITERAL", "FLOAT_LITERAL", "RPAR", "RSQB"})

_END = "end the statement with ';'"

_WORDS = {
    "SEMI": "';'",
    "RPAR": "')'",
    "RSQB": "']'",
    "LPAR": "'('",
    "LSQB": "'['",
    "COMMA": "','",
    "COLON": "':'",
    "WHILE": "'while'",
    "RBRACE": "'}'",
    "LBRACE": "'{'",
    "NAME": "a name",
}


def report_syntax_error(
    found: Token, previous: Token | None, accepted: frozenset[str], open_words: tuple[str, ...]
) -> None:
    """Reports one error; ``accepted`` are the types of token that fit, ``open_words`` those of the statement."""
    code, message, help_text, span = _describe(found, previous, accepted, open_words)
    fix = _fix(code, span)
    found.origin.sink.error(code, message, span, help=help_text, fix=fix)


def _fix(code: str, span: Span) -> Fix | None:
    """The edit of a diagnostic, where it is clear what was meant."""
    if code == "CF0111":
        return Fix(_END, (Edit(span, ";"),))
    return type_fix(span) if code == "CF0117" else None


def _describe(
    found: Token, previous: Token | None, accepted: frozenset[str], open_words: tuple[str, ...]
) -> tuple[str, str, str, Span]:
    span = found.span
    if found.type in _BY_TOKEN:
        return *_BY_TOKEN[found.type], span
    # What fits is known after the parser has folded what stood before: only the last token tells
    # whether that was an expression.
    before_expression = "INT_LITERAL" in accepted
    after_expression = not before_expression and previous is not None and previous.type in _ENDS_EXPRESSION
    in_header = _in_header(open_words)
    match found.type:
        case _ if previous is not None and previous.type == "META_ATOMIC" and found.type in _NO_UPDATE:
            text = "meta_atomic stands before the update of one element"
            return "CF0225", text, "write 'meta_atomic h[k] += 1;'", previous.span
        case "UNKNOWN":
            return "CF0127", f"'{shorten(found.text)}' has no meaning in C here", "remove it", span
        case "STAR" if previous is not None and previous.type in ("TYPE_WORD", "QUALIFIER"):
            text = "a pointer cannot stand here"
            help_text = "declare it in a statement of its own, 'float *p = a + i*n;', and index it: p[j]"
            return "CF0113", text, help_text, span
        case "ASSIGN" | "COMPOUND" | "INCDEC" if after_expression or before_expression:
            text = "an assignment cannot be part of an expression"
            return "CF0116", text, "write it as a statement of its own", span
        case "LBRACE" if before_expression and "META_FOR" not in accepted:
            text = "an initialiser list stands behind the declaration of an array only"
            return "CF0124", text, "assign the elements one by one", span
        case "NAME" if previous is not None and previous.type == "NAME" and _same_line(previous, found):
            text = f"'{shorten(previous.text)}' is not a type of the language"
            return "CF0117", text, type_to_use(previous.text), previous.span
        case "TYPE_WORD" if previous is not None and previous.type == "NAME" and _same_line(previous, found):
            text = f"'{shorten(previous.text)}' is no type and no qualifier of the language"
            return "CF0117", text, type_to_use(previous.text), previous.span
        case "SEMI" if "ASSIGN" in accepted and not in_header:
            text = "this statement has no effect: it assigns nothing"
            help_text = "assign its value to a variable or an element of an array; functions are called for their value"
            return "CF0120", text, help_text, span
        case _:
            return _expected(found, previous, accepted, in_header)


def _expected(
    found: Token, previous: Token | None, accepted: frozenset[str], in_header: bool
) -> tuple[str, str, str, Span]:
    ends = "SEMI" in accepted and "META_FOR" not in accepted and not in_header
    if ends and previous and (found.type in ("$END", "RBRACE") or not _same_line(previous, found)):
        after = Span(previous.span.file, previous.end, previous.end)
        return "CF0111", f"expected ';' after '{shorten(previous.text)}'", _END, after
    shown = "the end" if found.type == "$END" else f"'{shorten(found.text)}'"
    wanted = _in_words(accepted)
    if in_header:
        help_text = "a loop header has the form (int i = start; i < bound; i += step)"
    else:
        help_text = "regions are C: check the parentheses, braces and operators up to here"
    return "CF0110", f"found {shown}, expected {wanted}", help_text, found.span


def _in_words(accepted: frozenset[str]) -> str:
    words: list[str] = []
    if "META_FOR" in accepted:
        words.append("a statement")
    elif "INT_LITERAL" in accepted:
        words.append("an expression")
    elif "PLUS" in accepted:
        words.append("an operator")
    elif "NAME" in accepted:
        words.append(_WORDS["NAME"])
    skipped = {"NAME"}
    if words:
        skipped |= {"LPAR"}
    if words == ["an operator"]:
        skipped |= {"COMMA"}
    if words[:1] == ["a statement"]:
        skipped |= {"SEMI", "LBRACE", "WHILE"}
    words += [text for kind, text in _WORDS.items() if kind in accepted and kind not in skipped]
    if "ASSIGN" in accepted and words[:1] != ["an operator"]:
        words.append("an assignment")
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _in_header(open_words: tuple[str, ...]) -> bool:
    return any(
        word in ("FOR", "META_FOR") and "RPAR" not in open_words[k:] for k, word in enumerate(open_words)
    )


def _same_line(left: Token, right: Token) -> bool:
    return "\n" not in left.origin.file.text[left.end : right.start]
