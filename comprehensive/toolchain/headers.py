"""The directories with the headers of the CUDA runtime: nvcc in, directories out.

    include_directories(nvcc)      # (Path("<toolkit>/include"),)

A C compiler that is to read ``cuda_runtime_api.h`` is given these, as nvcc gives them to the compiler of the host.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.process import ToolError, run


def include_directories(nvcc: Tool) -> tuple[Path, ...]:
    """The directories that nvcc names to other compilers; ToolError where it does not say any."""
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        empty = Path(scratch) / "empty.cu"
        empty.touch()
        answer = run((nvcc.path, "--dryrun", "-c", empty), timeout_s=60)
    line = re.search(r"^#\$ INCLUDES=(.*)$", answer.stdout + answer.stderr, re.MULTILINE)
    found = tuple(Path(name).resolve() for name in re.findall(r'"-I([^"]+)"', line[1] if line else ""))
    if not found:
        raise ToolError(f"{nvcc.path} --dryrun names no directory of headers")
    return found
