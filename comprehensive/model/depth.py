"""Data as the model sees it: a number that is not computed, but whose depth is known.

    a * b + c    -->  Data(2): a product, and a sum that waits for it

The depth is how many instructions of a region wait for each other before the number is there.  At the end of the region
everything is there (:func:`forget`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Data:
    """A number that is not computed: ``depth`` instructions of its region wait for each other before it is there."""

    depth: int = 0


LOADED = Data()


def depth_of(value: object) -> int:
    """Return the number of instructions that wait for each other before the value is there; 0 for integers."""
    return value.depth if isinstance(value, Data) else 0


def forget(environment: dict[str, Any]) -> None:
    """Take all data as loaded: what was computed is there for the next region."""
    for name, value in environment.items():
        if isinstance(value, Data):
            environment[name] = LOADED
