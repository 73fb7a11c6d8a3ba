"""The values that a symbol may have, by its name."""

from __future__ import annotations


def is_integer_symbol(name: str) -> bool:
    """Whether the symbol is an integer: all are but the performance parameters `P_*`, shares in [0, 1]."""
    return not name.startswith("P_")
