"""Times and reports: ``python3 -m benchmarks.gpu.demotion`` on a machine with a GPU and its driver.

``python -m benchmarks.gpu.demotion.prepare`` has to have made the folder ``--build`` before.  The report and the
outcomes are written anew after every kernel, so that a run that is cut off leaves what it has.  The exit status is 1 if
a variant computes something else, or does not run.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.gpu import about
from benchmarks.gpu.demotion.report import report
from benchmarks.gpu.demotion.timed import ROOT, Timed, timed_apart
from benchmarks.gpu.demotion.variant import PLAN, read_plan

RUNS = 11


def main() -> int:
    chosen = _arguments()
    directory: Path = chosen.build.resolve()
    if not (directory / PLAN).is_file():
        print(f"demotion: skipped: nothing in {directory}: run benchmarks.gpu.demotion.prepare first")
        return 0
    device = about.said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    if not device:
        print("demotion: skipped: no GPU on this machine")
        return 0
    plan = read_plan(directory)
    wanted = [each for each in plan.kernels if each.name.startswith(tuple(chosen.only.split(",")))]
    commit = chosen.commit or plan.commit
    head = f"{device.splitlines()[0]}, cubins by nvcc {plan.nvcc}, {datetime.date.today()}, commit {commit}."
    begin = time.monotonic()
    found: list[Timed] = []
    text = ""
    for kernel in wanted:
        left = chosen.minutes * 60 - (time.monotonic() - begin)
        found.append(timed_apart(directory, kernel.name, chosen.runs, left))
        print(f"{time.monotonic() - begin:4.0f} s  {_progress(found[-1])}", file=sys.stderr, flush=True)
        text = report(head, replace(plan, kernels=wanted), found, chosen.runs)
        _write(chosen.output, text, head, found)
    print(text if chosen.whole else text.split("Every variant:")[0], end="")
    return int(any(each.failed or each.wrong for each in found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.demotion", description=(__doc__ or "").splitlines()[0]
    )
    built = ROOT / "build"
    parser.add_argument("--build", type=Path, default=built / "gpu" / "demotion", help="what was prepared")
    parser.add_argument(
        "-o", "--output", type=Path, default=built / "gpu-bench", help="directory for the report"
    )
    parser.add_argument("--commit", default="", help="that the report names, instead of the prepared one")
    parser.add_argument("--only", default="", help="beginnings of the names of kernels, with commas")
    parser.add_argument("--runs", type=int, default=RUNS, help="times of each variant, of which the median")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop")
    parser.add_argument("--whole", action="store_true", help="print all of the report, not its beginning")
    return parser.parse_args()


def _progress(found: Timed) -> str:
    if found.failed:
        return f"{found.name}: did not run: {found.failed}"
    fastest = min(found.milliseconds, key=found.ms)
    wrong = f", {len(found.wrong)} WRONG" if found.wrong else ""
    return f"{found.name}: {len(found.milliseconds)} variants, fastest {fastest} {found.ms(fastest):.3f} ms{wrong}"


def _write(directory: Path, text: str, head: str, found: Sequence[Timed]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "gpu-demotion.md").write_text(text, encoding="utf-8")
    outcomes = {"head": head, "kernels": [asdict(each) for each in found]}
    (directory / "gpu-demotion.json").write_text(json.dumps(outcomes), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
