"""Keeps what compiled user code prints out of our own output.

In: a block.  Out: the same block with the process's standard output going nowhere, also what C has buffered::

    with silenced():
        library.call(...)          # host code with a printf in it
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

_STDOUT = 1


@contextmanager
def silenced() -> Generator[None]:
    """The descriptor of standard output stands for the null device inside the block."""
    sys.stdout.flush()
    c = ctypes.CDLL(None)
    kept = os.dup(_STDOUT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDOUT)
        yield
    finally:
        c.fflush(None)
        os.dup2(kept, _STDOUT)
        os.close(kept)
        os.close(nowhere)
