"""Times what `prepare.py` has generated, on one device: ``python3 -m benchmarks.gpu.adaptation --commit ID -o OUT``.

The benchmark needs gcc, the CUDA toolkit beside nvcc and plain Python.  It writes ``gpu-adaptation-DATE.md`` and the
numbers as JSON: for each program nvcc's default, the best of all versions, what the prediction alone would take, what
adaptation has come to after 3 and 10 launches, and what 100 launches took with the search in them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from benchmarks.gpu.table import markdown_table

BUILD = Path("build/gpu/adaptation")
LAUNCHES = 100
LIMIT_S = 120


@dataclass(frozen=True)
class Row:
    """The results of one program: times of its versions in milliseconds, and how its search has gone."""

    name: str
    default: float
    best: float
    best_version: str
    static: float
    after: tuple[float, float]
    """The times of the candidates that run at the fourth and at the eleventh launch."""
    kept: str
    settled_at: int
    """The number of launches before the search had ended."""
    hundred: float
    """The time of 100 adapted launches, with the search, over that of 100 launches of the default."""
    host_us: tuple[float, float]
    difference: float


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.adaptation", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--minutes", type=float, default=30.0, help="no further program is begun after them")
    parser.add_argument("-o", "--output", type=Path, default=Path("."))
    chosen = parser.parse_args()
    directories = sorted(path.parent for path in chosen.build.glob("*/plan.json"))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        failed = dict(pool.map(built, (d / kind for d in directories for kind in ("adapt", "sweep"))))
    rows: list[Row] = []
    left_out: list[str] = []
    answers: dict[str, Any] = {}
    begin = time.monotonic()
    for directory in directories:
        try:
            if time.monotonic() - begin > 60 * chosen.minutes:
                raise ValueError(f"not begun after {chosen.minutes:g} minutes")
            words = [failed[directory / kind] for kind in ("adapt", "sweep") if failed[directory / kind]]
            if words:
                raise ValueError(words[0])
            row, answers[directory.name] = _row(directory)
            rows.append(row)
            print(f"{row.name}: {row.default / row.after[1]:.3f} of the default's speed", flush=True)
        except (ValueError, subprocess.SubprocessError) as problem:
            left_out.append(f"- {directory.name}: {problem}")
    stem = f"gpu-adaptation-{datetime.date.today():%Y-%m-%d}"
    chosen.output.mkdir(parents=True, exist_ok=True)
    (chosen.output / f"{stem}.md").write_text(_report(rows, left_out, chosen.commit), encoding="utf-8")
    (chosen.output / f"{stem}.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    return 0


def _toolkit() -> Path:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise SystemExit("adaptation: there is no nvcc, whose toolkit has the runtime")
    return Path(nvcc).resolve().parent.parent


def built(directory: Path) -> tuple[Path, str]:
    """Compile a benchmark; return its directory, and the first line of the compiler's words where that fails."""
    toolkit = _toolkit()
    words = ("gcc", "-O2", "-w", "bench.c", "kernels.c", "-I.", f"-I{toolkit}/include", f"-L{toolkit}/lib64")
    libraries = (f"-Wl,-rpath,{toolkit}/lib64", "-lcudart", "-lm", "-lpthread", "-o", "bench")
    done = subprocess.run((*words, *libraries), cwd=directory, capture_output=True, text=True, check=False)
    return directory, "" if done.returncode == 0 else done.stderr.strip().splitlines()[0]


