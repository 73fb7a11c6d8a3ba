"""The visible GPUs are those of the driver and CUDA_VISIBLE_DEVICES; one process has a device at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from comprehensive.toolchain.process import ToolError
from comprehensive.tuning.devices import find_devices
from comprehensive.tuning.gpus import NoGpuError, visible
from comprehensive.tuning.lease import lease

TWO_KINDS = """0, GPU-aa, NVIDIA H200, 9.0, 580.1
1, GPU-ab, NVIDIA H200, 9.0, 580.1
2, GPU-ba, NVIDIA A100, 8.0, 580.1
"""


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text(f"#!/bin/sh\nprintf '%s' '{TWO_KINDS}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.usefixtures("smi")
@pytest.mark.parametrize(
    ("wanted", "identifiers"),
    [
        (None, ["GPU-aa", "GPU-ab", "GPU-ba"]),
        ("2,0", ["GPU-ba", "GPU-aa"]),
        ("GPU-b", ["GPU-ba"]),
        ("MIG-7", ["MIG-7"]),
        ("0,9", ["GPU-aa"]),
    ],
)
def test_the_environment_says_which_are_visible(
    tmp_path: Path, wanted: str | None, identifiers: list[str]
) -> None:
    environment = {"PATH": str(tmp_path)} | ({} if wanted is None else {"CUDA_VISIBLE_DEVICES": wanted})
    assert [gpu.identifier for gpu in visible(environment)] == identifiers


@pytest.mark.usefixtures("smi")
def test_none_is_visible_where_the_environment_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoGpuError):
        visible({"PATH": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ToolError, match="--device cpu"):
        find_devices("gpu")


@pytest.mark.usefixtures("smi")
def test_devices_of_one_kind_measure_together() -> None:
    first, second = find_devices("gpu")
    assert (first.name, first.arch, first.identifiers) == ("NVIDIA H200", "sm_90", ("GPU-aa", "GPU-ab"))
    assert (second.name, second.arch, second.identifiers) == ("NVIDIA A100", "sm_80", ("GPU-ba",))
    assert first.limits.name == "NVIDIA H200"
    assert [t.identifiers for t in find_devices("gpu:2,1")] == [("GPU-ba",), ("GPU-ab",)]


def test_a_device_is_leased_to_one_process_and_comes_back_when_it_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom comprehensive.tuning.lease import lease\n"
        "print(lease(['cpu:0', 'cpu:1'], Path(sys.argv[1])).device, flush=True)\ntime.sleep(600)\n"
    )
    root = Path(__file__).resolve().parents[3]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        held = [process.stdout.readline().strip() if process.stdout else "" for process in started]
        assert sorted(held) == ["cpu:0", "cpu:1"]
        waited: list[str] = []
        waiter = threading.Thread(target=lambda: waited.append(lease(["cpu:0", "cpu:1"], tmp_path).device))
        waiter.start()
        waiter.join(0.5)
        assert waited == []
        started[1].kill()
        waiter.join(60)
        assert waited == [held[1]]
    finally:
        for process in started:
            process.kill()
            process.communicate()
