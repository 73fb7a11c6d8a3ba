"""Executors for jobs, and what happens when a worker is lost.

In: items, a job for each, and a :class:`Pool`, which starts any ``concurrent.futures.Executor``.  Out: items with their
answers, in the order in which they come.  A lost worker costs only its item: the item is tried once more, alone, and is
:class:`Lost` if that costs another worker.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

Item = TypeVar("Item")
Job = TypeVar("Job")
Result = TypeVar("Result")

ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Lost:
    """The result of a job without an answer: the workers were lost."""

    reason: str


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool that does ``workers`` jobs at a time; ``start`` makes an executor."""

    start: Callable[[], Executor]
    workers: int
    given: Executor | None = None
    """One that is there, and stays its owner's; another one is started only where it breaks."""

    @staticmethod
    def threads(workers: int) -> Pool:
        return Pool(lambda: ThreadPoolExecutor(workers), workers)

    @staticmethod
    def of(executor: Executor, workers: int) -> Pool:
        """An executor that is there; threads take its place where it breaks."""
        return Pool(lambda: ThreadPoolExecutor(workers), workers, executor)


def answers(
    pool: Pool,
    work: Callable[[Job], Result],
    items: Iterable[Item],
    job_of: Callable[[Item], Job],
    abandon: Callable[[], object] = lambda: None,
) -> Generator[tuple[Item, Result | Lost], None, None]:
    """The answer to each item; ``job_of`` is asked when the item's turn comes.

    ``abandon`` ends jobs that run, where nobody waits for their answers any more (an interrupt).
    """
    with contextlib.closing(_Run(pool, work, job_of, abandon)) as run:
        waiting = iter(items)
        while True:
            for item in islice(waiting, max(0, pool.workers - len(run.running))):
                run.submit(item, 1)
            if not run.running:
                break
            yield from run.finished()
        # Whoever was there when a worker was lost is under suspicion, and tried alone.
        while run.suspects:
            run.submit(*run.suspects.popleft())
            yield from run.finished()


class _Run(Generic[Item, Job, Result]):
    def __init__(
        self,
        pool: Pool,
        work: Callable[[Job], Result],
        job_of: Callable[[Item], Job],
        abandon: Callable[[], object],
    ) -> None:
        self._pool, self._work, self._job_of, self._abandon = pool, work, job_of, abandon
        self._executor = pool.given or pool.start()
        self.running: dict[Future[Result], tuple[Item, int]] = {}
        self.suspects: deque[tuple[Item, int]] = deque()

    def submit(self, item: Item, attempt: int) -> None:
        job = self._job_of(item)
        try:
            future = self._executor.submit(self._work, job)
        except BrokenExecutor:
            self._restart()
            future = self._executor.submit(self._work, job)
        self.running[future] = (item, attempt)

    def finished(self) -> Iterator[tuple[Item, Result | Lost]]:
        """Yield the jobs that have ended with their results; at least one is waited for."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        # In the order of submission.
        for future in [future for future in self.running if future in done]:
            item, attempt = self.running.pop(future)
            error = _of_worker(future)
            if error is None:
                yield item, future.result()
            elif attempt < ATTEMPTS:
                self.suspects.append((item, attempt + 1))
            else:
                yield (
                    item,
                    Lost(f"{attempt} workers were lost with it: {type(error).__name__}: {error}".strip()),
                )

    def close(self) -> None:
        for future in self.running:
            future.cancel()
        if self.running:
            self._abandon()
        self._shut_down()

    def _restart(self) -> None:
        self._shut_down()
        self._executor = self._pool.start()

    def _shut_down(self) -> None:
        if self._executor is not self._pool.given:
            self._executor.shutdown(wait=True, cancel_futures=True)


def _of_worker(future: Future[Result]) -> BaseException | None:
    """Return the error that ended the worker, or None where there is an answer.

    An exception of the job itself is raised.
    """
    try:
        error = future.exception()
    except CancelledError as cancelled:
        return cancelled
    # Dask's (KilledWorker and others) are told by their module: it need not be installed.
    if error is None or isinstance(error, BrokenExecutor) or type(error).__module__.startswith("distributed"):
        return error
    raise error
