"""The report of the paper's tables: lines of ``tables`` and the published numbers in, Markdown out.

Imports nothing but the standard library, as the machine with the GPU has no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FAST, PLAIN = "fast", "as in the figure"
COMPILED = re.compile(r"Compiling entry function '_Z\d+kernel0_(\d+)_(\d+)_(\d+)P")
USED = re.compile(r"Used (\d+) registers")
Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A measured kernel: milliseconds of a launch (of all steps), and whether it computed what the serial C does."""

    ms: float
    leaf: int
    status: int
    right: bool


@dataclass(slots=True)
class Measured:
    """Measurements are kept by table and size, those of kernels also by name and point."""

    serial: dict[tuple[int, int, str], tuple[float, str]] = field(
        default_factory=dict[tuple[int, int, str], tuple[float, str]]
    )
    """Milliseconds, and how the loops were."""
    kernels: dict[tuple[int, int, str, Point], Kernel] = field(
        default_factory=dict[tuple[int, int, str, Point], Kernel]
    )
    failed: list[str] = field(default_factory=list[str])

    def cell(self, table: int, size: int, kernel: str, point: Point, base: str) -> str:
        """The speed-up over a serial program with one digit behind the point, or why there is none."""
        found, serial = self.kernels.get((table, size, kernel, point)), self.serial.get((table, size, base))
        if found is None or serial is None:
            return "not run"
        if found.status:
            return f"refused ({found.status})"
        return f"{serial[0] / found.ms:.1f}" if found.right else "wrong"


def parsed(lines: Iterable[str]) -> Measured:
    """The measurements of the lines that ``tables`` prints; ValueError for a line that is none."""
    measured = Measured()
    for line in lines:
        if not line.strip():
            continue
        row = json.loads(line)
        if "failed" in row:
            measured.failed.append(row["failed"])
        elif "serial" in row:
            measured.serial[row["table"], row["size"], row["serial"]] = (row["ms"], row["how"])
        elif "kernel" in row:
            point = tuple(row[name] for name in ("ub1", "B0", "B", "B1", "s") if name in row)
            kernel = Kernel(row["ms"], row["leaf"], row["status"], row["right"])
            measured.kernels[row["table"], row["size"], row["kernel"], point] = kernel
        else:
            raise ValueError(f"no measurement: {line!r}")
    return measured


def registers_of(log: str) -> dict[Point, int]:
    """Registers of a thread by (ub1, B0, s), from what ptxas says of the kernels of figure 4."""
    found: dict[Point, int] = {}
    point: Point | None = None
    for line in log.splitlines():
        begun, used = COMPILED.search(line), USED.search(line)
        if begun is not None:
            point = (int(begun[1]), int(begun[2]), int(begun[3]))
        elif used is not None and point is not None:
            found[point], point = int(used[1]), None
    return found


def report(published: Any, measured: Measured, registers: Mapping[Point, int], about: str) -> str:
    """All tables beside the published ones; `about` says where and when they were measured."""
    parts = [
        "# The paper's tables 1 to 3",
        f"{about}\n\nPublished: {published['source']}. Speed-ups are those over serial C on one core of the machine "
        f'at hand: "{PLAIN}" are the loops of the figure without their keywords, "{FAST}" the fastest loops that '
        "were tried, with vectors. Processor and device are not the paper's: what can be compared is where the best "
        "point lies, and how much the points differ. Every result was compared with the serial C, bit for bit.",
    ]
    if measured.failed:
        parts.append("\n".join(f"**Failed:** {words}" for words in measured.failed))
    sizes = published["table1"]["sizes"]
    parts += [_table1(published["table1"], measured, size, index) for index, size in enumerate(sizes)]
    parts.append(_registers(published["table1"], registers))
    parts.append(_table(2, published["table2"], measured, ("B",), f"{published['table2']['steps']} steps, "))
    parts.append(_table(3, published["table3"], measured, ("B0", "B1"), ""))
    return "\n\n".join(parts) + "\n"


