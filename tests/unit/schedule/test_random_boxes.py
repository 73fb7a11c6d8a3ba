"""Sums over boxes whose subscripts are random, on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.examples import seeds
from tests.unit.schedule.test_window_product import BLOCK, OF_PLANE, PLANE, Arrays
from tests.unit.schedule.tile_runs import compilation_of, refusable, run_all

MOST_WORDS = 227 * 1024 // 4
"""The shared memory of a block on the device that CPU builds stand for, in words."""


def _random_reads(seed: int) -> tuple[str, Arrays]:
    """A sum of products of three arrays; subscripts are sums of random variables times random factors, or looked up."""
    random = Random(seed)
    extents = {"i": "m", "j": "n", "l": "p", "r": random.choice(("k", "2", "3"))}
    arrays: Arrays = {"c": (("m", "n"), "f4")}
    types = {"f4": "float", "u1": "unsigned char"}
    factors: list[str] = []
    for array in ("u", "v", "w"):
        subscripts: list[str] = []
        shape: list[int | str] = []
        for _ in range(random.randint(1, 3)):
            if random.random() < 0.15:
                looked_up = random.choice("ijlr")
                arrays[f"at_{looked_up}"] = ((extents[looked_up],), "u1")
                subscripts.append(f"at_{looked_up}[{looked_up}]")
                shape.append(256)
                continue
            chosen = {v: random.choice((-2, -1, -1, 1, 1, 1, 2)) for v in extents if random.random() < 0.4}
            downs = [f"{-f}*({extents[v]}-1)" for v, f in chosen.items() if f < 0]
            own = [f"{f}*{v}" for v, f in chosen.items()]
            subscripts.append(" + ".join([str(random.randint(0, 1)), *downs, *own]).replace("+ -", "- "))
            shape.append("+".join(["2", *(f"{abs(f)}*{extents[v]}" for v, f in chosen.items())]))
        factors.append(array + "".join(f"[{s}]" for s in subscripts))
        arrays[array] = (tuple(shape), "f4")
    parameters = ", ".join(
        f"{types[kind]} {a}{''.join(f'[{e}]' for e in shape)}" for a, (shape, kind) in arrays.items()
    )
    loops = f"for (int l = 0; l < p; l++) for (int r = 0; r < {extents['r']}; r++)"
    body = f"float s = 0; {loops} s += {factors[0]} * {factors[1]} + {factors[2]}; c[i][j] = s;"
    return PLANE.format(parameters=parameters, body=body), arrays


@pytest.mark.parametrize("seed", seeds(25))
def test_sums_over_random_boxes_are_those_of_the_source(seed: int, tmp_path: Path) -> None:
    source, arrays = _random_reads(seed)
    (region,) = compilation_of(source).plan.functions[0].regions
    too_large = {
        region.tile_of(tile.first + place)
        for tile in region.tilings
        for place, instance in enumerate(tile.instances)
        if tile.kernel.shared_words.evaluate(dict(zip(tile.kernel.constants, instance.sizes, strict=True)))
        > MOST_WORDS
    }
    refused = run_all(source, arrays, [{**run, **BLOCK} for run in OF_PLANE], tmp_path)
    assert {number for number, _ in refused} <= too_large | refusable(source)
