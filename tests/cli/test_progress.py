"""Progress is drawn on terminals alone, and a limit of time leaves results that say what is missing."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli, progress
from comprehensive.cli.progress import CommandWatch
from comprehensive.codegen.cuda import program_unit
from comprehensive.driver import Options, compile_text
from comprehensive.generate import prepare, write
from comprehensive.metafork.read import read_source
from comprehensive.optimize.tree import Open, walk
from comprehensive.plan.plan import ProgramPlan
from comprehensive.toolchain.compiled import Compiled
from comprehensive.toolchain.find import Found
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.usage import Usage
from tests.schemas import schema_faults

PROGRAM = """void scale(int n, const float x[n], float y[n], int B)
{
  meta_schedule block(B) cache(x) {
    meta_for (int i = 0; i < n; i++)
      y[i] = 2.0f * x[i];
  }
}
"""
LATE = 1000.0


class Clock:
    """A clock that says what it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Looked:
    """A clock whose time is over after it was looked at so often."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self) -> float:
        self.looks -= 1
        return 0.0 if self.looks >= 0 else LATE


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "scale.mf"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, source: Path) -> Callable[..., Result]:
    """Runs a command whose limit of 10 s is reached after the clock was looked at so often."""

    def ran(command: str, looks: int, *arguments: str) -> Result:
        clock = Looked(looks)

        def watched(limit_s: float | None = None, *, stoppable: bool = False) -> CommandWatch:
            return CommandWatch(sys.stderr, clock, limit_s, draws=False, stoppable=stoppable)

        monkeypatch.setattr(f"comprehensive.cli.{command}.command_watch", watched)
        options = [command, str(source), "--registers", "estimate", "--time-limit", "10"]
        return CliRunner().invoke(cli, [*options, *arguments])

    return ran


def test_a_line_appears_after_two_seconds_and_is_erased() -> None:
    clock, stream = Clock(), io.StringIO()
    watch = CommandWatch(stream, clock, draws=True)
    watch.tell("nodes in the tree of matmul", 3)
    clock.now = 1.9
    watch.draw()
    assert stream.getvalue() == ""
    clock.now = 14.2
    watch.tell("functions run on the CPU", 3, 12)
    watch.draw()
    assert stream.getvalue() == "\r\x1b[Kfunctions run on the CPU: 3 of 12, 14 s"
    watch.erase()
    watch.erase()
    assert stream.getvalue().endswith("14 s\r\x1b[K")


def test_nothing_is_drawn_before_there_is_anything_to_tell() -> None:
    clock, stream = Clock(), io.StringIO()
    watch = CommandWatch(stream, clock, draws=True)
    clock.now = LATE
    watch.draw()
    assert stream.getvalue() == ""


def test_a_line_is_no_longer_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    clock, stream = Clock(), io.StringIO()
    watch = CommandWatch(stream, clock, draws=True)
    watch.tell("x" * 100, 1)
    clock.now = LATE
    watch.draw()
    assert len(stream.getvalue()) == len("\r\x1b[K") + 29


DRAWING = """
import sys
from comprehensive.cli import progress
now = [0.0]
made = progress.command_watch()
made._clock = lambda: now[0]
with made.shown():
    made.tell("nodes", 7)
    now[0] = 5.0
    made.draw()
