"""The stores of the result of a sum: the assignments behind a loop that belong to its region.

::

    #pragma omp parallel for reduction(+: s)
    for (i = 0; i < n; i++) s += a[i];
    *result = s;                                -->   part of the region: the sum never is in host memory
    return s;                                   -->   the same, for memory that the launcher is passed in addition

A sum that host code reads in another way cannot stay on the device; its loop is then alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from comprehensive.metafork.tokens import Token
from comprehensive.pragmas.statements import statement_end


def stores_end(tokens: Sequence[Token], position: int, depth: int, sums: AbstractSet[str]) -> int:
    """The position after the assignments of elements at ``position`` that take values of ``sums``; ``position`` where
    there are none, or where text behind them reads such a value too.  ``depth`` braces are open."""
    end = position
    while end < len(tokens) and _is_store(tokens, end, sums):
        end = statement_end(tokens, end)
    return end if read_again(tokens, end, depth, sums) is None else position


def returned_end(tokens: Sequence[Token], position: int, depth: int, sums: AbstractSet[str]) -> int | None:
    """The position after the assignments at ``position`` and the ``return`` behind them that takes values of ``sums``;
    None where there is none, or another one in the function that returns a value."""
    end = position
    while end < len(tokens) and _is_store(tokens, end, sums):
        end = statement_end(tokens, end)
    after = statement_end(tokens, end)
    is_last = depth == 1 and tokens[after : after + 1] and tokens[after].type == "RBRACE"
    if not is_last or tokens[end].type != "RETURN" or not _takes(tokens[end:after], sums):
        return None
    opening = end
    while depth > 0:
        opening -= 1
        depth += (tokens[opening].type == "RBRACE") - (tokens[opening].type == "LBRACE")
    others = (k for k in range(opening, end) if tokens[k].type == "RETURN" and tokens[k + 1].type != "SEMI")
    return after if next(others, None) is None else None


def _is_store(tokens: Sequence[Token], position: int, sums: AbstractSet[str]) -> bool:
    """``*result = ... s ...;`` or ``result[k] += ... s ...;``"""
    statement = tokens[position : statement_end(tokens, position)]
    kinds = [token.type for token in statement]
    equals = next((k for k, kind in enumerate(kinds) if kind in ("ASSIGN", "COMPOUND")), None)
    if equals is None:
        return False
    is_element = kinds[:equals] == ["STAR", "NAME"] or (
        kinds[:2] == ["NAME", "LSQB"] and kinds[equals - 1] == "RSQB"
    )
    return is_element and _takes(statement[equals:], sums)


def _takes(statement: Sequence[Token], sums: AbstractSet[str]) -> bool:
    """Whether a statement speaks of a sum, and no directive stands in it."""
    return any(token.text in sums for token in statement) and all(t.type != "DIRECTIVE" for t in statement)


def read_again(
    tokens: Sequence[Token], position: int, depth: int, variables: AbstractSet[str]
) -> Token | None:
    """Return the token where the rest of a function, in which ``depth`` braces are open, mentions a variable before it
    gives it another value."""
    waiting = set(variables)
    while position < len(tokens) and depth > 0 and waiting:
        token = tokens[position]
        depth += (token.type == "LBRACE") - (token.type == "RBRACE")
        if token.text in waiting and token.type == "NAME":
            if position + 1 == len(tokens) or tokens[position + 1].type != "ASSIGN":
                return token
            waiting.discard(token.text)
        position += 1
    return None


def with_elements(tokens: Sequence[Token]) -> list[Token]:
    """``*result = s;`` as ``result[0] = s;``: regions have elements and no pointer operations."""
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        three = tokens[position : position + 3]
        begins = position == 0 or tokens[position - 1].type in ("SEMI", "LBRACE", "RBRACE")
        if begins and [token.type for token in three] in (
            ["STAR", "NAME", kind] for kind in ("ASSIGN", "COMPOUND")
        ):
            name = three[1]
            for kind, text in (("LSQB", "["), ("INT_LITERAL", "0"), ("RSQB", "]")):
                result.append(name._replace(type=kind, text=text))
            result.insert(-3, name)
            position += 2
            continue
        result.append(tokens[position])
        position += 1
    return result


def with_result(tokens: Sequence[Token], name: str) -> tuple[list[Token], Token]:
    """``return s;`` at the end as ``name[0] = s;``, and that name."""
    at = max(k for k, token in enumerate(tokens) if token.type == "RETURN")
    called = tokens[at]._replace(type="NAME", text=name)
    element = [("LSQB", "["), ("INT_LITERAL", "0"), ("RSQB", "]"), ("ASSIGN", "=")]
    signs = [called._replace(type=kind, text=text) for kind, text in element]
    return [*tokens[:at], called, *signs, *tokens[at + 1 :]], called
