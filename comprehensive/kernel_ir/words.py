"""The words that elements of a type take in shared memory."""

from __future__ import annotations

from comprehensive.metafork.ast import ScalarType


def words_per_element(type: ScalarType) -> int:
    """4-byte words that an element takes in shared memory; narrow types are not packed."""
    return 2 if type.size_bytes == 8 else 1
