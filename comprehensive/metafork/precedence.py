"""The binary operators of the language by how tightly they bind, as in C; all of them associate to the left."""

from __future__ import annotations

LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
"""Loosest first."""

PRECEDENCE = {operator: level for level, operators in enumerate(LEVELS, 1) for operator in operators}
"""``a - b * c``: 9 for ``-``, 10 for ``*``."""

CONDITIONAL = 0
UNARY = len(LEVELS) + 1
PRIMARY = UNARY + 1

INTEGER_ONLY = frozenset({"%", "<<", ">>", "&", "|", "^", "~"})
"""Operators, binary and unary, whose operands must be integers."""
COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
LOGICAL = frozenset({"&&", "||", "!"})
