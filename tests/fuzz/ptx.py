"""Random kernels with hidden pointers against every pass over PTX.

Run as ``python -m tests.fuzz.ptx --minutes 10 --seed 1``.

Each kernel is run by the interpreter before and behind every pass and some pipelines, in the usual order and in drawn
ones, in which threads do not meet by themselves and writes come late; ptxas assembles what is made.  Prints how many
programs ran and every finding with a minimal reproducer; exits 1 on a finding.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from comprehensive.diagnostics import CompileError
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool, load_tool
from tests.ptx.compared import NO_PIPELINE, Finding, compared
from tests.ptx.hidden_pointers import hidden_pointers
from tests.ptx.pipelines_drawn import pipelines

_KERNELS = 4
"""The kernels of one module, so that ptxas starts less often."""
_SECONDS_TO_SHRINK = 90


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.ptx", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to run")
    parser.add_argument("--programs", type=int, help="stop after so many programs")
    parser.add_argument("--seed", type=int, default=1, help="the number of the run")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where reproducers go")
    given = parser.parse_args(arguments)
    search = find_tool("ptxas")
    ptxas = load_tool(search) if isinstance(search, Found) else None
    end = time.monotonic() + 60 * given.minutes
    programs = launches = 0
    kinds: dict[tuple[str, str], Finding] = {}
    while time.monotonic() < end and (given.programs is None or programs < given.programs):
        seed = f"{given.seed}-{programs}"
        draw = Random(seed)
        text = hidden_pointers(draw, _KERNELS)
        chosen = pipelines(draw)
        orders = (draw.randrange(1 << 30),)
        programs += _KERNELS
        launches += _KERNELS * (1 + len(orders)) * (1 + len(chosen))
        for finding in _tried(text, chosen, ptxas, orders):
            key = finding.pipeline, finding.kind
            if key not in kinds:
                kinds[key] = finding
                _report(finding, text, ptxas, orders, given.findings / f"ptx-{seed}-{len(kinds)}.ptx")
    assembled = "and assembled" if ptxas else "nothing was assembled: there is no ptxas"
    print(f"{programs} programs, at most {launches} launches compared, {assembled}; {len(kinds)} findings")
    return 1 if kinds else 0


def _tried(
    text: str, chosen: Sequence[str], ptxas: Tool | None, orders: Sequence[int]
) -> tuple[Finding, ...]:
    try:
        return compared(text, chosen, ptxas, orders)
    except Exception as error:  # What is not expected is a finding, whatever it is.
        return tuple(
            Finding(pipeline, None, f"crash: {type(error).__name__}", str(error))
            for pipeline in _crashing(text, chosen)
        )


def _crashing(text: str, chosen: Sequence[str]) -> list[str]:
    found: list[str] = []
    for pipeline in chosen:
        try:
            compared(text, (pipeline,), None, ())
        except Exception:
            found.append(pipeline)
    return found or [NO_PIPELINE]


def _report(finding: Finding, text: str, ptxas: Tool | None, orders: Sequence[int], path: Path) -> None:
    needed = ptxas if finding.kind == "rejected" else None

    def still(candidate: str) -> bool:
        try:
            found = _tried(candidate, (finding.pipeline,) if finding.pipeline else (), needed, orders)
        except CompileError:
            return False
        return any((each.pipeline, each.kind) == (finding.pipeline, finding.kind) for each in found)

    small = shrunk(text, still, time.monotonic() + _SECONDS_TO_SHRINK)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"// {finding.pipeline or 'as it is'}: {finding.detail}\n{small}", encoding="utf-8")
    print(
        f"{finding.pipeline or 'as it is'}: {finding.kind}: {finding.detail}\n{small}\n({path})", flush=True
    )


def shrunk(text: str, still: Callable[[str], bool], end: float) -> str:
    """Cut as many lines as can be, first whole kernels, while ``still`` holds."""
    for kernel in re.findall(r"^\.visible \.entry (?:(?!^\.visible)[\s\S])*", text, re.MULTILINE):
        if still(text.replace(kernel, "")):
            text = text.replace(kernel, "")
    lines = text.splitlines(keepends=True)
    size = len(lines) // 2
    while size:
        place = 0
        while place < len(lines) and time.monotonic() < end:
            without = lines[:place] + lines[place + size :]
            if still("".join(without)):
                lines = without
            else:
                place += size
        size //= 2
    return "".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
