"""A folder for temporary files beside outputs, which no run leaves behind for ever.

In: the directory of the outputs.  Out: a hidden folder in it, of the same file system, so that renames out of it are
atomic.  Its owner holds a lock on it as long as it lives; a run removes the folders whose owners were killed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = ".comprehensive-"


@contextmanager
def scratch_folder(directory: Path) -> Generator[Path]:
    """An empty folder below ``directory`` that is gone at the end. Raises OSError where it cannot be made."""
    _remove_abandoned(directory)
    folder, lock = _locked_folder(directory)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked_folder(directory: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=directory))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            with suppress(
                OSError
            ):  # a file system without locks: nothing there is taken for abandoned either
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)
        # Another run took the folder for abandoned between its making and its locking.


def _remove_abandoned(directory: Path) -> None:
    for folder in sorted(directory.glob(f"{_PREFIX}*")):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
