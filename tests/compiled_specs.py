"""The examples with estimated registers, compiled once a process.

`tests/distribution.py` gives all tests of one example to the same worker of pytest-xdist.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from comprehensive.data import spec_directory
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.soundness.emulated import Executables

OPTIONS = Options(registers="estimate")
SPECS = sorted(path.stem for path in spec_directory().glob("*.mf"))

LITTLE_OPTIMIZATION = ("-Xcicc", "-O1", "-Xptxas", "-O1")
"""A third of the time of nvcc; what it says of the source is the same."""


@cache
def compiled(spec: str) -> Compilation:
    return compile_file(spec_directory() / f"{spec}.mf", OPTIONS)


@cache
def texts(spec: str) -> Mapping[str, str]:
    """Return the files that `gen` writes, by name."""
    return outputs(compiled(spec))


class BuiltSpecs(Protocol):
    """The fixture `executables` of `tests/specs`: kernels on the CPU with the serial C, built once a process."""

    def __call__(self, spec: str, *, sanitize: bool = False) -> Executables: ...
