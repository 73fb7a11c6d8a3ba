"""Writes a set of output files: all of them or none, only those that changed, and none that somebody else wrote.

In: a directory and texts by file name.  Out: files on disk, and the names of those that were written.  Every
text goes to a temporary file in the same directory first (`scratch.py`); the renames come last, so that a build
system never sees half a file and an interrupted run leaves the previous outputs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from comprehensive.codegen.ownership import is_generated
from comprehensive.codegen.scratch import scratch_folder
from comprehensive.diagnostics import CompileError, Diagnostic, Severity


def write_outputs(
    directory: Path, texts: Mapping[str, str], *, stale: Iterable[str] = (), force: bool = False
) -> tuple[str, ...]:
    """Writes the files whose bytes differ from what is there; returns their names, sorted.

    ``stale`` are names of outputs of an earlier run: they are removed where no text has their name and their file is
    generated.  Raises CompileError when the directory cannot be made or written (CF0620), and unless ``force`` where
    a file stands in the place of an output that was not generated (CF0622); nothing has changed then.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        changed = [name for name in sorted(texts) if _differs(directory / name, texts[name])]
        if not force:
            _demand_generated([directory / name for name in changed])
        if changed:
            with scratch_folder(directory) as scratch:
                for name in changed:
                    (scratch / name).write_bytes(texts[name].encode())
                for name in changed:
                    os.replace(scratch / name, directory / name)
        for name in sorted({*stale} - texts.keys()):
            left = directory / name
            if left.is_file() and is_generated(left):
                left.unlink()
    except OSError as error:
        raise CompileError((_unwritable(directory, error),)) from error
    return tuple(changed)


def stale_outputs(
    directory: Path, texts: Mapping[str, str], *, earlier: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Names, sorted, and what is wrong with them: outputs that :func:`write_outputs` would write or remove.

    Nothing is written.  ``earlier`` are names of outputs of an earlier run.
    """
    found = {
        name: "differs" if (directory / name).exists() else "is missing"
        for name, text in texts.items()
        if (directory / name).is_dir() or _differs(directory / name, text)
    }
    for name in {*earlier} - texts.keys():
        left = directory / name
        if left.is_file() and is_generated(left):
            found[name] = "is no output any more"
    return tuple(sorted(found.items()))


def touch(path: Path) -> None:
    """Makes a file that says by its time when a run ended; what is in it stays. CompileError (CF0620)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise CompileError((_unwritable(path, error),)) from error


def depfile(targets: Sequence[str], dependencies: Sequence[str]) -> str:
    """A make rule: the targets depend on every file that was read (gcc's ``-MD`` form)."""
    left = " ".join(_escape(t) for t in targets)
    return f"{left}: " + " \\\n  ".join(_escape(d) for d in dependencies) + "\n"


def _differs(target: Path, text: str) -> bool:
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a directory")
    return not target.is_file() or target.read_bytes() != text.encode()


def _demand_generated(targets: Sequence[Path]) -> None:
    """Raise CompileError (CF0622) that names the files which somebody else wrote."""
    foreign = [path for path in targets if path.is_file() and not is_generated(path)]
    if foreign:
        names = ", ".join(map(str, foreign))
        is_one = len(foreign) == 1
        raise CompileError.of(
            "CF0622",
            f"{names} {'was' if is_one else 'were'} not written by comprehensive and would be overwritten",
            help=f"move {'it' if is_one else 'them'} away, write elsewhere with -o, or overwrite with --force",
        )


def _escape(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _unwritable(path: Path, error: OSError) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "CF0620",
        f"cannot write to {path}: {error.strerror or error}",
        None,
        help="give a directory that you may write with -o",
    )
