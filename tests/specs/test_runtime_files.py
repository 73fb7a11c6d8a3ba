"""The files that all programs share compile, are formatted and agree with the tool; programs include or contain
them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive import __version__
from comprehensive.cli import cli
from comprehensive.codegen.dispatch import MACHINE_FIELDS
from comprehensive.codegen.header_view import INTERFACE_VERSION
from comprehensive.codegen.runtime_files import (
    DEVICE,
    LAUNCH,
    RUNTIME,
    RUNTIME_FILES,
    STORAGE,
    plain_files,
    runtime_digest,
    runtime_files,
)
from comprehensive.data import spec_directory, template_directory
from comprehensive.generate import source_texts
from comprehensive.kernel_ir import staircase
from comprehensive.machine import sites
from comprehensive.machine.device import devices
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS
from comprehensive.records import replace
from comprehensive.toolchain.host import cuda_on_cpu, find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, include_directories
from tests.compiled_specs import compiled
from tests.printed_cost import find_formatter, with_functions

FOLDER = template_directory() / "runtime"
STRICT = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wunused", "-Wunused-function"),
    *("-Werror", "-fsyntax-only"),
)
SETTINGS = {
    "plain": "",
    "names of devices": "#define CF_DEVICE_NAMES\n",
    "versions": "#define CF_ADAPTED_SIZES 2\n#define CF_MOST_CANDIDATES 5\n",
    "observed": "#define CF_OBSERVE\n",
}
NAMES = "static void cf_set_measured(cf_machine *machine, const char *name) { (void)machine; (void)name; }\n"


def demand_silence(command: Sequence[str], unit: Path, text: str) -> None:
    """A unit compiles, and the compiler says nothing."""
    unit.write_text(text, encoding="utf-8")
    words = [*command, str(unit)]
    done = subprocess.run(words, cwd=unit.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def compiler_of(language: str) -> tuple[str, ...]:
    compiler = find_cxx_compiler() if "++" in language else find_c_compiler()
    if compiler is None:
        pytest.skip(f"no compiler for {language} on this machine")
    kind = "c++" if "++" in language else "c"
    return (*compiler.command, f"-std={language}", *STRICT, "-x", kind, "-I", str(FOLDER))


# --- the files on their own


@pytest.mark.parametrize("language", ["c99", "c11", "c++11", "c++20"])
@pytest.mark.parametrize("name", [RUNTIME, STORAGE])
def test_what_headers_include_compiles_alone_and_twice(tmp_path: Path, name: str, language: str) -> None:
    text = f'#include "{name}"\n#include "{name}"\nint unit_has_something;\n'
    demand_silence(compiler_of(language), tmp_path / "unit", text)


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_launchers_include_compiles_with_the_stand_in_for_cuda(tmp_path: Path, setting: str) -> None:
    names = f"namespace {{\n{NAMES}}}\n" if "NAMES" in SETTINGS[setting] else ""
    command = (*compiler_of("gnu++17"), "-Wno-unknown-pragmas", *cuda_on_cpu())
    demand_silence(command, tmp_path / "unit", f'{SETTINGS[setting]}#include "{LAUNCH}"\n{names}')


def test_what_kernels_include_compiles_with_the_stand_in_for_cuda(tmp_path: Path) -> None:
    command = (*compiler_of("gnu++17"), "-Wno-unknown-pragmas", *cuda_on_cpu())
    demand_silence(command, tmp_path / "unit", f'#include "{DEVICE}"\n')


@pytest.mark.toolchain
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kernels", ["of the source", "embedded"])
def test_what_launchers_include_compiles_as_c_with_the_runtime_of_cuda(
    tmp_path: Path, nvcc: Tool, setting: str, kernels: str
) -> None:
    text = f'{SETTINGS[setting]}#include "{LAUNCH}"\n'
    text += NAMES if "NAMES" in text else ""
    if kernels == "embedded":
        text = f"#define CF_EMBEDDED\n{text}static const void *cf_image_of(void) {{ return 0; }}\n"
    headers = [word for directory in include_directories(nvcc) for word in ("-isystem", str(directory))]
    demand_silence((*compiler_of("gnu99"), *headers), tmp_path / "unit", text)


@pytest.mark.toolchain
def test_nvcc_takes_all_of_them_without_a_warning(tmp_path: Path, nvcc: Tool) -> None:
    command = (str(nvcc.path), "-Werror", "all-warnings", "-arch=sm_90", "-I", str(FOLDER), "-ptx", "-o", "p")
    text = "".join(f'#include "{name}"\n' for name in (RUNTIME, STORAGE, DEVICE, LAUNCH))
    demand_silence(command, tmp_path / "unit.cu", text)


def test_they_are_formatted_and_no_line_is_long() -> None:
    formatter = find_formatter()
    for name, text in plain_files().items():
        assert all(len(line) <= 120 for line in text.split("\n")), name
    if formatter is None:
        pytest.skip("clang-format is not installed (extra dev)")
    files = [str(FOLDER / name) for name in RUNTIME_FILES]
    command = [formatter, "--dry-run", "--Werror", "--style=file", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: clang-format -i templates/runtime/*\n{done.stderr[:2000]}"


# --- the files and the tool


def test_constants_of_the_cost_model_are_those_of_the_tool() -> None:
    defined = dict(
        re.findall(r"^#define CF_(\w+) \(?(-?\d+)(?:LL)?\)?(?: +/\*.*)?$", plain_files()[RUNTIME], re.M)
    )
    expected = {
        **{name: getattr(sites, name) for name in ("WARP_THREADS", "LEAST_STARTS", "BEGUN", "WAITED")},
        **{name: getattr(sites, name) for name in ("LINE_BYTES", "SECTOR_BYTES", "WORD_BYTES", "BANKS")},
        **{
            name: getattr(sites, name) for name in ("LINES_TOGETHER", "MOST_LOOPS", "MOST_DEEP", "MOST_APART")
        },
        **{name: getattr(sites, name) for name in ("LINES_A_WAIT", "SHARED_INSTRUCTIONS")},
        "GLOBAL_INSTRUCTIONS": sites.GLOBAL_INSTRUCTIONS,
        "MOST_COUNTED": staircase.LARGEST,
        "MOST_STAIRS": staircase.MOST_ROWS,
        "MOST_STAIR_COLUMNS": staircase.MOST_COLUMNS,
        "NO_MIRROR": staircase.ALONE,
        "INTERFACE": INTERFACE_VERSION,
        "RUNTIME": 0,
        "NO_LEAF": -1,
        "TENSOR_CORES": 1,
    }
    assert {name: int(value) for name, value in defined.items()} == expected


def test_the_cost_of_a_launch_is_printed_from_its_rules() -> None:
    formatter = find_formatter()
    if formatter is None:
        pytest.skip("clang-format is not installed (extra dev)")
    text = plain_files()[RUNTIME]
    assert with_functions(formatter, text) == text, "run: python -m tests.printed_cost"


def test_a_machine_has_the_members_that_the_tool_fills_in() -> None:
    text = plain_files()[RUNTIME]
    members = text[text.index("typedef struct cf_machine {") : text.index("} cf_machine;")]
    found = re.findall(r"^  long long\s+(\w+);", members, re.M)
    assert found == [*(MACHINE_FIELDS[p.symbol] for p in MACHINE_PARAMETERS.values()), *SPEEDS]
    said = re.sub(r"\s+", " ", members)
    for parameter in MACHINE_PARAMETERS.values():
        assert f"{parameter.symbol}: {parameter.meaning}, in {parameter.unit} */" in said
    for speed in SPEEDS.values():
        assert f"/* {speed.meaning}, in {speed.unit} */" in said


def test_speeds_of_architectures_are_those_of_the_machine_files() -> None:
    text = plain_files()[RUNTIME]
    body = text[text.index("static inline void cf_set_speeds(") :]
    rows = [tuple(map(int, row.split(","))) for row in re.findall(r"^    \{ ([\d, ]+) \},$", body, re.M)]
    known = {d.compute_capability: d.machine() for d in devices() if d.name == d.arch}
    expected = [(arch, *(machine[name] for name in SPEEDS)) for arch, machine in sorted(known.items())]
    assert rows == expected, "write these rows into templates/runtime/cf_runtime.h"
    assert re.findall(r"machine->(\w+) = speeds\[row\]\[\d+\];", body) == list(SPEEDS)


def test_they_are_the_same_for_all_programs_and_say_their_version() -> None:
    one, other = (source_texts(compiled(spec).plan) for spec in ("matmul", "reverse"))
    for name in (RUNTIME, LAUNCH, DEVICE):
        assert one[name] == other[name] == runtime_files(__version__)[name]
        assert one[name].startswith(
            f"/* Generated by comprehensive {__version__} for all programs; do not edit. */\n"
        )
        assert f" {runtime_digest()}\n" in one[name]
    assert STORAGE not in one


# --- the files and the outputs of `gen`

COPY = """
void copy{n}(int n, const float x[n], float y[n], int B)
{{
  meta_schedule block(B) {{ meta_for (int i = 0; i < n; i++) y[i] = x[i]; }}
}}
"""


def generated(folder: Path, number: int, *options: str) -> str:
    source = folder / f"copy{number}.mf"
    source.write_text(COPY.format(n=number), encoding="utf-8")
    words = [
        "gen",
        str(source),
        "-o",
        str(folder / "out"),
        "--registers",
        "estimate",
        "--no-verify",
        *options,
    ]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    return done.output


def names(folder: Path) -> set[str]:
    return {path.name for path in (folder / "out").iterdir() if path.name.startswith("cf_")}


def test_programs_in_one_directory_share_them_and_none_takes_them_away(tmp_path: Path) -> None:
    generated(tmp_path, 1)
    assert names(tmp_path) == {RUNTIME, LAUNCH, DEVICE}
    times = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in names(tmp_path)}
    generated(tmp_path, 2, "-MD")
    assert times == {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in names(tmp_path)}
    # They are nobody's target, and stay where another header includes them.
    assert "cf_" not in (tmp_path / "out" / "copy2.d").read_text(encoding="utf-8").partition(":")[0]
    generated(tmp_path, 2, "--single-file")
    assert names(tmp_path) == {RUNTIME, LAUNCH, DEVICE}


@pytest.mark.parametrize("language", ["c99", "c++20"])
def test_headers_that_stand_alone_go_together_with_others(tmp_path: Path, language: str) -> None:
    generated(tmp_path, 1, "--single-file")
    assert names(tmp_path) == set()
    alone = (tmp_path / "out" / "copy1.h").read_text(encoding="utf-8")
    assert '#include "' not in alone
    generated(tmp_path, 2, "--single-file")
    generated(tmp_path, 3)
    text = "".join(f'#include "copy{n}.h"\n' for n in (1, 2, 3, 1))
    demand_silence(compiler_of(language), tmp_path / "out" / "unit", f"{text}int unit_has_something;\n")


def test_a_source_that_stands_alone_compiles(tmp_path: Path) -> None:
    generated(tmp_path, 1, "--single-file")
    compiler = find_cxx_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    command = [*compiler.command, "-std=gnu++17", "-fsyntax-only", "-Wno-unknown-pragmas", *cuda_on_cpu()]
    source = tmp_path / "out" / "copy1.cu"
    assert '#include "cf_' not in source.read_text(encoding="utf-8")
    done = subprocess.run([*command, "-x", "c++", str(source)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_header_beside_files_of_another_version_is_an_error(tmp_path: Path) -> None:
    generated(tmp_path, 1)
    runtime = tmp_path / "out" / RUNTIME
    text = runtime.read_text(encoding="utf-8").replace(f"CF_RUNTIME {runtime_digest()}", "CF_RUNTIME 0x1")
    runtime.write_text(text, encoding="utf-8")
    unit = tmp_path / "out" / "unit"
    unit.write_text('#include "copy1.h"\n', encoding="utf-8")
    words = [*compiler_of("c99"), str(unit)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "two versions of comprehensive" in done.stderr


def test_a_file_of_that_name_that_somebody_wrote_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / RUNTIME).write_text("int mine;\n", encoding="utf-8")
    source = tmp_path / "copy1.mf"
    source.write_text(COPY.format(n=1), encoding="utf-8")
    words = ["gen", str(source), "-o", str(tmp_path / "out"), "--registers", "estimate", "--no-verify"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1
    assert "CF0622" in done.output
    assert RUNTIME in done.output


@pytest.mark.parametrize("stem", ["cf_runtime", "cf_launch", "cf_storage"])
def test_a_program_whose_header_would_be_one_of_them_is_refused(tmp_path: Path, stem: str) -> None:
    source = tmp_path / f"{stem}.mf"
    shutil.copy(spec_directory() / "reverse.mf", source)
    words = ["gen", str(source), "-o", str(tmp_path / "out"), "--registers", "estimate", "--no-verify"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1
    assert "CF0623" in done.output
    assert not (tmp_path / "out").exists()


def test_the_plan_says_whether_texts_stand_alone() -> None:
    alone = source_texts(replace(compiled("reverse").plan, single_file=True))
    assert set(alone) == {"reverse.h", "reverse.cu"}
