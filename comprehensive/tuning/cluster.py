"""A Dask cluster as a pool: the address of its scheduler in, a pool and the devices of its workers out.

    with cluster("tcp://10.0.0.1:8786") as found:
        tune(..., found.targets("gpu"), ..., measure_pool=found.pool)

Workers run this package, and see the directory of libraries under the same name.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.devices import Target, find_devices
from comprehensive.tuning.pools import Pool

CONNECT_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster; its ``pool`` measures one candidate a worker at a time."""

    pool: Pool

    def targets(self, text: str) -> tuple[Target, ...]:
        """Return the targets that :func:`find_devices` finds on a worker.

        Every worker looks for its own ones when it measures.
        """
        assert self.pool.given is not None
        found: tuple[Target, ...] = self.pool.given.submit(find_devices, text).result()
        return tuple(replace(target, identifiers=()) if target.on_gpu else target for target in found)


@contextmanager
def cluster(address: str) -> Generator[Cluster]:
    """Connect to a Dask cluster within this context.

    ToolError without Dask, and where no scheduler with workers answers.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        help = "pip install 'comprehensive[distributed]'"
        raise ToolError(f"--scheduler needs Dask: {error}\nhelp: {help}") from error
    try:
        client: Any = distributed.Client(address, timeout=CONNECT_TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ToolError(
            f"no Dask scheduler answers at {address}: {error}\nhelp: start one with `dask scheduler`, and workers"
        ) from error
    with client:
        workers = len(client.nthreads())
        if workers == 0:
            raise ToolError(
                f"the Dask scheduler at {address} has no workers\nhelp: start some with `dask worker`"
            )
        yield Cluster(Pool.of(client.get_executor(pure=False), workers))
