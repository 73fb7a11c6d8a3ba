"""The tasks that are timed: every kernel at each of its sizes, and the same for the peers of what it computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.gpu.everyday.computation import Computation, Size, label
from benchmarks.gpu.everyday.programs import PROGRAMS, Program


@dataclass(frozen=True)
class Task:
    """A computation at a size; of ours, by one of the kernels."""

    computation: Computation
    size: Size
    program: Program | None = None

    @property
    def name(self) -> str:
        name = self.computation.name if self.program is None else self.program.name
        return f"{name} {label(self.size)}"

    @property
    def for_peers(self) -> Task:
        return Task(self.computation, self.size)


OURS = tuple(Task(program.computation, size, program) for program in PROGRAMS for size in program.sizes)
THEIRS: tuple[Task, ...] = tuple({task.for_peers.name: task.for_peers for task in OURS}.values())
BY_NAME: Mapping[str, Task] = {task.name: task for task in (*OURS, *THEIRS)}
