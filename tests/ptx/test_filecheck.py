"""The checker of passes checks: what holds passes, what does not is named with its line."""

from __future__ import annotations

import pytest

from tests.ptx.filecheck import CheckError, check, directives, pipeline

OUTPUT = """\
// CHECK: a line of the file itself is no output
.entry one
\tmov.u32 \t%r1, %tid.x;
\tadd.s32 %r2, %r1, 1;
\tret;
.entry two
\tmov.u32 %r1, 7;
\tret;
"""


def _checked(*lines: str, remarks: tuple[str, ...] = ()) -> None:
    text = "\n".join(f"// {line}" for line in ("RUN: opt -p 'dce' %s", *lines))
    check(OUTPUT, remarks, directives(text))


@pytest.mark.parametrize(
    "lines",
    [
        ["CHECK: mov.u32 %r1, %tid.x", "CHECK-NEXT: add.s32", "CHECK-NEXT: ret"],
        ["CHECK-LABEL: .entry two", "CHECK-NOT: add", "CHECK: ret"],
        ["CHECK-LABEL: .entry one", "CHECK-NOT: , 7;", "CHECK-LABEL: .entry two", "CHECK: , 7;"],
        ["CHECK: mov.u32 {{%r[0-9]+}}, %tid.x"],
        ["CHECK: mov.u32 [[A:%r[0-9]+]], %tid", "CHECK: add.s32 %r2, [[A]], 1;"],
        ["CHECK:   add.s32   %r2,   %r1"],
    ],
)
def test_what_holds_passes(lines: list[str]) -> None:
    _checked(*lines)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["CHECK: a line of the file"], "line 2: CHECK: a line of the file"),
        (["CHECK: sub"], "CHECK: sub\nis not in"),
        (["CHECK: mov.u32", "CHECK-NEXT: ret"], "but the next line is:\nadd.s32"),
        (["CHECK: , 7;", "CHECK-NEXT: ret", "CHECK-NEXT: ret"], "but the next line is:\nnone"),
        (["CHECK-LABEL: .entry two", "CHECK: add"], "line 3: CHECK: add"),
        (["CHECK-LABEL: .entry one", "CHECK: , 7;", "CHECK-LABEL: .entry two"], "CHECK: , 7;\nis not in"),
        (["CHECK-NOT: add"], "but there is:\nadd.s32"),
        (["CHECK-NOT: add", "CHECK: ret"], "but there is:\nadd.s32"),
        (["CHECK: add.s32 [[A:%r[0-9]+]],", "CHECK: mov.u32 [[A]], 7"], "is not in"),
        (["REMARK: removed"], "among the remarks"),
    ],
)
def test_what_does_not_hold_is_named(lines: list[str], words: str) -> None:
    with pytest.raises(CheckError) as found:
        _checked(*lines)
    assert words in str(found.value)


def test_remarks_are_found_in_any_order() -> None:
    _checked("REMARK: second", "REMARK: first", "REMARK-NOT: third", remarks=("the first", "the second"))
    with pytest.raises(CheckError, match="REMARK-NOT: fir"):
        _checked("REMARK: second", "REMARK-NOT: fir", remarks=("the first", "the second"))


@pytest.mark.parametrize("text", ["", "// CHECK: a", "// RUN: opt -p 'dce' %s"])
def test_a_file_that_checks_nothing_is_refused(text: str) -> None:
    with pytest.raises(CheckError):
        directives(text)


def test_the_pipeline_stands_in_the_run_line() -> None:
    assert pipeline(directives("// RUN: opt -p 'dce,a{b=1 c=2}' %s\n// CHECK: x")) == "dce,a{b=1 c=2}"
    with pytest.raises(CheckError, match="a RUN line reads"):
        pipeline(directives("// RUN: llc -p dce %s\n// CHECK: x"))
