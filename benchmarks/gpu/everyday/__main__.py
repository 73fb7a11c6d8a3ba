"""Builds, runs and reports: ``python3 -m benchmarks.gpu.everyday`` on a machine with nvcc, a GPU and torch.

``python -m benchmarks.gpu.everyday.prepare`` (part of ``make gpu-prepare``) has to have made ``build/gpu`` before.  The
report and the outcomes are written anew after every peer, so that a run that is cut off leaves what it has.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.gpu import about, native, running
from benchmarks.gpu.cases import COPY, FMA
from benchmarks.gpu.everyday import plain
from benchmarks.gpu.everyday.report import Ceilings, report, rows
from benchmarks.gpu.everyday.timed import OURS, Task
from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.peers import CEILINGS

WORKER = (sys.executable, "-m", "benchmarks.gpu.everyday.worker")
PEERS = ("plain", "torch", "ours")
"""The peers in the order in which they run: what may take long comes last."""


def main() -> int:
    chosen = _arguments()
    if reason := about.missing(native.GENERATED):
        print(f"everyday: skipped: {reason}")
        return 0
    begin = time.monotonic()
    wanted = [task for task in OURS if any(task.name.startswith(word) for word in chosen.only.split(","))]
    _build(wanted, chosen.arch)
    print(f"built in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    outcomes: dict[tuple[str, str], Outcome] = {}
    ceilings = _ceilings()
    for peer in PEERS:
        names = [task.name if peer == "ours" else task.for_peers.name for task in wanted]
        left = chosen.minutes * 60 - (time.monotonic() - begin)
        for found in running.outcomes(peer, list(dict.fromkeys(names)), max(left, 1.0), WORKER):
            outcomes[found.case, peer] = found
            _tell(found, time.monotonic() - begin)
        text = report(about.line(chosen.commit, "torch"), rows(wanted, outcomes, ceilings), ceilings)
        _write(chosen.output, text, outcomes.values())
    print(text if chosen.whole else text.split("Every kernel:")[0], end="")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.everyday", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--only", default="", help="beginnings of the names of kernels, as in matmul_linear,mv"
    )
    parser.add_argument("--arch", default="native", help="for nvcc")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop")
    parser.add_argument("--whole", action="store_true", help="print all of the report, not its beginning")
    parser.add_argument(
        "-o", "--output", type=Path, default=native.LIBRARIES, help="directory for what is written"
    )
    parser.add_argument("--commit", default=about.commit())
    return parser.parse_args()


def _build(wanted: Sequence[Task], arch: str) -> None:
    generated = {task.program.name for task in wanted if task.program is not None}
    for name, said in native.build_all([*CEILINGS.libraries, *sorted(generated)], arch).items():
        print(f"{name} does not compile:\n{said}", file=sys.stderr)
    plain.build(arch)


def _ceilings() -> Ceilings | None:
    """The rates of the best copy and of multiply-adds; None where one did not run."""
    found = {
        outcome.case: outcome
        for outcome in running.outcomes(CEILINGS.name, [COPY.name, FMA.name], CEILINGS.seconds)
    }
    if not all(found[case.name].ran for case in (COPY, FMA)):
        return None
    return Ceilings(COPY.traffic / found[COPY.name].median, FMA.operations / found[FMA.name].median)


def _tell(outcome: Outcome, seconds: float) -> None:
    found = f"{outcome.median:.4f} ms  {outcome.what}" if outcome.ran else f"did not run: {outcome.reason}"
    print(f"{seconds:4.0f} s  {outcome.peer:6} {outcome.case:44} {found}", file=sys.stderr)


def _write(directory: Path, text: str, outcomes: Iterable[Outcome]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "gpu-everyday.md").write_text(text, encoding="utf-8")
    lines = "".join(f"{outcome.to_line()}\n" for outcome in outcomes)
    (directory / "gpu-everyday.jsonl").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
