"""The corpus, executed: both dialects of nvcc give the same bits, and what numpy says easily is what comes out."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError
from comprehensive.toolchain.cache import Cache
from tests.examples import quick_of
from tests.ptx.corpus import BOTH_DIALECTS, Source, compiled, sources
from tests.ptx.launched import launched
from tests.ptx.runs import DTYPES, Array, agree, drawn

pytestmark = pytest.mark.toolchain

UNSUPPORTED = {
    "bit_tricks": {"packed_bytes"},
    "bulk_copy": {"bulk_round_trip", "bulk_sum"},
    "clusters": {"neighbours", "cluster_histogram", "asynchronous_stores"},
    "cooperative_groups": {"groups_at_run_time", "grid_phases"},
    "inline_assembly": {"rare_instructions"},
    "video": {"video_scalar", "video_vector"},
}
"""Kernels with what the interpreter does not know: video instructions, clusters, bulk copies, cooperative launches."""
WHOLE_SOURCES = {
    "blackwell",
    "mma",
    "narrow_floats",
    "surfaces",
    "tensor_copy",
    "tensor_memory",
    "textures",
    "wgmma",
    "wmma",
}

CHOSEN = [source for source in sources() if source.name not in WHOLE_SOURCES and source.runs]


@pytest.mark.parametrize(
    "source", quick_of(CHOSEN, BOTH_DIALECTS, lambda s: s.name), ids=lambda source: source.name
)
def test_both_dialects_give_the_same(source: Source, tmp_path: Path, corpus_cache: Cache) -> None:
    archs = [arch for arch in ("sm_90", "sm_100") if arch in source.archs] or source.archs[:1]
    files = [compiled(source, arch, tmp_path, cache=corpus_cache) for arch in archs]
    for each in source.runs:
        if each.kernel in UNSUPPORTED.get(source.name, ()):
            continue
        one, *others = [launched(each, ptx) for ptx in files]
        for other in others:
            differ = [p for p, pair in enumerate(zip(one, other, strict=True)) if not agree(each, p, *pair)]
            assert (each.kernel, differ) == (each.kernel, [])


@pytest.mark.parametrize(
    ("source", "kernel"),
    [(source, kernel) for source, kernels in sorted(UNSUPPORTED.items()) for kernel in sorted(kernels)],
)
def test_what_is_not_known_is_said(source: str, kernel: str, tmp_path: Path, corpus_cache: Cache) -> None:
    found = next(each for each in sources() if each.name == source)
    ptx = compiled(found, "sm_90", tmp_path, cache=corpus_cache)
    each = next(each for each in found.runs if each.kernel == kernel)
    with pytest.raises(CompileError):
        launched(each, ptx)


def _fused(given: list[Array]) -> Array:
    # The product of two singles is exact as a double; what is added then is rounded as rarely twice as never here.
    count, factor, x, y = given
    assert count[0] == len(x)
    return (np.float64(factor[0]) * x + y).astype(np.float32)


def _collatz(x: int) -> int:
    steps = 0
    while x != 1:
        x = 3 * x + 1 if x % 2 else x // 2
        steps += 1
    return steps


def _sum_by_halves(values: Array) -> Array:
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    return values


IN_NUMPY: dict[tuple[str, str], tuple[int, Callable[[list[Array]], Array]]] = {
    ("saxpy", "saxpy"): (3, _fused),
    ("shared_static", "transpose"): (1, lambda given: given[0].reshape(33, 45).T.ravel()),
    ("shared_static", "block_sum"): (
        1,
        lambda given: np.concatenate(
            [_sum_by_halves(part) for part in np.pad(given[0], (0, 24)).reshape(4, 256)], dtype=np.float32
        ),
    ),
    ("atomics_shared", "histogram"): (
        1,
        lambda given: np.bincount(given[0], minlength=256).astype(np.uint32),
    ),
    ("loops", "collatz"): (1, lambda given: np.array([_collatz(int(x)) for x in given[0]], np.int32)),
    ("algorithms", "bitonic_sort"): (0, lambda given: np.sort(given[0])),
    ("algorithms", "binary_search"): (
        1,
        lambda given: np.array([math.isqrt(int(x) & 0x7FFFFFFF) for x in given[0]], np.int32),
    ),
    ("algorithms", "checksums"): (
        1,
        lambda given: np.array([zlib.crc32(row.tobytes()) for row in given[0].reshape(100, 10)], np.uint32),
    ),
}
"""The argument that holds the result, and the function that gives it from what all begin with."""


@pytest.mark.parametrize(("source", "kernel"), IN_NUMPY, ids=lambda name: name)
def test_a_kernel_gives_what_numpy_gives(
    source: str, kernel: str, tmp_path: Path, corpus_cache: Cache
) -> None:
    found = next(each for each in sources() if each.name == source)
    ptx = compiled(found, "sm_90", tmp_path, cache=corpus_cache)
    each = next(each for each in found.runs if each.kernel == kernel)
    position, expected = IN_NUMPY[source, kernel]
    types = [getattr(argument, "type", "u8") for argument in each.arguments]
    given = [np.frombuffer(data, DTYPES[type_]) for data, type_ in zip(drawn(each), types, strict=True)]
    assert launched(each, ptx)[position] == expected(given).tobytes()
