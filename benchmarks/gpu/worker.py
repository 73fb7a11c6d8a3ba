"""One peer on some cases, in a process of its own: ``python -m benchmarks.gpu.worker PEER CASE...``.

Prints an outcome a line on the standard output and whatever else anybody prints on the standard error.  Ends at once,
with status 3, after an error that leaves the device unusable; what is left can be run by another process.
"""

from __future__ import annotations

import importlib
import os
import sys

import torch

from benchmarks.gpu import cases, peers
from benchmarks.gpu.contest import DeviceLostError, contest, words
from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.problems import problem
from benchmarks.gpu.running import DEVICE_LOST


def main() -> int:
    peer, *names = sys.argv[1:]
    with os.fdopen(os.dup(1), "w", buffering=1) as lines:
        os.dup2(2, 1)
        module = importlib.import_module(f"benchmarks.gpu.{peers.BY_NAME[peer].module}")
        for name in names:
            try:
                posed = problem(cases.BY_NAME[name])
                found = contest(peer, posed, module.attempts(posed))
            except DeviceLostError as error:
                print(Outcome(name, peer, reason=str(error)).to_line(), file=lines)
                return DEVICE_LOST
            except Exception as error:  # a peer that fails is a finding, and the others go on
                found = Outcome(name, peer, reason=words(error))
            print(found.to_line(), file=lines)
            posed = None
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    # Not sys.exit: a lost device makes the destructors of torch wait or fail.
    code = main()
    sys.stderr.flush()
    os._exit(code)
