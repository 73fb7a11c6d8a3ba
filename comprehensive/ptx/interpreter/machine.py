"""A batch of blocks while it runs: who the threads are, what they share, and how far they are.

Lanes are numbered as :mod:`comprehensive.ptx.interpreter.lanes` says; those behind the threads of a block, which only
fill its last warp, never run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from comprehensive.ptx.interpreter.lanes import WARP, Lanes
from comprehensive.ptx.interpreter.memory import Memory
from comprehensive.ptx.interpreter.values import Array

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch: blocks in the grid, threads in a block, blocks in a batch, blocks in a cluster if that is said."""

    grid: Dim3
    block: Dim3
    batch: int
    cluster: Dim3 | None = None

    @property
    def threads(self) -> int:
        """The number of threads in a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def stride(self) -> int:
        """The lanes of a block: its threads, rounded up to whole warps."""
        return -(-self.threads // WARP) * WARP

    @property
    def blocks(self) -> int:
        """The number of blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def lanes(self) -> int:
        return self.batch * self.stride


class Machine:
    """The state of a batch. ``first_block`` is the number in the grid of its first block."""

    def __init__(self, shape: Shape, memory: Memory, dynamic_shared_bytes: int) -> None:
        self.shape = shape
        self.memory = memory
        self.dynamic_shared_bytes = dynamic_shared_bytes
        numbers = np.arange(shape.lanes)
        self.block_of = numbers // shape.stride
        self.warp_of = numbers // WARP
        self.lane_in_warp = (numbers % WARP).astype(np.uint32)
        self.thread_of = numbers % shape.stride
        self.is_thread = self.thread_of < shape.threads
        self.alive = np.zeros(shape.lanes, np.bool_)
        self.carry = np.zeros(shape.lanes, np.bool_)
        self.first_block = 0
        self.block_ids, self.cluster_ids, self.ids_in_cluster = (
            tuple(np.zeros(shape.lanes, np.uint32) for _ in range(3)) for _ in range(3)
        )
        self.rank_in_cluster = np.zeros(shape.lanes, np.uint32)
        self.stack_top = np.zeros(shape.lanes, np.uint64)
        self.clock = 0
        self.printed: list[str] = []
        self.specials = _Specials(self)

    def begin(self, first_block: int) -> Array:
        """Makes the machine that of the blocks from there on; the lanes that run."""
        self.first_block = first_block
        count = min(self.shape.batch, self.shape.blocks - first_block)
        ids = self.block_of + first_block
        for part, value in zip(self.block_ids, _places(ids, self.shape.grid), strict=True):
            part[:] = value
        if self.shape.cluster is not None:
            self._place_in_clusters(self.shape.cluster)
        self.alive[:] = self.is_thread & (self.block_of < count)
        self.carry[:] = False
        self.memory.poison()
        return np.flatnonzero(self.alive)

    def _place_in_clusters(self, cluster: Dim3) -> None:
        step = np.uint32(1)
        self.rank_in_cluster[:] = 0
        for axis, size in enumerate(map(np.uint32, cluster)):
            self.cluster_ids[axis][:], self.ids_in_cluster[axis][:] = np.divmod(self.block_ids[axis], size)
            self.rank_in_cluster += self.ids_in_cluster[axis] * step
            step *= size

    def thread_name(self, lane: int) -> str:
        """Return the name of a lane's thread for people: ``thread (1, 0, 0) of block (2, 0, 0)``."""
        place = tuple(int(part[lane]) for part in _places(self.thread_of, self.shape.block))
        block = tuple(int(part[lane]) for part in self.block_ids)
        return f"thread {place} of block {block}"

    def warp_masks(self, lanes: Lanes) -> Array:
        """Return for each warp of the batch which of its lanes are among these, as bits."""
        return self.over_warps(np.bitwise_or, np.uint32(1) << self.lane_in_warp[lanes.at], lanes)

    def over_warps(self, function: np.ufunc, values: Array, lanes: Lanes) -> Array:
        """A reduction of the values of lanes, a result for each warp of the batch; zero where there is no lane."""
        warps = self.warp_of[lanes.at]
        begins = np.flatnonzero(np.diff(warps, prepend=-1))
        result = np.zeros(self.shape.lanes // WARP, values.dtype)
        result[warps[begins]] = function.reduceat(values, begins)
        return result


@dataclass
class _Specials:
    """Special registers as arrays over lanes, made when they are first asked for."""

    machine: Machine
    known: dict[str, Array] = field(default_factory=dict[str, Array])

    def constant(self, name: str) -> Array | None:
        """Return a special register as an array over lanes.

        None where it is none, or is not the same from one time to the next.
        """
        found = self.known.get(name)
        if found is None:
            found = self._made(name)
            if found is not None:
                self.known[name] = found
        return found

    def _made(self, name: str) -> Array | None:
        base, _, axis = name.rpartition(".")
        if axis in _AXES and base in _OF_AXES:
            found = _OF_AXES[base](self.machine, _AXES[axis])
        elif name in _OTHERS:
            found = _OTHERS[name](self.machine)
        else:
            found = 0 if name.startswith("%envreg") else None
        return (
            np.broadcast_to(np.uint32(found), self.machine.shape.lanes) if isinstance(found, int) else found
        )


def _places(numbers: Array, extents: Dim3) -> tuple[Array, Array, Array]:
    """The places of threads or blocks of these numbers: x runs fastest."""
    x, y, _ = extents
    return numbers % x, numbers // x % y, numbers // (x * y)


_ONE = np.uint32(1)
_ALONE = 1, 1, 1
_AXES = {"x": 0, "y": 1, "z": 2}
_OF_AXES: Mapping[str, Callable[[Machine, int], Array | int]] = {
    "%tid": lambda m, axis: _places(m.thread_of, m.shape.block)[axis].astype(np.uint32),
    "%ntid": lambda m, axis: m.shape.block[axis],
    "%ctaid": lambda m, axis: m.block_ids[axis],
    "%nctaid": lambda m, axis: m.shape.grid[axis],
    "%clusterid": lambda m, axis: (m.cluster_ids if m.shape.cluster else m.block_ids)[axis],
    "%nclusterid": lambda m, axis: m.shape.grid[axis] // (m.shape.cluster or _ALONE)[axis],
    "%cluster_ctaid": lambda m, axis: m.ids_in_cluster[axis],
    "%cluster_nctaid": lambda m, axis: (m.shape.cluster or _ALONE)[axis],
}
"""The registers with a number for each axis; one that is the same in all lanes is an int."""
_OTHERS: Mapping[str, Callable[[Machine], Array | int]] = {
    "%laneid": lambda m: m.lane_in_warp,
    "%warpid": lambda m: (m.warp_of % (m.shape.stride // WARP)).astype(np.uint32),
    "%nwarpid": lambda m: m.shape.stride // WARP,
    "WARP_SZ": lambda _: WARP,
    "%lanemask_eq": lambda m: _ONE << m.lane_in_warp,
    "%lanemask_lt": lambda m: (_ONE << m.lane_in_warp) - _ONE,
    "%lanemask_le": lambda m: ((_ONE << m.lane_in_warp) - _ONE) | (_ONE << m.lane_in_warp),
    "%lanemask_gt": lambda m: ~(((_ONE << m.lane_in_warp) - _ONE) | (_ONE << m.lane_in_warp)),
    "%lanemask_ge": lambda m: ~((_ONE << m.lane_in_warp) - _ONE),
    "%cluster_ctarank": lambda m: m.rank_in_cluster,
    "%cluster_nctarank": lambda m: prod(m.shape.cluster or _ALONE),
    "%is_explicit_cluster": lambda m: int(m.shape.cluster is not None),
    "%smid": lambda _: 0,
    "%nsmid": lambda _: 1,
    "%gridid": lambda m: np.broadcast_to(np.uint64(1), m.shape.lanes),
    "%dynamic_smem_size": lambda m: m.dynamic_shared_bytes,
    "%total_smem_size": lambda m: m.memory.spaces["shared"].bytes_used,
    "%aggr_smem_size": lambda m: m.memory.spaces["shared"].bytes_used,
    **{f"%reserved_smem_offset_{which}": lambda _: 0 for which in ("begin", "end", "cap")},
}
CLOCKS = {
    "%clock": "u32",
    "%clock_hi": "u32",
    "%clock64": "u64",
    "%globaltimer": "u64",
    "%globaltimer_lo": "u32",
}
"""The registers that count up: each reading gives the instructions that have been executed."""
