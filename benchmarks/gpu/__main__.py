"""Builds, runs and reports: ``python3 -m benchmarks.gpu`` on a machine with nvcc, a GPU, torch and Triton.

``make gpu-prepare`` has to have made ``build/gpu`` before.  The report, the picture and the outcomes are written anew
after every peer, so that a run that is cut off leaves what it has.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.gpu import about, native, running
from benchmarks.gpu.cases import CASES, CEILINGS, Case, Launch
from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.peers import BY_NAME, OURS, PEERS, Peer
from benchmarks.gpu.peers import CEILINGS as CEILINGS_PEER
from benchmarks.gpu.picture import picture
from benchmarks.gpu.table import Results, report

LEAST_S = 5.0
"""A peer is not begun with less time left."""


def main() -> int:
    chosen = _arguments()
    if reason := about.missing(native.GENERATED):
        print(f"gpu-bench: skipped: {reason}")
        return 0
    begin = time.monotonic()
    wanted = [case for case in CASES if any(case.name.startswith(word) for word in chosen.only.split(","))]
    named = [peer for peer in PEERS if peer.name in chosen.peers.split(",")]
    _build([CEILINGS_PEER, *named], wanted, chosen.arch)
    results = Results(about.line(chosen.commit, "torch", "triton"), wanted, outcomes := {})
    for peer in (CEILINGS_PEER, *named):
        names = [case.name for case in (CEILINGS if peer == CEILINGS_PEER else wanted)]
        left = chosen.minutes * 60 - (time.monotonic() - begin)
        for outcome in _outcomes(peer, names, left):
            outcomes[outcome.case, outcome.peer] = outcome
            _tell(outcome, time.monotonic() - begin)
        _write(results, chosen.output)
    print(report(results), end="")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu", description=(__doc__ or "").splitlines()[0]
    )
    peers = ",".join(peer.name for peer in PEERS)
    parser.add_argument("--only", default="", help="beginnings of the names of cases, as in matmul,jacobi2d")
    parser.add_argument("--peers", default=peers, help=f"some of {peers}; ceilings are always measured")
    parser.add_argument("--arch", default="native", help="for nvcc")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop")
    parser.add_argument(
        "-o", "--output", type=Path, default=native.LIBRARIES, help="directory for what is written"
    )
    parser.add_argument("--commit", default=about.commit())
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.peers.split(",") if name not in BY_NAME]:
        parser.error(f"no such peers: {', '.join(unknown)}")
    return chosen


def _build(chosen: Sequence[Peer], wanted: Sequence[Case], arch: str) -> None:
    by_hand = {name for peer in chosen for name in peer.libraries}
    specs = {case.ours.spec for case in wanted if isinstance(case.ours, Launch)} if OURS in chosen else set()
    begin = time.monotonic()
    for name, complaint in native.build_all(sorted(by_hand | specs), arch).items():
        print(f"{name} does not compile:\n{complaint}", file=sys.stderr)
    print(f"built in {time.monotonic() - begin:.0f} s", file=sys.stderr)


def _outcomes(peer: Peer, names: Sequence[str], left: float) -> Iterator[Outcome]:
    if left < LEAST_S:
        return (Outcome(name, peer.name, reason="the time of the whole run was over") for name in names)
    return running.outcomes(peer.name, names, min(left, peer.seconds))


def _tell(outcome: Outcome, seconds: float) -> None:
    found = f"{outcome.median:.3f} ms  {outcome.what}" if outcome.ran else f"did not run: {outcome.reason}"
    print(f"{seconds:4.0f} s  {outcome.peer:9} {outcome.case:28} {found}", file=sys.stderr)


def _write(results: Results, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    written = {
        "gpu-bench.md": report(results),
        "gpu-bench.svg": picture(results),
        "gpu-bench.jsonl": "".join(f"{outcome.to_line()}\n" for outcome in results.outcomes.values()),
    }
    for name, text in written.items():
        (directory / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
