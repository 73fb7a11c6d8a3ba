"""Files that say what a pass makes of them, in the manner of LLVM's FileCheck.

    // RUN: opt -p 'dce' %s
    // CHECK-LABEL: .entry dead
    // CHECK:       ld.param.u64
    // CHECK-NEXT:  ret;
    // CHECK-NOT:   add.s32
    // REMARK:      removed

A pattern is found as it stands, runs of white space taken for one blank; what stands in ``{{ }}`` is a regular
expression, and ``[[NAME:expression]]`` remembers what ``[[NAME]]`` stands for further down. Labels cut the output into
parts, and the checks behind a label hold in its part. CHECK-NOT holds between the matches around it. Each REMARK is in
one of the remarks, in any order; no remark has what REMARK-NOT says.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_DIRECTIVE = re.compile(
    r"^\s*//\s*(RUN|CHECK(?:-NEXT|-NOT|-LABEL)?|REMARK(?:-NOT)?):[ \t]*(.*?)\s*$", re.MULTILINE
)
_HOLE = re.compile(r"\{\{(.+?)\}\}|\[\[(\w+)(?::(.+?))?\]\]")


@dataclass(frozen=True)
class Directive:
    kind: str
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind}: {self.pattern}"


class CheckError(AssertionError):
    """A directive that does not hold; says which, and in what."""


def directives(text: str) -> tuple[Directive, ...]:
    """Return the directives of a file, in order. CheckError where there is none, or none that checks."""
    found = tuple(
        Directive(match[1], match[2], text.count("\n", 0, match.start(1)) + 1)
        for match in _DIRECTIVE.finditer(text)
    )
    if not any(each.kind == "RUN" for each in found) or all(each.kind == "RUN" for each in found):
        raise CheckError("a file needs a RUN line and lines that check")
    return found


def pipeline(found: Sequence[Directive]) -> str:
    """Return the text behind -p in the RUN line."""
    words = next(shlex.split(each.pattern) for each in found if each.kind == "RUN")
    if words[:2] != ["opt", "-p"] or words[3:] != ["%s"]:
        raise CheckError(f"a RUN line reads: opt -p 'PASSES' %s, not: {' '.join(words)}")
    return words[2]


def check(output: str, remarks: Sequence[str], found: Sequence[Directive]) -> None:
    """CheckError at the first directive that does not hold."""
    lines = [" ".join(line.split()) for line in _DIRECTIVE.sub("", output).splitlines()]
    lines = [line for line in lines if line]
    groups = list(_groups([each for each in found if each.kind.startswith("CHECK")]))
    starts = list(_starts(lines, [label for label, _ in groups]))
    names: dict[str, str] = {}
    for (_, checks), (start, end) in zip(groups, pairwise([*starts, len(lines)]), strict=True):
        _check_part(lines[start:end], checks, names)
    for each in found:
        if each.kind.startswith("REMARK"):
            is_there = any(_regex(each.pattern, {}).search(" ".join(remark.split())) for remark in remarks)
            if is_there == (each.kind == "REMARK-NOT"):
                raise CheckError(f"{each}\namong the remarks:\n" + "\n".join(remarks))


def _groups(checks: Sequence[Directive]) -> Iterator[tuple[Directive | None, list[Directive]]]:
    """Labels with the checks behind them; first those that stand before any label."""
    label: Directive | None = None
    group: list[Directive] = []
    for each in checks:
        if each.kind == "CHECK-LABEL":
            yield label, group
            label, group = each, []
        else:
            group.append(each)
    yield label, group


def _starts(lines: Sequence[str], labels: Sequence[Directive | None]) -> Iterator[int]:
    at = 0
    for label in labels:
        if label is not None:
            at = _find(lines, label, at, {})
        yield at
        at += label is not None


def _check_part(lines: Sequence[str], checks: Sequence[Directive], names: dict[str, str]) -> None:
    at = 0
    forbidden: list[Directive] = []
    for each in checks:
        if each.kind == "CHECK-NOT":
            forbidden.append(each)
            continue
        found = at if each.kind == "CHECK-NEXT" else _find(lines, each, at, names)
        match = _regex(each.pattern, names).search(lines[found]) if found < len(lines) else None
        if match is None:
            raise CheckError(
                f"{each}\nbut the next line is:\n{lines[found] if found < len(lines) else 'none'}"
            )
        _forbid(lines[at:found], forbidden, names)
        names |= match.groupdict()
        forbidden, at = [], found + 1
    _forbid(lines[at:], forbidden, names)


def _find(lines: Sequence[str], each: Directive, start: int, names: Mapping[str, str]) -> int:
    regex = _regex(each.pattern, names)
    for number, line in enumerate(lines[start:], start):
        if regex.search(line):
            return number
    raise CheckError(f"{each}\nis not in:\n" + "\n".join(lines[start:]))


def _forbid(lines: Sequence[str], forbidden: Sequence[Directive], names: Mapping[str, str]) -> None:
    for each in forbidden:
        for line in lines:
            if _regex(each.pattern, names).search(line):
                raise CheckError(f"{each}\nbut there is:\n{line}")


def _regex(pattern: str, names: Mapping[str, str]) -> re.Pattern[str]:
    pattern = " ".join(pattern.split())
    parts: list[str] = []
    end = 0
    for hole in _HOLE.finditer(pattern):
        parts.append(re.escape(pattern[end : hole.start()]))
        if hole[1]:
            parts.append(f"(?:{hole[1]})")
        elif hole[3]:
            parts.append(f"(?P<{hole[2]}>{hole[3]})")
        else:
            parts.append(re.escape(names[hole[2]]))
        end = hole.end()
    return re.compile("".join(parts) + re.escape(pattern[end:]))
