"""A launch of a leaf costs the same in Python and in the generated headers, whatever the tables say.

`machine/sites.py` counts the work of a block for commands, and what `tests/printed_functions.py` prints of it for
launches.  Both are given the same tables here, drawn at random: loops and conditions in each other, walks of any
distance and width, elements of which nothing is known.  Numbers are of any size, and negative ones as well.  Some
speeds of the machine are so low or so high that one kind of work decides, whichever that is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.codegen.runtime_files import RUNTIME, plain_files
from comprehensive.machine.cost import cost
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.sites import MOST_DEEP, UNKNOWN, Access, Context, Region, Shape, Sites, leaf_work
from comprehensive.machine.speeds import SPEEDS
from tests.examples import examples
from tests.unit.codegen.compiled import WARNINGS, compile_text
from tests.unit.model.test_choice import machine_numbers, machines

END = -1
"""Ends the origins of an access."""
SOURCE = """#include "cf_runtime.h"
unsigned long long t_cycles(const cf_machine *machine, const cf_context *contexts, const cf_region *regions,
    const cf_access *accesses, const short *loops, const short *origins, const int *counts, const long long *numbers,
    const cf_leaf_shape *shape, unsigned long long bound)
{
  const cf_sites sites = { contexts, regions, accesses, loops, origins, counts[0], counts[1], counts[2] };
  cf_count runs[64];
  unsigned char keeps[64];
  return cf_leaf_cycles(machine, &sites, numbers, shape, bound, runs, keeps);
}
"""


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("leaf_cost")
    for name, text in plain_files().items():
        (folder / name).write_text(text)
    assert (folder / RUNTIME).exists()
    library = ctypes.CDLL(str(compile_text(SOURCE, ".c", ("-std=c99", "-O2", *WARNINGS), folder)))
    library.t_cycles.restype = ctypes.c_ulonglong
    return library


def shorts(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_short]:
    return (ctypes.c_short * (len(numbers) + 1))(*numbers)


def in_header(
    header: ctypes.CDLL,
    machine: dict[str, int],
    sites: Sites,
    numbers: Sequence[int],
    shape: Shape,
    bound: int,
) -> int:
    loops: list[int] = []
    origins: list[int] = []
    accesses: list[int] = []
    for a in sites.accesses:
        accesses += (a.context, a.region, a.array, a.bytes, a.stores, a.is_shared)
        accesses += (*a.threads, *a.extents, *a.grid, len(loops), len(a.loops), len(origins), len(a.origins))
        loops += (number for pair in a.loops for number in pair)
        origins += (*a.origins, END)
    contexts = [n for c in sites.contexts for n in (c.parent, c.turns, c.is_loop, c.instructions, c.wide)]
    regions = [n for r in sites.regions for n in (r.context, r.round, r.depth, r.barriers)]
    counts = (len(sites.contexts), len(sites.regions), len(sites.accesses))
    return header.t_cycles(
        machine_numbers(machine),
        *map(shorts, (contexts, regions, accesses, loops, origins)),
        (ctypes.c_int * 3)(*counts),
        (ctypes.c_longlong * len(numbers))(*numbers),
        (ctypes.c_longlong * 8)(*shape.grid, *shape.block, shape.registers, shape.words),
        ctypes.c_ulonglong(bound),
    )


# --- tables


small = st.integers(1, 12)
sizes = st.one_of(small, st.integers(1, 5000), st.sampled_from((0, 32, 64, 1024, 4096, 1 << 31, 1 << 62)))


@st.composite
def tables(draw: st.DrawFn) -> tuple[Sites, list[int]]:
    """Contexts with the accesses and regions in them, and numbers; the first two of these are 0 and 1."""
    numbers = [0, 1, *draw(st.lists(st.one_of(small, sizes, st.integers(-50, 50)), min_size=2, max_size=10))]
    position = st.integers(0, len(numbers) - 1)
    contexts = [Context(-1, 1, is_loop=False, instructions=draw(small), wide=0)]
    for _ in range(draw(st.integers(0, 11))):
        parent = draw(st.integers(0, len(contexts) - 1))
        contexts.append(Context(parent, draw(position), draw(st.booleans()), draw(small), draw(small)))
    inside = st.integers(0, len(contexts) - 1)
    regions = [
        Region(draw(inside), draw(st.sampled_from((1, 4))), draw(st.integers(0, 60)), draw(st.integers(0, 2)))
        for _ in range(draw(st.integers(1, 4)))
    ]
    accesses = [draw(access_in(contexts, regions, position)) for _ in range(draw(st.integers(0, 6)))]
    return Sites(tuple(contexts), tuple(regions), tuple(accesses)), numbers


@st.composite
def access_in(
    draw: st.DrawFn, contexts: Sequence[Context], regions: Sequence[Region], position: st.SearchStrategy[int]
) -> Access:
    """An access in a context of a region, with a distance for each loop around it."""
    region = draw(st.integers(0, len(regions) - 1))
    context = regions[region].context
    around: list[int] = []
    place = context
    while place >= 0:
        around += [place] if contexts[place].is_loop else []
        place = contexts[place].parent
    three = st.tuples(position, position, position)
    unknown = (UNKNOWN, UNKNOWN, UNKNOWN)
    is_known = draw(st.integers(0, 3)) > 0
    to_next_block = st.one_of(position, st.just(UNKNOWN))
    return Access(
        context,
        region,
        draw(st.integers(0, 2)),
        draw(st.sampled_from((1, 2, 4, 8))),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(three) if is_known else unknown,
        draw(three),
        tuple((loop, draw(position)) for loop in around[:8]),
        draw(st.tuples(to_next_block, to_next_block, to_next_block)) if is_known else unknown,
        tuple(draw(st.lists(position, min_size=1, max_size=3))),
    )


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    extent = st.one_of(st.sampled_from((1, 8, 16, 32, 128)), st.integers(1, 70))
    grid = draw(st.tuples(st.integers(1, 70000), small, small))
    block = draw(st.tuples(extent, extent, st.integers(1, MOST_DEEP)))
    return Shape(grid, block, draw(st.integers(1, 255)), draw(st.integers(0, 20000)))


@st.composite
def uneven_machines(draw: st.DrawFn) -> dict[str, int]:
    """A machine of which some speeds are far from those of a device."""
    names = draw(st.lists(st.sampled_from(sorted(SPEEDS)), max_size=4))
    return {**draw(machines()), **{name: draw(st.sampled_from((1, 1 << 20))) for name in names}}


@given(machine=uneven_machines(), table=tables(), shape=shapes())
@settings(max_examples=examples(2000), deadline=None)
def test_python_and_header_count_the_same_cycles(
    header: ctypes.CDLL, machine: dict[str, int], table: tuple[Sites, list[int]], shape: Shape
) -> None:
    sites, numbers = table
    found = cost(machine, *leaf_work(machine, sites, numbers, shape))
    expected = SATURATED if found is None else found.cycles
    assert in_header(header, machine, sites, numbers, shape, SATURATED) == expected
    # With a bound it may stop early, but never where the cycles are within it.
    assert in_header(header, machine, sites, numbers, shape, expected) == expected
