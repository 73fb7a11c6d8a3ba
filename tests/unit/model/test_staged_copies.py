"""The copies of pieces lane by lane: what is computed of them against what the C++ of kernels does on the CPU."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.data import template_directory
from comprehensive.model.staged_copies import (
    Moved,
    box_copies,
    fetched,
    piece_copies,
    put,
    row_copies,
    turned_copies,
)
from comprehensive.toolchain.host import cuda_on_cpu, find_cxx_compiler

PROGRAM = """#include "cf_device.cuh"
#include <cstdio>
#include <vector>
alignas(16) static float global[1 << 16], shared[1 << 14];
static int number = 0;
template <typename Run> void each_thread(int threads, Run run)
{
  for (int thread = 0; thread < threads; thread++) {
    for (float &element : shared) element = 0;
    run(thread);
    for (int place = 0; place < (1 << 14); place++)
      if (shared[place] != 0) std::printf("%d %d %d %d\\n", number, thread, place, int(shared[place]) - 1);
  }
  number++;
}
int main()
{
  for (int k = 0; k < (1 << 16); k++) global[k] = float(k + 1);
CASES
}
"""


def feed(**numbers: int) -> dict[str, int]:
    return {"size": 4, "pitch": numbers["columns"], "swizzled": 0, "stride": 100, "leftwards": 0, **numbers}


# aligned or not, whole or cut, with threads that stay in their columns and others, padded, swizzled
PIECES = (
    feed(vectors=1, rows=16, columns=8, threads=32, valid_rows=16, valid_columns=8),
    feed(vectors=1, rows=64, columns=16, threads=32, valid_rows=50, valid_columns=12),
    feed(vectors=0, rows=16, columns=8, threads=32, valid_rows=13, valid_columns=5),
    feed(vectors=0, rows=8, columns=64, threads=32, valid_rows=8, valid_columns=40),
    feed(vectors=1, rows=12, columns=20, threads=32, valid_rows=11, valid_columns=20),
    feed(vectors=0, rows=12, columns=20, threads=48, valid_rows=11, valid_columns=19),
    feed(vectors=1, rows=1, columns=50, threads=32, valid_rows=1, valid_columns=47),
    feed(vectors=1, rows=16, columns=8, threads=32, valid_rows=9, valid_columns=8, pitch=12),
    feed(vectors=1, rows=32, columns=32, threads=64, valid_rows=32, valid_columns=32, swizzled=1),
    feed(vectors=1, rows=16, columns=64, threads=64, valid_rows=15, valid_columns=60, swizzled=1),
    feed(vectors=0, rows=32, columns=32, threads=32, valid_rows=30, valid_columns=27, swizzled=1),
    feed(vectors=1, rows=64, columns=16, threads=32, valid_rows=50, valid_columns=12, leftwards=1),
    feed(vectors=0, rows=12, columns=20, threads=48, valid_rows=11, valid_columns=19, leftwards=1),
    feed(vectors=1, rows=1, columns=50, threads=32, valid_rows=1, valid_columns=47, leftwards=1),
    feed(
        vectors=1, rows=16, columns=64, threads=64, valid_rows=15, valid_columns=60, swizzled=1, leftwards=1
    ),
)
TURNED = (
    feed(vectors=0, rows=16, columns=8, threads=32, valid_rows=16, valid_columns=8, pitch=16),
    feed(vectors=0, rows=20, columns=16, threads=32, valid_rows=20, valid_columns=13, pitch=21),
    feed(vectors=0, rows=20, columns=4, threads=32, valid_rows=13, valid_columns=3, pitch=21),
    feed(vectors=0, rows=20, columns=16, threads=32, valid_rows=20, valid_columns=13, pitch=21, leftwards=1),
)
HELD = (
    feed(vectors=1, rows=16, columns=8, threads=32, valid_rows=16, valid_columns=8, pitch=16),
    feed(vectors=1, rows=20, columns=16, threads=32, valid_rows=17, valid_columns=12, pitch=21),
    feed(vectors=1, rows=20, columns=16, threads=32, valid_rows=17, valid_columns=12, pitch=21, leftwards=1),
)


def box(
    extents: tuple[int, ...], pitches: tuple[int, ...], valid: tuple[int, ...], **numbers: int
) -> dict[str, Any]:
    made = {"extents": extents, "pitches": pitches, "valid": valid}
    return {**made, "strides": (8000, 900, 40), "size": 4, "threads": 32, **numbers}


BOXES = (
    box((1, 3, 4, 8), (0, 32, 8, 1), (1, 3, 4, 8), together=4),
    box((2, 3, 4, 10), (120, 40, 10, 1), (2, 3, 3, 9), together=2),
    box((1, 1, 5, 7), (0, 0, 8, 1), (1, 1, 5, 6), together=4),
    box((1, 1, 16, 16), (0, 0, 1, 17), (1, 1, 16, 13), together=4),
    box((1, 1, 6, 12), (0, 0, 1, 6), (1, 1, 5, 12), together=1),
    box((1, 8, 2, 12), (0, 1, 100, 8), (1, 7, 2, 12), together=4, threads=64),
    box((4, 2, 2, 9), (1, 80, 40, 4), (3, 2, 2, 9), together=4),
)
ON_RINGS = (
    box((1, 1, 6, 12), (0, 0, 16, 1), (1, 1, 5, 12), together=1),
    box((1, 3, 4, 10), (0, 50, 12, 1), (1, 3, 4, 9), together=1),
)
RING = 7
"""The elements of a row that follow each other in a circle."""
ROWS = (
    {"count": 70, "lanes": 16, "vectors": 1, "size": 4},
    {"count": 70, "lanes": 16, "vectors": 0, "size": 4},
    {"count": 3, "lanes": 8, "vectors": 1, "size": 4},
    {"count": 64, "lanes": 32, "vectors": 1, "size": 4},
)


def _of_feed(kind: str, numbers: Mapping[str, int], *more: int | str) -> str:
    flag = "true" if numbers["vectors"] else "false"
    constants = ", ".join(map(str, (flag, numbers["rows"], numbers["columns"], *more)))
    call = f"{numbers['stride']}, {numbers['valid_rows']}, {numbers['valid_columns']}, thread"
    steps = (
        "feed.prefetch(); feed.store(shared);"
        if kind == "cf_transposed_copy" and numbers["vectors"]
        else "feed.stage(shared);"
    )
    body = f"{kind}<float, {constants}> feed(global, {call}); {steps}"
    return f"  each_thread({numbers['threads']}, [](int thread) {{ {body} }});"


def _of_box(numbers: Mapping[str, Any]) -> str:
    constants = (numbers["together"], numbers["threads"], *numbers["extents"], *numbers["pitches"])
    strides, valid = ", ".join(map(str, numbers["strides"])), ", ".join(map(str, numbers["valid"]))
    body = f"cf_box<float, {', '.join(map(str, constants))}> box({strides}, thread); "
    body += f"box.stage(shared, global, {valid});"
    return f"  each_thread({numbers['threads']}, [](int thread) {{ {body} }});"


def _of_ring(numbers: Mapping[str, Any]) -> str:
    element = (
        f"[=](int, int i1, int i2, int i3) {{ return global + i1 * 900 + i2 * 40 + (i3 + 5) % {RING}; }}"
    )
    return _of_box(numbers).replace("box.stage(shared, global,", f"box.stage_from({element}, shared,")


def _of_row(numbers: Mapping[str, int]) -> str:
    call = (
        f"cf_stage_row<{numbers['vectors']}, {numbers['lanes']}>(shared, global, {numbers['count']}, thread);"
    )
    return f"  each_thread({numbers['lanes']}, [](int thread) {{ {call} }});"


def moves(copies: Iterable[Moved], threads: int) -> set[tuple[int, int, int]]:
    """The thread, the place in shared memory and the element of every element that is copied."""
    found: set[tuple[int, int, int]] = set()
    for each in copies:
        source, target, active = (
            np.broadcast_to(v, (threads,)) for v in (each.source, each.target, each.active)
        )
        for thread in np.flatnonzero(active):
            found |= {
                (int(thread), int(target[thread]) + k, int(source[thread]) + k) for k in range(each.count)
            }
    return found


def ring_copies(numbers: Mapping[str, Any]) -> Iterable[Moved]:
    return box_copies(numbers, lambda i0, i1, i2, i3: i1 * 900 + i2 * 40 + (i3 + 5) % RING)


def through_registers(numbers: Mapping[str, Any]) -> Iterable[Moved]:
    stores = list(put(numbers))
    for turn, load in enumerate(fetched(numbers)):
        for left, store in enumerate(stores[4 * turn : 4 * turn + 4]):
            yield Moved(load.source + left, store.target, 1, load.active & store.active)


def test_every_lane_copies_what_the_kernels_copy(tmp_path: Path) -> None:
    compiler = find_cxx_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler on the PATH")
    lines = [
        *(
            _of_feed(
                "cf_tiled_copy",
                each,
                each["swizzled"],
                each["rows"],
                -each["columns"] if each["leftwards"] else 0,
                each["threads"],
                *([] if each["pitch"] == each["columns"] else [each["pitch"]]),
            )
            for each in PIECES
        ),
        *(
            _of_feed(
                "cf_transposed_copy",
                each,
                each["pitch"],
                each["threads"],
                *(("cf_in_order", "true") if each["leftwards"] else ()),
            )
            for each in (*TURNED, *HELD)
        ),
        *map(_of_box, BOXES),
        *map(_of_ring, ON_RINGS),
        *map(_of_row, ROWS),
    ]
    source, binary = tmp_path / "copies.cpp", tmp_path / "copies"
    source.write_text(PROGRAM.replace("CASES", "\n".join(lines)), encoding="utf-8")
    runtime = str(template_directory() / "runtime")
    command = [*compiler.command, "-std=gnu++17", "-O1", "-w", *cuda_on_cpu(), "-I", runtime]
    subprocess.run([*command, str(source), "-o", str(binary)], check=True)
    printed = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    ran: list[set[tuple[int, int, int]]] = [set() for _ in lines]
    for line in printed.splitlines():
        number, thread, place, element = map(int, line.split())
        ran[number].add((thread, place, element))
    computed = [
        *((piece_copies, each) for each in PIECES),
        *((turned_copies, each) for each in TURNED),
        *((through_registers, each) for each in HELD),
        *((box_copies, each) for each in BOXES),
        *((ring_copies, each) for each in ON_RINGS),
        *((row_copies, each) for each in ROWS),
    ]
    for (copies, each), expected in zip(computed, ran, strict=True):
        threads = each["threads"] if "threads" in each else each["lanes"]
        place = np.arange(threads)
        assert expected, each
        assert moves(copies({**each, "thread": place, "lane": place}), threads) == expected, each
