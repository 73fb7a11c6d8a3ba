"""Data as the model sees it: a number that is not computed, but whose depth is known.

    a * b + c    -->  Data(2): a product, and a sum that waits for it

The depth is how many instructions of a region wait for each other before the number is there.  At the end of the region
everything is there (:func:`forget`).  Of an integer that threads look up it is known besides that it is the same for
those that do so at the same place::

    row = at[l];  table[row * n + threadIdx.x]    -->  neighbouring threads read neighbours, wherever that is
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Data:
    """A number that is not computed: ``depth`` instructions of its region wait for each other before it is there."""

    depth: int = 0
    like: Any = field(default=None, compare=False)
    """An integer, or one for each thread, that this number may be taken for in an address: it differs between threads,
    and from other numbers, where this one does.  None where that is not known."""


LOADED = Data()


def depth_of(value: object) -> int:
    """Return the number of instructions that wait for each other before the value is there; 0 for integers."""
    return value.depth if isinstance(value, Data) else 0


def taken_for(value: Any) -> Any:
    """Return what a value may be taken for in an address: itself, if it is computed; None where that is not known."""
    return value.like if isinstance(value, Data) else value


def forget(environment: dict[str, Any]) -> None:
    """Take all data as loaded: what was computed is there for the next region."""
    for name, value in environment.items():
        if isinstance(value, Data):
            environment[name] = Data(like=value.like)
