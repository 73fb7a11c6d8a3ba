"""The body of a function: its text in, statements out.

    statements_of(file, start, end)      # (Declaration(".reg", ...), Instruction(opcode("ld.param.u64"), ...), ...)

One regular expression finds a statement with what stands before it; equal opcodes and equal operands are one object.
All repetitions are possessive, so that no text is scanned twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

from comprehensive.diagnostics import CompileError, SourceFile, Span
from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.operands import Name, Not, Operand, OperandError, operands_of
from comprehensive.ptx.statements import Close, Declaration, Directive, Instruction, Label, Open, Statement

COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/"
TRIVIA = rf"(?:\s++|{COMMENT})*+"
STRING = r'"(?:[^"\\\n]|\\.)*+"'
_WORD = r"[%$A-Za-z_][\w$]*+"
# Up to a semicolon that stands in no comment and no string.
_REST = rf"[^;/\"{{}}]*+(?:(?:{COMMENT}|/|{STRING}|\{{(?:[^{{}};/]|{COMMENT})*+\}})[^;/\"{{}}]*+)*+"
LINE_DIRECTIVES = (
    r"\.loc\s++\d++\s++\d++\s++\d++(?:\s*+,\s*+function_name\s++[\w$]++(?:\s*+\+\s*+\d++)?+"
    r"\s*+,\s*+inlined_at\s++\d++\s++\d++\s++\d++)?+"
    rf"|\.file\s++\d++\s++{STRING}(?:\s*+,\s*+\d++\s*+,\s*+\d++)?+"
)


class _Placed(Protocol):
    @property
    def start(self) -> int: ...


_STATEMENT = re.compile(
    rf"""{TRIVIA}(?:
    (?:@{TRIVIA}(!?+){TRIVIA}({_WORD}){TRIVIA})?+
        ([a-z]\w*+(?:\.\w++(?:::\w++)*+)*+)(?!{TRIVIA}:)({_REST});    # 1 2 3 4: an instruction
    |({_WORD}){TRIVIA}:(?!:)(?:{TRIVIA}(\.(?:branchtargets|calltargets|callprototype)\b)({_REST});)?+   # 5 6 7
    |(\.(?:reg|local|shared|param|const|global)\b)({_REST});            # 8 9
    |({LINE_DIRECTIVES})                                                # 10
    |(\.(?!(?:loc|file)\b)[a-z_]\w*+)({_REST});                         # 11 12
    |(\{{)                                                              # 13
    |(\}})                                                              # 14
    )""",
    re.VERBOSE,
)
_COMMENTS = re.compile(rf"{COMMENT}")
_LEADING = re.compile(TRIVIA)
# Of named tuples: half the time of their own constructor.
_new: Callable[[type[Instruction], tuple[Any, ...]], Instruction] = tuple.__new__  # pyright: ignore
_MODIFIER = re.compile(r"(\.[a-z_]\w*+(?:::\w++)*+)")


def statements_of(file: SourceFile, start: int, end: int) -> tuple[Statement, ...]:
    """The statements in a part of a text. CompileError (CF1002) at the first that is not understood."""
    text = file.text
    found: list[Statement] = []
    append = found.append
    position = start
    for match in _STATEMENT.finditer(text, start, end):
        begin, stop = match.span()
        if begin != position:
            break
        position = stop
        index = match.lastindex
        if index == 4:
            negated, guard, code, rest = match.group(1, 2, 3, 4)
            try:
                operands = operands_of(rest)
            except OperandError:
                code, operands = _spaced(file, match)
            asked = None if guard is None else _guard(negated, guard)
            append(_new(Instruction, (opcode(code), operands, asked, begin, stop)))
        elif index == 5:
            append(Label(match[5], begin, stop))
        elif index == 7:
            append(Directive(match[6], _plain(match[7]), match[5], begin, stop))
        elif index == 9:
            append(Declaration(match[8], _plain(match[9]), begin, stop))
        elif index == 10:
            name, rest = match[10].split(None, 1)
            append(Directive(name, rest, None, begin, stop))
        elif index == 12:
            append(Directive(match[11], _plain(match[12]), None, begin, stop))
        elif index == 13:
            append(Open(begin, stop))
        else:
            append(Close(begin, stop))
    left = _LEADING.match(text, position, end)
    if left is not None and left.end() != end:
        raise _not_understood(file, left.end(), end)
    return tuple(found)


def token_start(file: SourceFile, statement: _Placed) -> int:
    """Return where a statement or item itself begins, behind comments and white space."""
    found = _LEADING.match(file.text, statement.start)
    return statement.start if found is None else found.end()


@lru_cache(maxsize=4096)
def _guard(negated: str, name: str) -> Name | Not:
    return Not(Name(name)) if negated else Name(name)


def _plain(text: str) -> str:
    return _COMMENTS.sub(" ", text).strip() if "/" in text else text.strip()


def _spaced(file: SourceFile, match: re.Match[str]) -> tuple[str, tuple[Operand, ...]]:
    """Opcode and operands where white space or comments stand between the modifiers."""
    code, rest = match[3], _plain(match[4])
    while found := _MODIFIER.match(rest):
        code, rest = code + found[1], rest[found.end() :].lstrip()
    try:
        return code, operands_of(rest)
    except OperandError as error:
        raise _not_understood(file, match.start(3), match.end(), str(error)) from None


def _not_understood(file: SourceFile, start: int, end: int, why: str = "") -> CompileError:
    line_end = file.text.find("\n", start, end)
    shown = Span(file, start, min(end if line_end < 0 else line_end, start + 200))
    return CompileError.of(
        "CF1002",
        "this statement of PTX is not understood" + (f": {why}" if why else ""),
        shown,
        help="see that the file is whole, and that ptxas accepts it",
    )
