"""Names of array types: the arrays that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive import verification
from comprehensive.driver import Options, compile_file
from comprehensive.metafork.printer import print_stmts
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.unit.metafork.trees import parse_text

TYPES = "typedef float real;\ntypedef real vec[3];\ntypedef vec mat[2];\n"
HEAD = "void f(int n, const vec *a, vec b[n], const mat m, float *y)\n"
AS_ARRAYS = "void f(int n, const float (*a)[3], float b[n][3], const float m[2][3], float *y)\n"
REGION = "{{ meta_schedule block(8) {{ meta_for (int i = 0; i < n; i++) {{ {} }} }} }}\n"

USES = {
    "b[i][1] = a[i][0];": "b[i][1] = a[i][0];",
    "vec d, e = {1, 2}; d[0] = m[1][2]; y[i] = d[0] + e[1];": (
        "float d[3], e[3] = {1, 2}; d[0] = m[1][2]; y[i] = d[0] + e[1];"
    ),
    "mat t; t[1][2] = i; const real *r = t[1]; y[i] = r[2];": (
        "float t[2][3]; t[1][2] = i; const float *r = t[1]; y[i] = r[2];"
    ),
    "vec d[4]; d[3][0] = 1; y[i] = d[3][0];": "float d[4][3]; d[3][0] = 1; y[i] = d[3][0];",
}


@pytest.mark.parametrize("use", USES)
def test_the_name_of_an_array_type_is_the_array(use: str) -> None:
    def printed(head: str, body: str) -> str:
        program, sink = parse_text(head + REGION.format(body))
        assert not sink.has_errors, sink.diagnostics
        return print_stmts(program.functions[0].regions[0].body)

    assert printed(TYPES + HEAD, use) == printed(AS_ARRAYS, USES[use])
    ours, theirs = (
        parse_text(h + REGION.format("y[i] = 1;"))[0].functions[0] for h in (TYPES + HEAD, AS_ARRAYS)
    )
    assert [(p.name, p.type, p.const, p.dims) for p in ours.parameters] == [
        (p.name, p.type, p.const, p.dims) for p in theirs.parameters
    ]


def test_programs_compute_what_the_serial_c_does(tmp_path: Path) -> None:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    path = tmp_path / "rotate.mf"
    path.write_text(
        TYPES
        + "static real dot(const vec a, const vec b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }\n"
        + "typedef struct { vec at; real m; } body;\n"
        + "void f(int n, const mat m, const vec *a, vec b[n], body *p)\n"
        + REGION.format(
            "vec d; for (int k = 0; k < 3; k++) d[k] = a[i][k] - p[i].at[k]; "
            "for (int k = 0; k < 2; k++) b[i][k] = dot(m[k], d); p[i].m = d[2];"
        )
    )
    report = verification.verify(compile_file(path, Options(registers="estimate")), points=3, run=True)
    assert report.holds


def test_a_variable_may_have_the_name() -> None:
    text = "typedef float v[3];\nvoid f(int n, float *y)\n" + REGION.format("float v = i; y[i] = v * v;")
    assert not parse_text(text)[1].has_errors
