"""Levels of occupancy as candidates of tuning: which are measured, with what, and why others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.diagnostics import CommandLineError
from comprehensive.machine.device import load_device
from comprehensive.occupancy_tuning.level import Setting, Timed
from comprehensive.toolchain.host import find_c_compiler
from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.levels import at_one_size, measured_levels, target_of
from comprehensive.tuning.pools import Pool
from tests.unit.tuning.programs import OPTIONS, PAIRS, compiled
from tests.unit.tuning.test_passed import CAP, H200, Scripted

LEAF = "pairs_leaf0"
needs_c = pytest.mark.skipif(find_c_compiler() is None, reason="no C compiler on the PATH")


def measured(
    levels: Mapping[str, Sequence[Setting]], *definitions: tuple[str, int]
) -> tuple[Mapping[str, tuple[Timed, ...]], Scripted]:
    executor = Scripted()
    compilation = compiled()
    wanted = at_one_size(compilation, [("n", 1000), *definitions])
    times = measured_levels(compilation, OPTIONS, H200, wanted, levels, measure_pool=Pool.of(executor, 1))
    return times, executor


@pytest.mark.toolchain
@pytest.mark.usefixtures("nvcc")
@needs_c
def test_a_level_is_a_version_of_the_kernels_in_blocks_of_its_size() -> None:
    persistent = "grid-stride{warps=8}"
    settings = (
        Setting("", 256),
        Setting(CAP, 64),
        Setting(persistent, 128, 2),
        Setting(persistent, 64, 4),
        Setting("demote-registers{target=32}", 64),
    )
    times, executor = measured({LEAF: settings}, ("B", 64), ("B", 128))
    # B, and the number of the version of the kernels behind it.
    assert sorted(job["parameters"] for job in executor.jobs) == [[64, 1], [64, 2], [128, 2]]
    *right, unchanged = times[LEAF]
    assert right == [
        Timed(None, "no program parameters make it run at these sizes in blocks of 256"),
        Timed(99.0),
        Timed(98.0),
        Timed(98.0),
    ]
    assert unchanged.microseconds is None
    assert unchanged.reason.startswith("unchanged: ")


def test_levels_are_measured_at_one_size_on_a_gpu_of_their_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandLineError, match="several values"):
        at_one_size(compiled(), [("n", 1000), ("n", 2000)])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"no nvidia-smi on the PATH \[CF0931\]\nhelp: "):
        target_of(None)
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\necho '0, GPU-aa, NVIDIA A100, 8.0, 580.1'\n")
    script.chmod(0o755)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert target_of(None).arch == "sm_80"
    with pytest.raises(CommandLineError) as raised:
        target_of(load_device("h200"))
    assert raised.value.diagnostics[0].code == "CF0932"


@needs_c
def test_without_a_gpu_the_command_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "pairs.mf"
    program.write_text(PAIRS)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = CliRunner().invoke(cli, ["occupancy", str(program), "--measure", "-D", "n=1000"])
    assert done.exit_code == 3
    assert "[CF0931]" in done.output
    assert "leave --measure out" in done.output
    kernels = tmp_path / "pairs.ptx"
    done = CliRunner().invoke(cli, ["occupancy", str(kernels), "--measure"])
    assert done.exit_code == 2
    assert "--measure needs a program" in done.output
    done = CliRunner().invoke(cli, ["occupancy", str(program), "-D", "n=1000"])
    assert done.exit_code == 2
    assert "sizes go with --measure" in done.output
