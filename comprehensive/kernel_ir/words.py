"""The words of shared memory that elements of a type take, and layouts that have the same place."""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra import Polynomial
from comprehensive.algebra.polynomial import Term
from comprehensive.metafork.ast import ScalarType


def words_per_element(type: ScalarType) -> int:
    """4-byte words that an element takes in shared memory; narrow types are not packed."""
    return 2 if type.size_bytes == 8 else 1


def most_words(each: Sequence[Polynomial]) -> Polynomial:
    """Return words that are enough for each of the layouts, one after the other: of each term the largest factor."""
    largest: dict[tuple[tuple[str, int], ...], Term] = {}
    for term in (term for words in each for term in words.terms()):
        before = largest.get(term.powers)
        if before is None or before.coefficient < term.coefficient:
            largest[term.powers] = term
    return Polynomial.from_terms(largest.values())
