"""The record of a serial program's run: elements, conflicts of parallel iterations, undefined behaviour.

In: the text of a `.mf` file.  Out: a :class:`Recorder`; its `record` runs a function on concrete arguments and data
and returns a :class:`Recording`.  The text is rewritten so that every reference and every turn of a parallel loop is
told to ``recorder.h``, and compiled as C::

    meta_for (int i = 0; i < n; i++)   -->   for (int i = 0; (i < n) && cf_turn(0); i++)
      y[i] += x[i - 1];                         CF_DOES(1, y[i], CF_WRITES) += CF_READ(0, x[i - 1]);

It shares no code with the front end and the legality test, which it is an oracle for.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.runtime.values import c_type
from comprehensive.toolchain.host import Compiler
from tests.fuzz.nodes import Group, Node, clauses_end, is_group, split, statement_end, text_of, tokens_of
from tests.fuzz.signature import Function, functions

HIGH = 1 << 17
"""A function may touch so many elements behind a pointer without declared extents, and none before it."""
LIMIT = 3_000_000
"""Accesses, and turns of loops, after which a run is given up."""

_FLAGS = (
    *("-std=gnu99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w"),
    "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow",
)
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_ATOMIC = {
    **dict.fromkeys(("+=", "-=", "++", "--"), "CF_ADDS"),
    **{"&=": "CF_ANDS", "|=": "CF_ORS", "^=": "CF_XORS"},
}


class NotCError(Exception):
    """The text is no C, or none that is understood here."""


class Status(IntEnum):
    """The end of a run, as in ``recorder.h``."""

    DONE = 0
    OUTSIDE = 1
    SUBSCRIPT = 2
    UNDEFINED = 3
    ASSERT = 4
    TOO_LONG = 5


@dataclass(frozen=True, slots=True)
class Recording:
    """``sizes`` are the elements that each array must have: those up to the last that is touched, in whole rows where
    rows are declared, and all where all extents are.  ``conflict`` names the first one."""

    status: Status
    sizes: Mapping[str, int]
    conflict: str | None
    accesses: int


class _Array(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("last", ctypes.c_int64),
        ("shadow", ctypes.c_void_p),
    )


class _Report(ctypes.Structure):
    _fields_ = tuple(
        (n, ctypes.c_int64) for n in ("array", "element", "region", "accesses", "limit", "turns")
    )


_SHADOW_BYTES = 40


@dataclass(frozen=True)
class Recorder:
    """The compiled program."""

    handle: ctypes.CDLL
    functions: Mapping[str, Function]

    def extents(self, function: str, arguments: Mapping[str, int | float]) -> dict[str, int]:
        """The elements of data with declared extents; of an open first one, those of a row."""
        data = self.functions[function].data
        found = (ctypes.c_int64 * max(1, len(data)))()
        self.handle[f"cf_extents_{function}"](*self._scalars(function, arguments), found)
        return {p.name: found[k] for k, p in enumerate(data) if p.dims is not None}

    def windows(self, function: str, arguments: Mapping[str, int | float]) -> dict[str, int]:
        """The number of elements of each array that `record` needs; -1 for a negative extent."""
        known = self.extents(function, arguments)
        return {
            p.name: known[p.name] if p.dims is not None and p.dims[0] else HIGH
            for p in self.functions[function].data
        }

    def record(
        self, function: str, arguments: Mapping[str, int | float], data: Mapping[str, Any]
    ) -> Recording:
        """Runs the function; ``data`` has as many elements as `windows` says, and changes."""
        windows, known = self.windows(function, arguments), self.extents(function, arguments)
        parameters = self.functions[function].data
        arrays = (_Array * max(1, len(parameters)))()
        shadows: list[Any] = []
        for k, p in enumerate(parameters):
            array = data[p.name]
            shadows.append(np.zeros(max(1, windows[p.name] * _SHADOW_BYTES), dtype=np.uint8))
            last, shadow = -(1 << 62), shadows[-1].ctypes.data
            arrays[k] = _Array(array.ctypes.data, array.itemsize, 0, windows[p.name], 1 << 62, last, shadow)
        report = _Report(-1, 0, 0, 0, LIMIT, 0)
        called = self.handle[f"cf_record_{function}"]
        pointers = iter([ctypes.c_void_p(arrays[k].base) for k in range(len(parameters))])
        passed = [
            next(pointers) if p.is_data else c_type(p.type)(arguments[p.name])
            for p in self.functions[function].parameters
        ]
        status = Status(called(arrays, ctypes.byref(report), *passed))
        sizes: dict[str, int] = {}
        for k, p in enumerate(parameters):
            behind = max(0, arrays[k].last + 1)
            if p.dims is None:
                sizes[p.name] = behind
            elif p.dims[0]:
                sizes[p.name] = known[p.name]
            else:
                row = max(1, known[p.name])
                sizes[p.name] = -(-behind // row) * row
        conflict = None
        if report.array >= 0:
            conflict = f"{parameters[report.array].name} element {report.element} in region {report.region}"
        return Recording(status, sizes, conflict, report.accesses)

    def _scalars(self, function: str, arguments: Mapping[str, int | float]) -> list[Any]:
        return [c_type(p.type)(arguments[p.name]) for p in self.functions[function].scalars]


def build(nodes: Sequence[Node], work: Path, compiler: Compiler) -> Recorder:
    """Compiles the recording program into ``work``. NotCError where it is no C."""
    try:
        found = functions(nodes)
    except ValueError as error:
        raise NotCError(str(error)) from error
    if not found:
        raise NotCError("no function has a region")
    work.mkdir(parents=True, exist_ok=True)
    source, target = work / "recording.c", work / "librecording.so"
    source.write_text(_recording_text(nodes, found), encoding="utf-8")
    command = [
        *compiler.command,
        *_FLAGS,
        "-I",
        str(Path(__file__).parent),
        str(source),
        "-o",
        str(target),
        "-lm",
    ]
    # The handlers of the sanitizer are in recorder.h; its library is not wanted.
    command.insert(-1, "-nodefaultlibs")
    command.append("-lc")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise NotCError(done.stderr)
    return Recorder(ctypes.CDLL(str(target.absolute())), {f.name: f for f in found})


# --- the text -------------------------------------------------------------------------------------------------


def _recording_text(nodes: Sequence[Node], found: Sequence[Function]) -> str:
    text = ['#include "recorder.h"', "#include <math.h>", "#include <stdlib.h>"]
    at = 0
    for function in found:
        text.append(text_of(nodes[at : function.at + 2]))
        rewriter = _Rewriter(function)
        text.append(f"{{ {rewriter.body(function.body.items)} }}")
        text.append(_entry_points(function))
        at = function.at + 3
    text.append(text_of(nodes[at:]))
    return "\n".join(text)


def _entry_points(function: Function) -> str:
    listed = ", ".join(p.declared for p in function.parameters)
    passed = ", ".join(p.name for p in function.parameters)
    scalars = "".join(f"{p.declared}, " for p in function.scalars)
    lines = [f"void cf_extents_{function.name}({scalars}int64_t *cf_out)", "{"]
    for k, p in enumerate(function.data):
        if p.dims is not None:
            product = " * ".join(f"(int64_t)({d})" for d in p.dims if d) or "1"
            negative = " || ".join(f"({d}) < 0" for d in p.dims if d) or "0"
            lines.append(f"cf_out[{k}] = ({negative}) ? -1 : {product};")
    comma = ", " if listed else ""
    lines += [
        "}",
        f"int cf_record_{function.name}(cf_array *cf_a, cf_report *cf_r{comma}{listed})",
        "{",
        "cf_arrays = cf_a; cf_found = cf_r; cf_inside = 0;",
        "int cf_why = setjmp(cf_place);",
        "if (cf_why) return cf_why;",
        f"{function.name}({passed});",
        "return CF_DONE;",
        "}",
    ]
    return "\n".join(lines)


class _Rewriter:
    def __init__(self, function: Function) -> None:
        self.numbers = {p.name: k for k, p in enumerate(function.data)}
        self.data = {p.name: p for p in function.data}
        self.regions = 0

    def body(self, items: Sequence[Node]) -> str:
        """Host code and regions."""
        text: list[str] = []
        at = 0
        while at < len(items):
            node = items[at]
            if node == "meta_schedule":
                end = clauses_end(items, at)
                stop = statement_end(items, end)
                region = items[end:stop]
                inner = region[0].items if len(region) == 1 and isinstance(region[0], Group) else region
                levels = _grid_levels(inner)
                text.append(f"{{ cf_region({self.regions}); {self.nest(inner, 0, levels)} cf_outside(); }}")
                self.regions += 1
                at = stop
            elif node == "assert" and is_group(items[at + 1], "("):
                text.append(f"cf_assert{text_of([items[at + 1]])}")
                at += 2
            elif isinstance(node, Group):
                inner = self.body(node.items)
                text.append({"(": f"({inner})", "[": f"[{inner}]", "{": f"{{ {inner} }}"}[node.opening])
                at += 1
            else:
                text.append(f"\n{node}\n" if node.lstrip().startswith("#") else node)
                at += 1
        return " ".join(text)

    def nest(self, items: Sequence[Node], level: int, grid: int) -> str:
        """Statements of a region below ``level`` parallel loops, of which the first ``grid`` are those of the grid."""
        text: list[str] = []
        at = 0
        while at < len(items):
            node = items[at]
            if node == "meta_for":
                header = items[at + 1]
                assert isinstance(header, Group)
                end = statement_end(items, at)
                text.append(f"for ({self._header(header, level, grid)})")
                text.append(self.nest(items[at + 2 : end], level + 1, grid))
                at = end
            elif (
                isinstance(node, str)
                and node in self.data
                and at + 1 < len(items)
                and is_group(items[at + 1], "[")
            ):
                behind = at + 1
                while behind < len(items) and is_group(items[behind], "["):
                    behind += 1
                before = items[at - 1] if at > 0 else ""
                after = items[behind] if behind < len(items) else ""
                done = before if before in ("++", "--") else after
                does = None if done not in (*_ASSIGNMENTS, "++", "--") else "CF_WRITES"
                if does and "meta_atomic" in (before, items[at - 2] if at > 1 else ""):
                    does = _ATOMIC.get(str(done), does)
                text.append(self._reference(node, items[at + 1 : behind], level, grid, does))
                at = behind
            elif isinstance(node, Group):
                inner = self.nest(node.items, level, grid)
                text.append({"(": f"({inner})", "[": f"[{inner}]", "{": f"{{ {inner} }}"}[node.opening])
                at += 1
            else:
                text += [] if node == "meta_atomic" else [node]
                at += 1
        return " ".join(text)

    def _reference(
        self, name: str, subscripts: Sequence[Node], level: int, grid: int, does: str | None
    ) -> str:
        dims = self.data[name].dims or ("",)
        parts: list[str] = []
        for k, subscript in enumerate(subscripts):
            assert isinstance(subscript, Group)
            inner = self.nest(subscript.items, level, grid)
            extent = dims[k] if k < len(dims) else ""
            parts.append(f"[cf_subscript({inner}, {extent})]" if extent else f"[{inner}]")
        element = f"{self.numbers[name]}, {name}{''.join(parts)}"
        return f"CF_READ({element})" if does is None else f"CF_DOES({element}, {does})"

    def _header(self, header: Group, level: int, grid: int) -> str:
        first, condition, step = (self.nest(part, level, grid) for part in split(header.items, ";"))
        if level == grid:
            declared, _, start = first.partition(" = ")
            first = f"{declared} = cf_band({start})"
        return f"{first}; ({condition}) && cf_turn({int(level >= grid)}); {step}"


def _grid_levels(items: Sequence[Node]) -> int:
    """Return the number of nested parallel loops that are the grid; all of them where they are one perfect nest.

    The iterations of a perfect nest are independent of each other, whether they end up in a block or in several.
    """
    levels = 0
    while items and items[0] == "meta_for" and statement_end(items, 0) == len(items):
        levels += 1
        items = items[2:]
        if len(items) == 1 and isinstance(items[0], Group) and items[0].opening == "{":
            items = items[0].items
    return levels if "meta_for" in tokens_of(items) else 99
