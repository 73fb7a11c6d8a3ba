"""What is emitted is what was read and accepted; `--update-golden` writes it anew for a reviewer of the difference."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from comprehensive.codegen.wrap import MOST
from comprehensive.driver import compile_file
from comprehensive.generate import source_texts
from tests.compiled_specs import OPTIONS, SPECS, compiled, texts
from tests.golden.texts import golden_texts, options_of

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
SOURCES = {path.stem: path for path in sorted(HERE.glob("programs/*.*"))}
PROGRAMS = sorted(SOURCES)
SUFFIXES = (".h", ".cu", ".tree.txt")
MOST_LINES = 200
UPDATE = "if this is meant: pytest tests/golden --update-golden, then read `git diff tests/golden`"


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("update_golden"))


def compare(folder: Path, found: Mapping[str, str], *, update: bool) -> None:
    """Fails with the lines that differ, or writes the texts."""
    lines: list[str] = []
    for name, text in found.items():
        path = folder / name
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if update and text != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif text != before:
            place = path.relative_to(HERE.parents[1]).as_posix()
            lines += difflib.unified_diff(
                before.splitlines(),
                text.splitlines(),
                f"{place} (expected)",
                f"{place} (generated)",
                lineterm="",
            )
    if lines:
        more = [f"... and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
        pytest.fail("\n".join([*lines[:MOST_LINES], *more, UPDATE]), pytrace=False)


@pytest.mark.parametrize("spec", SPECS)
def test_an_example_becomes_what_it_became(spec: str, update: bool) -> None:
    compare(EXPECTED, golden_texts(compiled(spec), texts(spec)), update=update)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_becomes_what_it_became(program: str, update: bool) -> None:
    compilation = compile_file(SOURCES[program], options_of(program))
    compare(EXPECTED, golden_texts(compilation, source_texts(compilation.plan)), update=update)


def test_no_golden_file_is_left_from_a_program_that_went(update: bool) -> None:
    wanted = {EXPECTED / f"{name}{suffix}" for name in (*SPECS, *PROGRAMS) for suffix in SUFFIXES}
    stale = sorted(path for path in EXPECTED.rglob("*") if path.is_file() and path not in wanted)
    if update:
        for path in stale:
            path.unlink()
    else:
        names = ", ".join(path.relative_to(HERE).as_posix() for path in stale)
        assert not stale, f"no program makes {names}: remove it, or pytest tests/golden --update-golden"


@pytest.mark.parametrize("suffix", [".h", ".cu"])
def test_no_line_of_generated_code_is_long(suffix: str) -> None:
    found = [
        f"{path.name}:{number}: {line}"
        for path in sorted(EXPECTED.glob(f"*{suffix}"))
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1)
        if len(line) > MOST
    ]
    assert found == []


@pytest.mark.parametrize(
    "idle", [r"\{\n( *)\{\n(\1 .*\n|#.*\n)*\1\}\n *\}", r"else \{\n( *)  if .*\n(\1   .*\n)*\1\}\n"]
)
def test_no_braces_are_idle(idle: str) -> None:
    """Blocks that are a whole body, and branches that are one condition, have none."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(EXPECTED.glob("*.cu")))
    assert [found[0] for text in texts for found in re.finditer(idle, text)] == []


