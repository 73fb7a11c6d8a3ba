"""Runs the serial C once, in a process of its own: ``python -m comprehensive.tuning.reference PROBLEM LIBRARY TARGET``.

In: the file of a problem and the compiled serial program.  Out: the arrays that the function has written, in the
directory TARGET (``c.npy``), which appears whole or not at all.  Prints nothing; a crash is the status of the process.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.runtime.entry import ENTRY
from comprehensive.tuning.data import c_scalar, drawn, written


def main(problem_file: str, library: str, target: str) -> int:
    problem = json.loads(Path(problem_file).read_text(encoding="utf-8"))
    os.dup2(2, 1)  # what the program prints is no output of ours
    results = computed(problem, library)
    place = Path(target)
    made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    for name, array in results.items():
        np.save(made / f"{name}.npy", array)
    try:
        os.rename(made, place)
    except OSError:  # another run was faster: it has computed the same
        shutil.rmtree(made)
    return 0


def computed(problem: dict[str, Any], library: str) -> dict[str, Any]:
    """The arrays that the serial function writes."""
    arguments = problem["arguments"]
    arrays = drawn(arguments, problem["seed"])
    passed = [
        ctypes.c_void_p(arrays[a["name"]].ctypes.data) if a["pointer"] else c_scalar(a, a["value"])
        for a in arguments
        if not a.get("added")  # the C function does not have it
    ]
    loaded = ctypes.CDLL(library)
    own: str = problem["function"]
    function = loaded[f"{ENTRY}{own}"]
    function.restype = None
    function(*passed)
    return {name: arrays[name] for name in written(arguments)}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
