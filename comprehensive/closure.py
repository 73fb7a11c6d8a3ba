"""The closure of a step: everything that is reached by it, and values that settle.

reached(["f"], lambda name: calls[name])        # f, all that it calls, and all that these call in turn
settled(blocks, narrow)                         # narrows every block, until none gets narrower
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, KeysView, Sequence
from typing import TypeVar

_T = TypeVar("_T", bound=Hashable)


def reached(starts: Iterable[_T], onward: Callable[[_T], Iterable[_T]]) -> KeysView[_T]:
    """Return what the starts lead to, and the starts, in the order in which it is found."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    while waiting:
        for each in onward(waiting.pop()):
            if each not in found:
                found[each] = None
                waiting.append(each)
    return found.keys()


def settled(places: Sequence[int], change: Callable[[int], bool]) -> None:
    """Change place after place, in this order and again from the first one, until no place changes any more."""
    while any([change(place) for place in places]):
        pass