@pytest.mark.parametrize("idle", [r"[(=?:<,] ?0 - [a-z(].*", r".*\+ -[a-z(].*", r"\[1 \+ \w+ - 1\b.*"])
def test_no_arithmetic_is_idle(idle: str) -> None:
    texts = (path.read_text(encoding="utf-8") for path in sorted(EXPECTED.glob("*.cu")))
    assert [found[0] for text in texts for found in re.finditer(idle, text)] == []


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("matmul", "// stage(b): D x T1*U1 elements into shared memory, S - 1 pieces ahead"),
        ("matmul", "// accumulate(c): U0 x U1 values in registers while the loop runs"),
        ("matmul", "// stage(a): B0 x B0 elements into shared memory"),
        ("convolution", "// stage(in): boxes of "),
        ("transpose", "// stage(c): T1*U1 x T0*U0 elements through shared memory, transposed"),
        ("jacobi2d", "// vectorize(a): "),
        ("jacobi2d", "// stage(a, b): the block's tile of both grids"),
        ("blur5x5", "// stream(in): "),
        ("reassociated", "// split_reduction("),
        ("mixed_precision", "// stage(sum): T0*U0 x T1*U1 sums through shared memory"),
        ("resident_rows", "// stage(a): whole rows into shared memory"),
        ("resident_rows", "// distribute(y, a): the lanes of a row share the steps of j"),
        ("matadd", "// unroll_and_jam(c): U0 x U1 points a thread"),
        ("sweeps", "// overlap(b): a sweep from second_grid to b"),
        (
            "gemm",
            "// cut(i, j): tiles of T0*U0 x T1*U1 points by warps of 4 x 8 threads, 8 rows of tiles at a time",
        ),
        ("matmul", "// stage(a, b): the first S - 1 pieces"),
        ("gemm", "// cut(l): pieces of D steps, then the steps that are left"),
        ("matmul", "// accumulate(c): stored inside of the limits; addresses are not kept over the loop"),
        ("convolution", "// cut(c): pieces of D steps"),
        ("matadd", "// predicate(c): points inside of the limits, one by one"),
        ("matadd", "// predicate(c): points outside do what the last ones inside do, up to 24 reads"),
    ],
)
def test_a_stage_names_its_primitive_and_its_arrays(program: str, said: str) -> None:
    assert said in (EXPECTED / f"{program}.cu").read_text(encoding="utf-8")


def test_every_kernel_over_tiles_names_a_primitive_and_its_arrays() -> None:
    kernel = re.compile(r"^template <.*>\n__global__ .* (\w+)\(\n((?:.*\n)*?)\}$", re.MULTILINE)
    named = {
        found[1]: bool(re.search(r"^ *// (?!cut)[a-z_]+\(\w+(, \w+)*\): ", found[2], re.MULTILINE))
        for path in EXPECTED.glob("*.cu")
        for found in kernel.finditer(path.read_text(encoding="utf-8"))
    }
    assert len(named) > len(PROGRAMS)
    assert [name for name, is_named in named.items() if not is_named] == []


def test_shared_memory_has_one_name_in_a_kernel_and_offsets_are_products() -> None:
    text = (EXPECTED / "matvec.cu").read_text(encoding="utf-8")
    assert "= (float *)(cf_smem + T0 * U0 * D * S * 4);" in text
    assert "= (float *)(cf_shared + n * B * 4);" in text
    assert "cf_shared = " not in text


def test_no_two_programs_share_a_name() -> None:
    assert not set(SPECS) & set(PROGRAMS)


def test_golden_files_are_small_enough_to_be_read() -> None:
    assert sum(path.stat().st_size for path in EXPECTED.rglob("*") if path.is_file()) < 3_400_000


# --- the comparison itself -----------------------------------------------------------------------------------


def test_a_difference_is_shown_and_how_to_accept_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.test_golden.HERE", tmp_path / "tests" / "golden")
    folder = tmp_path / "tests" / "golden" / "expected"
    with pytest.raises(pytest.fail.Exception, match=r"\+a new line"):
        compare(folder, {"k.cu": "a new line\n"}, update=False)
    compare(folder, {"k.cu": "one\ntwo\n"}, update=True)
    compare(folder, {"k.cu": "one\ntwo\n"}, update=False)
    with pytest.raises(pytest.fail.Exception) as failed:
        compare(folder, {"k.cu": "one\n2\n"}, update=False)
    said = str(failed.value)
    assert "-two\n+2\n" in said
    assert "tests/golden/expected/k.cu" in said
    assert "--update-golden" in said
    assert (folder / "k.cu").read_text() == "one\ntwo\n"


def test_neither_version_nor_place_is_in_a_golden_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = HERE / "programs" / "floor_grid.mf"
    before = compile_file(source, OPTIONS)
    expected = golden_texts(before, source_texts(before.plan))
    for module in ("comprehensive.generate", "tests.golden.texts"):
        monkeypatch.setattr(f"{module}.__version__", "12.34.56")
    (tmp_path / source.name).write_bytes(source.read_bytes())
    moved = compile_file(tmp_path / source.name, OPTIONS)
    assert golden_texts(moved, source_texts(moved.plan)) == expected
    assert "12.34.56" not in "".join(expected.values())
