"""The compressible stack: layouts beside brute force over all of them, and the example of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from random import Random

import pytest

from comprehensive.ptx.passes.assignment import assignment
from comprehensive.ptx.passes.stack_frames import Compression, Frame, Placed, Site, stack_of
from comprehensive.ptx.passes.stack_layout import Call, least_moves, moves
from tests.examples import seeds


@pytest.mark.parametrize("seed", seeds(40))
def test_no_matching_costs_less(seed: int) -> None:
    draw = Random(seed)
    count, most = draw.randrange(6), draw.choice((3, 50))
    costs = [[draw.randrange(most) for _ in range(count)] for _ in range(count)]
    found = assignment(costs)
    assert sorted(found) == list(range(count))
    least = min(sum(costs[i][p[i]] for i in range(count)) for p in permutations(range(count)))
    assert sum(costs[i][found[i]] for i in range(count)) == least


def _calls(draw: Random, sets: int) -> list[Call]:
    found: list[Call] = []
    for _ in range(draw.randrange(5)):
        live = frozenset(draw.sample(range(sets), draw.randrange(sets + 1)))
        found.append(Call(live, draw.randint(len(live), sets), draw.choice((1, 1, 10))))
    return found


@pytest.mark.parametrize("seed", seeds(40))
def test_no_layout_moves_less_than_that_of_the_matching(seed: int) -> None:
    draw = Random(seed)
    sets = draw.randrange(1, 6)
    calls = _calls(draw, sets)

    def moved(places: tuple[int, ...]) -> int:
        return sum(call.times * len(moves(call, places)) for call in calls)

    assert moved(least_moves(sets, calls)) == min(map(moved, permutations(range(sets))))


@pytest.mark.parametrize("seed", seeds(20))
def test_what_is_live_lies_below_the_height_behind_the_moves_of_a_call(seed: int) -> None:
    draw = Random(seed)
    sets = draw.randrange(1, 8)
    places = tuple(draw.sample(range(sets), sets))
    for call in _calls(draw, sets):
        taken = dict(moves(call, places))
        held = [taken.get(places[each], places[each]) for each in call.live]
        assert len(set(held)) == len(held)
        assert all(place < call.height for place in held)
        assert taken.keys().isdisjoint(taken.values())


def test_the_example_of_figure_6_moves_three_words_as_coloured_and_one_at_best() -> None:
    # S1 to S4 are 0 to 3.  foo1: var5 goes from S4 between S3 and S1; foo2: S3 is free; foo3: one is moved in (a) and
    # none in (b), of which the text does not say more.
    calls = [Call(frozenset(live), len(live)) for live in ({0, 2, 3}, {0, 1, 3}, {0, 2})]
    assert [moves(call, (0, 1, 2, 3)) for call in calls] == [((3, 1),), ((3, 2),), ((2, 1),)]
    # The layout of (b): S2 to where S4 was, S3 to S2, S4 to S3.
    assert [len(moves(call, (0, 3, 1, 2))) for call in calls] == [0, 1, 0]
    best = least_moves(4, calls)
    assert sum(len(moves(call, best)) for call in calls) == 1


def _frames(draw: Random) -> dict[str, Frame]:
    found: dict[str, Frame] = {}
    for number in range(draw.randrange(1, 5)):
        slots = draw.randrange(5)
        sites = tuple(
            Site(
                step,
                draw.choice(list(found)),
                frozenset(draw.sample(range(slots), draw.randrange(slots + 1))),
            )
            for step in range(draw.randrange(4) if found else 0)
        )
        found[f"f{number}"] = Frame(slots, sites)
    return found


def _reached(frames: dict[str, Frame], root: str) -> dict[str, Frame]:
    names, waiting = {root}, [root]
    while waiting:
        for site in frames[waiting.pop()].sites:
            if site.callee not in names:
                names.add(site.callee)
                waiting.append(site.callee)
    return {name: frame for name, frame in frames.items() if name in names}


@pytest.mark.parametrize("seed", seeds(60))
def test_no_frame_covers_what_is_live_below_it_and_stacks_are_as_low_as_is_said(seed: int) -> None:
    draw = Random(seed)
    drawn = _frames(draw)
    root = list(drawn)[-1]
    frames = _reached(drawn, root)
    stacks = {each: stack_of(frames, root, each) for each in Compression if each is not Compression.ROOM}
    room = draw.randrange(16)
    stacks[Compression.ROOM] = stack_of(frames, root, Compression.ROOM, room)
    highest = {each: _checked(stack_of_each.placed, frames, root) for each, stack_of_each in stacks.items()}
    assert highest == {each: stack.slots for each, stack in stacks.items()}
    none, direct, least, roomy = (stacks[each] for each in Compression)
    assert direct.slots == least.slots == _least(frames, root) <= none.slots
    assert none.moves == 0
    assert roomy.moves <= least.moves <= direct.moves
    assert roomy.slots <= max(room, least.slots)
    assert room < none.slots or roomy.moves == 0


def _least(frames: dict[str, Frame], name: str) -> int:
    frame = frames[name]
    return max((frame.slots, *(len(site.live) + _least(frames, site.callee) for site in frame.sites)))


def _checked(placed: Mapping[str, Placed], frames: dict[str, Frame], root: str) -> int:
    """Go through all chains of calls with words in slots, as threads would; return the highest slot and one."""

    def call(name: str, base: int, kept: frozenset[int]) -> int:
        frame, here = frames[name], placed[name]
        assert sorted(here.places) == list(range(frame.slots))
        assert kept.isdisjoint(range(base, base + frame.slots))
        top = base + frame.slots
        for site in frame.sites:
            taken = dict(here.moves[site.step])
            live = (here.places[each] for each in site.live)
            held = {base + taken.get(place, place) for place in live}
            assert len(held) == len(site.live)
            top = max(top, call(site.callee, base + here.bases[site.step], kept | held))
        return top

    return call(root, 0, frozenset())
