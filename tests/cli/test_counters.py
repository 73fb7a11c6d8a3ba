"""``--counters``: performance in trees, explanations and headers, and what is said where a level is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from tests.unit.counters.programs import SMOOTH

ESTIMATE = ("--registers", "estimate")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    source = tmp_path / "smooth.mf"
    source.write_text(SMOOTH, encoding="utf-8")
    return source


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_a_counter_is_in_the_tree_only_where_it_is_asked_for(program: Path) -> None:
    without = invoke("tree", program, *ESTIMATE)
    assert without.exit_code == 0
    assert "P_" not in without.stdout
    with_intensity = invoke("tree", program, *ESTIMATE, "--counters", "intensity")
    assert with_intensity.exit_code == 0
    assert "intensity = 3/2*B/(B*O_W + O_W) [exact]" in with_intensity.stdout


def test_a_share_is_explained_with_the_speeds_of_a_device(program: Path) -> None:
    found = invoke(
        "explain",
        program,
        *ESTIMATE,
        "--counters",
        "intensity",
        "--device",
        "h200",
        "-D",
        "P_intensity=1/25",
        "-D",
        "B=256",
    )
    assert found.exit_code == 0
    assert "leaf 0 runs" in found.stdout
    slower = invoke(
        "explain", program, *ESTIMATE, "--counters", "intensity", "-D", "P_intensity=1/25", "-D", "B=256"
    )
    assert "dead end 0 applies" in slower.stdout  # an H100 does more operations for each word


def test_a_ranking_is_made_at_the_level_that_is_demanded(program: Path) -> None:
    arguments = ("explain", program, *ESTIMATE, "--counters", "intensity", "-D", "n=1000", "-D", "B=64")
    without = invoke(*arguments)
    assert without.exit_code == 0
    assert "for a ranking give a value to P_intensity\n" in without.stdout
    found = invoke(*arguments, "-D", "P_intensity=1/50")
    assert found.exit_code == 0
    assert re.search(r"expected cycles of a launch.*\bleaf 0: \d+", found.stdout, re.DOTALL)


def test_check_finds_machines_for_counters_that_depend_on_speeds(program: Path) -> None:
    found = invoke(
        "check", program, *ESTIMATE, "--counters", "intensity", "-D", "P_intensity=1/2", "--points", "2"
    )
    assert (found.exit_code, found.stderr) == (0, "")
    assert "leaf 0: 2 of 2 points equal" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree", "--counters", "speed"), "there is no counter 'speed'"),
        (("tree", "--counters", "intensity,intensity"), "is given twice"),
        (("tree", "--counters", "threads_per_block"), "is counted in any case"),
        (("gen", "--counters", "bank_efficiency"), "P_bank_efficiency has none [CF0706]"),
        (("gen", "-D", "P_occupancy=1/2"), "no counter of the run has the limit P_occupancy [CF0701]"),
        (("gen", "--counters", "bank_efficiency", "-D", "P_bank_efficiency=2"), "is no share [CF0704]"),
        (("tree", "--counters", "occupancy", "--region", "B"), "do not go with --counters occupancy"),
    ],
)
def test_what_cannot_be_done_is_said(program: Path, arguments: tuple[str, ...], message: str) -> None:
    command, *rest = arguments
    target = ("-o", program.parent / "out") if command == "gen" else ()
    found = invoke(command, program, *ESTIMATE, *target, *rest)
    assert found.exit_code == 2
    assert message in found.output


def test_a_header_has_the_level_in_its_conditions(program: Path) -> None:
    out = program.parent / "out"
    found = invoke(
        "gen", program, *ESTIMATE, "-o", out, "--counters", "bank_efficiency", "-D", "P_bank_efficiency=1/2"
    )
    assert found.exit_code == 0, found.output
    assert "P_bank_efficiency" not in (out / "smooth.h").read_text(encoding="utf-8")
    assert "P_bank_efficiency" in (out / "smooth.tree.json").read_text(encoding="utf-8")
