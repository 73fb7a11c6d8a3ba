"""The layout of a procedure's slots in its frame, so that few words move to make room for the procedures it calls.

In: how many sets of values share a slot each, which of them are live at every call, and to how many slots the frame is
compressed there.  Out: the place of each set, and the moves at a call, undone behind it::

    call = Call(live=frozenset({0, 2}), height=2)
    least_moves(3, [call])                       # (0, 2, 1): set 2 goes where set 1 would be
    moves(call, (0, 1, 2))                       # ((2, 1),): what place 2 holds goes to place 1, the first that is free
    moves(call, (0, 2, 1))                       # (): its slots are the lowest ones

Hayes et al., Orion: A framework for GPU occupancy tuning, 2016, section 3.2.  A set that is live at call k (L_ik) is
moved if and only if its place j is not below the height B_k; so what a set costs at a place, W_ij, does not depend on
where the others are (theorem 1), and the best places are a matching of least cost.  A procedure that is called has its
frame directly above: the stack is *compressible*.  Words of a wide value are sets of their own, since each is accessed
by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from comprehensive.ptx.passes.assignment import assignment


@dataclass(frozen=True)
class Call:
    """A call at which the sets ``live`` hold what is read later, and all slots in use are to lie below ``height``.

    ``height`` (the paper's B_k) is not less than ``len(live)``.  ``times`` is how often the call is taken to be
    executed.
    """

    live: frozenset[int]
    height: int
    times: int = 1


def least_moves(sets: int, calls: Sequence[Call]) -> tuple[int, ...]:
    """Return the place of each set such that the moves at all calls, each as often as it is executed, are fewest."""
    return assignment([[_cost(each, place, calls) for place in range(sets)] for each in range(sets)])


def _cost(number: int, place: int, calls: Iterable[Call]) -> int:
    """The paper's W_ij: the moves that a set makes necessary where it has this place."""
    return sum(call.times for call in calls if number in call.live and place >= call.height)


def moves(call: Call, places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return from which slot to which one words go before a call; no slot is among both."""
    used = {places[each] for each in call.live}
    free = (slot for slot in range(call.height) if slot not in used)
    return tuple(zip(sorted(slot for slot in used if slot >= call.height), free, strict=False))
