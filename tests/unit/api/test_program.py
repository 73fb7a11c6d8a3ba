"""Programs from Python: compiled from paths and texts, looked at, explained, written and run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import comprehensive
from comprehensive import Branch, CompileError, DeadEnd, Leaf, Program, Pruned
from comprehensive.cli import cli
from comprehensive.records import names_of

SMOOTH = """\
void smooth(int n, const float x[n], float y[n], int B)
{
  meta_schedule block(B) cache(x) {
    meta_for (int i = 1; i < n - 1; i++)
      y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
  }
}
"""
TWO = """\
#include "value.h"
void scale(int n, float a, float x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] *= a;
  }
}
void fill(int n, float x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] = VALUE;
  }
}
"""


def compiled(text: str, **options: Any) -> Program:
    return comprehensive.compile(text, registers="estimate", **options)


@pytest.fixture(scope="module")
def smooth() -> Program:
    return compiled(SMOOTH, name="smooth")


@pytest.fixture(scope="module")
def two() -> Program:
    """A program with two functions, one of which computes with what an included file and a macro say."""
    return compiled(TWO, name="two", define={"SEVEN": 7}, include=[Path(__file__).parent / "included"])


@pytest.fixture(scope="module")
def demanding() -> Program:
    """A program with a level of performance, which no device has."""
    return compiled(SMOOTH, name="smooth", counters=("occupancy_by_shared_memory",))


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("smooth.mf").write_text(SMOOTH, encoding="utf-8")
    return tmp_path


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(cli, [*arguments, "--registers", "estimate"])
    assert result.exit_code == 0, result.output
    return result.stdout


# --- the same as the command line


def test_a_program_prints_as_the_commands_do(smooth: Program, on_disk: Path) -> None:
    assert f"{smooth}\n" == printed("tree", "smooth.mf")
    explained = smooth.explain(device="h200", B=256, n=1000000)
    told = printed("explain", "smooth.mf", "--device", "h200", "-D", "B=256", "-D", "n=1000000")
    assert f"{explained}\n" == told
    region = printed("tree", "smooth.mf", "--region", "B", "-D", "Z_B=512", "--range", "B=1:2000")
    assert f"{smooth.where('B', Z_B=512, ranges={'B': (1, 2000)})}\n" == region


def test_a_program_writes_what_gen_writes(smooth: Program, on_disk: Path) -> None:
    printed("gen", "smooth.mf", "-o", "by_command", "--no-verify")
    written = smooth.write("from_python", verify=False)
    assert written.changed == written.files == tuple(sorted(p.name for p in Path("by_command").iterdir()))
    for name in written.files:
        assert Path("from_python", name).read_bytes() == Path("by_command", name).read_bytes(), name
    assert smooth.header == Path("by_command/smooth.h").read_text(encoding="utf-8")
    assert smooth.cuda == Path("by_command/smooth.cu").read_text(encoding="utf-8")
    assert smooth.write("from_python", verify=False).changed == ()


def test_a_path_and_a_text_are_told_apart(on_disk: Path, smooth: Program) -> None:
    of_file = comprehensive.compile("smooth.mf", registers="estimate")
    assert of_file.name == "smooth"
    assert of_file.source == smooth.source == SMOOTH
    assert comprehensive.compile(Path("smooth.mf"), registers="estimate").header == smooth.header
    assert compiled(SMOOTH).name == "program"
    Path("a{b}.mf").write_text(SMOOTH, encoding="utf-8")
    assert comprehensive.compile(Path("a{b}.mf"), registers="estimate").name == "a{b}"


# --- what can be looked at


def test_a_leaf_has_its_system_its_counts_and_its_code(smooth: Program) -> None:
    cached, plain = smooth.leaves
    assert str(cached.system) == "B <= T_B, B + 2 <= Z_B, 14 <= R_B"
    assert cached.system.symbols == ("B", "R_B", "T_B", "Z_B")
    assert cached.system.assumptions[0] == "1 <= B"
    assert (cached.cached, plain.cached) == (("x",), ())
    assert (cached.strategies, plain.strategies) == ((), ("no-caching",))
    count = cached.counters["shared_words_per_block"]
    assert (count.value, count.limit, count.source) == ("B + 2", "Z_B", "exact")
    assert "shared_x" in cached.kernel
    assert "shared_x" not in plain.kernel
    assert "meta_schedule cache(x)" in cached.source
    assert "meta_schedule {" in plain.source
    assert cached.sample is not None
    assert cached.system.holds(cached.sample)  # type: ignore[arg-type]


def test_a_system_decides_exactly_whether_it_holds(smooth: Program, demanding: Program) -> None:
    system = smooth.leaves[0].system
    assert system.holds(device="h200", B=1024)
    assert not system.holds(device="h200", B=1025)
    assert not system.holds(device="h200", B=np.int64(512), Z_B=513)
    rounded = demanding.leaves[0].system
    assert "Z_SM" in rounded.symbols
    assert rounded.holds(device="h200", B=500, P_occupancy=Fraction(3, 4))
    assert not rounded.holds(device="h200", B=1000, Z_SM=1000, P_occupancy=1)


def test_a_tree_can_be_walked_through(smooth: Program) -> None:
    tree = smooth.tree
    match tree.root:
        case Branch() as root:
            assert str(root) == "threads_per_block = B [exact]"
            assert (str(root.accept_if), str(root.refuse_if)) == ("B <= T_B", "T_B < B")
            assert root.strategy is None
        case other:
            pytest.fail(f"{other} is no branch")
    assert isinstance(root.accept, Branch)
    assert root.accept.strategy == "no-caching"
    assert isinstance(root.refuse, DeadEnd)
    assert root.refuse.counter == "threads_per_block"
    nodes = list(tree.walk())
    assert [node for node in nodes if isinstance(node, Leaf)] == list(smooth.leaves)
    assert [node for node in nodes if isinstance(node, DeadEnd)] == list(smooth.region.dead_ends)
    pruned = [node for node in nodes if isinstance(node, Pruned)]
    assert pruned == list(tree.pruned)
    assert str(pruned[0]) == "pruned, since nothing satisfies 14 <= R_B and R_B < 14"
    assert pruned[0].is_proved
    assert tree.to_json()["leaves"][1]["index"] == 1
    assert "not shown" not in tree.text()
    assert "pruned: " in tree.text(pruned=True)


def test_a_region_has_its_tiles_and_says_why_there_are_no_others(smooth: Program) -> None:
    (tiling,) = smooth.region.tilings
    assert (tiling.recipe, tiling.first) == ("points", len(smooth.leaves))
    assert dict(tiling.instances[0]).keys() == {"T0", "U0", "M"}
    assert tiling.system.holds(device="h200", **tiling.instances[0])
    assert "template" in tiling.kernel
    assert smooth.region.missed == ()
    repeated = SMOOTH.replace("  meta_schedule", "  for (int t = 8; t > 0; t--)\n  meta_schedule")
    (missed,) = compiled(repeated, name="smooth").region.missed
    assert str(missed) == "overlapped sweeps, not applied: 't' does not go up by 1"
    assert smooth.region.parameters == ("B",)


def test_an_explanation_is_a_value(smooth: Program) -> None:
    explained = smooth.explain(device="h200", B=256, n=1000000)
    assert explained.chosen == {"smooth": "register tile 1"}
    assert repr(explained) == "<explanation, smooth: register tile 1>"
    assert explained.case("leaf 0").applies is True
    refused = explained.case("leaf 1")
    assert [c.numbers for c in refused.conditions if c.holds is False] == ["58112 < 258"]
    still_open = smooth.explain(device="h200")
    assert still_open.chosen == {"smooth": None}
    assert still_open.case("leaf 0").applies is None
    assert explained.to_json()["regions"][0]["name"] == "smooth"
    assert len(smooth.explain({"B": 256}, leaf=0).cases) == 1


def test_several_functions_have_their_regions(two: Program) -> None:
    assert list(two.functions) == ["scale", "fill"]
    scale = two.functions["scale"]
    assert [argument.name for argument in scale.arguments] == ["n", "a", "x"]
    assert scale.parameters == ("B",)
    assert repr(scale) == "<function scale(int n, float a, float *x, *, B)>"
    assert (*scale.regions, *two.functions["fill"].regions) == two.regions
    with pytest.raises(
        ValueError, match=r"two has 2 regions: take one of \.regions \(0 is scale, 1 is fill\)"
    ):
        _ = two.tree


def test_values_are_frozen_and_made_once(smooth: Program) -> None:
    for value in (smooth, smooth.region, smooth.tree, smooth.leaves[0], smooth.leaves[0].system):
        field = names_of(type(value))[0]
        with pytest.raises(AttributeError):
            setattr(value, field, None)
    assert smooth.leaves[0] is smooth.region.tree.leaves[0]


# --- running


def test_a_program_runs_on_the_processor_with_what_it_includes(two: Program) -> None:
    module = two.load(device="cpu")
    x = np.arange(100, dtype=np.float32)
    module.scale(100, 3.0, x)
    np.testing.assert_array_equal(x, 3 * np.arange(100, dtype=np.float32))
    module.fill(100, x, B=32)
    np.testing.assert_array_equal(x, np.full(100, 7, np.float32))


def test_a_level_of_performance_is_given_once(demanding: Program) -> None:
    with pytest.raises(CompileError, match=r"P_occupancy has none \[CF0706\](.|\n)*program\.with_limits"):
        _ = demanding.header
    with pytest.raises(CompileError, match="CF0706"):
        demanding.load(device="cpu")
    half = demanding.with_limits(P_occupancy=Fraction(1, 2))
    assert "W_SM" in half.header
    assert "P_occupancy = 1/2" in str(half.explain(device="h200", n=1000))
    assert dict(demanding.limits) == {}


# --- what is refused


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (
            lambda p: p.explain(device="h2000"),
            CompileError,
            "device 'h2000' is not known [CF0801]\nhelp: name one",
        ),
        (
            lambda p: p.explain(m=3),
            CompileError,
            "no region has a parameter m [CF0701]\nhelp: the parameters are B",
        ),
        (lambda p: p.explain(B=0), CompileError, "B = 0 is below 1 [CF0702]"),
        (
            lambda p: p.explain(B=0.5),
            TypeError,
            "B = 0.5 is no exact number: give an int, or a fractions.Fraction",
        ),
        (lambda p: p.explain({"B": 1}, B=1), TypeError, "B is given twice"),
        (lambda p: p.explain(leaf=77), CompileError, "there is no leaf 77 [CF0703]"),
        (
            lambda p: p.explain(B=1).case("leaf 9"),
            ValueError,
            "no case is called 'leaf 9'; there are leaf 0, leaf 1",
        ),
        (lambda p: p.where(), TypeError, "name one parameter, or two different ones"),
        (lambda p: p.where("B", "B"), TypeError, "name one parameter, or two different ones"),
        (lambda p: p.where("q"), CompileError, "no region has a parameter q [CF0701]"),
        (lambda p: p.where("B", B=3), CompileError, "B is shown and has a value [CF0704]"),
        (
            lambda p: p.where("B", ranges={"n": (1, 2)}),
            CompileError,
            "n has a range and is not shown [CF0704]",
        ),
        (lambda p: p.leaves[0].system.holds(B=1), CompileError, "also depends on R_B, T_B, Z_B [CF0706]"),
        (
            lambda p: p.with_limits(P_speed=1),
            CompileError,
            "no counter of the run has the limit P_speed [CF0701]",
        ),
        (
            lambda p: p.load(device="tpu"),
            comprehensive.LoadError,
            "there is no device 'tpu': give gpu or cpu",
        ),
    ],
)
def test_a_question_without_an_answer_says_what_to_do(
    smooth: Program, ask: Callable[[Program], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        ask(smooth)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("source", "options", "error", "words"),
    [
        ("no/such.mf", {}, CompileError, "cannot read 'no/such.mf': No such file or directory [CF0101]"),
        ("", {}, CompileError, "cannot read ''"),
        (
            SMOOTH.replace("x[i]", "z[i]"),
            {"name": "mine"},
            CompileError,
            "mine.mf:5:26: error: array 'z' is not decl",
        ),
        (SMOOTH.replace("y[i]", "x[i]"), {}, CompileError, "program.mf:"),
        ("int x;\n", {}, CompileError, "'program.mf' has no meta_schedule"),
        (SMOOTH, {"name": "a/b"}, ValueError, "outputs cannot be called 'a/b'"),
        ("a.mf", {"name": "a"}, TypeError, "name='a' is for a text, and 'a.mf' is a path"),
        (
            SMOOTH,
            {"registers": "many"},
            CompileError,
            "registers cannot be 'many' [CF0708]\nhelp: it is one of 'auto'",
        ),
        (SMOOTH, {"performance": "best"}, CompileError, "performance cannot be 'best' [CF0708]"),
        (SMOOTH, {"pragma": "cilk"}, CompileError, "pragma cannot be 'cilk' [CF0708]"),
        (
            SMOOTH,
            {"counters": ("speed",)},
            CompileError,
            "there is no counter 'speed'; known are threads_per_block",
        ),
        (
            SMOOTH,
            {"counters": "occupancy"},
            TypeError,
            "counters is a sequence of names, as in counters=('occ",
        ),
        (SMOOTH, {"strategies": ("unroll",)}, CompileError, "there is no strategy 'unroll'"),
        (
            SMOOTH,
            {"arch": "sm_1", "registers": "auto"},
            CompileError,
            "architecture 'sm_1' is not known [CF0808]",
        ),
        (SMOOTH, {"embed": "sm_1"}, CompileError, "architecture 'sm_1' is not known [CF0808]"),
        (SMOOTH, {"passes": "nothing"}, CompileError, "there is no pass 'nothing' [CF1022]"),
        (SMOOTH, {"define": {"N M": 1}}, ValueError, "a macro is called like N or SQUARE(x), not 'N M'"),
    ],
)
def test_a_program_that_cannot_be_compiled_says_why(
    source: str, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        comprehensive.compile(source, **{"registers": "estimate", **options})
    assert words in str(caught.value)


def test_values_that_are_rounded_have_no_exact_boundaries(demanding: Program) -> None:
    with pytest.raises(CompileError, match=r"whose values are rounded \[CF0709\]"):
        demanding.where("B", P_occupancy=1)


def test_a_warning_of_the_program_is_one_of_python() -> None:
    # Whether two indices meet depends on data.
    text = SMOOTH.replace("const float x[n]", "const float x[n], const int p[n]").replace(
        "y[i] =", "y[p[i]] ="
    )
    with pytest.warns(comprehensive.CompileWarning, match=r"program\.mf:5:\d+: warning: "):
        program = compiled(text)
    assert [d.severity.value for d in program.diagnostics] == ["warning"]
    with pytest.raises(CompileError, match=r"\[-Werror\]"):
        compiled(text, warnings_are_errors=True)


# --- importing


def test_importing_the_package_imports_no_part_of_the_tool() -> None:
    program = "import sys, comprehensive; print([n for n in sys.modules if n.startswith('comprehensive.')])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_every_exported_name_is_there() -> None:
    assert set(comprehensive.__all__) <= set(dir(comprehensive))
    for name in comprehensive.__all__:
        assert getattr(comprehensive, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'compiled'"):
        _ = comprehensive.compiled  # type: ignore[attr-defined]
