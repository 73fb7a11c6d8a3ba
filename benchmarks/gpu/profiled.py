"""One peer's launch of one case between the marks of a profiler: ``python -m benchmarks.gpu.profiled PEER CASE``.

The first attempt of the peer runs, for ours the launcher's own choice: once to be warm (compiled, tuned), then once
between the marks.
"""

from __future__ import annotations

import importlib
import sys

import torch

from benchmarks.gpu import cases, peers
from benchmarks.gpu.problems import problem


def main() -> int:
    peer, name = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.gpu.{peers.BY_NAME[peer].module}")
    posed = problem(cases.BY_NAME[name])
    ready = next(iter(module.attempts(posed))).make()
    ready.run()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    ready.run()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    print(ready.what())
    return 0


if __name__ == "__main__":
    sys.exit(main())
