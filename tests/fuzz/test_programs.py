"""A fixed part of the program fuzzer, and its own instruments on programs whose answers are known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.toolchain.host import find_c_compiler
from tests.examples import examples
from tests.fuzz.campaign import Plan, tried, work
from tests.fuzz.grammar.draw import CONSTRUCTS
from tests.fuzz.grammar.program import generate
from tests.fuzz.isolated import Lost, isolated
from tests.fuzz.kernels import Tools, prepare
from tests.fuzz.nodes import parse, text_of
from tests.fuzz.oracle import Depth, Examination
from tests.fuzz.programs import report
from tests.fuzz.recorder import NotCError, Recording, Status
from tests.fuzz.recorder import build as build_recorder
from tests.fuzz.shrink import shrink

PROGRAMS = examples(8)
WITHOUT = frozenset[str]()


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return prepare(tmp_path_factory.mktemp("tools"))


def test_random_programs_hold(tmp_path: Path) -> None:
    tally = work(Plan(4711, 0, 1, 600.0, PROGRAMS, tmp_path, WITHOUT, shrink_s=0.0, thorough=0.1))
    assert not tally.findings, report(tally)
    assert tally.outcomes["accepted"] >= PROGRAMS // 2
    assert tally.counts["runs of a leaf"] > 5 * PROGRAMS


def test_a_seed_is_one_program_and_constructs_can_be_left_out() -> None:
    assert generate("1:2") == generate("1:2")
    assert generate("1:2") != generate("1:3")
    used = {name for k in range(300) for name in generate(f"3:{k}").used}
    assert used == set(CONSTRUCTS)
    assert not any("while" in generate(f"3:{k}", frozenset({"while", "do"})).text for k in range(100))


def test_programs_have_data_of_every_integer_type() -> None:
    texts = "".join(generate(f"3:{k}").text for k in range(300))
    kinds = ("int", "unsigned", "long", "unsigned char", "signed char", "short", "unsigned short")
    assert {kind for kind in kinds if re.search(rf"[(,] *(const )?{kind} \*?\w+(\[|,|\))", texts)} == set(
        kinds
    )


def test_brackets_survive() -> None:
    text = generate("5:1").text
    assert text_of(parse(text_of(parse(text)))) == text_of(parse(text))


# --- the recorder ---------------------------------------------------------------------------------------------


def recorded(tmp_path: Path, text: str, **given: Any) -> Recording:
    compiler = find_c_compiler()
    assert compiler is not None
    recorder = build_recorder(parse(text), tmp_path, compiler)
    windows = recorder.windows("f", given)
    data = {
        p.name: np.resize(given.get(p.name, 0), windows[p.name]).astype(p.type.numpy_name)
        for p in recorder.functions["f"].data
    }
    return recorder.record("f", given, data)


def region(body: str, loops: str = "meta_for (int i = 0; i < n; i++)") -> str:
    return (
        f"void f(int n, const int *x, int *y, int B) {{ meta_schedule block(B) {{ {loops} {{ {body} }} }} }}"
    )


def test_the_recorder_finds_what_is_touched(tmp_path: Path) -> None:
    found = recorded(tmp_path, region("if (i % 3 != 2) y[2*i] = x[i + 1];"), n=6, B=1)
    assert found.status is Status.DONE
    assert found.conflict is None
    assert found.sizes == {"x": 6, "y": 9}


@pytest.mark.parametrize(
    ("body", "conflicts"),
    [
        ("y[i / 2] = x[i];", True),
        ("y[i] = y[i] + x[i];", False),
        ("y[i] = x[i]; if (i > 0) x[0];", False),
        ("y[i + 1] = y[i];", True),
        ("y[x[i]] = i;", True),
        ("if (x[i] > 0) y[0] = i;", False),
        ("meta_atomic y[x[i]] += i;", False),
        ("meta_atomic ++y[i / 2]; meta_atomic y[0] -= 2;", False),
        ("meta_atomic y[0] += i; if (i == 1) y[0] = 1;", True),
        ("meta_atomic y[0] += i; if (i == 1) meta_atomic y[0] ^= 1;", True),
        ("meta_atomic y[0] += 1; y[i + 1] = y[0];", True),
    ],
)
def test_the_recorder_finds_conflicts(tmp_path: Path, body: str, conflicts: bool) -> None:
    assert (recorded(tmp_path, region(body), n=5, B=1).conflict is not None) == conflicts


def test_a_barrier_separates_bands_of_a_block_and_not_blocks(tmp_path: Path) -> None:
    bands = "meta_for (int u = 0; u < B; u++) y[b*B + u] = u; meta_for (int v = 0; v < B; v++) y[b*B + B - 1 - v] += 1;"
    text = "void f(int n, int *y, int B) {{ meta_schedule {{ meta_for (int b = 0; b < n; b++) {{ {} }} }} }}"
    assert recorded(tmp_path / "one", text.format(bands), n=3, B=4).conflict is None
    across = bands.replace("b*B + B - 1 - v", "v")
    assert recorded(tmp_path / "two", text.format(across), n=3, B=4).conflict is not None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("y[i] = 2147483647 + n;", Status.UNDEFINED),
        ("y[i] = n / x[i];", Status.UNDEFINED),
        ("y[i] = 1 << n * 9;", Status.UNDEFINED),
        ("y[i] = (int)(n * 1e30);", Status.UNDEFINED),
        ("y[i - 1] = 0;", Status.OUTSIDE),
        ("while (n > 0) y[i] = x[i];", Status.TOO_LONG),
    ],
)
def test_the_recorder_ends_runs_without_meaning(tmp_path: Path, body: str, status: Status) -> None:
    assert recorded(tmp_path, region(body), n=4, B=1).status is status


def test_subscripts_stay_inside_their_dimension(tmp_path: Path) -> None:
    loop = "meta_for (int i = 0; i < n; i++) y[0][i + 1] = 0;"
    text = f"void f(int n, int y[n][n]) {{ assert(n != 3); meta_schedule {{ {loop} }} }}"
    assert recorded(tmp_path / "4", text, n=4).status is Status.SUBSCRIPT
    assert recorded(tmp_path / "3", text, n=3).status is Status.ASSERT


def test_what_is_no_c_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(NotCError):
        recorded(tmp_path, region("y[i] = nobody;"), n=1, B=1)


# --- findings are found ---------------------------------------------------------------------------------------


def examined(
    text: str, tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch, change: str = ""
) -> Examination:
    """The examination of a program whose generated kernels are changed: ``old -> new``."""
    if change:
        from tests.fuzz import oracle

        old, new = change.split(" -> ")
        outputs = oracle.outputs

        def changed(compilation: Any) -> dict[str, str]:
            texts = {k: v.replace(old, new) for k, v in outputs(compilation).items()}
            assert texts != dict(outputs(compilation))
            return texts

        monkeypatch.setattr(oracle, "outputs", changed)
    return tried(text, "1", tmp_path, tools, Depth(points=4))


SHIFTED = region("y[i] = x[i + 1] + 5;")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("+ 5 -> + 6", "wrong result"),
        ("x[i + 1] -> x[i + 2]", "out of bounds"),
        ("x[i + 1] -> nobody", "does not compile"),
        (
            "const int i_thread = threadIdx.x; -> const int i_thread = threadIdx.x; if (i_thread) __syncthreads();",
            "refused",
        ),
    ],
)
def test_a_wrong_kernel_is_a_finding(
    tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch, change: str, kind: str
) -> None:
    found = examined(SHIFTED, tmp_path, tools, monkeypatch, change)
    assert [f.kind for f in found.findings] == [kind]


def test_a_right_kernel_is_none(tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    found = examined(SHIFTED, tmp_path, tools, monkeypatch)
    assert found.outcome == "accepted"
    assert not found.findings
    assert found.counts["points interpreted"] > 0


def test_wrong_verdicts_are_findings(tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fuzz import oracle

    racing = region("y[i / 2] = x[i];")
    refused = examined(racing, tmp_path, tools, monkeypatch)
    assert (refused.outcome, refused.findings) == ("refused", [])
    # A conflict that the recorder does not see, and one that the tool does not.
    monkeypatch.setattr(oracle, "build_recorder", lambda _, work, c: build_recorder(parse(SHIFTED), work, c))
    assert [f.kind for f in examined(racing, tmp_path, tools, monkeypatch).findings] == [
        "refused without reason"
    ]
    monkeypatch.setattr(oracle, "build_recorder", lambda _, work, c: build_recorder(parse(racing), work, c))
    assert [f.kind for f in examined(SHIFTED, tmp_path, tools, monkeypatch).findings] == ["conflict accepted"]


def test_what_takes_its_process_with_it_is_told() -> None:
    def lost(stage: Any) -> None:
        import os

        stage("the last thing")
        os.kill(os.getpid(), 9)

    found = isolated(lost, 60.0, 60)
    assert isinstance(found, Lost)
    assert (found.how, found.stage) == ("SIGKILL", "the last thing")
    assert isolated(lambda _: 7, 60.0, 60) == 7


def test_a_program_shrinks_to_what_matters() -> None:
    text = generate("6:4").text
    small = shrink(
        text.replace("{", "{ int w = ((n * 3) + abs(5 - 9)) / 2;", 1),
        lambda t: "abs(" in t and "f(" in t,
        20.0,
    )
    assert len(small.split()) < 20