"""


def on_terminal(program: str, **environment: str) -> str:
    """Return the text that a program writes to a pseudo-terminal that is its stderr."""
    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("CI", "TERM")}
    try:
        subprocess.run(
            [sys.executable, "-c", program],
            stderr=theirs,
            stdout=subprocess.DEVNULL,
            env={**plain, "TERM": "xterm", **environment},
            check=True,
        )
        os.write(theirs, b"end")
        shown = ""
        while not shown.endswith("end"):
            shown += os.read(ours, 10_000).decode()
        return shown
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_terminal_has_the_line_and_then_not() -> None:
    shown = on_terminal(DRAWING)
    assert "nodes: 7, " in shown
    assert shown.endswith("\r\x1b[Kend")
    assert on_terminal(DRAWING, NO_COLOR="1").endswith("\r\x1b[Kend")


@pytest.mark.parametrize("environment", [{"CI": "true"}, {"TERM": "dumb"}])
def test_a_terminal_that_nobody_looks_at_stays_empty(environment: dict[str, str]) -> None:
    assert on_terminal(DRAWING, **environment) == "end"


def test_a_pipe_stays_empty() -> None:
    run = subprocess.run([sys.executable, "-c", DRAWING], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "")


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan", "inf", ""])
@pytest.mark.parametrize("command", ["tree", "gen", "check", "tune", "report"])
def test_a_limit_that_is_no_time_is_an_error(command: str, value: str, source: Path) -> None:
    result = CliRunner().invoke(cli, [command, str(source), f"--time-limit={value}"])
    assert result.exit_code == 2
    assert "is no number of seconds above 0, as in 10 or 0.5" in result.stderr


def test_the_limit_is_one_of_the_tree_alone(source: Path) -> None:
    result = CliRunner().invoke(cli, ["tree", str(source), "--time-limit", "1", "--region", "B"])
    assert result.exit_code == 2
    assert "--time-limit goes with the tree" in result.stderr


def test_a_part_of_a_tree_says_what_is_missing(run: Callable[..., Result]) -> None:
    whole = run("tree", 10_000)
    assert whole.exit_code == 0
    assert "time limit" not in whole.output
    parts = [run("tree", looks) for looks in range(3, 12)]
    cut = [part for part in parts if part.exit_code]
    assert len(cut) >= 4
    for part in cut:
        assert part.exit_code == progress.EXIT_PARTIAL
        assert "not decided within the time limit, where" in part.stdout
        assert "counters that wait: " in part.stdout
        assert "warning: the time limit of 10 s was reached" in part.stderr
    assert parts[-1].stdout == whole.stdout or parts[-1].exit_code


def test_a_part_of_a_tree_has_every_form(run: Callable[..., Result]) -> None:
    for form in ("svg", "dot", "mermaid", "latex"):
        assert run("tree", 5, "--format", form).exit_code == progress.EXIT_PARTIAL
    assert "not decided within the time limit" in run("tree", 5, "--format", "smt2").stdout
    document = json.loads(run("tree", 5, "--json").stdout)
    (region,) = document["regions"]
    assert schema_faults("trees", document) == []
    assert "open" in {node["kind"] for node in region["tree"]["nodes"]}


def test_nothing_is_generated_from_a_part_of_a_tree(run: Callable[..., Result], source: Path) -> None:
    out = source.parent / "out"
    result = run("gen", 5, "-o", str(out), "--no-verify")
    assert result.exit_code == progress.EXIT_PARTIAL
    assert "a tree is not decided to its end, and nothing was written" in result.stderr
    assert not out.exists()


def test_a_page_of_a_part_of_a_tree_says_what_is_missing(run: Callable[..., Result], source: Path) -> None:
    target = source.parent / "scale.html"
    for looks in (3, 6):
        result = run("report", looks, "-o", str(target), "--force")
        assert result.exit_code == progress.EXIT_PARTIAL, result.output
        assert "warning: the time limit of 10 s was reached" in result.stderr
        page = target.read_text()
        assert "<strong>This page is not whole</strong>: there was no time for" in page
        assert "of the tree of scale, planes of parameters of scale" in page
        assert 'data-kind="open"' in page
        assert "counters that wait: " in page
        assert 'otherwise: "not decided within the time limit"' in page
        assert "There is none: the tree is not decided to its end." in page


class Over:
    """A watch whose time was over before it began."""

    def tell(self, doing: str, done: int, of: int | None = None) -> None:
        pass

    def is_over(self) -> bool:
        return True


def test_the_library_writes_nothing_from_a_part_of_a_tree(source: Path) -> None:
    compilation = compile_text(read_source(source), Options("estimate"), Over())
    assert not compilation.is_whole
    (tree,) = compilation.trees
    assert [type(node) for node, _ in walk(tree.root)] == [Open]
    with pytest.raises(ValueError, match="not decided"):
        write(compilation, source.parent / "out", Options("estimate"), verify=False)
    assert not (source.parent / "out").exists()


@dataclass
class Listening:
    """A watch that remembers what it was told."""

    told: list[tuple[str, int, int | None]] = field(default_factory=list[tuple[str, int, int | None]])

    def tell(self, doing: str, done: int, of: int | None = None) -> None:
        self.told.append((doing, done, of))

    def is_over(self) -> bool:
        return False

    def of(self, doing: str) -> list[tuple[int, int | None]]:
        return [(done, of) for each, done, of in self.told if each == doing]


def found(name: str, cuda_path: str | None) -> Found:
    return Found(name, Path(name), ())


def loaded(tool: Found) -> Tool:
    return Tool(tool.name, tool.path, "13.0")


def no_ptx(nvcc: Tool, unit: Path, arch: str) -> Compiled:
    return Compiled(b"", "")


def test_kernels_are_counted_while_they_are_compiled_for_their_registers(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units: list[str] = []
    together: list[str] = []

    def compiler(arch: str, cuda_path: str | None, *, required: bool) -> Callable[[str], Usage]:
        def compile(unit: str) -> Usage:
            units.append(unit)
            return Usage("kernel", arch, 30, 0, 0, 0, 0, 0)

        return compile

    def resources(plan: ProgramPlan, arch: str, cuda_path: str | None, *, required: bool) -> None:
        together.append(program_unit(plan))

    monkeypatch.setattr("comprehensive.driver.register_compiler", compiler)
    monkeypatch.setattr("comprehensive.generate.resources", resources)
    watch, options = Listening(), Options("ptxas")
    compilation = compile_text(read_source(source), options, watch)
    grown = watch.of("kernels compiled for the registers of scale")
    assert len(grown) >= 2
    assert grown == [(number, None) for number in range(len(grown))]
    assert len(units) >= len(grown)
    prepare(compilation, options, verify=False, watch=watch)
    kernels = together[0].count('extern "C" __global__ ') + together[0].count("template __global__ ")
    assert watch.of("kernels compiled together for their registers") == [(0, kernels)]
    monkeypatch.setattr("comprehensive.generate.find_tool", found)
    monkeypatch.setattr("comprehensive.generate.load_tool", loaded)
    monkeypatch.setattr("comprehensive.generate.compile_ptx", no_ptx)
    prepare(compilation, options, ptx_arch="sm_90", verify=False, watch=watch)
    leaves = len(compilation.trees[0].leaves)
    assert watch.of("leaves compiled to PTX") == [(number, leaves) for number in range(leaves)]


def test_check_lists_what_it_had_no_time_for(run: Callable[..., Result]) -> None:
    enough = next(looks for looks in range(3, 60) if "nothing was checked" not in run("check", looks).stderr)
    result = run("check", enough, "--no-run")
    assert result.exit_code == progress.EXIT_PARTIAL
    assert "(iii) coverage: not checked: there was no time left for it" in result.stdout
    later = [run("check", enough + looks) for looks in (1, 2)]
    assert all(ran.exit_code == progress.EXIT_PARTIAL for ran in later)
    assert all("leaf 0: not checked: there was no time left for it" in ran.stdout for ran in later)
    assert "ok   (iii) coverage" in later[-1].stdout


def test_an_interrupt_ends_the_time_and_the_next_one_the_command() -> None:
    watch = CommandWatch(io.StringIO(), Clock(), draws=False, stoppable=True)
    before = signal.getsignal(signal.SIGINT)
    with watch.shown():
        assert not watch.is_over()
        signal.raise_signal(signal.SIGINT)
        assert watch.is_over()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert watch.reason == "interrupted"
    with pytest.raises(SystemExit) as ended:
        watch.close()
    assert ended.value.code == progress.EXIT_INTERRUPTED


def test_a_limit_that_nobody_asked_about_cuts_nothing() -> None:
    clock = Clock()
    watch = CommandWatch(io.StringIO(), clock, 1.0, draws=False)
    clock.now = LATE
    assert watch.reason is None
    watch.close()
