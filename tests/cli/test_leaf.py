"""`tree --leaf`: what a leaf admits, as loops and as a list, and what is said to those who ask wrongly."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from comprehensive import cli
from comprehensive.data import spec_directory
from comprehensive.driver import Compilation, Options
from comprehensive.leaf_parameters import domain
from comprehensive.optimize.tree import leaf_for
from tests.compiled_specs import compiled
from tests.schemas import schema_faults

JACOBI = spec_directory() / "jacobi1d.mf"
ESTIMATE = ("--registers", "estimate")


@pytest.fixture(scope="module", name="compilation")
def _compilation() -> Compilation:
    return compiled("jacobi1d")


@pytest.fixture(autouse=True)
def _compiled_once(monkeypatch: pytest.MonkeyPatch, compilation: Compilation) -> None:  # pyright: ignore[reportUnusedFunction]
    def once(source: Path, options: Options) -> Compilation:
        assert (source, options.registers) == (JACOBI, "estimate")
        return compilation

    monkeypatch.setattr("comprehensive.cli.tree.compile_source", once)


def leaf(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, ["tree", str(JACOBI), *ESTIMATE, *arguments])


def document(*arguments: str) -> Any:
    result = leaf(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_points_are_those_at_which_the_tree_takes_the_leaf(compilation: Compilation) -> None:
    found = document("--leaf", "2", "--points", "B=multiples:32:1200", "--points", "s=1:9", "-D", "Z_B=1000")
    assert schema_faults("points", found) == []
    (region,) = found["regions"]
    assert (region["name"], region["leaf"], region["names"]) == ("jacobi1d", 2, ["B", "s"])
    assert region["values"] == {"R_B": 255, "T_B": 1024, "Z_B": 1000}
    (tree,) = compilation.trees
    machine = {"R_B": 255, "T_B": 1024, "Z_B": 1000}
    expected = [
        [B, s]
        for B, s in product(range(32, 1201, 32), range(1, 10))
        if leaf_for(tree, {**machine, "B": B, "s": s}) is tree.leaves[2]
    ]
    assert region["points"] == expected
    assert 0 < len(expected) < 37 * 9


def test_points_as_text_are_a_table_with_their_count() -> None:
    result = leaf("--leaf", "0", "--points", "B=powers_of_two:64", "-D", "s=3", "-D", "Z_B=100")
    assert result.exit_code == 0, result.output
    heading, *lines = result.stdout.splitlines()
    assert heading == (
        "jacobi1d, leaf 0 where B <= T_B, 2*s*B + 2 <= Z_B, 28 <= R_B; R_B = 255, T_B = 1024, Z_B = 100, s = 3"
    )
    assert lines == [" B", " 1", " 2", " 4", " 8", "16", "5 points"]
    assert leaf("--leaf", "0", "--points", "B=64:65", "-D", "s=9", "-D", "Z_B=9").stdout.endswith(
        "B\n0 points\n"
    )


def test_loops_are_symbolic_unless_values_are_given() -> None:
    symbolic = leaf("--leaf", "0", "--loops")
    assert symbolic.exit_code == 0, symbolic.output
    assert symbolic.stdout == (
        "jacobi1d, leaf 0 where B <= T_B, 2*s*B + 2 <= Z_B, 28 <= R_B\n"
        "/* all s, B for given R_B, T_B, Z_B */\n"
        "if (28 <= R_B && 1 <= T_B && 4 <= Z_B)\n"
        "  for (s = 1; 2*s <= Z_B - 2; s++)\n"
        "    for (B = 1; B <= T_B && 2*s*B <= Z_B - 2; B++)\n"
        "      point(s, B);\n"
    )
    found = document("--leaf", "0", "--loops", "--device", "sm_90", "-D", "s=4")
    assert schema_faults("loops", found) == []
    (region,) = found["regions"]
    assert (region["order"], region["parameters"], region["values"]["Z_B"]) == (["B"], [], 58112)
    assert region["uncovered"] == []


def test_a_loop_without_end_says_so() -> None:
    text = leaf("--leaf", "2", "--loops", "--device", "sm_90").stdout
    assert "/* no bound on s from above */\n" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loops",), "go with --leaf NUMBER"),
        (("--points", "B=1:4"), "go with --leaf NUMBER"),
        (("--leaf", "0"), "add either --loops or --points"),
        (("--leaf", "0", "--loops", "--points", "B=1:4"), "add either --loops or --points"),
        (("--leaf", "0", "--loops", "--region", "B"), "do not go with --leaf"),
        (("--leaf", "0", "--loops", "--format", "svg"), "--format svg does not go with --leaf"),
        (("--leaf", "0", "--points", "B"), "expected LOW:HIGH"),
        (("--leaf", "0", "--points", "B=1:4", "--points", "B=1:4"), "each name once"),
        (("--leaf", "0", "--points", "B=primes:9"), "expected LOW:HIGH, powers_of_two:LIMIT"),
        (("--leaf", "0", "--points", "B=4:1"), "there is no such value"),
        (("--leaf", "0", "--points", "B=divisors:0"), "expected LOW:HIGH"),
        (("--leaf", "0", "--points", "B=1:4", "-D", "B=2"), "cannot have --points"),
        (("--leaf", "9", "--loops"), "there is no leaf 9 [CF0703]"),
        (("--leaf", "-1", "--loops"), "there is no leaf -1 [CF0703]"),
        (("--leaf", "0", "--points", "Q=1:4"), "[CF0701]"),
        (("--leaf", "0", "--points", "a=1:4"), "[CF0701]"),
        (("--leaf", "0", "--points", "B=1:4"), "leaf 0 of jacobi1d also depends on s [CF0706]"),
        (("--leaf", "0", "--points", "B=1:4", "-D", "s=0"), "[CF0702]"),
        (("--leaf", "0", "--points", "B=1:4", "-D", "s=3/2"), "[CF0704]"),
        (("--leaf", "0", "--loops", "--device", "sm_1"), "[CF0801]"),
    ],
)
def test_wrong_questions_are_exit_code_2(arguments: tuple[str, ...], words: str) -> None:
    result = leaf(*arguments)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_domains() -> None:
    assert [*domain("3:5")] == [3, 4, 5]
    assert [*domain("powers_of_two:9")] == [1, 2, 4, 8]
    assert [*domain("multiples:4:9")] == [4, 8]
    assert [*domain("divisors:6")] == [1, 2, 3, 6]
    for text in (
        "",
        "4",
        "1:2:3",
        "multiples:0:4",
        "multiples:4",
        "divisors:6:7",
        "a:b",
        "1:99999999999999999999",
    ):
        with pytest.raises(ValueError, match="expected"):
            domain(text)
