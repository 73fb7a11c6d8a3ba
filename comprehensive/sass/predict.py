"""The predicted cycles of a launch: three bounds, of which the largest decides, and others that are near add to it.

In: a function, a device, and how it is launched.  Out: :class:`Prediction`::

    prediction = predict(read(cubin, "matmul_0"), load_device("h200"), Launch(256, trips={"L0": 64}))
    prediction.cycles, prediction.binds        # (5.1e7, "latency")

It ranks versions of one kernel, as *RegDem*, section 4, does; it is no forecast of times.  What differs from the
paper is that waiting is hidden by other warps (the bounds are not added), that loops run as often as the caller
says, and what machines of today were measured to do:

- **issue**: every scheduler begins one instruction a cycle, and each pipe takes what it takes; loads, stores and
  shuffles of all memories share one.
- **latency**: the blocks of a multiprocessor run in rounds of as many as fit; a round takes as long as one warp
  that waits for every scoreboard, and as the turn to the next block.  So bytes in flight count: more loads before a
  wait, or more warps, make rounds fewer or shorter.
- **memory**: what goes to the second-level cache and to DRAM, at the measured rates.

The bounds meet smoothly, as the fourth root of the sum of their fourth powers: what is nearly as busy as the busiest is
in its way now and then.  Twelve kernels on an H200 do not tell powers from 1.5 to 6 apart (the predicted version takes
1.4 % longer than the fastest, geometric mean), and say that the largest bound alone is worse (3.7 %).

Stores to local memory are written through, and nothing was seen to hide them: kernels with spills took longer than
the same ones without by just what their bytes take at that rate.  So that time is added to the latency, and is part
of the third bound, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import Occupancy, occupancy
from comprehensive.sass.demand import Demand, demand_of
from comprehensive.sass.errors import SassError
from comprehensive.sass.frequencies import frequencies
from comprehensive.sass.function import SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.launch import Launch, blocks_of, demand_launch, multiprocessors_of
from comprehensive.sass.pipes import work_of
from comprehensive.sass.timeline import warp_cycles

Bound: TypeAlias = Literal["issue", "latency", "memory"]

ISSUE = "issue"
_SHARPNESS = 4
"""The power by which bounds are combined."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Bounds of a launch, in cycles of the multiprocessors."""

    issue_cycles: float
    """The cycles of the scheduler or pipe that is busy the longest."""
    latency_cycles: float
    memory_cycles: float
    busiest: str
    """The busiest part: :data:`ISSUE` or the name of a pipe."""
    pipe_cycles: Mapping[str, float]
    """Busy cycles of schedulers (:data:`ISSUE`) and pipes of a multiprocessor."""
    warp_cycles: float
    """The cycles of one warp that waits for itself alone."""
    local_cycles: float
    """The cycles of the traffic of local memory with the second-level cache."""
    rounds: int
    """The number of times that a multiprocessor is filled with blocks (waves)."""
    occupancy: Occupancy
    global_bytes_in_flight: float
    """The bytes that the warps of a multiprocessor ask of global memory, on average over the time until they come."""

    @property
    def cycles(self) -> float:
        """The prediction: a little more than the largest bound where another one is near."""
        bounds = (self.issue_cycles, self.latency_cycles, self.memory_cycles)
        return sum(float(bound) ** _SHARPNESS for bound in bounds) ** (1 / _SHARPNESS)

    @property
    def binds(self) -> Bound:
        """Return the name of the largest bound; of equal ones the first."""
        bounds: tuple[tuple[float, Bound], ...] = (
            (self.issue_cycles, "issue"),
            (self.latency_cycles, "latency"),
            (self.memory_cycles, "memory"),
        )
        return max(bounds, key=lambda bound: bound[0])[1]


@dataclass(frozen=True, slots=True)
class _Latencies:
    """Cycles until results are there."""

    device: Device
    global_cycles: float
    local_cycles: float

    def of(self, each: Instruction) -> float:
        work = work_of(each.opcode)
        match work.access.space if work.access else work.latency:
            case "global":
                return self.global_cycles
            case "shared":
                return self.device.memory_latency_cycles["shared"]
            case "local":
                return self.local_cycles
            case None:
                return self.device.pipes["special_latency_cycles"]
            case name:
                return self.device.pipes[name]


