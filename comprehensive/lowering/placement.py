"""The placement of a nest's cached arrays in shared memory.

In: a nest whose launch-constant conditions have been unswitched.  Out: for every band the tiles of its cached
arrays, each with the name of its pointer and its offset in 4-byte words, and what a block needs in all::

    jacobi1d, cached {a}:  shared_a at 0 (s*B + 2 words), shared_a_2 at s*B + 2 (s*B words): 2*s*B + 2 words

Bands run one after another, so their tiles share the same memory: a block needs the maximum over its bands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial
from comprehensive.algebra.atom import at_least
from comprehensive.algebra.signs import lower_bounds, proves
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import ScalarType
from comprehensive.poly.footprint import footprint
from comprehensive.poly.model import Footprint, Level, Tile


class PlacedTile(Struct, frozen=True):
    tile: Tile
    pointer: str
    type: ScalarType
    offset_words: Polynomial


class Placement(Struct, frozen=True):
    """The places of tiles: ``bands[b]`` are the tiles of band b; ``words`` is what a block allocates."""

    bands: tuple[tuple[PlacedTile, ...], ...]
    words: Polynomial


def place_tiles(nest: Nest, taken: Iterable[str] = ()) -> Placement:
    """The tiles of all cached arrays that have a footprint; an opaque array stays in global memory.

    ``taken`` are names that a pointer must not have.
    """
    used = set(taken)
    bounds = lower_bounds(
        at_least(Polynomial.symbol(s.name), 1 if s.role is Role.PROGRAM else 0) for s in nest.scalars
    )
    bands: list[tuple[PlacedTile, ...]] = []
    words = Polynomial.constant(0)
    for band in range(len(nest.bands)):
        placed, needed = _place_band(nest, band, used)
        bands.append(placed)
        words = _maximum(words, needed, bounds)
    return Placement(tuple(bands), words)


def _place_band(nest: Nest, band: int, used: set[str]) -> tuple[tuple[PlacedTile, ...], Polynomial]:
    # 8-byte elements first: every offset is then aligned without padding.
    arrays = sorted(
        nest.cached, key=lambda name: (-nest.array(name).type.size_bytes, nest.cached.index(name))
    )
    placed: list[PlacedTile] = []
    offset = Polynomial.constant(0)
    for name in arrays:
        found = footprint(nest, band, name, Level.BLOCK)
        if not isinstance(found, Footprint):
            continue
        type = nest.array(name).type
        for tile in found.tiles:
            placed.append(PlacedTile(tile, _fresh(f"shared_{name}", used), type, offset))
            offset = offset + tile.elements * words_per_element(type)
    return tuple(placed), offset


def _fresh(base: str, used: set[str]) -> str:
    name, number = base, 2
    while name in used:
        name, number = f"{base}_{number}", number + 1
    used.add(name)
    return name


def _maximum(left: Polynomial, right: Polynomial, bounds: Mapping[str, tuple[Fraction, Atom]]) -> Polynomial:
    """The larger polynomial where every scalar is at least its bound, or a polynomial above both."""
    if proves(at_least(left, right), bounds):
        return left
    if proves(at_least(right, left), bounds):
        return right
    return left + right
