"""Random arguments and data for a nest, with the sizes that break careless rewrites.

Program parameters are small, sizes are not multiples of the tiles, and some are zero or smaller than a tile.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from comprehensive.loops.interpreter import dimensions, holds_preconditions
from comprehensive.loops.ir import Nest, Role

MAX_SIZE = 24
POINTER_ELEMENTS = (MAX_SIZE + 4) ** 2


def arguments_for(nest: Nest, seed: int) -> dict[str, int | float]:
    """Values of all scalars of the nest that the host does not compute; its preconditions hold."""
    generator = random.Random(f"{nest.name} {seed}")
    while True:
        values: dict[str, int | float] = {}
        for scalar in nest.scalars:
            if scalar.value is not None:
                continue
            if not scalar.type.is_integer:
                values[scalar.name] = generator.choice((0.5, -1.25, 3.0))
            elif scalar.role is Role.PROGRAM:
                values[scalar.name] = generator.choice((1, 1, 2, 3, 4, 5))
            else:
                values[scalar.name] = generator.choice((0, 1, 2, 3, 5, 7, 8, 11, 12, 16, 17, 23, MAX_SIZE))
        if holds_preconditions(nest, values):
            return values


def data_for(nest: Nest, arguments: Mapping[str, int | float], seed: int) -> dict[str, np.ndarray]:
    """Arrays of the declared sizes; behind a plain pointer there is room for every index."""
    generator = np.random.default_rng(seed)
    data: dict[str, np.ndarray] = {}
    for array in nest.arrays:
        shape = (POINTER_ELEMENTS,) if array.dims is None else dimensions(nest, array.name, arguments)
        values = generator.integers(-9, 10, size=shape)
        data[array.name] = values.astype(array.type.numpy_name)
        if not array.type.is_integer:
            data[array.name] = (values / 7).astype(array.type.numpy_name)
    return data