def lines_of(directory: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return the lines that a benchmark prints; ValueError where it fails."""
    done = subprocess.run(
        ["./bench", *arguments], cwd=directory, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    failed = next((line["failed"] for line in found if "failed" in line), None)
    if failed or done.returncode != 0:
        raise ValueError(failed or f"it ended with {done.returncode}: {done.stderr.strip()[:200]}")
    return found


def _row(directory: Path) -> tuple[Row, Mapping[str, Any]]:
    plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
    adapted = lines_of(directory / "adapt", "adapt", str(LAUNCHES))
    tried = [line for line in lines_of(directory / "adapt", "sweep") if "ms" in line]
    every = [line for line in lines_of(directory / "sweep", "sweep") if "ms" in line]
    launches, last = adapted[:-1], adapted[-1]
    candidates = plan["candidates"]
    default = last["original_ms"]

    def time_of(candidate: int) -> float:
        if candidate == 0:
            return default
        wanted = candidates[candidate]
        of_version = [line for line in tried if line["version"] == wanted["version"]]
        exact = [line for line in of_version if line["limit"] == wanted["threads"]]
        # Where a limit changes nothing, the line of no limit stands for both.
        found = exact or [line for line in of_version if line["limit"] == 0]
        return found[0]["ms"] if found else default

    names = [(line["ms"], plan["versions"][line["version"]], line["limit"]) for line in every]
    names += [
        (
            line["ms"],
            ", ".join(next((c["pipelines"] for c in candidates if c["version"] == line["version"]), [])),
            line["limit"],
        )
        for line in tried
    ]
    best, version, limit = min(names)
    kept = (
        candidates[last["candidate"]]
        if last["candidate"] < len(candidates)
        else {"pipelines": [], "threads": 0}
    )
    row = Row(
        plan["name"],
        default,
        min(best, default),
        _words([version] if version else [], limit) if best < default else "as compiled",
        time_of(max(0, min(plan["predicted"], len(candidates) - 1))),
        (time_of(launches[3]["candidate"]), time_of(launches[10]["candidate"])),
        _words(kept["pipelines"], kept["threads"]),
        next(
            (k for k, line in enumerate(launches) if line["state"].startswith(("settled", "too short"))),
            LAUNCHES if candidates else 0,
        ),
        sum(line["ms"] for line in launches) / last["plain_ms"],
        (last["host_us"][0], last["host_us"][1]),
        max(line["difference"] for line in (*tried, *every)),
    )
    return row, {"plan": plan, "adapted": adapted, "tried": tried, "every": every}


def _words(pipelines: Sequence[str], threads: int) -> str:
    how = ", ".join(pipelines) or "as compiled"
    return f"{how}; blocks of at most {threads}" if threads else how


def _mean(numbers: Sequence[float]) -> float:
    return exp(sum(log(number) for number in numbers) / len(numbers)) if numbers else float("nan")


def _report(rows: Sequence[Row], left_out: Sequence[str], commit: str) -> str:
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    within = sum(row.settled_at <= 3 for row in rows)
    to_best = [
        f"{what} {_mean(found):.3f}"
        for what, found in (
            ("nvcc's default", [row.default / row.best for row in rows]),
            ("chosen by prediction", [row.static / row.best for row in rows]),
            ("after 3 launches", [row.after[0] / row.best for row in rows]),
            ("after 10", [row.after[1] / row.best for row in rows]),
        )
    ]
    hundreds = [row.hundred for row in rows]
    longer = max((row.host_us[1] - row.host_us[0] for row in rows), default=float("nan"))
    parts = [
        f"# Versions found while functions run\n\n{device}, {datetime.date.today():%Y-%m-%d}, commit {commit}; "
        "medians of seven samples, all in one run.",
        f"Geometric means over {len(rows)} programs, over the best of all versions: {', '.join(to_best)}. A hundred "
        f"launches with the search in them take {_mean(hundreds):.3f} of the default's time, at most "
        f"{max(hundreds, default=float('nan')):.3f}. The search has ended after three launches or fewer for {within} "
        f"of {len(rows)}. The host's part of a call is at most {longer:.2f} us longer.",
        markdown_table(
            (
                "program",
                "default ms",
                "best of all",
                "version",
                "predicted",
                "after 3",
                "after 10",
                "kept",
                "ended after",
                "100 launches",
                "call us",
                "difference",
            ),
            (_cells(row) for row in rows),
        ),
        'Times of versions are over the default\'s. "100 launches" are adapted ones, search included, over as many of '
        'the default. "difference" is the largest relative one of any version from the first, 0 where all are the same '
        "to the bit.",
        *(("Not timed:", "\n".join(left_out)) if left_out else ()),
    ]
    return "\n\n".join(parts) + "\n"


def _cells(row: Row) -> Iterator[str]:
    yield row.name
    yield f"{row.default:.4f}"
    yield f"{row.best / row.default:.3f}"
    yield row.best_version
    yield f"{row.static / row.default:.3f}"
    yield f"{row.after[0] / row.default:.3f}"
    yield f"{row.after[1] / row.default:.3f}"
    yield row.kept
    yield str(row.settled_at)
    yield f"{row.hundred:.3f}"
    yield f"{row.host_us[0]:.2f}, {row.host_us[1]:.2f}"
    yield f"{row.difference:.2g}"


if __name__ == "__main__":
    raise SystemExit(main())
