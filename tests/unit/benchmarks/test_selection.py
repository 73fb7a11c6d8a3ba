"""The cost of selection is timed by programs that call what is generated."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.selection import COLUMNS, row
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.compiled_specs import compiled

needs_compilers = pytest.mark.skipif(
    find_c_compiler() is None or find_cxx_compiler() is None, reason="no C and C++ compilers on the PATH"
)


@needs_compilers
def test_choices_and_launches_are_timed(tmp_path: Path) -> None:
    found = row(compiled("reverse").plan, tmp_path, 1)
    assert (found.spec, found.tried, found.launches) == ("reverse", 45, 1)
    assert min(found.tile, found.parameters, found.known, found.new) > 0
    assert str(found).count("|") == len(COLUMNS) + 1


@pytest.mark.slow
@needs_compilers
def test_a_loop_of_the_host_launches_more_than_once_a_call(tmp_path: Path) -> None:
    found = row(compiled("jacobi1d").plan, tmp_path, 1)
    assert found.launches > 1
