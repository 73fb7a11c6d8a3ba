"""Passes for tests: the functions that stand for the pipeline of the tool, and the script that a wrapper runs.

As a script, ``python passes.py PTXAS NAME ARGUMENTS...``, this is one call of ptxas with the pass of that name.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from comprehensive.ptx.dropin.run import run


def rewrite(text: str, pipeline: str, *, name: str) -> tuple[str, Sequence[str]]:
    """The pass that ``pipeline`` names."""
    match pipeline:
        case "identity":
            return text, ()
        case "comment":
            return text + "// the same\n", ("applied: a comment",)
        case "maxnreg":
            return text.replace("\n)\n{", "\n)\n.maxnreg 24\n{"), (
                f"applied: .maxnreg 24 in {os.path.basename(name)}",
            )
        case "spoil":
            return text.replace("ret;", "retour;"), ("applied: French",)
        case "fail":
            raise ValueError("as asked")
        case "hang":
            while True:
                pass
        case "sleep":
            time.sleep(100)
            return text, ()
        case "recurse":
            return rewrite(text, pipeline, name=name)
        case _:
            raise AssertionError(pipeline)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[3:], sys.argv[2], rewrite=rewrite)
