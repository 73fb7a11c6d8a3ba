"""A machine file is read by the reader of all of them, with the speeds that were measured."""

from __future__ import annotations

from pathlib import Path

from comprehensive.calibration.machine_file import file_name, machine_text
from comprehensive.calibration.measured import measured
from comprehensive.calibration.samples import read_samples
from comprehensive.machine.device import load_device
from comprehensive.machine.speeds import SPEEDS
from comprehensive.tuning.devices import Target
from tests.unit.calibration.answers import answer

H200 = Target("NVIDIA H200", "9.0", "580.1", ("0",))


def text_of(answered: str) -> str:
    samples = read_samples(answered)
    return machine_text(samples, measured(samples), H200)


def test_the_file_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text_of(answer()), encoding="utf-8")
    device = load_device(path)
    assert (device.name, device.arch) == ("NVIDIA H200", "sm_90")
    assert (device.multiprocessors, device.l2_mib, device.dram_gb) == (132, 60, 140)
    assert device.dram_gb_per_s == 4916
    expected = {speed.name: speed.value for speed in measured(read_samples(answer()))}
    assert {name: device.machine()[name] for name in SPEEDS} == expected
    assert device.max_threads_per_sm == load_device("sm_90").max_threads_per_sm


def test_what_the_device_does_not_tell_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text_of(answer().replace("memory_khz 3201000", "memory_khz 0")), encoding="utf-8")
    assert load_device(path).dram_gb_per_s is None


def test_a_name_in_quotes_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text_of(answer(device='GPU "one" \\')), encoding="utf-8")
    assert load_device(path).name == 'GPU "one" \\'


def test_the_file_is_named_after_the_device() -> None:
    assert file_name("NVIDIA H200") == "nvidia-h200.toml"
    assert file_name("NVIDIA GeForce RTX 4090 (8.9)") == "nvidia-geforce-rtx-4090-8-9.toml"
