"""Footprints against enumeration: every block, full or partial, at random concrete parameters."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Stmt
from comprehensive.poly.footprint import footprint
from comprehensive.poly.model import Footprint, Level, Opaque, Tile
from tests.examples import examples
from tests.unit.poly.enumeration import (
    Touch,
    admissible,
    elements_of,
    holds,
    host,
    subscripts,
    touches,
    value,
)
from tests.unit.poly.enumeration import quotients as quotients_at
from tests.unit.poly.nests import (
    assign,
    jacobi,
    jacobi_scaled,
    let,
    loop,
    matadd,
    matmul,
    nest,
    stencil,
    step,
    threads,
    transposition,
    when,
)

CEILING = {"dim": "(n + B - 1)/B"}


def one_dimension(*body, **options) -> Nest:
    arrays = options.pop("arrays", {"a": "n + 2", "b": "n + 2"})
    return nest(
        threads("u < B", let("i", "v*B + u"), *body),
        grid="v < dim",
        arrays=arrays,
        data="n",
        program="B s",
        host=CEILING,
    )


REGIONS: dict[str, Nest] = {
    "jacobi, odd": jacobi(),
    "jacobi, even": jacobi(odd=False),
    "jacobi, whole": jacobi(whole=True),
    "jacobi, s = 1": jacobi(s=False),
    "jacobi, scaled": jacobi_scaled(),
    "transposition": transposition(),
    "copy": transposition(true_transpose=False),
    "matmul": matmul(),
    "matadd": matadd(),
    "stencil, floor": stencil(),
    "stencil, ceiling": stencil(ceiling=True),
    "stencil, pointer, floor": stencil(pointer=True),
    "stencil, pointer, ceiling": stencil(ceiling=True, pointer=True),
    "ceiling": one_dimension(when("i < n", assign("b[i] = a[i] + a[i + 2]"))),
    "interior": one_dimension(when("i >= 1 and i < n - 1", assign("b[i] = a[i - 1] + a[i + 1]"))),
    "reversed": one_dimension(when("i < n", assign("b[n - 1 - i] = a[i]"))),
    "even elements": one_dimension(when("2*i < n", assign("b[2*i] = a[2*i]"))),
    "pairs": one_dimension(when("2*i + 1 < n", assign("b[2*i] = a[2*i + 1]"), assign("b[2*i + 1] = a[2*i]"))),
    "all but one thread": one_dimension(when("i < n and u > 0", assign("b[i] = a[i]"))),
    "all but one element": one_dimension(when("i < n and i != 3", assign("b[i] = a[i]"))),
    "two halves of a block": one_dimension(
        when("i < n", when("u < s", assign("b[i] = a[i]"), otherwise=(assign("b[i] = 2*a[i]"),)))
    ),
    "triangle": one_dimension(
        when("i < n", loop("k from 0 to i + 1", assign("b[i] += a[k]")))
    ),
    "serial loop that may be empty": one_dimension(
        when("i < n", loop("k from 2 to n", assign("b[i] += a[k]")))
    ),
    "steps of a tile": nest(
        step("kk from 0 to n by B", threads("u < B", when("kk + u < n", assign("b[kk + u] = a[kk + u]")))),
        grid="v < 1",
        arrays={"a": "n", "b": "n"},
        data="n",
        program="B",
    ),
    "two digits a thread": nest(
        threads("u < B", loop("r from 0 to s", let("i", "(v*B + u)*s + r"), when("i < n", assign("b[i] = a[i]")))),
        grid="v < dim",
        arrays={"a": None, "b": None},
        data="n",
        program="B s",
        host={"dim": "(n + B*s - 1)/(B*s)"},
    ),
}  # fmt: skip


def fixed_of(touch: Touch, level: Level) -> tuple[tuple[int, ...], ...]:
    match level:
        case Level.GRID:
            return (touch.grid,)
        case Level.BLOCK:
            return (touch.grid, touch.steps)
        case Level.THREAD:
            return (touch.grid, touch.steps, touch.threads)


def named(region: Nest, touch: Touch, level: Level, point: dict[str, int]) -> dict[str, int]:
    """The point with the fixed iterators of a touch."""
    full = point | dict(zip([g.iterator for g in region.grid], touch.grid, strict=True))
    if level is not Level.GRID:
        steps = [s.iterator for s in touch.access.context.loops if s.is_block]
        full |= dict(zip(steps, touch.steps, strict=True))
    if level is Level.THREAD:
        full |= dict(zip([t.iterator for t in region.bands[0].loops], touch.threads, strict=True))
    return full


def check_tile(region: Nest, tile: Tile, mine: list[Touch], here: dict[str, int]) -> None:
    box = list(elements_of(tile, here))
    places = {subscripts(tile, e, here) for e in box}
    assert {t.element for t in mine} <= places, "an element outside the hull"
    readers = [t for t in mine if t.access.mode.reads]
    writers = [t for t in mine if t.access.mode.writes]
    extents = region.array(tile.array).dims
    for kind, condition, wanted in (("load", tile.load, readers), ("store", tile.store, writers)):
        if condition is None:
            assert not wanted
            continue
        chosen = [e for e in box if holds(condition, here | {f"@{k}": x for k, x in enumerate(e)})]
        found = [subscripts(tile, e, here) for e in chosen]
        exact = {t.element for t in wanted}
        if kind == "load" and extents is not None:
            sizes = [value(d, here) for d in extents if d is not None]
            assert exact <= set(found)
            assert all(0 <= x < size for e in found for x, size in zip(e, sizes, strict=True))
        else:
            assert set(found) == exact
        if kind == "store":
            assert len(found) == len(set(found)), "one element in two places"


@pytest.mark.parametrize("name", REGIONS)
@settings(max_examples=examples(13), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_tiles_hold_exactly_what_each_block_touches(name: str, data: st.DataObject) -> None:
    region = REGIONS[name]
    point: dict[str, int] = {}
    for scalar in region.scalars:
        if scalar.value is None:
            least, most = (1, 3) if scalar.role.value == "program" else (0, 7)
            point[scalar.name] = data.draw(st.integers(least, most), label=scalar.name)
    assume(admissible(region, point))
    full = host(region, point)
    level = data.draw(st.sampled_from(Level))
    everything = list(touches(region, full))
    contexts: dict[tuple[tuple[int, ...], ...], list[Touch]] = defaultdict(list)
    for touch in everything:
        contexts[fixed_of(touch, level)].append(touch)
    unguarded = Counter(fixed_of(touch, level) for touch in touches(region, full, guarded=False))
    for array in region.arrays:
        found = footprint(region, 0, array.name, level)
        if isinstance(found, Opaque):
            continue
        for inside in contexts.values():
            here = named(region, inside[0], level, full)
            for tile in found.tiles:
                mine = [t for t in inside if t.access.ordinal in tile.index]
                check_tile(region, tile, mine, here)
                check_index(region, tile, mine, full)
            is_whole = level is Level.BLOCK and len(inside) == unguarded[fixed_of(inside[0], level)]
            check_counts(found, inside, here, is_whole=is_whole)


def check_index(region: Nest, tile: Tile, mine: list[Touch], point: dict[str, int]) -> None:
    """Virtual coordinates of every reference lead to the element that it touches."""
    for touch in mine:
        here = named(region, touch, Level.THREAD, point) | touch.serial
        coordinates = tile.index[touch.access.ordinal]
        symbols = {s for c in coordinates for s in c.symbols}
        values = here | quotients_at(symbols, here)
        element = tuple(int(c.evaluate(values)) for c in coordinates)
        assert subscripts(tile, element, values) == touch.element


def check_counts(found: Footprint, inside: list[Touch], here: dict[str, int], *, is_whole: bool) -> None:
    if found.count is None:
        return
    expected = found.count.evaluate(here)
    distinct = len({t.element for t in inside if t.access.array == found.array})
    assert distinct <= expected
    if is_whole:
        assert distinct == expected


@pytest.mark.parametrize(
    "name", ["jacobi, odd", "jacobi, scaled", "transposition", "matmul", "stencil, floor"]
)
@settings(max_examples=examples(13), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_counts_are_exact_in_every_block_of_a_floor_grid(name: str, data: st.DataObject) -> None:
    region = REGIONS[name]
    point = {
        s.name: data.draw(st.integers(1, 3) if s.role.value == "program" else st.integers(2, 9), label=s.name)
        for s in region.scalars
        if s.value is None
    }
    assume(admissible(region, point))
    full = host(region, point)
    for level in Level:
        contexts: dict[tuple[tuple[int, ...], ...], list[Touch]] = defaultdict(list)
        for touch in touches(region, full):
            contexts[fixed_of(touch, level)].append(touch)
        for array in region.arrays:
            found = footprint(region, 0, array.name, level)
            assert isinstance(found, Footprint)
            if found.count is None:
                continue
            for inside in contexts.values():
                here = named(region, inside[0], level, full)
                assert len(
                    {t.element for t in inside if t.access.array == array.name}
                ) == found.count.evaluate(here)


def texts(found: Footprint | Opaque, kind: str) -> list[list[list[str]] | None]:
    assert isinstance(found, Footprint), found
    conditions = [tile.load if kind == "load" else tile.store for tile in found.tiles]
    return [None if c is None else [[str(x.polynomial) for x in p] for p in c.pieces] for c in conditions]


def test_floor_grids_of_the_paper_need_no_condition_to_copy() -> None:
    for region in (jacobi(), jacobi_scaled(), transposition(), matmul(), matadd()):
        for array in region.arrays:
            found = footprint(region, 0, array.name, Level.BLOCK)
            for kind in ("load", "store"):
                assert all(text in (None, [[]]) for text in texts(found, kind))


def test_a_ceiling_grid_keeps_exactly_the_bound_of_the_data() -> None:
    found = footprint(REGIONS["ceiling"], 0, "b", Level.BLOCK)
    assert texts(found, "store") == [[["n - @0 - 1"]]] or texts(found, "store") == [[["-@0 + n - 1"]]]


def test_a_window_of_many_neighbours_is_one_piece() -> None:
    """Cut at 128 faces, whose order depends on B, it would take minutes."""
    window = "b[i] = " + " + ".join(f"a[i + {k}]" for k in range(64))
    found = footprint(one_dimension(when("i < n", assign(window))), 0, "a", Level.BLOCK)
    assert isinstance(found, Footprint)
    assert str(found.count) == "B + 63"


def test_pieces_of_a_window_with_a_gap_are_joined_where_they_certainly_meet() -> None:
    found = footprint(one_dimension(when("i < n", assign("b[i] = a[i] + a[i + 2]"))), 0, "a", Level.BLOCK)
    assert isinstance(found, Footprint)
    assert found.count is None  # B + 1 elements where B is 1, else B + 2
    both = assign("b[i] = a[i] + a[i + 2] + a[i + 1]")
    filled = footprint(one_dimension(when("i < n", both)), 0, "a", Level.BLOCK)
    assert isinstance(filled, Footprint)
    assert str(filled.count) == "B + 2"


@pytest.mark.parametrize(
    ("subscript", "reason"),
    [("i*u", "product"), ("c[i]", "data"), ("i % 3", "divides"), ("(i if u < 2 else 0)", "conditional")],
)
def test_subscripts_outside_the_recipe_are_opaque_and_named(subscript: str, reason: str) -> None:
    region = one_dimension(assign(f"b[{subscript}] = 1"), arrays={"b": "n", "c": "n"})
    found = footprint(region, 0, "b", Level.BLOCK)
    assert isinstance(found, Opaque)
    assert reason in found.reason


def test_a_guard_that_reads_data_loads_what_may_be_stored() -> None:
    region = one_dimension(when("i < n", when("a[i] > 0", assign("b[i] = 1"))))
    found = footprint(region, 0, "b", Level.BLOCK)
    assert isinstance(found, Footprint)
    assert found.tiles[0].load is not None
    assert texts(found, "store") == [[["-@0 + n - 1"]]]


UNSURE: dict[str, tuple[Stmt, ...]] = {
    "between what is sure": (
        assign("b[i] = a[i] + a[i + 2]"), when("i % 2 == 0", assign("b[i] += a[i + 1]")),
    ),
    "beyond what is sure": (assign("b[i] = a[i]"), when("i % 3 != 1", assign("b[i] += a[i + 1]"))),
    "affine inside": (when("i % 3 != 1", when("i >= 2", assign("b[i] = a[i - 2] + a[i]"))),),
    "in steps": (
        assign("b[i] = a[i]"), loop("k from i to n by 3", when("k % 4 == 1", assign("b[i] += a[i + 1]"))),
    ),
    "steps that are sure": (loop("k from i to s by 3", assign("b[i] += a[i + 1]")),),
    "in a triangle": (
        loop("k from 0 to i", assign("b[i] = a[k]"), when("k % 2 == 1", assign("b[i] += a[k + 1]"))),
    ),
}  # fmt: skip


def unsure(name: str, extents: str | None = None) -> Nest:
    return one_dimension(when("i < n", *UNSURE[name]), arrays={"a": extents, "b": extents})


@pytest.mark.parametrize("name", UNSURE)
@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(n=st.integers(0, 9), b=st.integers(1, 4))
def test_what_is_loaded_lies_between_elements_that_the_block_touches(name: str, n: int, b: int) -> None:
    region = unsure(name)
    point = host(region, {"n": n, "B": b, "s": 4})
    blocks: dict[tuple[int, ...], list[Touch]] = defaultdict(list)
    for touch in touches(region, point):
        if touch.access.array == "a":
            blocks[touch.grid].append(touch)
    found = footprint(region, 0, "a", Level.BLOCK)
    if isinstance(found, Opaque):
        return
    for block in range(point["dim"]):
        here = point | {"v": block}
        inside = blocks[(block,)]
        for tile in found.tiles:
            assert tile.load is not None
            chosen = [e for e in elements_of(tile, here) if holds(tile.load, here | {"@0": e[0]})]
            loaded = {subscripts(tile, e, here) for e in chosen}
            assert {t.element for t in inside if t.access.ordinal in tile.index} <= loaded
            assert not loaded or min(t.element for t in inside) <= min(loaded)
            assert not loaded or max(loaded) <= max(t.element for t in inside)


@pytest.mark.parametrize(
    ("name", "kept", "direct"),
    [
        ("between what is sure", 3, []),
        ("beyond what is sure", 1, ["a[v * B + u + 1]"]),
        ("in steps", 1, ["a[v * B + u + 1]"]),
        ("steps that are sure", 1, []),
        ("in a triangle", 1, ["a[k + 1]"]),
    ],
)
def test_what_may_lie_outside_of_an_array_without_extents_is_read_directly(
    name: str, kept: int, direct: list[str]
) -> None:
    found = footprint(unsure(name), 0, "a", Level.BLOCK)
    assert isinstance(found, Footprint)
    assert sum(len(tile.index) for tile in found.tiles) == kept
    assert [opaque.term for opaque in found.direct] == direct
    declared = footprint(unsure(name, "n + 3"), 0, "a", Level.BLOCK)
    assert isinstance(declared, Footprint)
    assert declared.direct == ()


def test_array_of_which_nothing_is_sure_is_not_staged_and_the_condition_is_named() -> None:
    found = footprint(unsure("affine inside"), 0, "a", Level.BLOCK)
    assert isinstance(found, Opaque)
    assert "is used only where 'v * B + u % 3 != 1' holds" in found.reason
    assert found.remedy == "declare the extents of 'a'"


def test_what_need_not_be_written_is_copied_back_only_where_no_other_block_writes() -> None:
    apart = one_dimension(when("i < n", when("i % 3 == 0", assign("b[i + 2] = 1"))), arrays={"b": "n"})
    found = footprint(apart, 0, "b", Level.BLOCK)
    assert isinstance(found, Footprint)
    (tile,) = found.tiles
    assert tile.load is not None
    assert tile.store is not None
    for condition in (tile.load, tile.store):  # also inside of the array
        assert not holds(condition, {"n": 4, "B": 4, "v": 0, "@0": 4})
    shared = one_dimension(
        when("i < n", when("i % 2 == 0", assign("b[i] = 1"), assign("b[i + 1] = 2"))), arrays={"b": "n + 1"}
    )
    refused = footprint(shared, 0, "b", Level.BLOCK)
    assert isinstance(refused, Opaque)
    assert "another block may write its element" in refused.reason


def test_written_references_at_an_unknown_distance_are_opaque() -> None:
    region = one_dimension(assign("b[i] = b[i*s]"))
    found = footprint(region, 0, "b", Level.BLOCK)
    assert isinstance(found, Opaque)
    assert "distance" in found.reason


def test_an_array_that_a_band_does_not_touch_has_no_tile() -> None:
    region = one_dimension(assign("b[i] = 1"))
    assert footprint(region, 0, "a", Level.BLOCK) == Footprint(
        "a", Level.BLOCK, (), footprint(region, 0, "a", Level.BLOCK).count
    )
