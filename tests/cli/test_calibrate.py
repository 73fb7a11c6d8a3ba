"""`comprehensive calibrate` from the command line: a machine file that other commands take, or nothing at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.calibration import command
from comprehensive.cli import cli
from comprehensive.diagnostics import CompileError
from comprehensive.machine.device import load_device
from comprehensive.machine.speeds import SPEEDS
from comprehensive.toolchain.host import find_cxx_compiler
from tests.unit.calibration.answers import answer
from tests.unit.tuning.programs import PAIRS

needs_compiler = pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")


def calibrate(*options: str | Path) -> Result:
    return CliRunner().invoke(cli, ["calibrate", *map(str, options)])


def refused(result: Result, exit_code: int, *words: str) -> None:
    assert result.exit_code == exit_code, result.output
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.output


def answering(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A GPU that is an H200, and a benchmark that says this."""
    monkeypatch.setattr(command, "find_devices", lambda _: (H200,))
    monkeypatch.setattr(command, "compiled", lambda *_: Path("calibrate"))
    monkeypatch.setattr(command, "answer_of", lambda *_: text)


H200 = command.Target("NVIDIA H200", "9.0", "580.1", ("GPU-1", "GPU-2"))


@needs_compiler
def test_the_stand_in_gives_a_file_that_other_commands_take(tmp_path: Path) -> None:
    file = tmp_path / "new" / "mine.toml"
    done = calibrate("--device", "cpu", "-o", file)
    assert done.exit_code == 0, done.output
    assert f"machine file: {file}" in done.stderr
    rows = {line.split()[0]: line.split()[1:3] for line in done.stdout.splitlines()[2:-1]}
    device, table = load_device(file).machine(), load_device("sm_90").machine()
    assert rows == {name: [str(device[name]), str(table[name])] for name in SPEEDS}
    (tmp_path / "pairs.mf").write_text(PAIRS, encoding="utf-8")
    source = str(tmp_path / "pairs.mf")
    words = [
        "explain",
        source,
        "--registers",
        "estimate",
        "-D",
        "n=1000",
        "-D",
        "B=64",
        "--device",
        str(file),
    ]
    assert "pairs on cpu, n = 1000" in CliRunner().invoke(cli, words).stdout
    words = [
        "gen",
        source,
        "--registers",
        "estimate",
        "-o",
        str(tmp_path / "out"),
        "--machine",
        str(file),
        "-MD",
    ]
    generated = CliRunner().invoke(cli, words)
    assert generated.exit_code == 0, generated.output
    assert f"machine->kept_bytes = {device['kept_bytes']};" in (tmp_path / "out" / "pairs.cu").read_text()
    assert str(file) in (tmp_path / "out" / "pairs.d").read_text()


def test_a_gpu_is_measured_and_told_beside_what_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, answer())
    monkeypatch.chdir(tmp_path)
    done = calibrate()
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("NVIDIA H200: medians of 3 runs at 1980 MHz\n")
    (turn,) = [line.split() for line in done.stdout.splitlines() if "turn_cycles" in line]
    assert turn[:8] == ["turn_cycles", "625", "400", "1.6", "%", "from", "the", "end"]
    assert "305 cycles for the second-level cache, 710 for memory" in done.stdout
    text = (tmp_path / "nvidia-h200.toml").read_text()
    assert "turn_cycles = 625\n" in text
    assert str(tmp_path) not in text


def test_json_has_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, answer())
    document = json.loads(calibrate("--json", "-o", tmp_path / "h.toml").stdout)
    assert document["table"] == "NVIDIA H200"
    assert [speed["name"] for speed in document["speeds"]] == list(SPEEDS)
    assert document["runs"]["barrier"] == [25.6, 25.6, 25.8]
    assert document["rereads"][0]["bytes"] == 7864320


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (answer(turn="-1 -1 -1"), ("CF0956", "turn_cycles is -1", "nvidia-smi")),
        (answer(turn="300 600 900"), ("CF0956", "300 in one run and 900 in another one")),
        (answer()[:300], ("CF0955",)),
        (answer(device="NVIDIA A100"), ("CF0954", "it is NVIDIA A100 (sm_90), not NVIDIA H200 (sm_90)")),
        (answer().replace("capability 90", "capability 80"), ("CF0954", "NVIDIA H200 (sm_80)")),
    ],
)
def test_a_measurement_of_no_use_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: tuple[str, ...]
) -> None:
    answering(monkeypatch, text)
    file = tmp_path / "mine.toml"
    file.write_text("before")
    refused(calibrate("-o", file), 1, *words)
    assert file.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, answer())
    (tmp_path / "file").write_text("")
    refused(calibrate("-o", tmp_path / "file" / "mine.toml"), 1, "CF0620", "-o")


def test_the_first_device_is_measured_unless_another_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_devices", lambda _: (H200,))
    assert command.one_device("gpu").identifiers == ("GPU-1",)
    with pytest.raises(CompileError, match="CF0951"):
        command.one_device("gpu:0,1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--device", "tpu"), ("CF0901", "'tpu' is not known")),
        (("--device", "cpu:2"), ("CF0951", "several devices", "gpu:1")),
        (("--device", "cpu", "-o", "mine.json"), ("ends in .toml",)),
        (("--limit", "0"), ("--limit",)),
    ],
)
def test_a_wrong_command_line_is_told(options: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(calibrate(*options), 2, *words)


def test_an_architecture_that_is_not_known_is_told_before_anything_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "find_devices", lambda _: (command.Target("GPU", "99.0", "1", ("0",)),))
    refused(calibrate(), 2, "CF0801", "'sm_990' is not known")


def test_without_a_gpu_or_nvcc_one_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(calibrate(), 3, "no GPU", "--device cpu")
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho '0, GPU-1, NVIDIA H200, 9.0, 580.1'\n")
    smi.chmod(0o755)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    refused(calibrate("--cuda-path", tmp_path), 3, "calibrating a GPU needs nvcc", "help:")


@needs_compiler
def test_a_benchmark_that_hangs_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    refused(
        calibrate("--device", "cpu", "--limit", "0.1", "-o", file), 1, "CF0953", "within 0.1 s", "--limit"
    )
    assert not file.exists()
