"""The colouring of wide variables, beside figure 4 of the paper Orion as it is printed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from random import Random

import pytest

from comprehensive.ptx.passes.slot_coloring import anywhere, as_registers, coloring
from tests.examples import seeds


def _graph(draw: Random) -> tuple[dict[int, int], dict[int, set[int]]]:
    widths = {number: draw.choice((1, 1, 1, 2, 2, 3, 4)) for number in range(draw.randrange(12))}
    edges = {number: set[int]() for number in widths}
    for one in widths:
        for other in range(one):
            if draw.random() < 0.5:
                edges[one].add(other)
                edges[other].add(one)
    return widths, edges


def _figure_4(
    widths: Mapping[int, int], edges: Mapping[int, Set[int]], colors: int
) -> tuple[dict[int, int], list[int]]:
    """The first colours and the spill list; edges count the words of the neighbours that are left."""
    left, stack = list(widths), list[int]()

    def of(variable: int) -> int:
        return sum(widths[other] for other in edges[variable] if other in left)

    while left:
        chosen = None
        for each in left:
            if widths[each] + of(each) <= colors and (chosen is None or widths[chosen] > widths[each]):
                chosen = each
        if chosen is None:
            chosen = left[0]
            for each in left:
                if (widths[each], of(each)) < (widths[chosen], of(chosen)):
                    chosen = each
        stack.append(chosen)
        left.remove(chosen)
    spilled: list[int] = []
    whole = list(stack)
    while True:
        rest, first = list(whole), dict[int, int]()
        while rest:
            variable = rest.pop()
            used = {c for u in edges[variable] if u in first for c in range(first[u], first[u] + widths[u])}
            width = widths[variable]
            for color in range(colors - width + 1):
                if used.isdisjoint(range(color, color + width)):
                    first[variable] = color
                    break
            else:
                whole.remove(variable)
                spilled.append(variable)
                break
        else:
            return first, spilled


@pytest.mark.parametrize("seed", seeds(60))
def test_the_colours_are_those_of_figure_4(seed: int) -> None:
    draw = Random(seed)
    widths, edges = _graph(draw)
    colors = draw.randrange(1, 16)
    found = coloring(widths, edges, colors, anywhere)
    first, spilled = _figure_4(widths, edges, colors)
    assert {variable: each[0] for variable, each in found.of.items()} == first
    assert list(found.spilled) == spilled


@pytest.mark.parametrize("seed", seeds(60))
def test_registers_of_wide_variables_are_aligned_in_a_row_and_of_no_neighbour(seed: int) -> None:
    draw = Random(seed)
    widths, edges = _graph(draw)
    colors = draw.randrange(1, 24)
    found = coloring(widths, edges, colors)
    assert sorted((*found.of, *found.spilled)) == sorted(widths)
    assert found.count <= colors
    for variable, own in found.of.items():
        assert own == tuple(range(own[0], own[0] + widths[variable]))
        assert own[0] % as_registers(widths[variable]) == 0
        for other in edges[variable] & found.of.keys():
            assert set(own).isdisjoint(found.of[other])


def test_registers_of_one_to_four_words_begin_at_multiples_of_one_two_four_and_four() -> None:
    assert [as_registers(width) for width in (1, 2, 3, 4)] == [1, 2, 4, 4]
