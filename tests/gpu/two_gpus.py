"""Tunes one program on all visible GPUs: every candidate is right, and each GPU has measured.

``python3 -m tests.gpu.two_gpus``, on a machine with two GPUs or more, nvcc, and the dependencies of the tool.  Exits 1
on a failure.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.tuning.choices import Choices
from comprehensive.tuning.devices import find_devices
from comprehensive.tuning.report import NO_FAILURE, to_text
from comprehensive.tuning.store import Store
from comprehensive.tuning.tune import tune
from comprehensive.tuning.winners import winners

OPTIONS = Options(registers="estimate")


def main() -> int:
    compilation = compile_file(spec_directory() / "matvec.mf", OPTIONS)
    targets = find_devices("gpu")
    devices = sum(len(target.identifiers) for target in targets)
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tuning.sqlite") as store:
        sizes = [{"m": 4096, "n": n} for n in (4096, 4100)]
        found = tune(
            compilation,
            OPTIONS,
            sizes,
            targets,
            store,
            Path(folder),
            Choices(top=24, capped_leaves=1),
            tell=lambda line: print(line, file=sys.stderr),
        )
        print(to_text(found, winners(store, compilation.plan.source_digest)), end="")
    results = [result for each in found for result in each.results]
    failed = [result for result in results if result.status not in NO_FAILURE]
    used = {result.measured_on for result in results}
    print(f"{len(used)} of {devices} GPUs have measured, {len(failed)} of {len(results)} candidates failed")
    return int(bool(failed) or len(used) != devices or devices < 2)


if __name__ == "__main__":
    sys.exit(main())
