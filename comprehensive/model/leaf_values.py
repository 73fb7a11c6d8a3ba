"""Values in the code of a leaf as its profile sees them: integers that a launch knows, and data that it does not.

An integer stays an expression; of data only its depth is kept, which is how many instructions of a region wait for each
other before it is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.loops.integers import ZERO
from comprehensive.metafork.ast import Expr


@dataclass(frozen=True, slots=True)
class Data:
    """A value that is not computed; ``depth`` instructions of its region wait for each other before it is there."""

    depth: int = 0


Value = Expr | Data
LOADED = Data()


def integer_of(value: Value) -> Expr:
    """The expression that a value is; 0 for data, of which a launch knows nothing."""
    return ZERO if isinstance(value, Data) else value


def data_of(value: Value) -> Data:
    """The value as data: an integer that is converted is there at once."""
    return value if isinstance(value, Data) else LOADED


def depth_of(value: Value) -> int:
    """Return the number of instructions that wait for each other before the value is there; 0 for integers."""
    return value.depth if isinstance(value, Data) else 0


def forget(environment: dict[str, Value]) -> None:
    """Take all data as loaded: what was computed is there for the next region."""
    for name, value in environment.items():
        if isinstance(value, Data):
            environment[name] = LOADED
