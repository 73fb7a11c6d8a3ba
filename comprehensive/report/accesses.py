"""The accesses of kernels as a table by lines of the source, for people and programs (`specs/schema/accesses.json`).

line  array  memory  access    stride  sectors  turns  words  reference
22    a      shared  read           0            1      16384  shared_a[v * B0 + z]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.model.access_rows import Row

SCHEMA = 1
COPIES = "besides, pieces are copied to shared memory by all threads, past registers where the device can"
_HEADINGS = ("line", "array", "memory", "access", "stride", "sectors", "turns", "words", "reference")
_TO_THE_RIGHT = frozenset(("line", "stride", "sectors", "turns", "words"))


class Accesses(Struct, frozen=True):
    """The accesses of one kernel: ``values`` of its parameters, which are ``missing``, and where the warp is."""

    region: str
    kernel: str
    values: tuple[tuple[str, int], ...]
    missing: tuple[str, ...]
    block: tuple[int, ...]
    """The number of the block, x first."""
    warp: int
    rows: tuple[Row, ...]
    order: tuple[str, ...]
    """The symbols that stand first in products."""
    because: str = ""
    """The reason why there is no table, where there is none."""
    copies: bool = False
    """Whether the kernel also copies whole pieces to shared memory, which are no accesses of the table."""


def to_text(found: Sequence[Accesses]) -> str:
    """Return a table a kernel, ending in a newline."""
    return "\n".join(_table(each) for each in found)


def _table(found: Accesses) -> str:
    lines = [f"accesses of {heading(found)}"]
    if found.because:
        return "\n".join([*lines, f"  {found.because}", ""])
    cells = [_HEADINGS, *(_cells(row, found) for row in found.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADINGS))]
    for row in cells:
        shown = (
            cell.rjust(width) if name in _TO_THE_RIGHT else cell.ljust(width)
            for name, cell, width in zip(_HEADINGS, row, widths, strict=True)
        )
        lines.append(f"  {'  '.join(shown)}".rstrip())
    lines.append(
        "  an access of the warp: sectors of 32 bytes, turns of 32 banks; all of the block: words of 4 bytes"
    )
    lines += [f"  {COPIES}"] if found.copies else []
    if found.missing:
        lines.append(f"  for 32 threads along x; exact with a value for {', '.join(found.missing)}")
    return "\n".join([*lines, ""])


def heading(found: Accesses) -> str:
    """Return which kernel, at which values, and which warp."""
    values = ", ".join(f"{name} = {value}" for name, value in found.values) or "no parameter given"
    where = "" if found.missing else f"; warp {found.warp} of block {found.block}"
    return f"{found.region} {found.kernel}, {values}{where}"


def _cells(row: Row, found: Accesses) -> tuple[str, ...]:
    units = span(row)
    return (
        ", ".join(map(str, row.site.lines)),
        row.site.array,
        "shared" if row.site.is_shared else "global",
        access(row),
        stride(row, found.order),
        "" if row.site.is_shared else units,
        units if row.site.is_shared else "",
        "?" if row.words is None else row.words.format(found.order),
        row.site.text,
    )


def access(row: Row) -> str:
    """Return what an access is: ``read``, or ``write, added`` where the kernel and not the program has it."""
    return ("write" if row.site.writes else "read") + (", added" if row.site.is_added else "")


def stride(row: Row, order: Sequence[str] = ()) -> str:
    """Return the distance of neighbours in elements, in accesses of vectors in those."""
    if row.by_data:
        return "data"
    if row.stride is None:
        return "mixed"
    return row.stride.format(order) if isinstance(row.stride, Polynomial) else str(row.stride)


def span(row: Row) -> str:
    """Return the sectors or turns of an access: ``4``, ``4 to 5``, or ``up to 32`` where that is a bound."""
    if row.is_bound:
        return f"up to {row.most}"
    return str(row.most) if row.fewest == row.most else f"{row.fewest} to {row.most}"


def document(found: Sequence[Accesses]) -> dict[str, Any]:
    """The same as plain data."""
    return {"schema": SCHEMA, "kernels": [_kernel(each) for each in found]}


def _kernel(found: Accesses) -> dict[str, Any]:
    return {
        "region": found.region,
        "kernel": found.kernel,
        "values": dict(found.values),
        "missing": list(found.missing),
        "block": list(found.block),
        "warp": found.warp,
        "because": found.because or None,
        "copies": found.copies,
        "accesses": [
            {
                "lines": list(row.site.lines),
                "array": row.site.array,
                "reference": row.site.text,
                "memory": "shared" if row.site.is_shared else "global",
                "writes": row.site.writes,
                "added": row.site.is_added,
                "bytes": row.width,
                "stride": None if row.by_data or row.stride is None else stride(row, found.order),
                "by_data": row.by_data,
                "exact": row.is_exact,
                "bound": row.is_bound,
                "served": {
                    "unit": "turns" if row.site.is_shared else "sectors",
                    "first": row.served.units,
                    "least": row.served.least,
                    "from": row.fewest,
                    "to": row.most,
                },
                "executions": row.done,
                "words_of_block": None if row.words is None else row.words.format(found.order),
                "lanes": list(row.lanes),
            }
            for row in found.rows
        ],
    }
