"""Macros on the command line: -D, -U and -I as of a C compiler, beside the values that -D gives to parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli

TEXT = """#include "sizes.h"
#ifdef DOUBLE
typedef int unused;
#define REAL double
#else
#define REAL float
#endif
void f(int n, int B, REAL a[N * 8], REAL c[N * 8])
{
  int dim = n / B;
  assert(n <= N * 8);
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int j = 0; j < B; j++)
        c[i * B + j] = TWICE(a[i * B + j]);
  }
}
"""
HEADER = "#ifndef N\n#define N 16\n#endif\n#define TWICE(x) (2 * (x))\n"


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sizes.h").write_text(HEADER)
    (tmp_path / "f.mf").write_text(TEXT)
    return str(tmp_path / "f.mf")


def run(command: str, source: str, *arguments: str) -> Result:
    include = str(Path(source).parent / "include")
    return CliRunner().invoke(cli, [command, source, "-I", include, "--registers", "estimate", *arguments])


def test_what_is_generated_depends_on_macros_and_says_so(source: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run("gen", source, "-o", str(out), "-MD", "-D", "DOUBLE", "-DN=32", "--json")
    assert result.exit_code == 0, result.output
    # The compilers of the machine have read it with the header of the program.
    assert set(json.loads(result.stdout)["verified"]) <= {"f.h", "f.cu"}
    assert "const double *a" in (out / "f.h").read_text()
    written = (out / "f.cu").read_text()
    assert "#undef DOUBLE\n#define DOUBLE 1\n#undef N\n#define N 32\n" in written
    assert "n <= 32 * 8" in written
    assert "sizes.h" in (out / "f.d").read_text()
    digest = json.loads((out / "f.json").read_text())["source"]
    run("gen", source, "-o", str(out), "-D", "N=64", "--no-verify")
    assert json.loads((out / "f.json").read_text())["source"] != digest
    assert "#undef DOUBLE\n" in (out / "f.cu").read_text()


def test_check_runs_the_serial_c_with_the_same_macros(source: str) -> None:
    result = run("check", source, "-D", "N=4", "-U", "DOUBLE", "--points", "3")
    assert result.exit_code == 0, result.output
    assert "fails" not in result.stdout


def test_a_value_of_a_parameter_is_no_macro(source: str) -> None:
    result = run("explain", source, "-D", "B=16", "-D", "N=4")
    assert result.exit_code == 0, result.output
    assert "B = 16" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-D", "n="), "-D n="),
        (("-D", "UNKNOWN=3"), "no region has a parameter UNKNOWN"),
        (("-D", "N=3", "-D", "N=4"), "another definition"),
        (("-D", "N=3", "-U", "N"), "give one of the two"),
        (("-U", "3"), "expected a name"),
    ],
)
def test_what_is_neither_value_nor_macro_is_refused(
    source: str, arguments: tuple[str, ...], words: str
) -> None:
    result = run("explain", source, *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


def test_a_header_that_is_not_found_is_named_where_its_names_are_missed(source: str) -> None:
    result = CliRunner().invoke(cli, ["gen", source])
    assert result.exit_code == 1
    assert "'sizes.h'" in result.stderr
