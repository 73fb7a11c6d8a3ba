"""Colours for variables of one or more words: the allocator of a single procedure.

In: variables with their widths, which of them interfere, and how many colours there are.  Out: the colours of each
variable, and those that got none::

    coloring({7: 2, 9: 1}, {7: {9}, 9: {7}}, colors=3)      # Coloring(of={7: (0, 1), 9: (2,)}, spilled=())

The variant of Chaitin and Briggs in Hayes et al., Orion: A framework for GPU occupancy tuning, 2016, figure 4:
variables are taken from the graph one by one, the narrowest first among those that surely find colours, and coloured
in the opposite order, so that what is wide, and hard to place, comes early.  A variable takes as many colours in a row
as it has words, from a colour that is a multiple of ``aligned(width)``: registers of 64, 96 and 128 bits begin at
multiples of 2, 4 and 4 (section 3.2), words that are accessed one by one (:func:`anywhere`) at any.  The edges of a
variable are counted in words of its neighbours; where all have one word, that is the number of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass


@dataclass(frozen=True)
class Coloring:
    """``of`` are the colours of each variable, ``spilled`` those without, in the order in which they were given up."""

    of: Mapping[int, tuple[int, ...]]
    spilled: tuple[int, ...]

    @property
    def count(self) -> int:
        """The colours that are used, and those below them."""
        return max((last + 1 for *_, last in self.of.values()), default=0)


def as_registers(width: int) -> int:
    """Return where variables of so many words begin: at multiples of the next power of two."""
    return 1 << (width - 1).bit_length()


def anywhere(_width: int) -> int:
    """Return 1: variables of any width begin at any colour."""
    return 1


def coloring(
    widths: Mapping[int, int],
    interferes: Mapping[int, Set[int]],
    colors: int,
    aligned: Callable[[int], int] = as_registers,
) -> Coloring:
    """Return colours such that no two variables that interfere share one; ``interferes`` is symmetric.

    A variable that finds none is spilled.  Figure 4 then begins anew without it, which colours those before it as they
    are: here the next one follows at once.
    """
    found: dict[int, tuple[int, ...]] = {}
    spilled: list[int] = []
    for variable in reversed(_stack(widths, interferes, colors)):
        width = widths[variable]
        used = {color for other in interferes[variable] for color in found.get(other, ())}
        places = range(0, colors - width + 1, aligned(width))
        first = next((at for at in places if used.isdisjoint(range(at, at + width))), None)
        if first is None:
            spilled.append(variable)
        else:
            found[variable] = tuple(range(first, first + width))
    return Coloring(found, tuple(spilled))


def _stack(widths: Mapping[int, int], interferes: Mapping[int, Set[int]], colors: int) -> list[int]:
    """The variables in the order in which they are taken from the graph, ties by number."""
    left = dict(sorted(widths.items()))
    edges = {variable: sum(widths[other] for other in interferes[variable]) for variable in left}
    stack: list[int] = []
    while left:
        sure = (variable for variable, width in left.items() if width + edges[variable] <= colors)
        variable = min(sure, key=lambda each: left[each], default=None)
        if variable is None:
            variable = min(left, key=lambda each: (left[each], edges[each]))
        stack.append(variable)
        del left[variable]
        for other in interferes[variable]:
            edges[other] -= widths[variable]
    return stack
