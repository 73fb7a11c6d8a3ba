"""Pragmas that speak of the instruction behind them, and have to stay with it.

.pragma "used_bytes_mask 61455";
ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.ptx.statements import Directive, Statement


def is_about_next(statement: Statement) -> bool:
    """Whether a statement speaks of the instruction behind it only."""
    match statement:
        case Directive(".pragma", text):
            return "used_bytes_mask" in text
        case _:
            return False


def has_pragma(body: Sequence[Statement], position: int) -> bool:
    """Whether a pragma speaks of the instruction at a position."""
    return position > 0 and is_about_next(body[position - 1])
