"""Functions with parameters behind those that they have, and functions under another name.

with_parameters(kernel, (Parameter("f_first", "u32", 4, 4),))       # .entry f(..., .param .u32 f_first)
copied(function, "g_in_k")                                          # .func (...) g_in_k(...), seen in this module only
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from comprehensive.ptx.body import COMMENT, STRING
from comprehensive.ptx.module import Function, Parameter

_TOKEN = re.compile(rf"{COMMENT}|{STRING}|\.\w+|[()]|[%$A-Za-z_][\w$]*")


def with_parameters(function: Function, added: Sequence[Parameter]) -> Function:
    """Return the function with parameters of single words behind those that it has."""
    header = function.header
    name = _name(function)
    declared = ",\n\t".join(f".param .{each.type} {each.name}" for each in added)
    parens = [found for found in _TOKEN.finditer(header, name.end()) if found[0] in ("(", ")")]
    if parens:
        close = next(found.start() for found in parens if found[0] == ")")
        before = header[:close].rstrip()
        header = f"{before}{',' if function.parameters else ''}\n\t{declared}\n{header[close:]}"
    else:
        header = f"{header[: name.end()]}(\n\t{declared}\n){header[name.end() :]}"
    return replace(function.with_header(header), parameters=(*function.parameters, *added))


def copied(function: Function, symbol: str) -> Function:
    """Return the function under another name, without its linkage: no other module sees it."""
    name = _name(function)
    keyword = next(found for found in _TOKEN.finditer(function.header) if found[0] == function.name)
    header = f"\n{function.header[keyword.start() : name.start()]}{symbol}{function.header[name.end() :]}"
    return replace(function.with_header(header), symbol=symbol, linkage=())


def _name(function: Function) -> re.Match[str]:
    """Return the match of the function's name in its header: outside brackets, behind ``.entry`` or ``.func``."""
    depth, is_behind = 0, False
    for found in _TOKEN.finditer(function.header):
        depth += (found[0] == "(") - (found[0] == ")")
        if is_behind and depth == 0 and found[0] == function.symbol:
            return found
        is_behind = is_behind or found[0] == function.name
    raise AssertionError(f"the head of '{function.symbol}' does not name it")
