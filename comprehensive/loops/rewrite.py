"""The rewriting tool box of the nests, in one place: import from here.

Walks and maps that know nests are in ``traverse.py``, those of any IR in :mod:`comprehensive.metafork.walk` and
:mod:`comprehensive.metafork.rewrite`; simplification is in ``fold.py``, moving conditions out of bands in
``unswitch.py``.
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
    fresh_name,
    map_bands,
    map_indices,
    rename,
    rename_expr,
)
from comprehensive.loops.unswitch import unswitch

__all__ = [
    "all_names",
    "always_evaluated",
    "conditional_parts",
    "declared_names",
    "expand_bands",
    "fold",
    "fresh_name",
    "map_bands",
    "map_indices",
    "rename",
    "rename_expr",
    "substitute",
    "unswitch",
]