def _table1(table: Any, measured: Measured, size: int, index: int) -> str:
    rows: list[list[str]] = []
    for row in table["rows"]:
        for s, speedup in zip(table["granularities"], row["speedups"][index], strict=True):
            point = (row["ub1"], row["B0"], s)
            cells = [
                measured.cell(1, size, kernel, point, base)
                for kernel in ("figure 4", "generated")
                for base in (PLAIN, FAST)
            ]
            rows.append([f"({row['ub1']}, {row['B0']})", str(s), str(speedup), *cells])
    header = ["(ub1, B0)", "s", "published", "figure 4", "over fast", "generated", "over fast"]
    chosen = measured.cell(1, size, "chosen", (0,), FAST)
    return "\n\n".join(
        [
            f"## Table 1: {table['title']}, n = {size}",
            _serial(measured, 1, size),
            f'"figure 4" is the kernel as printed, compiled with {table["compiled"]} and its macros; "generated" the '
            f"kernel of the leaf that the dispatcher takes. Without parameters the launcher's own choice is {chosen} "
            "times as fast as the fast loops.",
            _markdown(header, _bold(rows, 2)),
        ]
    )


def _registers(table: Any, registers: Mapping[Point, int]) -> str:
    s = table["registers"]["granularity"]
    rows: list[list[str]] = []
    for depth, count in table["registers"]["by_B0"].items():
        here = sorted(
            {used for (_, rows_of, each), used in registers.items() if (rows_of, each) == (int(depth), s)}
        )
        rows.append([depth, str(count), " to ".join(map(str, here[:1] + here[1:][-1:])) or "not known"])
    return "\n\n".join(
        [f"## Table 1: registers for s = {s}", _markdown(["B0", "published", "figure 4"], rows)]
    )


def _table(number: int, table: Any, measured: Measured, names: Sequence[str], more: str) -> str:
    size = table["size"]
    bases = [base for base in (PLAIN, FAST) if (number, size, base) in measured.serial] or [FAST]
    rows: list[list[str]] = []
    leaves: set[int] = set()
    for row in table["rows"]:
        for s, speedup in zip(table["granularities"], row["speedups"], strict=True):
            point = (*(row[name] for name in names), s)
            found = measured.kernels.get((number, size, "generated", point))
            leaves |= {found.leaf} if found is not None and found.status == 0 else set()
            cells = [measured.cell(number, size, "generated", point, base) for base in bases]
            block = ", ".join(str(row[name]) for name in names)
            rows.append([block, str(s), "-" if speedup is None else f"{speedup:.1f}", *cells])
    header = [
        ", ".join(names),
        "s",
        "published",
        *("generated" if b == PLAIN else "over fast" for b in bases),
    ]
    chosen = measured.cell(number, size, "chosen", (0,), FAST)
    taken = ", ".join(map(str, sorted(leaves))) or "none"
    return "\n\n".join(
        [
            f"## Table {number}: {table['title']}, {more}size {size}",
            _serial(measured, number, size),
            f"The leaves that the dispatcher takes: {taken}. Without parameters the launcher's own choice is {chosen} "
            "times as fast as the fast loops.",
            _markdown(header, _bold(rows, 2)),
        ]
    )


def _serial(measured: Measured, table: int, size: int) -> str:
    lines = [
        f"Serial C, {base}: {measured.serial[table, size, base][0]:.4g} ms ({measured.serial[table, size, base][1]})."
        for base in (PLAIN, FAST)
        if (table, size, base) in measured.serial
    ]
    return " ".join(lines) or "Serial C was not run."


def _bold(rows: Sequence[Sequence[str]], first: int) -> list[list[str]]:
    """The rows with the largest number of each column in bold, as the paper prints it."""
    result = [list(row) for row in rows]
    for column in range(first, len(rows[0])):
        numbers = [float(row[column]) if re.fullmatch(r"\d+(\.\d+)?", row[column]) else -1.0 for row in rows]
        best = max(numbers)
        for row, number in zip(result, numbers, strict=True):
            if number == best >= 0:
                row[column] = f"**{row[column]}**"
    return result


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
