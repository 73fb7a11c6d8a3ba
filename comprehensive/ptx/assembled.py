"""A check behind every pass: that ptxas takes what the pass made.

run(module, passes, (assembled(ptxas),))      # CompileError (CF1026) where it does not
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.module import Module
from comprehensive.ptx.pipeline import Check, Stage, pass_error
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.nvcc import Compiled, SourceRejectedError, Tool, assemble


def assembled(ptxas: Tool) -> Check:
    """Return the check that ptxas takes what a pass made: CompileError (CF1026) where it does not.

    The check raises ToolError where ptxas does not run to its end.
    """

    def check(stage: Stage) -> None:
        if stage.after is stage.before:
            return
        try:
            cubin_of(ptxas, stage.after)
        except SourceRejectedError as rejected:
            try:
                cubin_of(ptxas, stage.before)
            except SourceRejectedError as before:
                raise _input_rejected(before) from None
            what = f"made what ptxas rejects: {_first_error(rejected)}"
            raise pass_error("CF1026", stage, what) from None

    return check


def cubin_of(ptxas: Tool, module: Module) -> Compiled:
    """Compile for the architecture that the module names, or the next later one that ptxas has.

    SourceRejectedError where ptxas rejects the module.
    """
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "module.ptx"
        source.write_bytes(print_module(module).encode("utf-8", "surrogateescape"))
        stated = module.target[0]
        later = [
            each for each in _LATER if re.fullmatch(r"sm_\d+", stated) and int(each[3:]) > int(stated[3:])
        ]
        arch = stated
        # Code for separate compilation refers to what is in other files.
        flags = ("--compile-only",)
        while True:
            try:
                return assemble(ptxas, source, arch, flags)
            except SourceRejectedError as rejected:
                if flags and "per-function compilation" in rejected.log:
                    flags = ()
                    continue
                if not later or "not defined for option 'gpu-name'" not in rejected.log:
                    raise
                arch = later.pop(0)


_LATER = ("sm_75", "sm_80", "sm_90", "sm_100")
"""Later architectures for those that ptxas no longer has: code for one of them tells as much."""


_PLACE = re.compile(r"^ptxas \S+, (line \d+); error\s*: ")
"""The words before an error of ptxas, with a file of ours that is gone when the error is read."""


def _first_error(rejected: SourceRejectedError) -> str:
    lines = [line.strip() for line in rejected.log.splitlines() if line.strip()]
    first = next(
        (line for line in lines if re.search(r"\berror\s*:", line)), lines[0] if lines else "without a word"
    )
    return _PLACE.sub(r"\1: ", first)


def _input_rejected(before: SourceRejectedError) -> CompileError:
    message = f"ptxas rejects the text as it was given: {_first_error(before)}"
    help = "mend it, or leave --assemble out"
    return CompileError.of("CF1026", message, help=help)
