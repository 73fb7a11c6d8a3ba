"""`tree --region`: where in the space of parameters which leaf runs, and what is said to those who ask wrongly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner, Result

from comprehensive import cli
from comprehensive.algebra import Polynomial
from comprehensive.data import spec_directory
from comprehensive.driver import Compilation, Options
from comprehensive.loops.ir import Variant
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.protocols import Kind
from comprehensive.optimize.tree import DeadEnd, Tree, leaf_for
from comprehensive.records import replace
from comprehensive.watch import UNWATCHED, Watch
from tests.compiled_specs import OPTIONS as ESTIMATED
from tests.compiled_specs import compiled
from tests.schemas import schema_faults
from tests.unit.optimize.bits import BitCounter, BitStrategy, problem_of, zeros

TRANSPOSE = str(spec_directory() / "transpose.mf")
JACOBI = str(spec_directory() / "jacobi1d.mf")
ESTIMATE = ("--registers", "estimate")
LIMITS = {"R_B": 255, "T_B": 1024, "Z_B": 58112}


@pytest.fixture(scope="module", autouse=True)
def _each_source_is_compiled_once() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    def once(source: Path, options: Options, _watch: Watch = UNWATCHED) -> Compilation:
        assert (
            replace(options, arch=ESTIMATED.arch) == ESTIMATED
        )  # of estimates, every architecture has the same
        return compiled(source.stem)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("comprehensive.cli.tree.compile_source", once)
        yield


def region(source: str, names: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, ["tree", source, *ESTIMATE, "--region", names, *arguments])


def test_thresholds_of_one_parameter() -> None:
    result = region(JACOBI, "Z_B", "-D", "B=64", "-D", "s=4")
    assert result.exit_code == 0, result.output
    assert "jacobi1d on sm_90: B = 64, R_B = 255, T_B = 1024, s = 4" in result.stdout
    assert "at Z_B = 514, where 2*s*B + 2 = Z_B\n     leaf 2 below, leaf 0 there" in result.stdout


def test_json_of_a_plane_agrees_with_the_tree() -> None:
    result = region(
        TRANSPOSE, "B0,B1", "-D", "s=60", "-D", "N=4096", "--range", "B1=1:64", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    (document,) = json.loads(result.stdout)["regions"]
    assert document["title"] == "transpose on sm_90"
    assert document["values"] == {**LIMITS, "s": 60}
    plane = document["plane"]
    assert (plane["symbols"], plane["columns"][-1]["high"]["value"]) == (["B0", "B1"], "2048")
    (tree,) = compiled("transpose").trees
    areas = 0
    for column in plane["columns"]:
        for cell in column["cells"]:
            if any("value" not in number for number in cell["sample"]):
                continue
            x, y = (Fraction(number["value"]) for number in cell["sample"])
            case = leaf_for(tree, {**LIMITS, "s": 60, "B0": x, "B1": y})
            kind = "dead end" if isinstance(case, DeadEnd) else "leaf"
            found = document["cases"][cell["case"]]
            assert (found["kind"], found["index"]) == (kind, case.index)
            areas += 1
    assert areas > 10


@pytest.mark.parametrize(
    ("source", "names", "arguments", "labels"),
    [
        (TRANSPOSE, "B0,B1", ("-D", "s=60", "-D", "N=4096"), ("s*B0*B1 = Z_B", "B0*B1 = T_B")),
        (JACOBI, "B,s", ("--device", "sm_75"), ("2*s*B + 2 = Z_B", "B = T_B")),
        (JACOBI, "B", ("-D", "s=4", "-D", "Z_B=1000"), ("B = 499/4: 2*s*B + 2 = Z_B",)),
    ],
)
def test_svg_is_one_picture_with_labelled_curves(
    source: str, names: str, arguments: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    result = region(source, names, *arguments, "--format", "svg")
    assert result.exit_code == 0, result.output
    words = [text.text for text in ET.fromstring(result.stdout).iter("{http://www.w3.org/2000/svg}text")]
    for label in labels:
        assert label.replace("499/4", "124.75") in words
    assert "leaf 0" in words
    assert any(word is not None and "; decisions (3a)" in word for word in words)
    assert region(source, names, *arguments, "--format", "svg").stdout == result.stdout


@pytest.mark.parametrize(
    ("names", "arguments", "code", "words"),
    [
        ("B,s,", (), 2, "one name or two"),
        ("B,s,N", (), 2, "one name or two"),
        ("B,B", (), 2, "must differ"),
        ("", (), 2, "one name or two"),
        ("B,s", ("-D", "B=4"), 2, "cannot have the value"),
        ("B,s", ("-D", "T=x"), 2, "expected NAME=NUMBER"),
        ("B,s", ("-D", "T=1/0"), 2, "expected NAME=NUMBER"),
        ("B,s", ("-D", "Z_B=1/2"), 2, "Z_B = 1/2 is no integer [CF0704]"),
        ("B", ("-D", "s=2.5"), 2, "s = 5/2 is no integer [CF0704]"),
        ("B,s", ("-D", "P_x=1/2"), 2, "[CF0701]"),
        ("B,s", ("--range", "B=4"), 2, "expected NAME=LOW:HIGH"),
        ("B,s", ("--range", "B=4:4"), 2, "expected NAME=LOW:HIGH"),
        ("B,s", ("--range", "N=1:4"), 2, "not the range of a parameter"),
        ("B,s", ("--format", "png"), 2, "'png' is not one of"),
        ("B,Q", (), 2, "[CF0701]"),
        ("B,a", (), 2, "[CF0701]"),
        ("B,s", ("-D", "Q=1"), 2, "[CF0701]"),
        ("B", ("-D", "s=0"), 2, "[CF0702]"),
        ("Z_B", (), 2, "the choice also depends on B, s [CF0706]"),
        ("B,s", ("--device", "sm_1"), 2, "[CF0801]"),
    ],
)
def test_wrong_questions_are_answered_with_what_is_wrong(
    names: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = region(JACOBI, names, *arguments)
    assert result.exit_code == code, result.output
    flat = " ".join(result.output.split())
    assert words in flat or words in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("options", "arch"),
    [((), "sm_90"), (("--device", "sm_100"), "sm_100"), (("--device", "h200", "--arch", "sm_80"), "sm_80")],
)
def test_registers_are_counted_for_the_device(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], arch: str
) -> None:
    asked: list[str] = []

    def compile_it(source: Path, options: Options) -> Compilation:
        asked.append(options.arch)
        return compiled(source.stem)

    monkeypatch.setattr("comprehensive.cli.tree.compile_source", compile_it)
    result = CliRunner().invoke(cli.cli, ["tree", JACOBI, "--region", "B,s", *options])
    assert result.exit_code == 0, result.output
    assert asked == [arch]


def with_a_share() -> Compilation:
    """`jacobi1d.mf` with another tree, that of a counter of words and of a performance counter."""
    B = Polynomial.symbol("B")
    counters = [
        BitCounter("words", "Z_B", 2, (2 * B, 0), (0, 0)),
        BitCounter("occupancy", "P_occ", 0, (0, B), (1, 0), Kind.PERFORMANCE),
    ]
    problem = problem_of(counters, [BitStrategy("smaller", ("words",), 0, on_ir=True)])
    grown = comprehensive_optimization(problem.initial(zeros(2)), problem)
    return replace(compiled("jacobi1d"), trees=(cast("Tree[Variant]", grown),))


def test_a_share_may_be_a_fraction(monkeypatch: pytest.MonkeyPatch) -> None:
    compilation = with_a_share()

    def compile_it(source: Path, options: Options) -> Compilation:
        return compilation

    monkeypatch.setattr("comprehensive.cli.tree.compile_source", compile_it)
    # The fragments of that tree are no variants of a nest.
    monkeypatch.setattr("comprehensive.parameter_space.describe_leaf", str)
    document = json.loads(region(JACOBI, "B", "-D", "P_occ=1/2", "--format", "json").stdout)
    assert document["regions"][0]["values"]["P_occ"] == "1/2"
    assert schema_faults("partition", document) == []
    assert "P_occ = 1/2" in region(JACOBI, "B", "-D", "P_occ=0.5").stdout
    assert "P_occ from 0 to 1\n" in region(JACOBI, "P_occ", "-D", "B=64").stdout
    refused = region(JACOBI, "B", "-D", "P_occ=3/2")
    assert refused.exit_code == 2
    assert "P_occ = 3/2 is no share [CF0704]" in refused.output


def test_errors_are_json_where_the_answer_is() -> None:
    result = region(JACOBI, "B,Q", "--format", "json")
    assert result.exit_code == 2
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["code"] == "CF0701"


@pytest.mark.parametrize(
    "arguments",
    [("-D", "B=1"), ("--range", "B=1:4"), ("--device", "sm_90"), ("--format", "svg", "-D", "B=1")],
)
def test_options_of_a_region_need_one(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli.cli, ["tree", JACOBI, *ESTIMATE, *arguments])
    assert result.exit_code == 2
    assert "go with --region" in " ".join(result.output.split())


@pytest.mark.slow
def test_a_picture_has_the_same_bytes_under_any_hash_seed() -> None:
    """Compare with the bytes of this process, whose seed is another one."""
    arguments = ["tree", JACOBI, *ESTIMATE, "--region", "B,s", "--format", "svg"]
    done = subprocess.run(
        [sys.executable, "-m", "comprehensive", *arguments],
        env={**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == CliRunner().invoke(cli.cli, arguments).stdout_bytes


@pytest.mark.parametrize(
    ("form", "begin"),
    [
        ("svg", "<svg "),
        ("dot", 'digraph "jacobi1d.mf" {'),
        ("mermaid", "flowchart LR"),
        ("smt2", "(set-info :smt-lib-version 2.6)"),
        ("latex", "% comprehensive tree jacobi1d.mf"),
    ],
)
def test_the_tree_itself_has_every_form(form: str, begin: str) -> None:
    arguments = ["tree", JACOBI, *ESTIMATE, "--format", form]
    once, again = (CliRunner().invoke(cli.cli, arguments) for _ in range(2))
    assert once.exit_code == 0, once.output
    assert once.stdout.startswith(begin)
    assert once.stdout == again.stdout


@pytest.mark.parametrize("form", ["dot", "mermaid", "smt2", "latex"])
def test_a_region_has_text_json_and_svg_only(form: str) -> None:
    result = region(JACOBI, "B", "-D", "s=1", "--format", form)
    assert result.exit_code == 2
    assert f"--format {form} does not go with --region, which has text, json, svg" in result.output
