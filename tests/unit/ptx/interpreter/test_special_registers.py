"""The place of a thread: clusters, special registers as vectors and with white space in them, vector registers."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import parse
from tests.unit.ptx.interpreter.launches import HEAD, fault, launch

NAMES = (
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%clusterid.x",
    "%clusterid.y",
    "%nclusterid.x",
    "%nclusterid.y",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
)


def places(grid: tuple[int, int], directive: str, *, lanes: int = 16384) -> np.ndarray:
    """Return the contents of the registers of :data:`NAMES`, a row a block."""
    stores = "".join(
        f"mov.u32 %r1, {name}; st.global.u32 [%rd1+{4 * place}], %r1;\n" for place, name in enumerate(NAMES)
    )
    text = f"""{HEAD}
.visible .entry k(.param .u64 c) {directive}
{{
    .reg .b32 %r<9>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [c];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1;
    mad.wide.u32 %rd1, %r1, {4 * len(NAMES)}, %rd1;
    {stores} ret;
}}
"""
    found = np.zeros((grid[0] * grid[1], len(NAMES)), np.uint32)
    run(parse(SourceFile("k.ptx", text)), "k", grid, 1, [found], lanes=lanes)
    return found


@pytest.mark.parametrize("lanes", [32, 16384])
def test_blocks_know_their_place_in_a_cluster(lanes: int) -> None:
    found = places((4, 6), ".explicitcluster .reqnctapercluster 2, 3", lanes=lanes)
    rows = [(x, y) for y in range(6) for x in range(4)]
    assert found.tolist() == [
        [y % 3 * 2 + x % 2, 6, x // 2, y // 3, 2, 2, x % 2, y % 3, 2, 3] for x, y in rows
    ]


def test_without_clusters_each_block_is_one() -> None:
    rows = [(x, y) for y in range(2) for x in range(3)]
    assert places((3, 2), "").tolist() == [[0, 1, x, y, 3, 2, 0, 0, 1, 1] for x, y in rows]


def test_a_grid_has_whole_clusters() -> None:
    with pytest.raises(CompileError) as error:
        places((3, 2), ".reqnctapercluster 2, 1, 1")
    assert fault(error.value) == (
        "CF1017",
        "a grid of (3, 2, 1) for kernel 'k', which has clusters of (2, 1, 1)",
    )


def test_special_registers_whole_and_with_white_space() -> None:
    found = np.zeros(4, np.uint32)
    launch(
        "mov.v4.u32 %v, %ntid; mov.v4.u32 {%r1, %r2, %r3, %r4}, %v; mov.u32 %r5, %tid\n.x;\n"
        "add.u32 %v.w, %r4, %nctaid .x; st.global.v4.u32 [%rd16], %v;",
        [found],
        grid=3,
        block=(4, 2),
        registers=".reg .v4 .b32 %v;",
    )
    assert found.tolist() == [4, 2, 1, 3]


def test_elements_of_a_vector_register() -> None:
    numbers, found = np.array([5, 7], np.uint32), np.zeros(2, np.uint32)
    launch(
        "ld.global.v2.u32 %v, [%rd16]; mov.v2.u32 %w, %v; add.u32 %w.x, %v.r, %v.y;"
        "sub.u32 %w.g, %w.x, %v.x; st.global.v2.u32 [%rd17], %w;",
        [numbers, found],
        block=1,
        registers=".reg .v2 .u32 %v, %w;",
    )
    assert found.tolist() == [12, 7]
