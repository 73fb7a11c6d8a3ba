"""Writes a set of output files: all of them or none, and only those that changed.

In: a directory and texts by file name.  Out: files on disk, and the names of those that were written.  Every
text goes to a temporary file in the same directory first; the renames come last, so that a build system never
sees half a file and an interrupted run leaves the previous outputs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from comprehensive.diagnostics import CompileError, Diagnostic, Severity


def write_outputs(directory: Path, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Writes the files whose bytes differ from what is there; returns their names, sorted.

    Raises CompileError (CF0620) when the directory cannot be made or written; nothing has changed then.
    """
    pending: list[tuple[str, Path]] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in sorted(texts):
            content = texts[name].encode()
            target = directory / name
            if target.is_file() and target.read_bytes() == content:
                continue
            if target.is_dir():
                raise IsADirectoryError(f"{target} is a directory")
            descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
            pending.append((temporary, target))
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            os.chmod(temporary, 0o666 & ~_umask())
        for temporary, target in pending:
            os.replace(temporary, target)
    except OSError as error:
        raise CompileError((_unwritable(directory, error),)) from error
    finally:
        for temporary, _ in pending:
            with suppress(OSError):
                os.unlink(temporary)
    return tuple(target.name for _, target in pending)


def depfile(targets: Sequence[str], dependencies: Sequence[str]) -> str:
    """A make rule: the targets depend on every file that was read (gcc's ``-MD`` form)."""
    left = " ".join(_escape(t) for t in targets)
    return f"{left}: " + " \\\n  ".join(_escape(d) for d in dependencies) + "\n"


def _escape(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _umask() -> int:
    # The only way to read it; os.umask sets it and returns the old value.
    value = os.umask(0)
    os.umask(value)
    return value


def _unwritable(directory: Path, error: OSError) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "CF0620",
        f"cannot write to {directory}: {error.strerror or error}",
        None,
        help="give a directory that you may write with -o",
    )
