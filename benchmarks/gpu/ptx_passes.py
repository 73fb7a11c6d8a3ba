"""The change in time by the PTX passes, on a GPU: ``python3 -m benchmarks.gpu.ptx_passes build/ptx-passes-bench``.

In: the folder that :mod:`benchmarks.gpu.ptx_passes_prepare` has written.  Every variant of a kernel is assembled by
ptxas, its result is compared with that of the unchanged PTX bit for bit, and all are timed in turns.  Out: a report,
printed and written to ``--write FILE``; the exit status is 1 if a result differs.  Needs ptxas, a GPU and its driver,
and this Python: nothing but the standard library and what the tool has without dependencies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from benchmarks.gpu.table import markdown_table
from benchmarks.gpu.variants import (
    UNCHANGED,
    Assembled,
    Found,
    Measured,
    all_measured,
    parser,
    pipelines,
    speeds,
    told,
)

ALL = "all"


def main() -> int:
    options = parser("ptx_passes", (__doc__ or "").splitlines()[0], "benchmarks.gpu.ptx_passes_prepare")
    chosen = options.parse_args()
    found = all_measured("ptx-passes", chosen)
    return 0 if found is None else told(found, report(found, chosen.runs), chosen.write)


def report(found: Found, runs: int) -> str:
    """The whole text, ending in a newline."""
    timed = [row for row in found.rows if row.milliseconds]
    whole = [row for row in found.rows if not row.failed]
    columns = [name for name in found.variants if name != UNCHANGED]
    parts = ["# What the PTX passes change in time", found.head]
    if timed:
        parts += [HOW.format(runs=runs), *speeds(found)]
    parts.append("\n".join(f"- `{row.launch['name']}`: {row.launch['about']}" for row in found.rows))
    parts.append(COUNTS)
    parts.append(
        markdown_table(
            ("kernel", "applied", "PTX, machine code", "bytes of it", UNCHANGED, *columns),
            (_counts(row, columns) for row in whole),
        )
    )
    parts.append(pipelines(found))
    missed = [line for row in whole for line in _missed(row)]
    if missed:
        parts.append("What the passes say that they left:\n\n" + "\n".join(missed))
    parts += found.failures
    if timed and all(not any(row.wrong.values()) for row in timed):
        parts.append("Every variant computes what the unchanged PTX computes, bit for bit.")
    return "\n\n".join(parts) + "\n"


HOW = """Numbers behind the times are speed-ups over the unchanged PTX, medians of {runs} runs in turns; "=" says that
ptxas makes the same machine code as of the unchanged PTX, so that nothing can differ but the clock. In the manner of
table 1 of Chakrabarti et al., CUDA compiler optimizations (2012): all passes, one pass off, each pass alone; then all
passes without what they are told to assume (that kernels are given pointers to global memory, and multiples of 16
bytes); last all passes that also assume that different pointers lead to different arrays, which here they do. "arrays"
counts every array once, those that are read and written twice."""


COUNTS = """By kernel: remarks `applied` of all passes; whether what they give is the same PTX or assembled to the same
machine code; bytes of machine code without and with all passes; registers of each variant, with bytes spilled in
parentheses where there are any."""


def _counts(row: Measured, columns: Sequence[str]) -> list[str]:
    one, other = row.variants[UNCHANGED], row.variants[ALL]
    applied = {name: count for name, count in row.launch["applied"].items() if count}
    sizes = len(one.code), len(other.code)
    return [
        row.launch["name"],
        ", ".join(f"{name} {count}" for name, count in applied.items()) or "none",
        _sameness(row, bool(applied)),
        str(sizes[0]) if one == other else f"{sizes[0]} → {sizes[1]}",
        *(_registers(row.variants[name]) for name in (UNCHANGED, *columns)),
    ]


def _sameness(row: Measured, is_changed: bool) -> str:
    if not is_changed:
        return "same PTX"
    return "ptxas does it, too" if row.is_same(ALL) else "other code"


def _registers(variant: Assembled) -> str:
    return f"{variant.registers} ({variant.spilled})" if variant.spilled else str(variant.registers)


def _missed(row: Measured) -> Iterator[str]:
    """The first remark of each pass, and how many more there are."""
    texts: dict[str, list[str]] = {}
    for text in row.launch["missed"]:
        texts.setdefault(text.partition(":")[0], []).append(text)
    for said in texts.values():
        more = f", and {len(said) - 1} more" if len(said) > 1 else ""
        yield f"- `{row.launch['name']}`, {said[0]}{more}"


if __name__ == "__main__":
    sys.exit(main())
