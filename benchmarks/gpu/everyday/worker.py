"""One peer on some tasks, in a process of its own: ``python -m benchmarks.gpu.everyday.worker PEER TASK...``.

Prints an outcome a line on the standard output, as ``benchmarks.gpu.worker`` does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import torch

from benchmarks.gpu import native, ours
from benchmarks.gpu.cases import Launch
from benchmarks.gpu.contest import Attempt, DeviceLostError, Ready, contest, words
from benchmarks.gpu.everyday import plain, timing, torch_calls
from benchmarks.gpu.everyday.posed import posed
from benchmarks.gpu.everyday.timed import BY_NAME, Task
from benchmarks.gpu.outcome import Outcome, PeerError
from benchmarks.gpu.problems import Problem
from benchmarks.gpu.running import DEVICE_LOST


def main() -> int:
    peer, *names = sys.argv[1:]
    with os.fdopen(os.dup(1), "w", buffering=1) as lines:
        os.dup2(2, 1)
        for name in names:
            try:
                found = outcome(peer, BY_NAME[name])
            except DeviceLostError as error:
                print(Outcome(name, peer, reason=str(error)).to_line(), file=lines)
                return DEVICE_LOST
            except Exception as error:  # a peer that fails is a finding, and the others go on
                found = Outcome(name, peer, reason=words(error))
            print(found.to_line(), file=lines)
            torch.cuda.empty_cache()
    return 0


def outcome(peer: str, task: Task) -> Outcome:
    launch = _launch(task)
    if isinstance(launch, str) and peer == "ours":
        return Outcome(task.name, peer, reason=launch)
    problem = posed(task.computation, task.size, task.name, launch)
    is_captured = peer != "torch" or task.computation.name not in torch_calls.UNCAPTURED
    return contest(
        peer,
        problem,
        _attempts(peer, task, problem),
        timing.in_graphs if is_captured else timing.by_events,
    )


def _launch(task: Task) -> Launch | str:
    """The launch of the kernel, or why there is none."""
    if task.program is None:
        return "this is a peer's"
    refusal = native.GENERATED / task.program.name / native.REFUSED
    if refusal.exists():
        return f"refused: {refusal.read_text(encoding='utf-8').strip()}"
    return Launch(task.program.name, {**task.size, **(task.computation.scalars or {})}, ())


def _attempts(peer: str, task: Task, problem: Problem) -> Iterator[Attempt]:
    match peer:
        case "ours":
            yield from _ours(problem)
        case "torch":
            yield from torch_calls.attempts(task.computation, task.size, problem)
        case "plain":
            yield from plain.attempts(task.computation, task.size, problem)
        case _:
            raise PeerError(f"there is no peer {peer}")


def _ours(problem: Problem) -> Iterator[Attempt]:
    """The generated launcher without parameters."""
    launch = problem.case.ours
    assert isinstance(launch, Launch)
    native.load(launch.spec)
    yield Attempt("", lambda: _ready(problem, launch))


def _ready(problem: Problem, launch: Launch) -> Ready:
    run, what, _ = ours.launching(problem, launch, None)
    return Ready(lambda: run(torch.cuda.current_stream().cuda_stream), problem.result, what)


if __name__ == "__main__":
    # Not sys.exit: a lost device makes the destructors of torch wait or fail.
    code = main()
    sys.stderr.flush()
    os._exit(code)
