"""Serial loops are parted into parallel ones in an order in which dependences go forward."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.driver import Options, compile_file
from comprehensive.verification import verify
from tests.unit.pragmas.sources import read

MATRICES = "int n, float a[n], float b[n], float c[n], float d[n], float m[n][n], float w[n][n], int k[n]"


def scop(body: str) -> str:
    return f"void f({MATRICES})\n{{\n  int i, j;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


ATAX = """for (i = 0; i < n; i++) {
    a[i] = 0;
    for (j = 0; j < n; j++) a[i] = a[i] + m[i][j] * b[j];
    for (j = 0; j < n; j++) c[j] = c[j] + m[i][j] * a[i];
  }"""
BICG = """for (i = 0; i < n; i++) {
    a[i] = 0;
    for (j = 0; j < n; j++) {
      b[j] = b[j] + c[i] * m[i][j];
      a[i] = a[i] + m[i][j] * d[j];
    }
  }"""
PARTED = {
    "sums of both kinds": (ATAX, "2 regions, parallel over i; j"),
    "two sums in one loop": (BICG, "2 regions, parallel over i; j"),
    "written before it is read": (
        "for (i = 1; i < n; i++) { a[i] = b[i] * 2; d[i] = a[i - 1]; }",
        "2 regions, parallel over i; i",
    ),
    "written in front of what reads it": (
        "for (i = 1; i < n; i++) { d[i] = a[i - 1]; a[i] = b[i] * 2; }",
        "2 regions, parallel over i; i",
    ),
    "read before it is written": (
        "for (i = 0; i < n - 1; i++) { a[i] = b[i] * 2; d[i] = a[i + 1]; }",
        "2 regions, parallel over i; i",
    ),
    "down": (
        "for (i = n - 1; i > 0; i--) { a[i] = b[i] * 2; d[i] = a[i - 1]; }",
        "2 regions, parallel over i; i",
    ),
    "in steps": (
        "for (i = 2; i < n; i += 2) { a[i] = b[i] * 2; d[i] = a[i - 2]; }",
        "2 regions, parallel over i; i",
    ),
    "written twice": (
        "for (i = 1; i < n; i++) { a[i] = b[i] * 2; a[i - 1] = b[i] * 3; }",
        "2 regions, parallel over i; i",
    ),
    "around three statements": (
        "for (i = 1; i < n; i++) { c[i] = d[i - 1]; a[i] = b[i] * 2; d[i] = a[i - 1]; }",
        "3 regions, parallel over i; i; i",
    ),
    "two loops": (
        "for (i = 1; i < n; i++) { for (j = 0; j < n - 1; j++) { w[i][j] = c[j] * 2; m[i][j] = w[i - 1][j + 1]; }"
        " d[i] = m[i - 1][0]; }",
        "3 regions, parallel over i, j; i, j; i",
    ),
}
WHOLE = {
    "a cycle": "for (i = 1; i < n; i++) { a[i] = b[i - 1]; b[i] = a[i] + 1; }",
    "a mirror": "for (i = 0; i < n; i++) { a[i] = b[i]; d[i] = a[n - 1 - i]; }",
    "a scalar that both read": "for (i = 1; i < n; i++) { float t = b[i]; a[i] = t; d[i] = a[i - 1] + t; }",
    "places that data knows": "for (i = 1; i < n; i++) { a[k[i]] = b[i]; d[i] = a[i]; }",
    "one element of all": "for (i = 0; i < n; i++) { a[0] = b[i]; d[i] = a[0]; }",
}
QUICK = ("written in front of what reads it", "two sums in one loop")


@pytest.mark.parametrize("name", PARTED)
def test_a_note_says_what_was_parted(name: str) -> None:
    body, parts = PARTED[name]
    _, (said,) = read(scop(body), "scop")
    assert said.code == "CF1119"
    assert said.message.endswith(f"becomes {parts}")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PARTED]
)
def test_the_parts_compute_what_the_file_computes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(scop(PARTED[name][0]), encoding="utf-8")
    report = verify(compile_file(path, Options(registers="estimate", pragma="scop")), points=2, run=True)
    assert report.holds
    assert report.runs
    assert sum(run.runs for run in report.runs) > 0


@pytest.mark.parametrize("name", WHOLE)
def test_statements_that_need_each_other_stay_together(name: str) -> None:
    assert "CF1119" not in [said.code for said in read(scop(WHOLE[name]), "scop")[1]]


def test_a_serial_loop_whose_work_is_in_regions_stays_whole() -> None:
    body = "for (i = 1; i < n; i++) { for (j = 0; j < n; j++) { a[j] += m[i][j]; w[i][j] = a[j]; } }"
    program, said = read(scop(body), "scop")
    assert not said
    assert len(program.functions[0].regions) == 1


def test_a_loop_that_is_said_to_be_serial_stays_so_in_its_part() -> None:
    part = "for (j = 0; j < n; j++) c[j] = c[j] + m[i][j] * a[i];"
    loop = f"#pragma acc kernels\nfor (i = 0; i < n; i++) {{ a[i] = b[i]; %s\n{part} }}\n"
    texts = [f"void f({MATRICES})\n{{ int i, j;\n{loop % seq} }}\n" for seq in ("", "\n#pragma acc loop seq")]
    said = [[d.code for d in read(text, "acc")[1]] for text in texts]
    assert said[0] == ["CF1119"]
    assert "CF1119" not in said[1]
