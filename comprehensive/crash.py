"""The files left behind when the tool itself fails: enough to repeat the failure.

In: the exception and the command line, perhaps files that were generated.  Out: a new directory with the traceback, the
command, the versions, these files, and a copy of every input file that the command names.
"""

from __future__ import annotations

import platform
import shlex
import shutil
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from comprehensive import __version__


def save_reproducer(
    error: BaseException, arguments: Sequence[str], texts: Mapping[str, str] | None = None
) -> Path:
    """Writes the reproducer, and files that show the failure, to a new temporary directory and returns it."""
    directory = Path(tempfile.mkdtemp(prefix="comprehensive-crash-"))
    lines = [
        f"comprehensive {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: comprehensive {shlex.join(arguments)}",
        "",
        *traceback.format_exception(error),
    ]
    (directory / "report.txt").write_text("\n".join(lines), encoding="utf-8")
    for name, text in (texts or {}).items():
        (directory / name).write_text(text, encoding="utf-8")
    for argument in arguments:
        path = Path(argument)
        with suppress(OSError):
            if path.is_file():
                shutil.copy(path, directory / path.name)
    return directory
