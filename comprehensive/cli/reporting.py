"""The reports of every command, and its end: diagnostics, JSON documents and exit codes.

Exit codes: 0 ok; 1 the input has errors; 2 the command line has; 3 a tool or device is missing; 4 the time limit was
reached, and something is missing; 130 the same after Ctrl-C; 70 a bug, with a reproducer saved.  Data goes to stdout,
everything else to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

from comprehensive.cli.progress import CommandWatch, command_watch
from comprehensive.diagnostics import (
    CommandLineError,
    CompileError,
    Diagnostic,
    GeneratedCodeError,
    render,
    to_json,
)

if TYPE_CHECKING:
    from comprehensive.driver import Compilation, Options

P = ParamSpec("P")

EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_MISSING = 3
EXIT_INTERNAL = 70


def reporting(command: Callable[P, None]) -> Callable[P, None]:
    """Turns errors into diagnostics on stderr and the exit codes of this tool."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from comprehensive.toolchain.process import ToolError

        try:
            command(*args, **kwargs)
        except CompileError as error:
            if kwargs.get("as_json") or kwargs.get("form") == "json":
                print_json({"schema": 1, "diagnostics": [to_json(d) for d in error.diagnostics]})
            print_diagnostics(error.diagnostics)
            if isinstance(error, GeneratedCodeError):
                _save_reproducer(error, error.texts)
                sys.exit(EXIT_INTERNAL)
            sys.exit(EXIT_USAGE if isinstance(error, CommandLineError) else EXIT_INPUT)
        except ToolError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(EXIT_MISSING)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
            _save_reproducer(error, {})
            sys.exit(EXIT_INTERNAL)

    return run


@contextmanager
def serial_program(compilation: Compilation) -> Generator[None]:
    """Turn what the C compiler says of a program that it rejects into diagnostics of the program."""
    from comprehensive.runtime.serial import SerialBuildError
    from comprehensive.verification import of_compiler

    try:
        yield
    except SerialBuildError as error:
        raise CompileError(tuple(of_compiler(compilation.source, str(error)))) from error


def _save_reproducer(error: Exception, texts: Mapping[str, str]) -> None:
    from comprehensive.crash import save_reproducer

    place = save_reproducer(error, sys.argv[1:], texts)
    click.echo(f"help: this is a bug; a reproducer is in {place}, please report it", err=True)


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Each diagnostic on stderr, in colour on a terminal unless NO_COLOR is set."""
    import os

    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    for diagnostic in diagnostics:
        text = render(diagnostic)
        if colour:
            head, _, rest = text.partition("\n")
            text = click.style(head, bold=True) + ("\n" + rest if rest else "")
        click.echo(text, err=True)


def print_json(document: object) -> None:
    click.echo(json_text(document), nl=False)


def json_text(document: object) -> str:
    """The text of a document, ending in a newline."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def compile_source(source: Path, options: Options, watch: CommandWatch | None = None) -> Compilation:
    """The compilation, its diagnostics printed; without a watch of the command there is no limit of time."""
    from comprehensive.driver import compile_file

    watch = command_watch() if watch is None else watch
    with watch.shown():
        compilation = compile_file(source, options, watch)
    print_diagnostics(compilation.diagnostics)
    return compilation
