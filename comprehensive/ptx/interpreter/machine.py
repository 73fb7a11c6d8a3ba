"""A batch of blocks while it runs: who the threads are, what they share, and how far they are.

Lanes are numbered as :mod:`comprehensive.ptx.interpreter.lanes` says; those behind the threads of a block, which only
fill its last warp, never run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
        x, y, _ = self.shape.grid
        for part, value in zip(self.block_ids, (ids % x, ids // x % y, ids // (x * y)), strict=True):
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
        x, y, _ = self.shape.block
        thread = int(self.thread_of[lane])
        place = (thread % x, thread // x % y, thread // (x * y))
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
        machine, shape = self.machine, self.machine.shape
        x, y, _ = shape.block
        thread = machine.thread_of
        axis = {"x": 0, "y": 1, "z": 2}.get(name.rpartition(".")[2])
        if axis is not None:
            ntid, nctaid, cluster = shape.block, shape.grid, shape.cluster or (1, 1, 1)
            match name.rpartition(".")[0]:
                case "%tid":
                    return (thread % x, thread // x % y, thread // (x * y))[axis].astype(np.uint32)
                case "%ntid":
                    return self._same(ntid[axis])
                case "%ctaid":
                    return machine.block_ids[axis]
                case "%nctaid":
                    return self._same(nctaid[axis])
                case "%clusterid":
                    return (machine.cluster_ids if shape.cluster else machine.block_ids)[axis]
                case "%nclusterid":
                    return self._same(nctaid[axis] // cluster[axis])
                case "%cluster_ctaid":
                    return machine.ids_in_cluster[axis]
                case "%cluster_nctaid":
                    return self._same(cluster[axis])
                case _:
                    return None
        lane = machine.lane_in_warp
        one = np.uint32(1)
        warps = shape.stride // WARP
        match name:
            case "%laneid":
                return lane
            case "%warpid":
                return (machine.warp_of % warps).astype(np.uint32)
            case "%nwarpid":
                return self._same(warps)
            case "WARP_SZ":
                return self._same(WARP)
            case "%lanemask_eq":
                return one << lane
            case "%lanemask_lt":
                return (one << lane) - one
            case "%lanemask_le":
                return ((one << lane) - one) | (one << lane)
            case "%lanemask_gt":
                return ~(((one << lane) - one) | (one << lane))
            case "%lanemask_ge":
                return ~((one << lane) - one)
            case "%cluster_ctarank":
                return machine.rank_in_cluster
            case "%cluster_nctarank":
                return self._same(int(np.prod(shape.cluster or 1)))
            case "%is_explicit_cluster":
                return self._same(shape.cluster is not None)
            case "%smid":
                return self._same(0)
            case "%nsmid":
                return self._same(1)
            case "%gridid":
                return np.broadcast_to(np.uint64(1), shape.lanes)
            case "%dynamic_smem_size":
                return self._same(machine.dynamic_shared_bytes)
            case "%total_smem_size" | "%aggr_smem_size":
                return self._same(machine.memory.spaces["shared"].bytes_used)
            case "%reserved_smem_offset_begin" | "%reserved_smem_offset_end" | "%reserved_smem_offset_cap":
                return self._same(0)
            case _:
                return self._same(0) if name.startswith("%envreg") else None

    def _same(self, value: int) -> Array:
        return np.broadcast_to(np.uint32(value), self.machine.shape.lanes)


CLOCKS = {
    "%clock": "u32",
    "%clock_hi": "u32",
    "%clock64": "u64",
    "%globaltimer": "u64",
    "%globaltimer_lo": "u32",
}
"""The registers that count up: each reading gives the instructions that have been executed."""
