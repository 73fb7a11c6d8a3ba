"""The rewriting tool box of the nests, in one place: import from here.

Walks are in ``traverse.py``, simplification in ``fold.py``, moving conditions out of bands in ``unswitch.py``.
"""

from __future__ import annotations

from comprehensive.loops.access import substitute
from comprehensive.loops.fold import fold
from comprehensive.loops.traverse import (
    all_names,
    always_evaluated,
    conditional_parts,
    declared_names,
    expand_bands,
    expressions_in,
    fresh_name,
    map_bands,
    map_expr,
    map_indices,
    map_stmt_exprs,
    rename,
    rename_expr,
    statements_in,
    subexpressions,
    uniform_names,
)
from comprehensive.loops.unswitch import unswitch

__all__ = [
    "all_names",
    "always_evaluated",
    "conditional_parts",
    "declared_names",
    "expand_bands",
    "expressions_in",
    "fold",
    "fresh_name",
    "map_bands",
    "map_expr",
    "map_indices",
    "map_stmt_exprs",
    "rename",
    "rename_expr",
    "statements_in",
    "subexpressions",
    "substitute",
    "uniform_names",
    "unswitch",
]
