"""Counters whose values are given: what a file of values says, as frozen data.

A row says what a counter is worth once some strategies have been taken; the first row that fits counts::

    GivenCounter("shared_words_per_block", "Z_B", Kind.RESOURCE, ("granularity", "no-caching"),
                 (Row(frozenset({"no-caching"}), 0, ()), Row(frozenset(), 2*s*B + 2, ("4a", "3a"))))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from comprehensive.diagnostics import SourceFile
from comprehensive.given.fragment import Given
from comprehensive.optimize.protocols import Evaluation, Kind, Value


class Row(Struct, frozen=True):
    """The value where all strategies of `after` have been taken, and what accepting it says.

    `says` are words for decisions, such as ``4a``.
    """

    after: frozenset[str]
    value: Value
    says: tuple[str, ...]


class GivenCounter(Struct, frozen=True):
    """A counter of a file. `strategies` is sigma of the counter, in the order in which they are tried."""

    name: str
    limit: str
    kind: Kind
    strategies: tuple[str, ...]
    rows: tuple[Row, ...]
    """The last row asks for no strategy, so that one always fits."""

    def row(self, taken: frozenset[str]) -> Row:
        return next(row for row in self.rows if row.after <= taken)

    def evaluate(self, fragment: Given) -> Evaluation:
        return Evaluation(self.row(fragment.taken).value, "given")


class Words(Struct, frozen=True):
    """The words for decisions about a strategy: where a refuse edge took it, and on a leaf where none did."""

    taken: str = ""
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class GivenValues:
    """The content of a file of counter values; `source` says where they were published."""

    file: SourceFile
    source: str
    region: str | None
    """The region that the values are of; None where a program has one region only."""
    counters: tuple[GivenCounter, ...]
    words: Mapping[str, Words] = field(hash=False)
    """The strategies in the order in which they are listed, with the words for them."""
    remarks: tuple[str, ...]
