"""A translation unit is compiled once, wherever it is, and again when anything changes that the answer depends on."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.compiled import Compiled, SourceRejectedError
from comprehensive.toolchain.host import find_c_compiler
from comprehensive.toolchain.unit import compile_unit, compiler_version, write_binary

COMPILER = find_c_compiler()
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler on the PATH")

SOURCE = """#include "beside.h"
int f(void) { return BESIDE + SHIM + FLAG; }
"""


class Project:
    """A source with a header beside it, a shim elsewhere, and a compiler that counts how often it compiles."""

    def __init__(self, directory: Path, cache: Path) -> None:
        assert COMPILER is not None
        self.directory, self.cache = directory, Cache(cache)
        self.calls, self.version = directory / "calls", directory / "version"
        self.compiler, self.shim = directory / "cc", directory / "shim.h"
        self.source = directory / "source" / "unit.c"
        self.source.parent.mkdir(parents=True)
        self.version.write_text("version 1\n")
        self.shim.write_text("#define SHIM 10\n")
        self.compiler.write_text(
            "#!/bin/sh\n"
            f'case "$*" in *--version*) cat {self.version}; exit 0;; esac\n'
            f"echo called >> {self.calls}\n"
            f'exec {" ".join(COMPILER.command)} "$@"\n'
        )
        self.compiler.chmod(0o755)
        self.write(self.source)

    def write(self, source: Path, beside: int = 1) -> None:
        source.parent.mkdir(exist_ok=True)
        source.write_text(SOURCE)
        source.with_name("beside.h").write_text(f"#define BESIDE {beside}\n")

    def compiled(self, source: Path | None = None, flag: int = 100) -> Compiled:
        compiler_version.cache_clear()
        command = (str(self.compiler), "-shared", "-fPIC", f"-DFLAG={flag}", "-include", str(self.shim))
        return compile_unit(command, source or self.source, timeout_s=60, cache=self.cache)

    def value(self, source: Path | None = None, flag: int = 100) -> int:
        count = len(list(self.directory.glob("*.so")))
        library = self.directory / f"{count}.so"
        library.write_bytes(self.compiled(source, flag).output)
        return int(ctypes.CDLL(str(library)).f())

    def count(self) -> int:
        return len(self.calls.read_text().splitlines())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", tmp_path / "cache")


def test_the_same_unit_is_compiled_once_wherever_it_is(project: Project) -> None:
    first = project.compiled()
    elsewhere = project.directory / "elsewhere" / "unit.c"
    project.write(elsewhere)
    assert project.compiled(elsewhere) == first == project.compiled()
    assert project.count() == 1


def test_whatever_changes_makes_it_anew(project: Project) -> None:
    assert project.value() == 111
    project.write(project.source, beside=2)
    assert project.value() == 112
    project.shim.write_text("#define SHIM 20\n")
    assert project.value() == 122
    assert project.value(flag=200) == 222
    project.source.write_text(SOURCE.replace("FLAG", "2 * FLAG"))
    assert project.value() == 222
    assert project.count() == 5
    project.version.write_text("version 2\n")
    assert project.value() == 222
    assert project.count() == 6


def test_the_environment_of_a_compiler_is_a_part_of_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.compiled()
    monkeypatch.setenv("CPATH", str(tmp_path))
    project.compiled()
    assert project.count() == 2


def test_an_include_that_may_be_any_file_is_looked_for_where_the_source_is(project: Project) -> None:
    """The same text elsewhere has other headers: one by a macro, and one outside of its directory."""
    for include in ('#define NAME "beside.h"\n#include NAME', '#include "../up/beside.h"'):
        for folder, number in (("one", 1), ("two", 2)):
            source = project.directory / folder / "here" / "unit.c"
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(f"{include}\nint f(void) {{ return BESIDE; }}\n")
            for header in (source.with_name("beside.h"), source.parent.parent / "up" / "beside.h"):
                header.parent.mkdir(exist_ok=True)
                header.write_text(f"#define BESIDE {number}\n")
            assert project.value(source) == number


def test_headers_of_headers_belong_to_the_source(project: Project) -> None:
    project.source.with_name("beside.h").write_text('#include "deeper/deep.h"\n')
    deep = project.source.parent / "deeper" / "deep.h"
    deep.parent.mkdir()
    deep.write_text('#include "deepest.h"\n')
    deep.with_name("deepest.h").write_text("#define BESIDE 5\n")
    assert project.value() == 115
    deep.with_name("deepest.h").write_text("#define BESIDE 6\n")
    assert project.value() == 116


def test_what_is_rejected_is_said_again_and_leaves_nothing(project: Project) -> None:
    project.source.write_text("int f(void) { return }\n")
    for _ in range(2):
        with pytest.raises(SourceRejectedError, match=r"unit\.c:1") as caught:
            project.compiled()
        assert f"./{project.source.name}" in caught.value.command
    assert project.count() == 2
    assert sorted(path.name for path in project.source.parent.iterdir()) == ["beside.h", "unit.c"]


def test_two_processes_may_compile_the_same(project: Project, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from comprehensive.toolchain.unit import compile_unit\n"
        "for _ in range(5):\n"
        "  out = compile_unit(sys.argv[2:], Path(sys.argv[1]), timeout_s=60).output\n"
        "  assert out.startswith(b'\\x7fELF')\n"
    )
    command = [sys.executable, "-c", program, project.source, project.compiler, "-c", "-DSHIM=1", "-DFLAG=2"]
    environment = {**os.environ, "COMPREHENSIVE_CACHE": str(tmp_path / "shared")}
    both = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert 1 <= project.count() <= 2


def test_files_that_flags_name_may_be_beside_the_source(project: Project) -> None:
    """Put the shim beside the source, where a build takes all of its texts to another machine."""

    def value(folder: Path, number: int) -> bytes:
        project.write(folder / "unit.c")
        shim = folder / "shim.h"
        shim.write_text(f"#define SHIM {number}\n")
        command = (str(project.compiler), "-shared", "-fPIC", "-DFLAG=1", "-include", "shim.h")
        found = compile_unit(command, folder / "unit.c", timeout_s=60, beside=[shim], cache=project.cache)
        return found.output

    one = value(project.directory / "one", 1)
    assert value(project.directory / "two", 1) == one
    assert project.count() == 1
    assert value(project.directory / "two", 2) != one
    assert project.count() == 2


def test_a_library_that_is_loaded_stays_when_its_file_is_written_anew(
    project: Project, tmp_path: Path
) -> None:
    target = tmp_path / "library.so"
    write_binary(project.compiled(), target)
    before = ctypes.CDLL(str(target))
    again = project.compiled(flag=300)
    write_binary(again, target)
    assert target.read_bytes() == again.output
    assert before.f() == 111


def test_a_name_may_begin_like_a_flag(project: Project) -> None:
    source = project.source.with_name("-unit.c")
    project.write(source)
    assert project.value(source) == 111
