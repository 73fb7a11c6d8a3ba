"""Random programs against everything that the tool says and emits.

Run as ``python -m tests.fuzz.programs --minutes 10 --seed 1``.

Prints what ran and what was found; exits 1 on a finding.  ``README.md`` of this folder says what is tried and how to
repeat a finding.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz.campaign import Plan, Tally, run, tried
from tests.fuzz.grammar.draw import CONSTRUCTS
from tests.fuzz.kernels import prepare
from tests.fuzz.oracle import Depth


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.programs", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to run")
    parser.add_argument("--programs", type=int, help="stop after so many programs a worker")
    parser.add_argument("--seed", default="1", help="the number of the run; of --replay what the file says")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where reproducers go")
    parser.add_argument(
        "--without", default="", help="constructs to leave out, by name, with commas between them"
    )
    parser.add_argument("--replay", type=Path, help="try this file instead")
    parser.add_argument("--thorough", action="store_true", help="with --replay: try everything")
    given = parser.parse_args(arguments)
    if given.replay is not None:
        return _replay(given.replay, given.seed, thorough=given.thorough)
    without = frozenset(filter(None, (name.strip() for name in given.without.split(","))))
    if unknown := without - set(CONSTRUCTS):
        parser.error(f"no such construct: {', '.join(sorted(unknown))}; there are {', '.join(CONSTRUCTS)}")
    plans = [
        Plan(
            int(given.seed), first, given.workers, given.minutes * 60, given.programs, given.findings, without
        )
        for first in range(given.workers)
    ]
    tally = run(plans)
    print(report(tally))
    return 1 if tally.findings else 0


def _replay(path: Path, seed: str, *, thorough: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        tools = prepare(Path(scratch))
        found = tried(path.read_text(encoding="utf-8"), seed, Path(scratch), tools, Depth(thorough=thorough))
    print(found.outcome, *found.codes, *found.warnings)
    print(_table(found.counts))
    for finding in found.findings:
        print(f"\n{finding.key}\n{finding.detail}")
    return 1 if found.findings else 0


def report(tally: Tally) -> str:
    """Return the report of what ran, for people."""
    rate = 60 * tally.programs / max(tally.seconds, 1e-9)
    lines = [
        f"{tally.programs} programs in {tally.seconds:.0f} s, {rate:.1f} a minute: {_inline(tally.outcomes)}"
    ]
    lines.append(f"refused for: {_inline(tally.refused) or 'nothing'}")
    lines.append(f"warned of: {_inline(tally.warned) or 'nothing'}")
    lines.append(_table(tally.counts))
    lines.append("constructs, programs with them, and how many of these were accepted:")
    widest = max(map(len, CONSTRUCTS))
    for name in CONSTRUCTS:
        lines.append(f"  {name:{widest}} {tally.constructs[name]:6} {tally.accepted[name]:6}")
    if not tally.findings:
        lines.append("no finding")
    for key, (finding, path) in tally.findings.items():
        lines.append(f"FINDING ({tally.alike[key]} times) {key}\n  {path}")
        lines += [f"  {line}" for line in finding.detail.splitlines()[-4:]]
    return "\n".join(lines)


def _inline(counter: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counter.most_common())


def _table(counter: Counter[str]) -> str:
    return "\n".join(f"  {count:8} {name}" for name, count in sorted(counter.items()))


if __name__ == "__main__":
    sys.exit(main())
