"""`tree --counters-from`: orders and strategies that are asked for, and what is said of files that are wrong."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive import cli
from comprehensive.data import spec_directory

FIGURE7 = spec_directory() / "paper" / "figure7.toml"
WORDS, REGISTERS = "shared_words_per_block", "registers_per_thread"


def tree(values: Path, *arguments: str, program: str = "jacobi1d.mf") -> Result:
    source = str(spec_directory() / program)
    return CliRunner().invoke(cli.cli, ["tree", source, "--counters-from", str(values), *arguments])


def changed(folder: Path, old: str, new: str) -> Path:
    """The values of figure 7 with one text in the place of another."""
    text = FIGURE7.read_text(encoding="utf-8")
    assert old in text
    path = folder / "values.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_order_says_which_counter_is_evaluated_first() -> None:
    words_first = tree(FIGURE7, "--order", f"{WORDS},{REGISTERS}").stdout.splitlines()
    assert words_first[4] == f"{WORDS} = 2*s*B + 2 [given]"
    assert tree(FIGURE7).stdout.splitlines()[4] == f"{REGISTERS} = 9 [given]"


def test_counters_that_order_leaves_out_take_no_part() -> None:
    printed = tree(FIGURE7, "--order", REGISTERS).stdout
    assert "Z_B" not in printed
    assert "leaf 0 where 9 <= R_B" in printed


def test_strategies_are_all_that_take_part_in_their_order() -> None:
    printed = tree(FIGURE7, "--strategies", "no-caching,granularity").stdout
    (taken,) = re.findall(r"refuse Z_B < 2\*s\*B \+ 2, so (\S+)", printed)
    assert taken == "no-caching"
    assert "granularity" not in printed, "no words are left to reduce"
    assert "cse" not in printed


def test_json_and_toml_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "figure7.json"
    path.write_text(json.dumps(tomllib.loads(FIGURE7.read_text(encoding="utf-8"))), encoding="utf-8")
    first, second = tree(FIGURE7).stdout.splitlines(), tree(path).stdout.splitlines()
    assert first[2:] == second[2:]


def test_a_performance_counter_may_be_a_quotient(tmp_path: Path) -> None:
    path = tmp_path / "values.toml"
    path.write_text(
        'schema = 1\nsource = "made up"\n[counters.share]\nlimit = "P_share"\nkind = "performance"\n'
        'strategies = ["granularity"]\nvalues = [{ after = ["granularity"], value = "1" }, { value = "1/s" }]\n',
        encoding="utf-8",
    )
    printed = tree(path).stdout
    assert "leaf 0 where s*P_share <= 1" in printed
    assert "leaf 1 where 1 < s*P_share" in printed


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("schema = 1", "schema = 2", "CF1303", "schema 2 is not known"),
        ("schema = 1", "schema = = 1", "CF1302", "not a TOML file"),
        ('source = "', 'origin = "', "CF1303", "no field 'origin'"),
        ('limit = "R_B"', "limit = 3", "CF1303", "'limit' is 3, not a text"),
        ('limit = "R_B"', 'limit = "R B"', "CF1303", "is no name"),
        ('limit = "R_B"', 'limit = "N"', "CF1306", "the name of a scalar of region 'jacobi1d'"),
        ('limit = "R_B"', 'limit = "R_B"\nkind = "fast"', "CF1303", "'kind' of 'registers_per_thread'"),
        ('"2*B + 2"', '"2*B +"', "CF1304", "'2*B +' is no sum of products"),
        ('"2*B + 2"', '"2*(B > 1)"', "CF1304", "'B > 1' is no sum"),
        ('"2*B + 2"', '"B**99"', "CF1304", "small power"),
        ('"2*B + 2"', '"B/0"', "CF1304", "divides by 0"),
        ('"2*B + 2"', '"2*C + 2"', "CF1306", "'C' in a value of 'shared_words_per_block' is no parameter"),
        ('{ value = "9", says', '{ after = ["cse-1"], value = "9", says', "CF1303", "leave out the program as"),
        ('after = ["granularity"]', 'after = ["tiling"]', "CF1303", "no counter has the strategy 'tiling'"),
        ('strategies = ["cse-1", ', 'strategies = ["cse-9", "cse-1", ', "CF1306", "no strategy 'cse-9'"),
        ("[strategies.cse-1]", "[strategies.cse-7]", "CF1303", "no counter has the strategy 'cse-7'"),
        ("[counters.registers_per_thread]", "[counters]\nx = 3\n[counters.y]", "CF1303", "counter 'x' is no table"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_said_with_its_place(
    tmp_path: Path, old: str, new: str, code: str, said: str
) -> None:
    result = tree(changed(tmp_path, old, new))
    assert result.exit_code == 1
    assert f"[{code}]" in result.stderr
    assert said in result.stderr
    assert re.search(r"values\.toml:\d+:\d+: error", result.stderr)


def test_a_file_that_is_not_there_is_said() -> None:
    result = tree(Path("nothing.toml"))
    assert (result.exit_code, "[CF1301]" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--order", "threads_per_block"], "--order names 'threads_per_block'"),
        (["--strategies", "caching"], "--strategies names 'caching'"),
        (["--region", "B"], "leave out --region"),
        (["--counters", "coalescing"], "leave out --counters"),
    ],
)
def test_names_and_options_that_do_not_fit_are_usage_errors(arguments: list[str], said: str) -> None:
    result = tree(FIGURE7, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_order_alone_is_a_usage_error() -> None:
    result = CliRunner().invoke(cli.cli, ["tree", str(spec_directory() / "jacobi1d.mf"), "--order", WORDS])
    assert result.exit_code == 2
    assert "--order goes with --counters-from" in result.stderr


def test_values_of_one_region_ask_for_its_name_where_there_are_several(tmp_path: Path) -> None:
    result = tree(FIGURE7, program="jacobi2d.mf")
    assert result.exit_code == 2
    assert "does not say which it is of" in result.stderr
    named = tree(changed(tmp_path, "schema = 1", 'schema = 1\nregion = "blur"'))
    assert named.exit_code == 2
    assert "no region 'blur'" in named.stderr
