"""Garbage of Python is looked for less often while commands and passes run.

    with seldom_collected():
        stages = run(module, passes)

What a compiler makes is many small objects that stay until it is done, and hardly a cycle among them: the collector
would go through all of them again and again, which took a tenth of the time of ``gen`` and a sixth of that of passes.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_OBJECTS = 200_000
"""The number of new objects, some tens of megabytes, before the collector looks at the youngest."""


@contextmanager
def seldom_collected() -> Generator[None]:
    """Raise the threshold of the youngest generation for a while; one that is higher, or off (0), stays."""
    before = gc.get_threshold()
    if 0 < before[0] < _OBJECTS:
        gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
