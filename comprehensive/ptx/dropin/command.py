"""``comprehensive ptxas``: ptxas with passes, or the installation of a toolkit that calls it.

In: the arguments, which are those of ptxas unless the first one is ``--install``.  Out: what ptxas does, or a mini
toolkit::

    main(("--install", "dropin", "-p", "dce"), print)
    main(("-arch=sm_90", "k.ptx", "-o", "k.cubin"), print)
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from comprehensive.diagnostics import CommandLineError
from comprehensive.ptx.dropin.install import install, real_ptxas, real_toolkit
from comprehensive.ptx.dropin.run import IN_PLACE, REMARKS, run
from comprehensive.ptx.dropin.time_limit import DEFAULT, SECONDS
from comprehensive.ptx.dropin.wrapper import PASSES
from comprehensive.ptx.passes.pipeline_text import demand_same_launches, passes_of
from comprehensive.toolchain.find import find_tool

_ENVIRONMENT = f"""\
environment:
  {PASSES}   passes, in place of those of -p; none where it is empty
  {REMARKS}  file to which what passes have to say is appended
  {SECONDS}  how long passes may take [{DEFAULT:g}; 0 is for ever]; then the original is assembled
  {IN_PLACE} where it is not empty, rewritten PTX also replaces the input
"""


def main(arguments: Sequence[str], tell: Callable[[str], None]) -> None:
    """Returns after an installation; else ends this process as ptxas ends.

    Raises ToolError where nvcc or ptxas is missing, CommandLineError where the directory is not ours to write or
    cannot be written, or the passes are none for launchers of others.
    """
    if arguments[:1] != ("--install",):
        run(str(real_ptxas(find_tool("ptxas"))), arguments, os.environ.get(PASSES, ""))
    options = _parser().parse_args(arguments[1:])
    # Of a build a wrong pipeline would only be told in remarks.
    demand_same_launches(passes_of(options.passes))
    directory: Path = options.directory
    toolkit = real_toolkit(find_tool("nvcc", options.cuda_path))
    try:
        install(directory, toolkit, options.passes)
    except OSError as problem:
        message = f"cannot write {directory}: {problem.strerror or problem}"
        help = "name a directory that you may write"
        raise CommandLineError.of("CF1092", message, help=help) from None
    tell(f"{directory}: call {directory / 'bin' / 'nvcc'}, or set CUDA_HOME to this directory")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="comprehensive ptxas --install",
        description="Writes a mini toolkit whose nvcc is the real one, and whose ptxas runs passes over its input. "
        "Without --install in the first place all arguments are those of ptxas.",
        epilog=_ENVIRONMENT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="where it is written")
    parser.add_argument("-p", "--passes", default="", help="passes of that ptxas  [default: none]")
    parser.add_argument("--cuda-path", metavar="DIR", help="directory of the CUDA toolkit behind it")
    return parser
