"""What the strategy `shuffle` of the decision tree changes in time, on a GPU.

    python3 -m benchmarks.gpu.shuffled_leaves build/shuffled-leaves --write FILE

In: the folder that :mod:`benchmarks.gpu.shuffled_leaves_prepare` has written.  Leaves without the strategy
and with it are compared bit for bit, and timed in turns.  Out: a
report, printed and written to ``--write FILE``; the exit status is 1 if a result differs.  Needs what
:mod:`benchmarks.gpu.variants` needs.
"""

from __future__ import annotations

import sys

from benchmarks.gpu.variants import Found, all_measured, parser, pipelines, speeds, told

STRATEGY = "strategy"


def main() -> int:
    options = parser(
        "shuffled_leaves", (__doc__ or "").splitlines()[0], "benchmarks.gpu.shuffled_leaves_prepare"
    )
    chosen = options.parse_args()
    found = all_measured("shuffled_leaves", chosen)
    return 0 if found is None else told(found, report(found, chosen.runs), chosen.write)


def report(found: Found, runs: int) -> str:
    """The whole text, ending in a newline."""
    parts = ["# What the strategy `shuffle` changes in time", found.head]
    if any(row.milliseconds for row in found.rows):
        parts += [HOW.format(runs=runs), *speeds(found)]
    parts += [pipelines(found), *found.failures]
    if not found.failures and found.copy_rate:
        parts.append("All variants compute the same, bit for bit.")
    return "\n\n".join(parts) + "\n"


HOW = """Leaves of the decision tree at one size, in blocks of the shape behind the name. Numbers behind the times are
speed-ups over the leaf without the strategy, medians of {runs} runs in turns; "=" says that ptxas makes the same
machine code. The strategy asks for fewer words of memory, and is tried where `--counters` asks for that; nothing says
that it is faster."""


if __name__ == "__main__":
    sys.exit(main())
