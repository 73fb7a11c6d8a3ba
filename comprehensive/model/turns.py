"""The turns of a loop that a walk goes through, and how many each of them stands for.

    weights(100)  -->  1, 1, 1, 1, 24, 24, 24, 24       # the first ones, then four for all others

Threads that do different numbers of turns go through the first ones, through a few for those that all of them still do,
and through a few more while one after the other ends: ``for (k = j + 1; k < n; k++)`` is about 25 turns for any ``n``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from comprehensive.model.accesses import Mask

TURNS_OF_DATA = 8
"""The turns that a loop is taken to do which data decides: its header reads some, or it is a ``while`` loop."""
FIRST_TURNS = 4
"""Turns of a loop that are gone through one by one."""
SAMPLES = 16
"""Turns that stand for all others while fewer and fewer threads do them."""
PERIOD = 4
"""Turns after these that stand for all others: accesses of 16 bytes make every fourth turn the same."""


def weights(turns: int) -> list[float]:
    """Return for each turn that is gone through how many turns it stands for."""
    return [1] * min(turns, FIRST_TURNS) + later_weights(turns - FIRST_TURNS)


def later_weights(turns: int) -> list[float]:
    """Return the same for turns after the first ones."""
    return [1] * turns if turns <= PERIOD else [turns / PERIOD] * PERIOD


def turns_left(
    relation: str, number: Any, bound: Any, step: Any, active: Mask | None
) -> tuple[int, int] | None:
    """Return how many turns active threads of a loop still do: that which does the fewest, and the most.

    Numbers are those of each thread, or of all.  None where it is not an equal step up or down to a bound.
    """
    sign = 1 if relation in ("<", "<=") else -1
    if relation not in ("<", "<=", ">", ">=") or np.any(sign * np.asarray(step) < 1):
        return None
    way = sign * (np.asarray(bound) - number) + (relation in ("<=", ">="))
    turns = -(-way // (sign * np.asarray(step)))
    among = turns if active is None or not turns.ndim else turns[active]
    return int(among.min()), int(among.max())
