"""The arguments after a run of the corpus, by the interpreter.

In: a :class:`Run` and the PTX with its kernel.  Out: the contents of all arguments after it::

    launched(source.runs[0], compiled(source, "sm_90", directory))[2]    # b'...': the third argument
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import parse
from tests.ptx.runs import DTYPES, Buffer, Run, drawn


def launched(each: Run, ptx: Path, more_shared_bytes: int = 0) -> list[bytes]:
    """Raises CompileError for what the interpreter does not know or refuses."""
    given: list[Any] = []
    for argument, contents in zip(each.arguments, drawn(each), strict=True):
        array = (
            np.frombuffer(bytearray(contents), DTYPES[argument.type])
            if isinstance(argument, Buffer)
            else contents
        )
        given.append(array)
    module = parse(SourceFile(str(ptx), ptx.read_text(encoding="utf-8")))
    run(module, each.kernel, each.grid, each.block, given, shared_bytes=each.smem_bytes + more_shared_bytes)
    return [argument if isinstance(argument, bytes) else argument.tobytes() for argument in given]
