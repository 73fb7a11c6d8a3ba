"""Sessions in pages of Markdown: a page in, what its commands print otherwise than it shows out.

    python -m tests.sessions docs/tutorials/teacher.md     # writes into the page what its commands print now

A page is a session from its top to its end, in one directory, where `specs` are those of the project.  What counts is:

- a line with nothing but a name in backticks and a colon, and the fence behind it: a file of that name;
- a ``console`` fence: lines that begin with ``$`` are commands, the lines behind one are all that it prints.  A line
  ``...`` stands for any lines, and a command ends with ``# exit code 1`` where it fails on purpose;
- a comment ``<!-- not run: REASON -->`` before a ``console`` fence: it is shown only, for that reason.

Everything else is prose. ``comprehensive`` runs in this process, which saves its start, also where its output goes
to a file; the shell runs the rest.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, assert_never

from click.testing import CliRunner

from comprehensive.cli import cli

_SPECS = Path(__file__).resolve().parent.parent / "specs"
_FENCE = re.compile(
    r"^(?P<before>[^\n]*)\n\n?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_NAMED = re.compile(r"`([\w./-]+)`:")
_NOT_RUN = re.compile(r"<!-- not run: (\S.*) -->")
_EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
_CONTINUED = re.compile(r" \\\n\s*")
_FOR_THE_SHELL = re.compile(r"[|&;<>$`*?~]")
_OF_AN_OUTER_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES")


@dataclass(frozen=True, slots=True)
class Written:
    """A file that the reader writes."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command as the page has it, and all that it is said to print."""

    typed: str
    shown: str

    @property
    def line(self) -> str:
        return _EXIT_CODE.sub("", _CONTINUED.sub(" ", self.typed))

    @property
    def exit_code(self) -> int:
        code = _EXIT_CODE.search(self.typed)
        return int(code[1]) if code else 0


@dataclass(frozen=True, slots=True)
class Session:
    """The commands of one fence."""

    commands: tuple[Command, ...]

    @property
    def text(self) -> str:
        return "".join(f"$ {command.typed}\n{command.shown}" for command in self.commands)


@dataclass(frozen=True, slots=True)
class NotRun:
    """Commands that are shown only."""

    reason: str
    text: str


Step: TypeAlias = Written | Session | NotRun


def steps(page: str) -> list[Step]:
    """The steps of a page.  Raises ValueError for a ``console`` fence that does not begin with a command."""
    return [step for fence in _FENCE.finditer(page) if (step := _step(fence)) is not None]


def _step(fence: re.Match[str]) -> Step | None:
    if named := _NAMED.fullmatch(fence["before"]):
        return Written(named[1], fence["text"])
    if fence["language"] != "console":
        return None
    if unrun := _NOT_RUN.fullmatch(fence["before"]):
        return NotRun(unrun[1], fence["text"])
    before, *commands = re.split(r"^\$ ", fence["text"], flags=re.MULTILINE)
    if before:
        raise ValueError(f"a session begins with '$ ', not with {before.splitlines()[0]!r}")
    return Session(tuple(_command(text) for text in commands))


def _command(text: str) -> Command:
    typed = re.match(r"(?:[^\n]* \\\n)*[^\n]*", text)
    assert typed is not None
    return Command(typed[0], text[typed.end() + 1 :])


def _run(command: Command, folder: Path) -> tuple[int, str]:
    line, _, target = command.line.partition(" > ")
    name, _, arguments = line.partition(" ")
    if name == "comprehensive" and not _FOR_THE_SHELL.search(arguments + target):
        result = CliRunner().invoke(cli, shlex.split(arguments))
        if not target:
            return result.exit_code, result.output
        (folder / target).write_text(result.stdout, encoding="utf-8")
        return result.exit_code, result.stderr
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outside = {name: value for name, value in os.environ.items() if name not in _OF_AN_OUTER_MAKE}
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=folder,
        env={**outside, "PATH": here},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def agrees(shown: str, printed: str) -> bool:
    """Whether a text is what a page shows, where ``...`` in a line of its own stands for any lines.

    Empty lines at the end do not count.
    """
    shown, printed = (f"{text.rstrip()}\n" for text in (shown, printed))
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed) is not None


def played(page: str, folder: Path) -> tuple[str, list[str]]:
    """The page as its commands would have it, and what goes otherwise; ``folder`` is the current directory."""
    wrong: list[str] = []
    if not (folder / "specs").exists():
        (folder / "specs").symlink_to(_SPECS)

    def replayed(fence: re.Match[str]) -> str:
        match _step(fence):
            case Written(name, text):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
            case Session() as session:
                now = Session(tuple(_replayed(command, folder, wrong) for command in session.commands))
                return fence[0].replace(session.text + "```", now.text + "```")
            case NotRun() | None:
                return fence[0]
            case _ as unknown:
                assert_never(unknown)
        return fence[0]

    return _FENCE.sub(replayed, page), wrong


def _replayed(command: Command, folder: Path, wrong: list[str]) -> Command:
    code, printed = _run(command, folder)
    if code != command.exit_code:
        wrong.append(f"$ {command.line}\nends with {code} instead of {command.exit_code}:\n{printed}")
    elif not agrees(command.shown, printed):
        wrong.append(f"$ {command.line}\nprints\n{printed}\ninstead of\n{command.shown}")
        return Command(command.typed, f"{printed.rstrip()}\n" if printed.strip() else "")
    return command


def _main(pages: list[str]) -> None:
    for path in [Path(page).resolve() for page in pages]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page, wrong = played(path.read_text(encoding="utf-8"), Path(folder))
        path.write_text(page, encoding="utf-8")
        print(f"{path.name}: {len(wrong)} outputs were others", *wrong, sep="\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
