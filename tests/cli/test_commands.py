"""Every command does what its help says, with data on stdout, the rest on stderr, and the documented exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.algebra import System
from comprehensive.cli import cli
from comprehensive.data import spec_directory
from comprehensive.loops import compile_python
from comprehensive.toolchain.usage import Usage

MATADD = str(spec_directory() / "matadd.mf")
REVERSE = str(spec_directory() / "reverse.mf")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_gen_writes_what_the_readme_promises(tmp_path: Path) -> None:
    result = run("gen", MATADD, "-o", str(tmp_path), "--registers", "estimate", "-MD")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    names = {path.name for path in tmp_path.iterdir()}
    assert {
        "matadd.h",
        "matadd.cu",
        "matadd.json",
        "matadd.tree.json",
        "matadd.d",
        "matadd.leaf0.mf",
    } <= names
    manifest = json.loads((tmp_path / "matadd.json").read_text())
    assert manifest["schema"] == 3
    sources = {c["source"] for c in manifest["functions"][0]["regions"][0]["leaves"][0]["counters"]}
    assert sources == {"exact", "estimate"}
    assert "-L<cuda>/lib64 -lcudart" in (tmp_path / "matadd.h").read_text()
    rule = (tmp_path / "matadd.d").read_text()
    assert MATADD in rule
    assert "metafork.lark" in rule


@pytest.mark.parametrize(
    "command", [("gen", "--emit", "ast"), ("tree",), ("explain", "-D", "B0=64"), ("check", "--no-run")]
)
def test_commands_take_c_with_directives(tmp_path: Path, command: tuple[str, ...]) -> None:
    source = tmp_path / "twice.c"
    loop = "for (int i = 0; i < n; i++)\n    a[i] = 2 * a[i];"
    source.write_text(f"void twice(int n, float *a)\n{{\n#pragma omp parallel for\n  {loop}\n}}\n")
    name, *more = command
    result = run(name, str(source), "--registers", "estimate", "--pragma", "omp", *more)
    assert result.exit_code == 0, result.output
    assert "twice" in result.stdout
    without = run(name, str(source), "--registers", "estimate", *more)
    assert without.exit_code == 1
    assert "--pragma omp" in without.stderr


def test_gen_writes_into_the_current_directory_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("gen", MATADD, "--registers", "estimate").exit_code == 0
    assert (tmp_path / "matadd.h").is_file()
    assert "the current directory" in " ".join(run("gen", "--help").stdout.split())


def test_gen_a_second_time_changes_nothing(tmp_path: Path) -> None:
    options = ("-o", str(tmp_path), "--registers", "estimate", "--json")
    first = json.loads(run("gen", MATADD, *options).stdout)
    second = json.loads(run("gen", MATADD, *options).stdout)
    assert first["changed"] == first["files"]
    assert second["changed"] == []


@pytest.mark.parametrize("stage", ["ast", "nest", "kernel"])
def test_gen_prints_a_stage_on_request_and_writes_nothing(tmp_path: Path, stage: str) -> None:
    result = run("gen", MATADD, "-o", str(tmp_path / "out"), "--registers", "estimate", "--emit", stage)
    assert result.exit_code == 0
    assert result.stdout.strip()
    assert not (tmp_path / "out").exists()


def test_tree_prints_text_and_json() -> None:
    text = run("tree", MATADD, "--registers", "estimate")
    assert "leaf 0 where B0*B1 <= T_B" in text.stdout
    document = json.loads(run("tree", MATADD, "--registers", "estimate", "--json").stdout)
    assert document["schema"] == 2
    assert document["regions"][0]["name"] == "matadd"


def test_tree_shows_why_branches_died_only_on_request() -> None:
    assert "contradict" not in run("tree", MATADD, "--registers", "estimate").stdout
    assert "contradict" in run("tree", MATADD, "--registers", "estimate", "--pruned").stdout


def test_tree_draws_with_ascii_on_request() -> None:
    assert run("tree", MATADD, "--registers", "estimate", "--ascii").stdout.isascii()


def test_explain_names_the_leaf_that_runs_and_the_numbers_that_keep_others_out() -> None:
    result = run(
        "explain", MATADD, "--registers", "estimate", "-D", "B0=16", "-D", "B1=16", "--device", "sm_90"
    )
    assert result.exit_code == 0, result.output
    assert "leaf 0 runs" in result.stdout
    assert "B0*B1 <= T_B: 256 <= 1024" in result.stdout
    assert "is false" in result.stdout


def test_explain_tells_of_one_register_tile_by_its_number_behind_those_of_the_leaves() -> None:
    """The addition has two leaves and two register tiles."""
    result = run("explain", MATADD, "--registers", "estimate", "--device", "sm_90", "--leaf", "2")
    assert result.exit_code == 0, result.output
    cases = [line.strip().split(",")[0] for line in result.stdout.splitlines() if line.startswith("  ")]
    assert cases[0] == "register tile 1 fits"
    assert not any(case.startswith(("leaf", "register tile 2", "dead end")) for case in cases)


def test_explain_says_where_sizes_of_tiles_were_measured_if_that_is_another_architecture() -> None:
    words = ("-D", "B0=16", "-D", "B1=16", "-D", "N=1024", "--registers", "estimate", "--device")
    said = "sizes of tiles were measured on sm_90: here others may be faster"
    assert [said in run("explain", MATADD, *words, each).stdout for each in ("h200", "a100")] == [False, True]


def test_explain_says_what_is_open_when_parameters_are_missing() -> None:
    result = run("explain", MATADD, "--registers", "estimate", "-D", "B0=16")
    assert "leaf 0 if" in result.stdout
    assert "16*B1 <= 1024" in result.stdout


def test_explain_asks_for_sizes_and_for_parameters_only_where_one_is_given() -> None:
    """The launcher chooses B0 and B1 where a caller gives neither."""
    asked = "for a ranking give a value to "
    given = {(): f"{asked}N\n", ("-D", "B0=16"): f"{asked}N, B1\n"}
    for values, line in given.items():
        assert line in run("explain", MATADD, "--registers", "estimate", *values).stdout
    assert asked not in run("explain", MATADD, "--registers", "estimate", "-D", "N=64").stdout


def test_explain_names_the_loops_of_which_data_decides_the_turns() -> None:
    source = str(Path(__file__).parents[1] / "golden/programs/data_bounds.mf")
    result = run("explain", source, "--registers", "estimate", "--device", "h200", "-D", "n=4096")
    assert "as if the loop of line 7, which data ends, had 8 turns" in result.stdout
    result = run("explain", source, "--registers", "estimate", "--device", "h200", "-D", "n=4096", "--json")
    assert json.loads(result.stdout)["regions"][0]["assumed_turns"] == [{"line": 7, "turns": 8}]
    assert "which data ends" not in run("explain", MATADD, "--registers", "estimate", "-D", "N=64").stdout


@pytest.mark.parametrize(
    ("options", "counted"),
    [
        (("--device", "sm_100"), "ptxas sm_100"),
        (("--device", "sm_100", "--arch", "sm_90"), "ptxas sm_90"),
        (("--device", "h200"), "ptxas sm_90"),
        (("--device", "sm_100", "--registers", "estimate"), "estimate"),
    ],
)
def test_explain_counts_registers_for_the_device_and_says_by_what(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], counted: str
) -> None:
    monkeypatch.setattr(
        "comprehensive.driver.register_compiler",
        lambda *_, **__: lambda _: Usage("kernel", "sm_90", 20, 0, 0, 0, 0, 0),
    )
    result = run("explain", MATADD, *options)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].endswith(f"; register counts: {counted}")
    regions = json.loads(run("explain", MATADD, *options, "--json").stdout)["regions"]
    assert [region["registers"] for region in regions] == [counted]


@pytest.mark.parametrize(("threads", "warned"), [(1024, False), (1025, True), (2048, True)])
def test_gen_warns_of_a_block_that_no_device_admits(tmp_path: Path, threads: int, warned: bool) -> None:
    source = tmp_path / "big.mf"
    source.write_text(
        f"void f(int n, float a[n]) {{ int dim = n / {threads}; meta_schedule {{\n"
        f"  meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < {threads}; u++)\n"
        f"    a[v*{threads} + u] = 1; }} }}\n"
    )
    arguments = ("gen", str(source), "-o", str(tmp_path / "out"), "--registers", "estimate")
    result = run(*arguments)
    assert result.exit_code == 0
    assert ("[CF0602]" in result.stderr) == warned
    said = f"{threads} <= T_B, but the largest T_B (threads of one thread block) is 1024"
    assert (said in result.stderr) == warned
    assert run(*arguments, "-Werror").exit_code == warned


def test_explain_refuses_too_large_a_block() -> None:
    result = run("explain", MATADD, "--registers", "estimate", "-D", "B0=64", "-D", "B1=64", "--json")
    cases = json.loads(result.stdout)["regions"][0]["cases"]
    leaves = [case["kind"] for case in cases if case["applies"] and case["kind"] != "register tile"]
    assert leaves == ["dead end"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("-D", "C7=1"), "CF0701"),
        (("-D", "B0=0"), "CF0702"),
        (("-D", "B0=99999999999999999999999"), "CF0704"),
        (("-D", "B0=2147483648"), "CF0704"),
        (("--leaf", "99"), "CF0703"),
        (("--device", "sm_1"), "CF0801"),
    ],
)
def test_explain_reports_values_that_make_no_sense(arguments: tuple[str, ...], code: str) -> None:
    result = run("explain", MATADD, "--registers", "estimate", *arguments)
    assert result.exit_code == 2
    assert f"[{code}]" in result.output


def test_explain_refuses_a_value_that_host_code_computes_otherwise() -> None:
    values = ("explain", REVERSE, "--registers", "estimate", "-D", "n=64", "-D", "B=16", "-D", "s=2")
    assert run(*values, "-D", "dim=2").exit_code == 0
    refused = run(*values, "-D", "dim=3")
    assert refused.exit_code == 2
    assert "dim = 3, but host code computes 2 from the other values [CF0705]" in refused.output
    assert run(*values[:-2], "-D", "dim=3").exit_code == 0


def test_check_verifies_definition_2_and_runs_the_emitted_code() -> None:
    result = run("check", REVERSE, "--registers", "estimate", "--points", "4")
    assert result.exit_code == 0, result.output
    for condition in (
        "legality",
        "pruning",
        "(i) constraint",
        "(ii) code",
        "(iii) coverage",
        "(iv) optimality",
    ):
        assert f"ok   {condition}" in result.stdout
    assert "4 of 4 points equal" in result.stdout
    assert result.stdout.endswith("all 10 statements hold\n")


GATHER = """void gather(int n, int idx[n], const float *x, float y[n], int B)
{
  int dim = n / B;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++) y[i*B + u] = x[idx[i*B + u]];
  }
}
void twice(int n, float y[n], int B)
{
  int dim = n / B;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++) y[i*B + u] = 2 * y[i*B + u];
  }
}
"""


def test_check_counts_what_it_could_not_check_and_runs_the_rest(tmp_path: Path) -> None:
    source = tmp_path / "gather.mf"
    source.write_text(GATHER, encoding="utf-8")
    arguments = ("check", str(source), "--registers", "estimate", "--points", "3")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    reason = "not checked: the size of a buffer depends on data: idx[i*B + u]"
    assert f"--   (ii) code soundness: {reason}" in result.stdout
    assert "ok   gather leaf 0: 3 of 3 points equal" in result.stdout
    assert "ok   twice leaf 0: 3 of 3 points equal" in result.stdout
    assert result.stdout.endswith("nothing fails, but 1 of 19 statements were not checked\n")
    strict = run(*arguments, "-Werror", "--json")
    assert strict.exit_code == 1
    assert "1 statements were not checked [-Werror]" in strict.stderr
    document = json.loads(strict.stdout)
    assert (document["holds"], document["not_checked"]) == (True, 1)
    assert [(r["state"], r["tile"]) for r in document["runs"] if r["region"] == "twice"] == [
        ("holds", 0),
        ("holds", 1),
        ("holds", 2),
    ]


def test_check_shows_what_indices_that_occur_twice_do(tmp_path: Path) -> None:
    source = tmp_path / "scatter.mf"
    source.write_text(
        "void scatter(int n, const int p[n], const float a[n], float y[n], int B)\n{\n"
        "  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[p[i]] = a[i]; }\n}\n"
    )
    arguments = ("check", str(source), "--registers", "estimate", "--points", "4")
    trusted = run(*arguments)
    assert trusted.exit_code == 0, trusted.output
    assert "data: no index occurs twice in 'p', which is assumed" in trusted.stdout
    assert "4 of 4 points equal" in trusted.stdout
    broken = run(*arguments, "--duplicates", "--json")
    assert broken.exit_code == 1
    document = json.loads(broken.stdout)
    assert (document["holds"], document["duplicates"], document["indices"]) == (False, True, ["p"])
    assert all(run["state"] == "fails" for run in document["runs"])
    legality = document["regions"][0]["conditions"][0]
    assert legality["state"] == "fails"
    assert legality["failures"][0].startswith("backwards y[")


def test_check_says_what_the_c_compiler_does_not_know(tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text(
        "void f(int n, float a[n], int B)\n{\n  int dim = n / B;\n  float scale = 2 * missing;\n"
        "  meta_schedule {\n    meta_for (int v = 0; v < dim; v++)\n"
        "      meta_for (int u = 0; u < B; u++)\n        a[v * B + u] *= scale;\n  }\n}\n",
        encoding="utf-8",
    )
    done = run("check", str(source), "--registers", "estimate", "--points", "2")
    assert done.exit_code == 1
    assert f"{source}:4:21: error: the C compiler rejects the source" in done.stderr
    assert "missing" in done.stderr
    assert "CF0707" in done.stderr


def test_check_says_which_conditions_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    from comprehensive.optimize.definition2 import ConstraintSoundness, Coverage, Gap, Overlap

    def answer(check: str, found: object) -> None:
        def fixed(*_: object) -> object:
            return found

        monkeypatch.setattr(f"comprehensive.verification.{check}", fixed)

    overlap = Overlap("leaf 0", "leaf 1", None)
    answer("constraint_soundness", ConstraintSoundness((0,), (), (1,)))
    answer("coverage", Coverage(None, (overlap,), (), ("whether leaves and dead ends fill the space",)))
    arguments = ("check", REVERSE, "--registers", "estimate", "--points", "1", "--no-run")
    result = run(*arguments)
    assert result.exit_code == 0
    assert (
        "--   (i) constraint soundness: not checked: undecided whether any point reaches leaf 1"
        in result.stdout
    )
    assert "whether leaves and dead ends fill the space; whether leaf 0 and leaf 1 overlap" in result.stdout
    answer("coverage", Coverage((Gap(System(), None),), (), (), ()))
    result = run(*arguments)
    assert result.exit_code == 1
    assert "FAIL (iii) coverage" in result.stdout
    assert "1 of 6 statements FAIL, 1 were not checked" in result.stdout


def test_check_does_not_call_ok_what_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_python, "MOST_TURNS", 1000)
    source = tmp_path / "endless.mf"
    source.write_text(
        "void f(int n, int B, float a[n]) { int dim = n / B; meta_schedule {\n"
        "  meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++) {\n"
        "    a[v*B + u] = 1;\n"
        "    while (1) {}\n"
        "  } } }\n"
    )
    arguments = ("check", str(source), "--registers", "estimate", "--points", "4")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert f"--   (ii) code soundness: not checked: {source}:4:5: this loop has not ended" in result.stdout
    assert f"--   f leaf 0: not checked: {source}:4:5: this loop has not ended" in result.stdout
    assert run(*arguments, "-Werror").exit_code == 1


def test_check_gives_an_array_with_an_open_extent_the_rows_that_it_needs(tmp_path: Path) -> None:
    source = tmp_path / "rows.mf"
    source.write_text(
        "void f(int n, int B, const float a[][n], float b[n]) { int dim = n / B; meta_schedule {\n"
        "  meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++)\n"
        "    b[v*B + u] = a[v*B + u][1] + a[v*B + u][0]; } }\n"
    )
    source.write_text(source.read_text().replace("int dim", "assert(n > 1); int dim"))
    source.write_text("#include <assert.h>\n" + source.read_text())
    result = run("check", str(source), "--registers", "estimate", "--points", "4")
    assert result.exit_code == 0, result.output


def test_devices_lists_all_and_describes_one() -> None:
    assert "sm_75" in run("devices").stdout
    assert "Z_B" in run("devices", "sm_90").stdout
    assert json.loads(run("devices", "sm_90", "--json").stdout)["devices"][0]["parameters"]["T_B"] == 1024


def test_doctor_says_where_each_tool_was_looked_for() -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "nvcc" in result.stdout
    names = {tool["name"] for tool in json.loads(run("doctor", "--json").stdout)["tools"]}
    assert {"nvcc", "ptxas", "C compiler", "z3-solver"} <= names


def test_a_tool_that_is_asked_for_and_missing_is_exit_code_3(tmp_path: Path) -> None:
    result = run("gen", MATADD, "-o", str(tmp_path), "--registers", "ptxas", "--cuda-path", str(tmp_path))
    assert result.exit_code == 3
    assert "nvcc" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("gen",),
        ("nonsense",),
        ("gen", MATADD, "--registers", "guess"),
        ("explain", MATADD, "-D", "B0"),
        ("explain", MATADD, "-D", "B0=--4"),
        ("explain", MATADD, "-D", "B0=4", "-D", "B0=5"),
        ("gen", MATADD, "-Wall"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize(
    "arguments", [("tree", MATADD, "--arch", "sm_12"), ("gen", MATADD, "--ptx", "nonsense", "--json")]
)
def test_a_mistyped_architecture_is_a_wrong_command_line_with_the_known_ones(
    arguments: tuple[str, ...],
) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "[CF0808]" in result.stderr
    assert "sm_90" in result.stderr


def test_a_bug_is_exit_code_70_with_a_reproducer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("comprehensive.driver.compile_file", broken)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(sys, "argv", ["comprehensive", "gen", MATADD])
    result = run("gen", MATADD)
    assert result.exit_code == 70
    (reproducer,) = tmp_path.glob("comprehensive-crash-*")
    assert "boom" in (reproducer / "report.txt").read_text()
    assert (reproducer / "matadd.mf").is_file()


def test_errors_come_as_json_on_request(tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text("void f(int n) { }")
    result = run("gen", str(source), "--json")
    assert result.exit_code == 1
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["severity"] == "error"


def test_colour_is_never_written_to_a_pipe(tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text("void f(int n) { }")
    answer = subprocess.run(
        [sys.executable, "-m", "comprehensive", "gen", str(source)],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=False,
    )
    assert "\x1b" not in answer.stderr


def test_check_says_that_a_race_of_scattered_stores_is_not_excluded(tmp_path: Path) -> None:
    source = tmp_path / "hist.mf"
    source.write_text(
        "#include <stdio.h>\nvoid f(int n, int B, const int v[n], int h[n]) { int dim = n / B;\n"
        '  printf("done %d\\n", n);\n'
        "  meta_schedule { meta_for (int i = 0; i < dim; i++) meta_for (int u = 0; u < B; u++)\n"
        "    h[v[i*B + u]] = i; } }\n"
    )
    result = run("check", str(source), "--registers", "estimate", "--points", "5", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert "done" not in result.stdout
    legality = document["regions"][0]["conditions"][0]
    assert (legality["name"], legality["state"]) == ("legality", "not checked")
    assert "depends on data" in legality["evidence"]
