"""Frames of a kernel and of the functions that it calls: how high the stack is, and what is moved at every call.

In: the slots of each function, and at each of its calls the ones that are live.  Out: a :class:`Stack`::

    frames = {"k": Frame(4, (Site(17, "f", frozenset({0, 3})),)), "f": Frame(3, ())}
    stack = stack_of(frames, "k", Compression.LEAST)
    stack.slots                              # 5: two of "k" and three of "f", where 7 would be without compression
    stack.placed["k"].bases                  # {17: 2}: at step 17 the frame of "f" begins at slot 2
    stack.placed["k"].moves                  # {17: ()}: set 3 has its place at 1

    ===========  =============================================================================
    ``none``     a frame begins behind the whole frame of the caller
    ``direct``   as ``least``, but slots are where the colouring has put them
    ``least``    the stack is as low as can be, and the moves for that are the fewest
    ``room``     the stack takes the room that there is, and is compressed only for the rest
    ===========  =============================================================================

The height of a function is what it and all that it calls need when every call compresses as far as it can.  From the
top of the call tree down, each call then leaves as much as the height of the whole stack allows: B_k of Hayes et al.,
Orion, 2016, section 3.2 ("we need not compress the stack to the minimal size possible").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from comprehensive.ptx.passes.stack_layout import Call, least_moves, moves


class Compression(Enum):
    NONE = "none"
    DIRECT = "direct"
    LEAST = "least"
    ROOM = "room"


@dataclass(frozen=True)
class Site:
    """A call between functions that have frames; ``live`` are the caller's slots whose words are read later."""

    step: int
    callee: str
    live: frozenset[int]
    times: int = 1


@dataclass(frozen=True)
class Frame:
    """The slots of a function as its values have been coloured, and its calls."""

    slots: int
    sites: tuple[Site, ...]


@dataclass(frozen=True)
class Placed:
    """A frame with its layout: the place of each slot, and by step of the call where the frame of the callee begins.

    ``moves`` are from which place to which one words go before the call, and back behind it.
    """

    places: tuple[int, ...]
    bases: Mapping[int, int]
    moves: Mapping[int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Stack:
    """``slots`` are those of a thread: the highest that the stack gets."""

    slots: int
    placed: Mapping[str, Placed]

    @property
    def moves(self) -> int:
        """Words moved before calls in the text; as many are moved back."""
        return sum(len(each) for placed in self.placed.values() for each in placed.moves.values())


def stack_of(
    frames: Mapping[str, Frame], root: str, compression: Compression, room: int | None = None
) -> Stack:
    """Return the stack of ``root`` and all that it calls.

    ``frames`` has callees before their callers, and all of ``frames`` are called; ``room`` is how many slots there are,
    for :attr:`Compression.ROOM`.  Where not even the least height fits, the stack has that height.
    """
    least = _heights(frames, is_compressed=True)
    whole = _heights(frames, is_compressed=False)
    heights = whole if compression is Compression.NONE else least
    allowed = {root: heights[root]}
    if compression is Compression.ROOM and room is not None:
        allowed[root] = max(least[root], min(whole[root], room))
    placed: dict[str, Placed] = {}
    for name in reversed(list(frames)):
        frame = frames[name]
        calls: list[Call] = []
        for site in frame.sites:
            height = min(frame.slots, allowed[name] - heights[site.callee])
            calls.append(Call(site.live, height, site.times))
            above = allowed[name] - height
            allowed[site.callee] = min(allowed.get(site.callee, above), above)
        placed[name] = _placed(frame, calls, compression)
    return Stack(_top(frames, placed, root), placed)


def _heights(frames: Mapping[str, Frame], *, is_compressed: bool) -> Mapping[str, int]:
    """The slots of each function with all that it calls, where calls compress as far as they can or not at all."""
    found: dict[str, int] = {}
    for name, frame in frames.items():
        kept = (len(site.live) if is_compressed else frame.slots for site in frame.sites)
        calls = (each + found[site.callee] for each, site in zip(kept, frame.sites, strict=True))
        found[name] = max((frame.slots, *calls))
    return found


def _placed(frame: Frame, calls: Sequence[Call], compression: Compression) -> Placed:
    if compression in (Compression.NONE, Compression.DIRECT):
        places = tuple(range(frame.slots))
    else:
        places = least_moves(frame.slots, calls)
    steps = [site.step for site in frame.sites]
    return Placed(
        places,
        {step: call.height for step, call in zip(steps, calls, strict=True)},
        {step: moves(call, places) for step, call in zip(steps, calls, strict=True)},
    )


def _top(frames: Mapping[str, Frame], placed: Mapping[str, Placed], root: str) -> int:
    base = {root: 0}
    for name in reversed(list(frames)):
        for site in frames[name].sites:
            begin = base[name] + placed[name].bases[site.step]
            base[site.callee] = max(base.get(site.callee, 0), begin)
    return max(base[name] + frame.slots for name, frame in frames.items())
