"""Reports docstrings and descriptions of files that are fragments: ``python -m tests.prose``, a part of ``make lint``.

In: the docstrings below the folders that are named, or below ``FOLDERS``: those of modules, classes and functions, and
the strings behind fields and constants; and what the tables of files in READMEs say of each file.  Out: a line
``file:line: ...`` for each fragment, and the exit status 1 if there is one.

A docstring begins with a sentence ("Return the number of blocks of a launch.") or with a noun phrase ("The blocks of a
launch.", "Whether the loop counts up.").  It is a fragment if its first word is one of ``OPENERS`` and its first
sentence has no main verb: "What is made.", "How many blocks there are.", "Those of the kernel.".  The rule counts
words, so that everyone can apply it:

- The sentence ends at the first period, colon, semicolon, exclamation or question mark.  A question is no fragment.
- It has a main verb if it, or a part of it behind a comma, has more verbs of ``VERBS`` than clauses that need one.
- A word of ``CLAUSES`` begins such a clause, wherever it stands.
- Verbs in a row ("may have been") are one, and a verb right behind ``and`` or ``or`` belongs to the clause before it.

So "By default the tool is silent.", "Where a guard fails, the block is left." and "What is emitted is what was read."
pass.  A main verb that is not in ``VERBS`` does not count: "Those of a block come first." is written "The statements of
a block come first." instead.

A row of a table is one of files if its first cell names a module or a folder in backquotes.  Each part of its other
cells, between semicolons, is a noun phrase that names the content of the file ("the threads that execute next") or a
short sentence; the same rule finds fragments ("which threads execute next"), and ``whether`` begins one there, too: a
file is "the test that two accesses may overlap".
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDERS = ("comprehensive", "benchmarks", "docs", "tests")

OPENERS = _words("what how where which why who when that by of from behind after so those")

CLAUSES = _words(
    "what whatever how however where wherever which whichever why who whose whom whoever that whether if when whenever "
    "as than because since until unless while although though before after once"
)

VERBS = _words(
    "is are was were has have had does do did can could may might must shall should will would "
    "cannot isn't aren't doesn't don't"
)

_CAPITALS = "|".join(sorted(word.capitalize() for word in OPENERS))
# Also matches where a docstring ends before such a word, but for the `from` of imports: files are parsed then.
_CANDIDATE = re.compile(
    rf"""^[ \t]*[rR]?["']{{1,3}}(?:\s*(?:{_CAPITALS})|(?i:{_CAPITALS}))\b""", re.MULTILINE
)
_CODE = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)
_SENTENCE = re.compile(r"[.:;!?](?=\s|$)|\n[ \t]*\n")
_WORD = re.compile(r"[\w']+")
_CELL_END = re.compile(r"(?<!\\)\|")
_FILE = re.compile(r"`[\w/]+\.py`|`\w+/`")
_PART = re.compile(r"(?:`[^`]*`|[^;`])+")
_OPENERS_OF_CELLS = OPENERS | {"whether"}


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring with its end mark; code in backquotes is one word."""
    plain = _CODE.sub("code", text.strip())
    end = _SENTENCE.search(plain)
    return plain[: end.end()].strip() if end else plain


def is_fragment(text: str, openers: frozenset[str] = OPENERS) -> bool:
    """Whether a text begins with a word of ``openers`` and a sentence without a main verb."""
    sentence = first_sentence(text)
    words = _words_of(sentence)
    if not words or words[0] not in openers or sentence.endswith("?"):
        return False
    return not _has_main_verb(sentence) and not any(map(_is_main_clause, sentence.split(",")[1:]))


def _words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _has_main_verb(text: str) -> bool:
    words = _words_of(text)
    verbs = sum(
        word in VERBS and before not in VERBS and before not in ("and", "or")
        for before, word in zip(["", *words], words, strict=False)
    )
    return verbs > sum(word in CLAUSES for word in words)


def _is_main_clause(part: str) -> bool:
    """Whether a part behind a comma stands for itself: it continues no clause, and has a main verb."""
    words = _words_of(part)
    return bool(words) and words[0] not in ("and", "or", "but", "nor") and _has_main_verb(part)


def fragments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first sentence of each docstring that is a fragment."""
    # To parse all files takes seconds: only those with a string that begins with such a word are.
    if not _CANDIDATE.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            # A string that is a statement is a docstring, or that of the field or constant before it.
            case ast.Expr(ast.Constant(str() as text)) if is_fragment(text):
                yield node.lineno, " ".join(first_sentence(text).split())
            case _:
                pass


def cell_fragments(readme: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each part of a description in a table of files that is a fragment."""
    for number, line in enumerate(readme.splitlines(), start=1):
        file, *descriptions = [cell.strip() for cell in _CELL_END.split(line)[1:-1]] or [""]
        if _FILE.search(file):
            # Semicolons within code separate nothing; a part is shown with its code.
            for part in (part for cell in descriptions for part in _PART.findall(cell)):
                if is_fragment(part, _OPENERS_OF_CELLS):
                    yield number, part.strip()


def main(folders: list[str]) -> int:
    """Print the fragments below the folders; return 1 if there are any, else 0."""
    status = 0
    for path in sorted(path for folder in folders for path in Path(folder).rglob("README.md")):
        for line, part in cell_fragments(path.read_text(encoding="utf-8")):
            print(f"{path}:{line}: a description of a file is a fragment: {part}")
            status = 1
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.py")):
        for line, sentence in sorted(fragments(path.read_text(encoding="utf-8"))):
            print(f"{path}:{line}: a docstring begins with a fragment: {sentence}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(FOLDERS)))
