"""What the user is told: errors with witnesses, warnings with terms, silence for right programs."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import Diagnostic, DiagnosticSink
from comprehensive.loops.ir import Nest
from comprehensive.poly.bounds import out_of_bounds
from comprehensive.poly.report import check
from tests.unit.poly.enumeration import host, touches
from tests.unit.poly.nests import (
    assign,
    jacobi,
    let,
    matadd,
    matmul,
    nest,
    stencil,
    threads,
    transposition,
    when,
)


def region(
    statement: str, *, guard: str = "1", size: str = "n", dim: str = "n/B", given: tuple[str, ...] = ()
) -> Nest:
    return nest(
        threads("j < B", let("p", "i*B + j"), when(guard, assign(statement))),
        grid="i < dim",
        arrays={"a": size, "b": "n", "c": "n"},
        data="n",
        program="B",
        scalar="shift",
        host={"dim": dim},
        given=given,
        cached=("a",),
    )


def report(subject: Nest) -> tuple[Diagnostic, ...]:
    sink = DiagnosticSink()
    check(subject, sink)
    return sink.diagnostics


@pytest.mark.parametrize(
    "subject",
    [jacobi(), jacobi(whole=True), transposition(), matmul(), matadd(), stencil(), stencil(ceiling=True)],
    ids=["jacobi", "jacobi with both cells", "transposition", "matmul", "matadd", "stencil", "ceiling"],
)
def test_nothing_is_said_about_right_programs(subject: Nest) -> None:
    assert report(subject) == ()


def test_a_dependence_is_an_error_that_shows_both_iterations() -> None:
    found = report(region("a[p] = a[n - 1 - p]"))
    assert {d.code for d in found} == {"CF0401", "CF0412"}
    first = found[0]
    assert "'meta_for i'" in first.message
    assert "'a'" in first.message
    assert "written at i = " in first.notes[0].message
    assert "used at i = " in first.notes[1].message
    assert "n = " in first.notes[2].message


def test_a_subscript_outside_its_array_is_an_error_with_values() -> None:
    found = report(region("a[p] = b[p + 1]"))
    assert [d.code for d in found] == ["CF0402"]
    assert found[0].message.startswith("subscript 1 of array 'b' is 1, outside 0 to 0")


@pytest.mark.parametrize(
    "subject",
    [
        region("a[p] = b[p + 1]", guard="p + 1 < n"),
        region("a[p] = b[p + 1]", dim="(n - 1)/B"),
        region("a[p] = b[p + shift]"),
        region("a[p] = 1", size="2*n"),
        region("a[p] = b[p - 1 if p > 0 else 0]"),
    ],
    ids=["guarded", "short grid", "argument that is no size", "larger array", "clamped"],
)
def test_no_false_alarm_about_subscripts(subject: Nest) -> None:
    assert out_of_bounds(subject) == ()


def test_an_assert_excludes_the_values_of_a_witness() -> None:
    wrong = nest(
        threads("j < B", assign("a[i*B + j] = 1")),
        grid="i < dim",
        arrays={"a": "n"},
        data="n m",
        program="B",
        host={"dim": "m/B"},
    )
    assert len(out_of_bounds(wrong)) == 1
    right = nest(
        threads("j < B", assign("a[i*B + j] = 1")),
        grid="i < dim",
        arrays={"a": "n"},
        data="n m",
        program="B",
        host={"dim": "m/B"},
        given=("m <= n",),
    )
    assert out_of_bounds(right) == ()


def test_every_out_of_bounds_witness_is_real() -> None:
    subject = region("a[p] = b[p + 1] + c[p - 1]")
    for found in out_of_bounds(subject):
        point = host(subject, {k: found.point[k] for k in ("n", "B", "shift")})
        assert any(
            t.access.array == found.array and t.element == (found.value,) for t in touches(subject, point)
        )
        assert not 0 <= found.value < found.extent
    assert [f.array for f in out_of_bounds(subject)] == ["b", "c"]


def test_what_cannot_be_decided_is_one_warning_that_names_the_term() -> None:
    found = [d for d in report(region("a[b[p]] = 1")) if d.code == "CF0411"]
    assert len(found) == 1
    assert "'i', 'j'" in found[0].message
    assert "depends on data" in found[0].message


def test_an_array_that_cannot_be_cached_is_a_warning_with_the_reason() -> None:
    found = [d for d in report(region("a[b[p]] = 1")) if d.code == "CF0412"]
    assert len(found) == 1
    assert "'a' cannot be cached" in found[0].message
