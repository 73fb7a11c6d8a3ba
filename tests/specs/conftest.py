"""Kernels of the examples on the CPU, compiled once a process: leaves and tiles are in one library."""

from __future__ import annotations

from functools import cache

import pytest

from comprehensive.soundness.emulated import Executables, build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.compiled_specs import BuiltSpecs, compiled, texts


@pytest.fixture(scope="session")
def executables(tmp_path_factory: pytest.TempPathFactory) -> BuiltSpecs:
    @cache
    def built(spec: str, *, sanitize: bool = False) -> Executables:
        c, cxx = find_c_compiler(), find_cxx_compiler()
        if c is None or cxx is None:
            pytest.skip("no C or no C++ compiler on this machine")
        work = tmp_path_factory.mktemp(spec)
        return build(compiled(spec), texts(spec), work, c=c, cxx=cxx, sanitize=sanitize)

    return built
