"""Code for several architectures in one container, from which a device takes what fits it.

In: cubins and PTX, each with its architecture.  Out: the bytes of the fatbin, the same for the same input::

    pack((Part("elf", "sm_80", cubin), Part("ptx", "sm_90", text)))
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.process import ToolError, run


@dataclass(frozen=True, slots=True)
class Part:
    """Code for one architecture: ``elf`` is a cubin, ``ptx`` a text that later devices compile for themselves."""

    kind: Literal["elf", "ptx"]
    arch: str
    data: bytes


def pack(parts: Sequence[Part], cuda_path: str | None = None) -> bytes:
    """Return the container. ToolError where ``fatbinary``, which comes with nvcc, is not found or fails."""
    found = find_tool("fatbinary", cuda_path)
    if isinstance(found, Missing):
        raise ToolError(f"embedding kernels needs fatbinary\n{found.explain()}\nhelp: {found.help}")
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        images: list[str] = []
        for number, part in enumerate(parts):
            # The name is relative, for it could be kept in the container.
            name = f"kernels{number}.{'ptx' if part.kind == 'ptx' else 'cubin'}"
            (Path(scratch) / name).write_bytes(part.data)
            architecture = part.arch.removeprefix("sm_")
            images.append(f"--image3=kind={part.kind},sm={architecture},file={name}")
        command = (found.path, "-64", "--create=kernels.fatbin", *images)
        answer = run(command, timeout_s=60, cwd=Path(scratch), environment={"TMPDIR": scratch})
        container = Path(scratch) / "kernels.fatbin"
        if answer.returncode != 0 or not container.is_file():
            raise ToolError(f"{found.path} failed: {(answer.stdout + answer.stderr).strip()}")
        return container.read_bytes()
