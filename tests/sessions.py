"""Sessions in pages of Markdown: a page in, what its commands print otherwise than it shows out.

    python -m tests.sessions docs/tutorials/teacher.md     # writes into the page what its commands print now

A page is a session from its top to its end, in one directory, where `specs` are those of the project.  What counts is:

- a line with nothing but a name in backticks and a colon, and the fence behind it: a file of that name;
- a ``console`` fence: lines that begin with ``$`` are commands, the lines behind one are all that it prints.  A line
  ``...`` stands for any lines, and a command ends with ``# exit code 1`` where it fails on purpose;
- a comment ``<!-- not run: REASON -->`` before a ``console`` fence: it is shown only, for that reason.

Everything else is prose. ``comprehensive``, also where its output goes to a file, and ``python SCRIPT`` run in this
process, which saves their start; the shell runs the rest.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias, assert_never
from unittest import mock

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
# Variables before a command, but for those that Python reads when it starts.
_ASSIGNED = re.compile(r"(?:(?!PYTHON)[A-Z_]+=\S* )+(?=comprehensive )")
_SCRIPT = re.compile(r"\w[\w./]*\.py")
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
    assigned = _ASSIGNED.match(command.line)
    if assigned is None:
        return _run_as_it_is(command.line, folder)
    variables = dict(word.split("=", 1) for word in assigned[0].split())
    with mock.patch.dict(os.environ, {name: os.path.expandvars(value) for name, value in variables.items()}):
        return _run_as_it_is(command.line[assigned.end() :], folder)


def _run_as_it_is(typed: str, folder: Path) -> tuple[int, str]:
    line, _, target = typed.partition(" > ")
    name, _, arguments = line.partition(" ")
    if name == "python" and not target and _SCRIPT.fullmatch(arguments):
        return _python(arguments, folder)
    if name == "comprehensive" and not _FOR_THE_SHELL.search(arguments + target):
        result = CliRunner().invoke(cli, shlex.split(arguments))
        if not target:
            return result.exit_code, result.output
        (folder / target).write_text(result.stdout, encoding="utf-8")
        return result.exit_code, result.stderr
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outside = {name: value for name, value in os.environ.items() if name not in _OF_AN_OUTER_MAKE}
    done = subprocess.run(
        ["bash", "-c", typed],
        cwd=folder,
        env={**outside, "PATH": here},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def _python(script: str, folder: Path) -> tuple[int, str]:
    """Run a script in this process; an exception ends it as it ends an interpreter, with its traceback.

    Modules beside the script are found, and are forgotten when it ends.
    """
    said = io.StringIO()
    modules = {*sys.modules}
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        sys.path.insert(0, str(folder))
        try:
            runpy.run_path(script, run_name="__main__")
        except Exception:
            traceback.print_exc()
            return 1, said.getvalue()
        finally:
            sys.path.remove(str(folder))
            for name in {*sys.modules} - modules:
                if str(getattr(sys.modules[name], "__file__", "")).startswith(f"{folder}{os.sep}"):
                    del sys.modules[name]
    return 0, said.getvalue()


def agrees(shown: str, printed: str) -> bool:
    """Whether a text is what a page shows, where ``...`` in a line of its own stands for any lines.

    Empty lines at the end do not count.
    """
    shown, printed = (f"{text.rstrip()}\n" for text in (shown, printed))
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed) is not None


class Played(NamedTuple):
    """The page as its commands would have it, what goes otherwise than it says, and what each command printed."""

    page: str
    wrong: list[str]
    printed: list[str]


def played(page: str, folder: Path) -> Played:
    """Play the sessions of a page; ``folder`` is the current directory, and is not named in what is printed."""
    wrong: list[str] = []
    printed: list[str] = []
    if not (folder / "specs").exists():
        (folder / "specs").symlink_to(_SPECS)

    def replayed(fence: re.Match[str]) -> str:
        match _step(fence):
            case Written(name, text):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
            case Session() as session:
                now = Session(
                    tuple(_replayed(command, folder, wrong, printed) for command in session.commands)
                )
                return fence[0].replace(session.text + "```", now.text + "```")
            case NotRun() | None:
                return fence[0]
            case _ as unknown:
                assert_never(unknown)
        return fence[0]

    return Played(_FENCE.sub(replayed, page), wrong, printed)


def _replayed(command: Command, folder: Path, wrong: list[str], every: list[str]) -> Command:
    code, printed = _run(command, folder)
    printed = printed.replace(f"{folder}/", "")
    every.append(printed)
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
            page, wrong, _ = played(path.read_text(encoding="utf-8"), Path(folder))
        path.write_text(page, encoding="utf-8")
        print(f"{path.name}: {len(wrong)} outputs were others", *wrong, sep="\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
