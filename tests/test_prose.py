"""The lint finds fragments in docstrings and tables of files, lets sentences pass, and names the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.prose import cell_fragments, first_sentence, fragments, is_fragment, main

FRAGMENTS = [
    "What is made; only the first computes what the program did.",
    "What the kernel does",
    "How many blocks there are.",
    "Where a region begins whose first directive is at ``start``: there, or behind it.",
    "Where conditions hold.\n\nThe rest is whole.",
    "Which loads can move.",
    "Why the loop stays as it is; None where it need not.",
    "Who may call what has been written.",
    "Of each time.",
    "Those of the kernel, and what they read.",
    "Those that an integer type holds, or all that it holds where it wraps around.",
    "By how much the counter grows.",
    "Behind ``gen``: writes what was compiled.",
    "From a text to a program.",
    "That nothing is read twice.",
    "When an access is over.",
    "So many rounds without the branch.",
    "What is read and is written.",
    "What is read, and is written, in words.",
    "Those of a block come first.",
    "what a kernel may have been",
    "What happens is.said in ``a: b. c``, whatever it may be.",
]

SENTENCES = [
    "Return the number of blocks of a launch.",
    "The blocks of a launch, and how many there are.",
    "A launch: what it needs is not known.",
    "Whether the loop counts up.",
    "What is emitted is what was read.",
    "What is the least bound?",
    "How often a loop\nis run is known at its launch.",
    "Where a guard fails, the block is left.",
    "By default the tool is silent.",
    "From Python a function is asked for its best version.",
    "When a guard fails, the block is left.",
    "Of two tiles the larger one is taken.",
    "Those with a guard are skipped.",
    "So the loop has to be split.",
    "Sorts whatever it is given.",
    "",
]


@pytest.mark.parametrize("text", FRAGMENTS)
def test_a_fragment_is_found(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_or_a_noun_phrase_passes(text: str) -> None:
    assert not is_fragment(text)


def test_a_sentence_ends_at_its_mark_and_not_within_code() -> None:
    assert first_sentence("Of ``a. b: c`` and\n`d.` alone: the rest.") == "Of code and\ncode alone:"


SOURCE = '''"""The module."""

TEXT = """
What is no docstring."""


class Loop:
    """What runs."""

    bound: int
    """What it counts to."""

    def rounds(self) -> int:
        r"""
        How many rounds there are.
        """
        return 1
'''


def test_docstrings_of_classes_fields_and_functions_are_looked_at_and_other_strings_are_not() -> None:
    assert sorted(fragments(SOURCE)) == [
        (8, "What runs."),
        (11, "What it counts to."),
        (14, "How many rounds there are."),
    ]


@pytest.mark.parametrize("quoted", ['"What runs."', "'''what runs.'''", 'r"""\n    What runs."""'])
def test_docstrings_in_any_quotes_are_looked_at(quoted: str) -> None:
    assert list(fragments(f"def f():\n    {quoted}\n")) == [
        (2, "What runs." if "W" in quoted else "what runs.")
    ]


def test_the_lint_names_file_and_line_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.py").write_text('"""The good module."""\n', encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    bad = tmp_path / "bad.py"
    bad.write_text(SOURCE, encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{bad}:8: a docstring begins with a fragment: What runs.",
        f"{bad}:11: a docstring begins with a fragment: What it counts to.",
        f"{bad}:14: a docstring begins with a fragment: How many rounds there are.",
    ]


TABLE = """
| file | content |
|---|---|
| `order.py` | the order of parts, in which threads meet again |
| `lanes.py` | which threads execute now |
| `alias.py` `forms.py` | the pairs of accesses: what may overlap; whether two accesses overlap; sums |
| `words.py` | `what; how`: the words of a message \\| of an error; `so` |
| `analysis/` | `analysis`; what is true of a function |
| `verify.py` | the check of a pass | how it fails |
| what it costs | how much |
| `tool --flag` | what it does |
"""


def test_descriptions_of_files_in_tables_are_looked_at_part_by_part() -> None:
    assert list(cell_fragments(TABLE)) == [
        (5, "which threads execute now"),
        (6, "whether two accesses overlap"),
        (8, "what is true of a function"),
        (9, "how it fails"),
    ]


def test_the_lint_names_the_line_of_a_readme_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(TABLE.replace("| `analysis/`", "`analysis/`"), encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert (
        f"{readme}:5: a description of a file is a fragment: which threads execute now"
        in capsys.readouterr().out
    )
    readme.write_text("see `lanes.py`: which threads execute now\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 0
