"""The functions and regions in a file of any C, found by tokens, without parsing host code.

In: the tokens of a file.  Out: the functions that hold a ``meta_schedule``, with the positions of their parts in
the list of tokens::

    "void f(int n) { meta_schedule { ... } }"  -->  FoundFunction(name "f", parameters "int n", one region)

Braces are matched under conditional compilation as well: each branch of an ``#if`` starts from the braces that
are open at the ``#if``, so that two heads of one body do not count twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from comprehensive.diagnostics import Edit, Fix, Note
from comprehensive.metafork.brackets import end_of_group
from comprehensive.metafork.tokens import Token


class FoundRegion(Struct, frozen=True):
    """Positions in the list of tokens: ``meta_schedule``, the brace after it, the closing brace."""

    keyword: int
    opening: int
    closing: int


class FoundFunction(Struct, frozen=True):
    """Positions in the list of tokens; ``parameters`` is the range between the parentheses."""

    name: str
    head: int
    parameters: range
    opening: int
    closing: int
    regions: tuple[FoundRegion, ...]


class _Brace(Struct):
    """An open brace; ``parent`` makes a stack that branches of conditional code can share."""

    parent: _Brace | None
    opening: int
    head: int
    kind: str
    """"function", "region", "transparent" (``extern "C" {``) or "other"."""
    function: _Brace | None = None
    regions: list[tuple[int, _Brace]] = field(default_factory=lambda: [])
    closing: int | None = None


def locate(tokens: Sequence[Token]) -> tuple[FoundFunction, ...]:
    """The functions with regions, in order; reports regions outside functions and braces left open."""
    scanner = _Scanner(tokens)
    for position in range(len(tokens)):
        scanner.step(position)
    found: list[FoundFunction] = []
    for brace in scanner.functions:
        function = _function(tokens, brace)
        if function is not None:
            found.append(function)
    return tuple(found)


def _function(tokens: Sequence[Token], brace: _Brace) -> FoundFunction | None:
    sink = tokens[0].origin.sink
    named = _parameter_group(tokens, brace)
    assert named is not None
    name, parameters = named
    if brace.closing is None:
        notes = tuple(
            Note("this region is not closed either", tokens[keyword].span)
            for keyword, region in brace.regions
            if region.closing is None
        )
        sink.error(
            "CF0107",
            f"the '{{' of function '{tokens[name].text}' is never closed",
            tokens[brace.opening].span,
            notes=notes,
            fix=Fix("add the missing '}'", (Edit(tokens[-1].span.behind, "\n}"),)),
        )
        return None
    regions = tuple(
        FoundRegion(keyword, region.opening, region.closing)
        for keyword, region in brace.regions
        if region.closing is not None
    )
    return FoundFunction(tokens[name].text, brace.head, parameters, brace.opening, brace.closing, regions)


_CONDITIONAL = re.compile(r"#\s*(ifdef|ifndef|if|elif\w*|else|endif)\b")


class _Scanner:
    """One pass over the tokens that keeps the open braces."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._top: _Brace | None = None
        self._head = 0
        self._conditionals: list[tuple[_Brace | None, int]] = []
        self._region: tuple[int, int, bool] | None = None
        self.functions: list[_Brace] = []

    def step(self, position: int) -> None:
        token = self._tokens[position]
        if token.type == "DIRECTIVE":
            self._directive(token, position)
            return
        match token.type:
            case "META_SCHEDULE":
                self._meta_schedule(position)
            case "META_FOR" | "META_ATOMIC" if not self._inside("region"):
                instead = (
                    "write 'for'" if token.type == "META_FOR" else "drop it where nothing runs in parallel"
                )
                token.origin.sink.error(
                    "CF0303",
                    f"{token.text} outside a meta_schedule",
                    token.span,
                    help=f"put 'meta_schedule {{ ... }}' around the parallel loops, or {instead}",
                )
            case "LBRACE":
                self._open(position)
            case "RBRACE":
                self._close(position)
            case "SEMI" if self._at_file_level():
                self._head = position + 1
            case _:
                pass

    def _directive(self, token: Token, position: int) -> None:
        if self._at_file_level():
            self._head = position + 1
        match = _CONDITIONAL.match(token.text)
        if match is None:
            return
        if match[1] in ("if", "ifdef", "ifndef"):
            self._conditionals.append((self._top, self._head))
        elif self._conditionals and match[1] == "endif":
            self._conditionals.pop()
        elif self._conditionals:
            self._top, self._head = self._conditionals[-1]

    def _meta_schedule(self, position: int) -> None:
        token = self._tokens[position]
        if self._inside("region"):
            return  # the parser of the outer region says so
        opening = _opening_of_region(self._tokens, position)
        if self._enclosing_function() is None:
            token.origin.sink.error(
                "CF0302",
                "meta_schedule outside a function",
                token.span,
                help="put it into the body of a C function whose parameters stand with their types in parentheses, "
                "'void f(int n, float *a)'",
            )
        elif opening is None:
            token.origin.sink.error(
                "CF0110",
                "expected '{' or a clause after meta_schedule",
                token.span,
                help="write 'meta_schedule { ... }', with 'cache(a, b)' or 'block(B0, B1)' before the brace",
            )
            # What stands in its braces, if it has any, is not outside of it.
            ends = (
                k for k in range(position + 1, len(self._tokens)) if self._tokens[k].text in {"{", "}", ";"}
            )
            end = next(ends, None)
            opening = end if end is not None and self._tokens[end].text == "{" else None
        elif not _begins_statement(self._tokens, position):
            token.origin.sink.error(
                "CF0304",
                "meta_schedule stands in the middle of a statement",
                token.span,
                help="end the statement before it",
            )
        else:
            self._region = (position, opening, True)
            return
        if opening is not None:
            self._region = (position, opening, False)

    def _open(self, position: int) -> None:
        function = self._enclosing_function()
        if self._region is not None and self._region[1] == position:
            keyword, _, is_good = self._region
            brace = _Brace(self._top, position, keyword, "region", function)
            if is_good and function is not None:
                if not function.regions:
                    self.functions.append(function)
                function.regions.append((keyword, brace))
            self._region = None
        elif self._at_file_level():
            brace = _Brace(self._top, position, self._head, self._kind_at_file_level(position))
            self._head = position + 1
        else:
            kind = "in region" if self._inside("region") else "other"
            brace = _Brace(self._top, position, position, kind, function)
        if brace.kind == "function":
            brace.function = brace
        self._top = brace

    def _close(self, position: int) -> None:
        if self._top is not None:
            self._top.closing = position
            self._top = self._top.parent
        if self._at_file_level():
            self._head = position + 1

    def _at_file_level(self) -> bool:
        return self._top is None or self._top.kind == "transparent"

    def _inside(self, kind: str) -> bool:
        return self._top is not None and self._top.kind in (kind, f"in {kind}")

    def _enclosing_function(self) -> _Brace | None:
        return None if self._top is None else self._top.function

    def _kind_at_file_level(self, position: int) -> str:
        brace = _Brace(None, position, self._head, "")
        if _parameter_group(self._tokens, brace) is not None:
            return "function"
        head = self._tokens[self._head : position]
        if len(head) == 2 and (head[0].text, head[1].type) == ("extern", "STRING"):
            return "transparent"
        if head and head[0].text in ("namespace", "inline") and all(t.type != "LPAR" for t in head):
            return "transparent"
        return "other"


CLAUSES = ("block", "cache")
"""The clauses that may stand between ``meta_schedule`` and its brace, each once, in any order."""

_LONGEST_HEAD = 2000
"""Tokens of the longest head of a function: branches of conditional code may share a head, which is read again."""

_ATTRIBUTES = """
__attribute__ __attribute __declspec _Alignas alignas __asm__ __asm asm noexcept throw decltype requires
typeof __typeof__ __typeof __launch_bounds__
"""
_NO_FUNCTIONS = frozenset(_ATTRIBUTES.split())

_ENDS_OF_TYPES = ("NAME", "TYPE_WORD", "STAR", "AND")
"""The tokens that stand before the name of a function that is not the first word of its head."""


def _parameter_group(tokens: Sequence[Token], brace: _Brace) -> tuple[int, range] | None:
    """The position of the name and the range of the parameters of the head before a brace, if it is one.

    Macros before and after it may have parentheses, too: ``API(void) f(int n) CHECKED(n) {``.  A function has its type
    before it, or a macro that stands for this type.
    """
    depth = 0
    opened = 0
    found: tuple[int, range] | None = None
    is_certain = False
    if brace.opening - brace.head > _LONGEST_HEAD:
        return None
    for position in range(brace.head, brace.opening):
        match tokens[position].type:
            case "LPAR":
                if depth == 0:
                    opened = position
                depth += 1
            case "RPAR":
                depth -= 1
                before = tokens[opened - 1] if opened > brace.head else None
                if (
                    depth == 0
                    and before is not None
                    and before.type == "NAME"
                    and before.text not in _NO_FUNCTIONS
                    and not is_certain
                ):
                    typed = tokens[opened - 2].type if opened - 1 > brace.head else ""
                    is_certain = typed in _ENDS_OF_TYPES or (found is not None and typed == "RPAR")
                    found = (opened - 1, range(opened + 1, position))
            case "ASSIGN" if depth == 0:
                return None
            case _:
                pass
    return found if depth == 0 else None


def _opening_of_region(tokens: Sequence[Token], keyword: int) -> int | None:
    """The position of the brace after ``meta_schedule`` and its clauses."""
    position = keyword + 1
    while position < len(tokens) and tokens[position].text in CLAUSES:
        position = end_of_group(tokens, position + 1)
    return position if position < len(tokens) and tokens[position].type == "LBRACE" else None


def _begins_statement(tokens: Sequence[Token], position: int) -> bool:
    before = tokens[position - 1]
    return before.type in ("SEMI", "LBRACE", "RBRACE", "RPAR", "ELSE", "DO", "COLON", "DIRECTIVE")
