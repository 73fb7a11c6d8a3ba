"""Arguments and data at which a program is run: small and awkward sizes first, then those around the edges of tiles.

In: the parameters of a function, what they are for, a seed and the number of the point.  Out: a value for each scalar,
and an array for each window of elements.  The value of a parameter depends on its name and not on the others, so that
it stays while the shrinker takes parameters away.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from comprehensive.metafork.ast import ScalarType
from comprehensive.records import replace
from tests.fuzz.signature import Parameter

Purpose: TypeAlias = Literal["block", "size", "step"]

SMALL = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13)
MIDDLE = (12, 16, 17, 20, 23, 31, 32, 33, 40)
EDGES = (63, 64, 65, 100, 127, 128, 129, 130, 255, 256, 257, 300, 520)
BLOCKS = (1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64)
CUBE = 33
"""The largest size where data has three dimensions."""
STEPS = (0, 1, 2, 3, 4, 5, 6, 9)
EXTREMES: Mapping[ScalarType, tuple[int, ...]] = {
    ScalarType.INT: (-(2**31), 2**31 - 1, -1, 0, 1),
    ScalarType.UNSIGNED: (2**32 - 1, 2**31, 0, 1),
    ScalarType.LONG: (-(2**63), 2**63 - 1, -1, 0, 2**31, -(2**31) - 1),
    ScalarType.UNSIGNED_CHAR: (255, 128, 0, 1),
    ScalarType.SIGNED_CHAR: (-128, 127, -1, 0, 1),
    ScalarType.SHORT: (-32768, 32767, -1, 0, 1),
    ScalarType.UNSIGNED_SHORT: (65535, 32768, 0, 1),
}
SPECIALS = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e-42, 3e38, -3e38, 1.0, 16777217.0)
PERIOD = 4093
"""Random elements that are drawn; longer arrays repeat them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """``sizes`` to draw from, and what data is like: all finite and small, or with extremes among it."""

    sizes: tuple[int, ...]
    blocks: tuple[int, ...]
    steps: tuple[int, ...]
    extreme: bool
    subscripts: bool
    """Whether integers are small and not negative, as subscripts have to be."""


KINDS: tuple[Kind, ...] = (
    Kind(SMALL[2:], BLOCKS[:8], STEPS, extreme=False, subscripts=True),
    Kind(SMALL, BLOCKS, STEPS, extreme=False, subscripts=False),
    Kind(SMALL[3:], BLOCKS[:6], STEPS, extreme=True, subscripts=False),
    Kind(MIDDLE, BLOCKS, STEPS[:6], extreme=False, subscripts=True),
    Kind(EDGES, BLOCKS[5:], STEPS[:5], extreme=False, subscripts=False),
    Kind(MIDDLE, BLOCKS[:4], STEPS, extreme=True, subscripts=True),
    Kind(SMALL[:4], BLOCKS, STEPS, extreme=False, subscripts=False),
    Kind(EDGES, BLOCKS, STEPS[4:], extreme=False, subscripts=True),
)


def kind_of(number: int) -> Kind:
    return KINDS[number % len(KINDS)]


def arguments(
    parameters: Sequence[Parameter], purposes: Mapping[str, Purpose], seed: str, number: int
) -> dict[str, int | float]:
    """A value for every scalar parameter."""
    kind = kind_of(number)
    if any(len(p.dims or ()) > 2 for p in parameters):
        kind = replace(kind, sizes=tuple(n for n in kind.sizes if n <= CUBE) or MIDDLE)
    common = random.Random(f"{seed}/{number}/all sizes")
    square = common.choice(kind.sizes) if common.random() < 0.4 else None
    values: dict[str, int | float] = {}
    for p in parameters:
        if p.is_data:
            continue
        rng = random.Random(f"{seed}/{number}/{p.name}")
        values[p.name] = _argument(p, purposes.get(p.name, "size"), kind, square, rng)
    return values


def _argument(
    p: Parameter, purpose: Purpose, kind: Kind, square: int | None, rng: random.Random
) -> int | float:
    if not p.type.is_integer:
        drawn = rng.choice(SPECIALS) if kind.extreme and rng.random() < 0.5 else rng.uniform(-2, 2)
        return float(np.float32(drawn))
    if purpose == "block":
        return rng.choice(kind.blocks)
    if purpose == "step":
        if kind.extreme and rng.random() < 0.1 and p.type is not ScalarType.INT:
            return rng.choice(EXTREMES[p.type])
        return rng.choice(kind.steps)
    # One size in six is not like the others, so that what is never proved to be equal is different.
    return square if square is not None and rng.random() < 0.85 else rng.choice(kind.sizes)


def elements(p: Parameter, count: int, largest: int, seed: str, number: int) -> Any:
    """Data of a parameter; ``largest`` bounds integers that are to serve as subscripts."""
    kind = kind_of(number)
    rng = np.random.default_rng(random.Random(f"{seed}/{number}/{p.name}").getrandbits(63))
    dtype, period = np.dtype(p.type.numpy_name), min(count, PERIOD)
    if p.type.is_integer:
        if kind.subscripts:
            drawn = rng.integers(0, max(1, largest), size=period)
        else:
            low = -20 if p.type.is_signed else 0
            drawn = rng.integers(low, 21, size=period)
        drawn = drawn.astype(dtype)
        if kind.extreme and not kind.subscripts:
            chosen = rng.random(period) < 0.06
            drawn[chosen] = rng.choice(np.array(EXTREMES[p.type], dtype=dtype), size=int(chosen.sum()))
    else:
        drawn = rng.standard_normal(size=period).astype(dtype)
        if kind.extreme:
            chosen = rng.random(period) < 0.12
            drawn[chosen] = rng.choice(np.array(SPECIALS).astype(dtype), size=int(chosen.sum()))
    return np.resize(drawn, count) if count else drawn