def predict(function: SassFunction, device: Device, launch: Launch) -> Prediction:
    """Return the bounds of a launch.

    Raises SassError for a loop that is not there (CF1205), a launch that cannot be (CF1206: no block fits, too), and a
    device that does not run the code, or of which too little is known (CF1207).
    """
    demand_launch(launch)
    demand_device(function, device)
    held = occupancy_of(function, device, launch)
    weights = frequencies(function, launch.trips)
    demand = demand_of(function, weights, device)
    blocks = -(-blocks_of(launch, device) // multiprocessors_of(device))
    warps = blocks * held.warps_per_block
    resident = min(blocks, held.blocks_per_sm)
    missed = _missed(function, device, launch, resident)
    latencies = _Latencies(device, _global_latency(demand, device, launch), _local_latency(device, missed))
    warp = sum(
        warp_cycles(
            procedure.flow,
            several,
            latencies.of,
            device.pipes["operand_cycles"],
            device.machine()["barrier_cycles"],
        )
        for procedure, several in zip(function.procedures, weights, strict=True)
        if any(several)
    )
    rounds = -(-blocks // held.blocks_per_sm)
    local = warps * _local_cycles(demand, device, missed)
    pipes = {
        ISSUE: warps * demand.instructions / device.sub_partitions,
        **{name: warps * cycles for name, cycles in demand.pipe_cycles.items()},
    }
    busiest = max(pipes, key=lambda name: pipes[name])
    in_flight = demand.global_bytes * latencies.global_cycles / warp * resident * held.warps_per_block
    return Prediction(
        issue_cycles=pipes[busiest],
        latency_cycles=rounds * (warp + device.machine()["turn_cycles"]) + local,
        memory_cycles=max(local, _global_cycles(device, launch)),
        busiest=busiest,
        pipe_cycles=pipes,
        warp_cycles=warp,
        local_cycles=local,
        rounds=rounds,
        occupancy=held,
        global_bytes_in_flight=in_flight,
    )


def predict_uncached(function: SassFunction, device: Device, launch: Launch) -> Prediction:
    """Return the bounds of a launch of which all that it asks of global memory comes from DRAM; errors as `predict`.

    For versions of one kernel of whose caches nothing is known: what the memory may bind stays the same for all.
    """
    demand_launch(launch)
    demand_device(function, device)
    warps = -(-launch.threads_per_block // device.warp_threads) * blocks_of(launch, device)
    asked = demand_of(function, frequencies(function, launch.trips), device).global_bytes
    return predict(function, device, replace(launch, global_bytes=int(asked * warps)))


def demand_device(function: SassFunction, device: Device) -> None:
    """Raise SassError (CF1207) for a device that does not run the code, or of which too little is known."""
    code, runs = function.architecture, device.compute_capability
    if code // 10 != runs // 10 or code > runs:
        raise SassError(
            "CF1207",
            f"'{function.name}' is compiled for sm_{code}, and {device.name} runs code for sm_{runs}",
            f"name a device that runs it, as sm_{code}",
        )
    for table in ("throughput_per_clock_per_sm", "memory_latency_cycles", "pipes", "speeds"):
        if not getattr(device, table):
            raise SassError(
                "CF1207",
                f"the description of {device.name} has no {table}",
                "name a device that has it, as h200, or the path of a .toml file that adds the table",
            )


def occupancy_of(function: SassFunction, device: Device, launch: Launch) -> Occupancy:
    """Return how many blocks a multiprocessor holds. SassError (CF1206) where it holds none."""
    held = occupancy(
        device,
        threads_per_block=launch.threads_per_block,
        registers_per_thread=function.registers_per_thread,
        shared_bytes_per_block=function.shared_bytes + launch.shared_bytes,
    )
    if not held.blocks_per_sm:
        raise SassError(
            "CF1206",
            f"no block of {launch.threads_per_block} threads of '{function.name}' fits {device.name}, which has not "
            f"enough {' and '.join(held.limits)}",
            "give fewer threads or less shared memory",
        )
    return held


def _missed(function: SassFunction, device: Device, launch: Launch, resident: int) -> float:
    """Return the part of local memory that the first-level cache has no room for."""
    shared = resident * (function.shared_bytes + launch.shared_bytes + device.reserved_shared_bytes_per_block)
    carved = min(
        (1024 * kib for kib in device.shared_carveouts_kib if 1024 * kib >= shared),
        default=device.shared_bytes_per_sm,
    )
    wanted = function.frame_bytes * launch.threads_per_block * resident
    cache = max(0, device.pipes["l1_bytes"] - carved)
    return max(0.0, 1 - cache / wanted) if wanted else 0.0


def _global_latency(demand: Demand, device: Device, launch: Launch) -> float:
    """Return the mean latency of global loads: of DRAM for the bytes that come from there, else of the first level.

    Of DRAM for all where it is not known how many those are.
    """
    near, far = device.memory_latency_cycles["l1"], device.memory_latency_cycles["dram"]
    asked = (
        demand.global_bytes * -(-launch.threads_per_block // device.warp_threads) * blocks_of(launch, device)
    )
    if launch.global_bytes is None or not asked:
        return far
    return near + (far - near) * min(1.0, launch.global_bytes / asked)


def _local_latency(device: Device, missed: float) -> float:
    near, far = device.pipes["local_latency_cycles"], device.memory_latency_cycles["l2"]
    return near + (far - near) * missed


def _local_cycles(demand: Demand, device: Device, missed: float) -> float:
    """Return what one warp's traffic of local memory takes of a multiprocessor's way to the second-level cache."""
    stores = demand.local_store_bytes * 1000 / device.pipes["local_store_bytes_per_kilocycle"]
    return stores + missed * demand.local_load_bytes * 1000 / device.pipes["local_load_bytes_per_kilocycle"]


def _global_cycles(device: Device, launch: Launch) -> float:
    return (launch.global_bytes or 0) * 1000 / device.machine()["dram_bytes_per_kilocycle"]
