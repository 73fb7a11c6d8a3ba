"""Counters and strategies of another package, installed as users install them, take part wherever they are named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli

PACKAGE = Path(__file__).parents[1] / "plugin"
ESTIMATE = ("--registers", "estimate")
SOURCE = """void smooth(int n, const float x[n], float y[n], int B)
{
  meta_schedule block(B) cache(x) {
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
  }
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package, without a network."""
    target = tmp_path_factory.mktemp("site")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *offline, "--target", str(target), str(PACKAGE)],
        check=True,
    )
    return target


@pytest.fixture
def program(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(site)
    path = tmp_path / "smooth.mf"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_a_strategy_that_is_named_is_tried_before_the_default_ones(program: Path) -> None:
    without = invoke("tree", program, *ESTIMATE)
    assert "few-registers" not in without.stdout
    found = invoke("tree", program, *ESTIMATE, "--strategies", "few-registers")
    assert found.exit_code == 0, found.output
    assert "few-registers (at most 24 registers)" in found.stdout


def test_a_default_strategy_that_is_named_is_tried_first(program: Path) -> None:
    found = invoke("tree", program, "--json", *ESTIMATE, "--strategies", "register-pressure-3,no-caching")
    strategies = json.loads(found.stdout)["regions"][0]["tree"]["strategies"]
    assert [s["name"] for s in strategies][:3] == ["register-pressure-3", "no-caching", "granularity"]


def test_a_limit_of_a_counter_has_the_value_that_is_given_everywhere(program: Path) -> None:
    out = program.parent / "out"
    asked = (*ESTIMATE, "--counters", "words_read,spread", "-D", "P_spread=1/3")
    tree = invoke("tree", program, *ESTIMATE, "--counters", "words_read,spread")
    assert "words_read = 3 [exact]" in tree.stdout
    assert "3 <= L_READ" in tree.stdout
    missing = invoke("gen", program, "-o", out, *asked)
    assert missing.exit_code == 2
    assert "L_READ has none [CF0706]" in missing.output
    assert "-D L_READ=64" in missing.output
    written = invoke("gen", program, "-o", out, *asked, "-D", "L_READ=4")
    assert written.exit_code == 0, written.output
    assert "L_READ" not in (out / "smooth.h").read_text(encoding="utf-8")
    explained = invoke("explain", program, *asked, "-D", "L_READ=4", "-D", "B=64")
    assert "3 <= L_READ: 3 <= 4" in explained.stdout
    refused = invoke("explain", program, *asked, "-D", "L_READ=2", "-D", "B=64")
    assert "leaf 0 does not" in refused.stdout
    region = invoke("tree", program, *asked, "--region", "B,L_READ", "--range", "L_READ=1:8")
    assert region.exit_code == 0, region.output
    checked = invoke(
        "check", program, *asked, "-D", "L_READ=4", "--points", 3, "--strategies", "few-registers"
    )
    assert checked.exit_code == 0, checked.output
    points = invoke(
        "tree", program, *asked, "-D", "L_READ=4", "--leaf", 0, "--points", "B=32:33", "-D", "n=100"
    )
    assert points.exit_code == 0, points.output


def test_the_emitted_selection_obeys_a_limit_of_a_third_party(program: Path) -> None:
    out = program.parent / "out"
    asked = (*ESTIMATE, "--counters", "words_read", "-o", out)
    assert invoke("gen", program, *asked, "-D", "L_READ=3").exit_code == 0
    admitted = json.loads((out / "smooth.json").read_text(encoding="utf-8"))
    assert invoke("gen", program, *asked, "-D", "L_READ=2").exit_code == 0
    refused = json.loads((out / "smooth.json").read_text(encoding="utf-8"))
    systems = [
        document["functions"][0]["regions"][0]["leaves"][0]["system"] for document in (admitted, refused)
    ]
    assert "L_READ" not in str(systems)
    assert systems[0] != systems[1]


def test_a_counter_gets_the_registers_that_the_run_counts(program: Path) -> None:
    found = invoke("tree", program, *ESTIMATE, "--counters", "registers_twice")
    assert "registers_twice = 28 [twice: estimate]" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--counters", "failing"), 1, "'failing' of 'acme-comprehensive' failed: KeyError: 'no such table'"),
        (("--strategies", "raising"), 1, "'raising' of 'acme-comprehensive' failed: RuntimeError"),
        (("--strategies", "answering-nothing"), 1, "which is no Applied and no NotApplicable"),
        (("--counters", "nameless"), 2, "has no 'limit' that is a name, which begins with P_ just where"),
        (("--counters", "absent"), 2, "cannot be loaded: ModuleNotFoundError"),
        (("--strategies", "unroll"), 2, "there is no strategy 'unroll'"),
        (("--strategies", "few-registers,few-registers"), 2, "is given twice"),
    ],
)
def test_a_fault_is_that_of_the_package(
    program: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    found = invoke("tree", program, *ESTIMATE, *arguments)
    assert found.exit_code == code, found.output
    assert message in found.output
    assert "internal error" not in found.output
    assert ("[CF0721]" in found.output) == (code == 1)
    if "failing" in arguments or "raising" in arguments:
        assert "faulty.py:" in found.output, "the place in the package is named"


def test_a_parameter_with_the_name_of_a_limit_is_an_error(program: Path) -> None:
    program.write_text(SOURCE.replace("int B", "int L_READ").replace("(B)", "(L_READ)"), encoding="utf-8")
    found = invoke("tree", program, *ESTIMATE, "--counters", "words_read")
    assert found.exit_code == 1
    assert "'L_READ' of region 'smooth' is the name of the limit of 'words_read'" in found.output


def test_what_nobody_asks_for_is_not_even_loaded(program: Path) -> None:
    assert invoke("gen", program, "-o", program.parent / "out", *ESTIMATE).exit_code == 0
