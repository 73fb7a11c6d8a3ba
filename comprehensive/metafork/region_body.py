"""The statements of a region, or of a function that a region calls: tokens in, trees out, errors in their sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from comprehensive.metafork.addressed import with_addressed_as_arrays
from comprehensive.metafork.ast import ConstantArray, ScalarType, Stmt
from comprehensive.metafork.foreign_words import report_foreign_words
from comprehensive.metafork.grammar import parse
from comprehensive.metafork.initialisers import without_initialisers
from comprehensive.metafork.limits import (
    MAXIMUM_DEPTH,
    MAXIMUM_TOKENS,
    too_deep_in_text,
    too_deep_in_tree,
)
from comprehensive.metafork.sequencing import sequenced
from comprehensive.metafork.tokens import Token, is_closed
from comprehensive.metafork.written import too_deep
from comprehensive.records import replace

_LABELS = {"case": "CASE", "default": "DEFAULT"}
"""Words of a switch that have types of their own in the grammar."""


def region_body(
    inside: Sequence[Token],
    closing: Token,
    variables: Mapping[str, ScalarType],
    name: Callable[[str], str],
    *,
    has_parallel: bool,
    tables: Iterable[ConstantArray] = (),
) -> tuple[Stmt, ...]:
    """The statements between two braces, of which ``closing`` is the second; none after an error that spoils all.

    ``variables`` are the scalars around them and ``tables`` constant arrays; ``name`` gives names that are free.
    ``has_parallel``: the outermost loops may be parallel.
    """
    sink = closing.origin.sink
    if len(inside) > MAXIMUM_TOKENS:
        text = f"this region is too long: {len(inside)} tokens, at most {MAXIMUM_TOKENS} are read"
        sink.error("CF0103", text, inside[0].span, help="split it into several regions")
        return ()
    for token in inside:
        if token.type in ("STRING", "CHARACTER") and not is_closed(token):
            kind = "string" if token.type == "STRING" else "character constant"
            text = f"this {kind} is never closed"
            sink.error("CF0106", text, replace(token.span, end=token.start + 1), help="add the closing quote")
            return ()
    if report_foreign_words(inside):
        return ()
    inside = [
        token._replace(type=_LABELS[token.text]) if token.text in _LABELS else token
        for token in inside
        if token.type != "DIRECTIVE"
    ]
    inside = with_addressed_as_arrays(inside)
    deep = too_deep_in_text(inside)
    if deep is None:
        end = Token("$END", "", closing.start, closing.start, closing.origin)
        body: tuple[Stmt, ...] = parse("region", inside, end) or ()
        deep = too_deep(body, MAXIMUM_DEPTH)
        if deep is None:
            try:
                body = sequenced(body, variables, name, sink, has_parallel=has_parallel, tables=tables)
                body = without_initialisers(body, name, sink)
                deep = too_deep_in_tree(body)
            except RecursionError:  # each of many jumps and labels in a row is a level of its own
                deep = inside[0].span
        if deep is None:
            return body
    sink.error(
        "CF0108",
        f"nested too deeply: more than {MAXIMUM_DEPTH} levels",
        replace(deep, end=min(deep.end, deep.start + 1)),
        help="compute parts of the expression into local scalars, or flatten the nest",
    )
    return ()
