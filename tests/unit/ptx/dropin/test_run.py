"""One call, with a stand-in for ptxas: what it is given, what it says, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from comprehensive.ptx.dropin.install import SCRIPT
from comprehensive.ptx.dropin.wrapper import wrapper_text
from tests.unit.ptx.dropin import passes

# Copies its input to its output and says so; what it has been given stands in `calls`.
STAND_IN = """\
#!/bin/sh
echo "$*" >> {calls}
for word; do
  case "$previous" in -o) out=$word;; esac
  case "$word" in *.ptx) source=$word; cat "$word" >> {calls}.text;; esac
  previous=$word
done
if grep -q retour "$source" 2>/dev/null; then echo "ptxas $source, line 4; error: retour" >&2; exit 255; fi
if grep -q crash "$source" 2>/dev/null; then kill -SEGV $$; fi
if grep -q wait "$source" 2>/dev/null; then echo $$ > {calls}.pid; exec sleep 100; fi
if grep -q wrong "$source" 2>/dev/null; then exit 7; fi
printf 'info: %s\\377\\n' "$source"
echo "warning: $source" >&2
[ -z "$out" ] || cp "$source" "$out"
"""
TEXT = ".version 8.0\n.visible .entry k(\n)\n{\n\tret;\n}\n"


class _Call:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.calls, self.remarks, self.scratch = directory / "calls", directory / "remarks", directory / "tmp"
        self.scratch.mkdir()
        self.ptxas = directory / "real ptxas"
        self.ptxas.write_text(STAND_IN.format(calls=self.calls))
        self.ptxas.chmod(0o755)
        self.input = directory / "k.ptx"
        self.input.write_text(TEXT)
        self.environment = {
            **os.environ,
            "TMPDIR": str(self.scratch),
            "COMPREHENSIVE_PTXAS_REMARKS": str(self.remarks),
        }

    def start(self, name: str, *arguments: str, script: str = passes.__file__) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", script, str(self.ptxas), name, *arguments]
        return subprocess.Popen(
            command,
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(
        self, name: str, *arguments: str, script: str = passes.__file__
    ) -> subprocess.CompletedProcess[bytes]:
        process = self.start(name, *arguments, script=script)
        stdout, stderr = process.communicate()
        assert list(self.scratch.iterdir()) == []
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    @property
    def lines(self) -> list[str]:
        return self.calls.read_text().splitlines()

    @property
    def said(self) -> str:
        return self.remarks.read_text() if self.remarks.exists() else ""


@pytest.fixture
def call(tmp_path: Path) -> _Call:
    return _Call(tmp_path)


def test_rewritten_code_is_assembled_under_the_name_of_the_original(call: _Call) -> None:
    answer = call.run("maxnreg", "-v", "k.ptx", "-o", "k.cubin")
    assert answer.returncode == 0
    assert (call.directory / "k.cubin").read_text() == TEXT.replace(")\n{", ")\n.maxnreg 24\n{")
    assert call.input.read_text() == TEXT
    assert (answer.stdout, answer.stderr) == (b"info: k.ptx\xff\n", b"warning: k.ptx\n")
    (line,) = call.lines
    assert line.startswith(f"-v {call.scratch}/")
    assert line.endswith("/k.ptx -o k.cubin")
    assert call.said == "applied: .maxnreg 24 in k.ptx\n"


@pytest.mark.parametrize("name", ["", "identity"])
def test_what_no_pass_changes_is_given_to_ptxas_as_it_is(call: _Call, name: str) -> None:
    answer = call.run(name, "-v", "k.ptx", "-o", "k.cubin")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"info: k.ptx\xff\n", b"warning: k.ptx\n")
    assert call.lines == ["-v k.ptx -o k.cubin"]
    assert call.said == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fail", "k.ptx: not rewritten: passes 'fail' failed: ValueError: as asked\n"),
        ("recurse", "k.ptx: not rewritten: passes 'recurse' failed: RecursionError"),
        ("spoil", "k.ptx: not rewritten: ptxas rejects what passes 'spoil' made (255): ptxas "),
    ],
)
def test_the_original_is_assembled_where_passes_or_their_code_fail(call: _Call, name: str, why: str) -> None:
    answer = call.run(name, "k.ptx", "-o", "k.cubin")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"info: k.ptx\xff\n", b"warning: k.ptx\n")
    assert (call.directory / "k.cubin").read_text() == TEXT
    assert call.lines[-1] == "k.ptx -o k.cubin"
    assert why in call.said


@pytest.mark.parametrize("name", ["hang", "sleep"])
def test_passes_that_take_too_long_end(call: _Call, name: str) -> None:
    call.environment["COMPREHENSIVE_PTXAS_SECONDS"] = "0.3"
    begin = time.monotonic()
    answer = call.run(name, "k.ptx", "-o", "k.cubin")
    assert time.monotonic() - begin < 50
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"info: k.ptx\xff\n", b"warning: k.ptx\n")
    assert (call.directory / "k.cubin").read_text() == TEXT
    assert call.said == (
        f"k.ptx: not rewritten: passes '{name}' took longer than 0.3 seconds (COMPREHENSIVE_PTXAS_SECONDS)\n"
    )


@pytest.mark.parametrize("seconds", ["0", "", "-1", "nan", "soon", "1e30"])
def test_a_limit_that_is_none_changes_nothing(call: _Call, seconds: str) -> None:
    call.environment["COMPREHENSIVE_PTXAS_SECONDS"] = seconds
    call.run("comment", "k.ptx", "-o", "k.cubin")
    assert (call.directory / "k.cubin").read_text() == f"{TEXT}// the same\n"


def test_the_limit_is_not_one_of_ptxas(call: _Call) -> None:
    call.environment["COMPREHENSIVE_PTXAS_SECONDS"] = "0.3"
    call.ptxas.write_text("#!/bin/sh\nsleep 0.6\nexit 5\n")
    assert call.run("identity", "k.ptx").returncode == 5
    assert call.run("comment", "k.ptx").returncode == 5


def test_code_that_crashes_ptxas_is_not_used(call: _Call) -> None:
    call.ptxas.write_text(call.ptxas.read_text().replace("grep -q crash", "grep -q same"))
    assert call.run("comment", "k.ptx", "-o", "k.cubin").returncode == 0
    assert (call.directory / "k.cubin").read_text() == TEXT
    assert "(-11)" in call.said


@pytest.mark.parametrize("name", ["", "fail", "comment"])
def test_the_status_is_that_of_ptxas_for_the_original(call: _Call, name: str) -> None:
    call.input.write_text("wrong")
    assert call.run(name, "k.ptx").returncode == 7
    call.input.write_text("crash")
    assert call.run(name, "k.ptx").returncode == -signal.SIGSEGV
    assert call.run(name, "--version").returncode == 0


def test_why_something_was_not_rewritten_goes_to_stderr_where_no_file_takes_it(call: _Call) -> None:
    call.environment["COMPREHENSIVE_PTXAS_REMARKS"] = str(call.directory / "no/such/file")
    answer = call.run("fail", "k.ptx")
    assert b"no/such/file: No such file or directory\n" in answer.stderr
    assert b"comprehensive ptxas: k.ptx: not rewritten: passes 'fail' failed" in answer.stderr
    del call.environment["COMPREHENSIVE_PTXAS_REMARKS"]
    assert call.run("comment", "k.ptx").stderr == b"warning: k.ptx\n"
    assert b"debug build" in call.run("comment", "-g", "k.ptx").stderr


def test_a_pipeline_that_cannot_be_imported_or_read_stops_no_build(call: _Call) -> None:
    answer = call.run("no-such-pass", "k.ptx", "-o", "k.cubin", script=str(SCRIPT))
    assert (answer.returncode, call.lines) == (0, ["k.ptx -o k.cubin"])
    assert "k.ptx: not rewritten: passes 'no-such-pass' failed" in call.said


def test_each_of_several_inputs_is_rewritten_and_bytes_that_are_no_text_stay(call: _Call) -> None:
    (call.directory / "other").mkdir()
    second = call.directory / "other/k.ptx"
    second.write_bytes(b"// \xff\r\n" + TEXT.encode())
    call.run("maxnreg", "k.ptx", "other/k.ptx", "-o", "k.cubin")
    rewritten = TEXT.replace(")\n{", ")\n.maxnreg 24\n{").encode()
    assert Path(f"{call.calls}.text").read_bytes() == rewritten + b"// \xff\r\n" + rewritten


def test_inputs_in_option_files_are_rewritten(call: _Call) -> None:
    (call.directory / "options").write_text("k.ptx -o k.cubin")
    call.run("maxnreg", "--options-file", "options", "-v")
    assert ".maxnreg 24" in (call.directory / "k.cubin").read_text()


def test_in_place_the_input_becomes_what_was_assembled_and_is_not_rewritten_twice(call: _Call) -> None:
    call.environment["COMPREHENSIVE_PTXAS_IN_PLACE"] = "1"
    call.run("spoil", "k.ptx", "-o", "k.cubin")
    assert call.input.read_text() == TEXT
    call.run("comment", "k.ptx", "-o", "k.cubin")
    once = call.input.read_text()
    assert once == f"{TEXT}// the same\n\n// rewritten by comprehensive: comment\n"
    call.run("comment", "k.ptx", "-o", "k.cubin")
    assert call.input.read_text() == once
    call.run("maxnreg", "k.ptx", "-o", "k.cubin")
    assert ".maxnreg 24" in call.input.read_text()
    assert sorted(path.name for path in call.directory.glob("k.*")) == ["k.cubin", "k.ptx"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_ptxas_and_leaves_nothing(call: _Call, number: signal.Signals) -> None:
    call.input.write_text("wait")
    inherited = signal.signal(number, signal.SIG_DFL)  # what starts the tests may ignore it, as nohup does
    try:
        process = call.start("comment", "k.ptx")
    finally:
        signal.signal(number, inherited)
    told, deadline = Path(f"{call.calls}.pid"), time.monotonic() + 60
    while not (told.exists() and told.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(call.scratch.iterdir()) != []
    process.send_signal(number)
    assert process.wait(60) == -number
    process.communicate()
    assert list(call.scratch.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_a_ptxas_that_is_gone_is_named(call: _Call) -> None:
    call.ptxas.unlink()
    answer = call.run("", "k.ptx")
    assert answer.returncode == 1
    assert b"cannot run" in answer.stderr


HEAVY = ("argparse", "click", "islpy", "jinja2", "json", "lark", "numpy", "sympy", "z3")


def test_a_call_with_passes_loads_nothing_heavy_of_its_own(call: _Call) -> None:
    program = (
        "import sys, comprehensive.ptx.dropin.run\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])\n"
        "print(*[name for name in sys.modules if name.startswith('comprehensive.')])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(passes.__file__).parents[4])}
    answer = subprocess.run(
        [sys.executable, "-S", "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    heavy, own = answer.stdout.split("\n")[:2]
    assert heavy == ""
    assert set(own.split()) == {
        "comprehensive.ptx",
        "comprehensive.ptx.dropin",
        "comprehensive.ptx.dropin.arguments",
        "comprehensive.ptx.dropin.options",
        "comprehensive.ptx.dropin.run",
        "comprehensive.ptx.dropin.time_limit",
    }


def wrapped(
    call: _Call, python: Path, default: str, passes_: str | None
) -> subprocess.CompletedProcess[bytes]:
    wrapper = call.directory / "ptxas"
    wrapper.write_text(wrapper_text(call.ptxas, python, Path(passes.__file__), default))
    wrapper.chmod(0o755)
    chosen = {} if passes_ is None else {"COMPREHENSIVE_PTXAS_PASSES": passes_}
    return subprocess.run(
        [wrapper, "k.ptx", "-o", "k.cubin"],
        cwd=call.directory,
        env={**call.environment, **chosen},
        capture_output=True,
        check=True,
    )


@pytest.mark.parametrize(
    ("default", "chosen", "taken"),
    [
        ("maxnreg", None, True),
        ("maxnreg", "", False),
        ("", None, False),
        ("", "maxnreg", True),
        ("fail", "maxnreg", True),
    ],
)
def test_the_environment_has_the_last_word_about_passes(
    call: _Call, default: str, chosen: str | None, taken: bool
) -> None:
    wrapped(call, Path(sys.executable), default, chosen)
    assert (".maxnreg" in (call.directory / "k.cubin").read_text()) == taken


def test_without_passes_the_wrapper_starts_no_python(call: _Call) -> None:
    assert wrapped(call, Path("/no/such/python"), "", None).stderr == b"warning: k.ptx\n"


def test_a_wrapper_whose_python_is_gone_says_so_and_assembles(call: _Call) -> None:
    answer = wrapped(call, Path("/no/such/python"), "comment", None)
    assert b"/no/such/python" in answer.stderr
    assert (call.directory / "k.cubin").read_text() == TEXT


def test_what_stands_in_the_directory_of_the_build_is_not_imported(call: _Call) -> None:
    for name in ("subprocess.py", "comprehensive.py"):
        (call.directory / name).write_text("raise SystemExit('imported')")
    wrapped(call, Path(sys.executable), "maxnreg", None)
    assert ".maxnreg" in (call.directory / "k.cubin").read_text()
