"""Remembers what passes have made of an input: who builds the same once more need not wait for them.

In: a rewrite, the real ptxas and a call.  Out: a rewrite that answers what has been answered from the cache::

    rewrite = remembered(load_passes, "/usr/local/cuda/bin/ptxas", call, Cache.default())
    text, remarks = rewrite(original, "pre,dce", name="/tmp/tmpxft_1.ptx")

An answer depends on the text, the pipeline, the flags of the call, ptxas and this tool; these are told from others by
path, size and time of last change of their files.  Names of inputs, which nvcc makes up anew for every call, are left
out.  Nothing of the passes is imported where the answer is known.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from comprehensive.data import spec_directory
from comprehensive.ptx.dropin.arguments import Assembly
from comprehensive.ptx.dropin.run import Rewrite
from comprehensive.toolchain.cache import Cache, cache_key

_PACKAGE = Path(__file__).resolve().parents[2]


def remembered(load: Callable[[], Rewrite], ptxas: str, call: Assembly, cache: Cache) -> Rewrite:
    """Return a rewrite that asks the one that ``load`` returns only for what is not in the cache.

    Its remarks are lines. What raises an exception is not remembered.
    """

    def rewrite(text: str, pipeline: str, *, name: str) -> tuple[str, Sequence[str]]:
        made_by = "\n".join(
            (sys.version, *_stamps(Path(ptxas)), *_stamps(_PACKAGE), *_stamps(spec_directory()))
        )
        arch = call.values.get("gpu-name", "")
        key = cache_key(
            "drop-in", made_by, pipeline, arch, *call.flags, text.encode(errors="surrogateescape")
        )
        stored = cache.load(key)
        if stored is not None:
            made, lines = json.loads(stored)
            return text if made is None else made, [name + line if own else line for own, line in lines]
        made, remarks = load()(text, pipeline, name=name)
        told = [str(remark) for remark in remarks]
        lines = [(own := line.startswith(f"{name}:"), line[len(name) :] if own else line) for line in told]
        cache.store(key, json.dumps([None if made == text else made, lines]).encode())
        return made, told

    return rewrite


def _stamps(place: Path) -> Iterator[str]:
    """Yield what tells a file, or all files of a directory, from later ones of the same names."""
    if not place.is_dir():
        state = place.stat()
        yield f"{place.resolve()} {state.st_size} {state.st_mtime_ns}"
        return
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for file in sorted(files):
            state = os.stat(os.path.join(folder, file))
            yield f"{folder}/{file} {state.st_size} {state.st_mtime_ns}"
