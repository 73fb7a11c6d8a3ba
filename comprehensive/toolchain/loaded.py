"""A shared object in this process, for as long as something refers to it.

In: the path of a library.  Out: a ``ctypes.CDLL`` that the process unloads when the last reference is gone::

    library = loaded(Path("work/libmatmul_cpu.so"))
    del library            # its segments, and what its static objects hold, are given back

A process has no more than 65530 mappings of memory, and one that serves many programs would run out of them.  Only
for code that leaves no thread, handler or address behind when no call is under way.
"""

from __future__ import annotations

import ctypes
import weakref
from _ctypes import dlclose
from pathlib import Path


def loaded(path: Path | str) -> ctypes.CDLL:
    """Return the library. OSError where it cannot be loaded."""
    library = ctypes.CDLL(str(path))
    handle = library._handle  # pyright: ignore[reportPrivateUsage]
    weakref.finalize(library, dlclose, handle).atexit = False
    return library
