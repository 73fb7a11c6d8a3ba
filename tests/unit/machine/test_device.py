"""The table of devices: what it says, and how the tool answers to a bad file."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.data import spec_directory
from comprehensive.diagnostics import CommandLineError, CompileError, Diagnostic
from comprehensive.machine.device import device_names, devices, load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.pipes import PIPES
from comprehensive.machine.speeds import SPEEDS


def _only_diagnostic(caught: pytest.ExceptionInfo[CompileError]) -> Diagnostic:
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def _complete(**changes: object) -> str:
    lines = (spec_directory() / "machines" / "sm_90.toml").read_text().splitlines()
    for key, value in changes.items():
        (at,) = (i for i, line in enumerate(lines) if line.startswith(f"{key} ="))
        lines[at] = f"{key} = {value}"
    return "\n".join(lines)


def test_the_table_has_every_architecture_that_cuda_13_compiles_for():
    architectures = [name for name in device_names() if name.startswith("sm_")]
    assert architectures == [
        *("sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90"),
        *("sm_100", "sm_103", "sm_110", "sm_120", "sm_121"),
    ]


@pytest.mark.parametrize("device", devices(), ids=device_names())
def test_a_device_agrees_with_itself(device):
    assert device.max_threads_per_sm == device.max_warps_per_sm * device.warp_threads
    assert device.registers_per_sm % (device.sub_partitions * device.register_unit_per_warp) == 0
    assert device.register_granularity_per_thread * device.warp_threads == device.register_unit_per_warp
    reserved = device.reserved_shared_bytes_per_block
    assert device.optin_shared_bytes_per_block + reserved == device.shared_bytes_per_sm
    assert device.shared_carveouts_kib[-1] * 1024 == device.shared_bytes_per_sm
    assert device.arch == f"sm_{device.compute_capability}"


@pytest.mark.parametrize("device", devices(), ids=device_names())
def test_every_machine_parameter_has_a_value_that_respects_its_known_minimum(device):
    values = device.parameters()
    assert list(values) == list(MACHINE_PARAMETERS)
    for symbol, value in values.items():
        assert value >= MACHINE_PARAMETERS[symbol].minimum, symbol


def test_shared_memory_is_counted_in_words_of_the_opt_in_limit():
    assert load_device("sm_90").parameters()["Z_B"] == 227 * 1024 // 4


def test_a_product_takes_from_its_architecture_what_it_does_not_state():
    product, architecture = load_device("H200"), load_device("sm_90")
    assert product.name == "NVIDIA H200"
    assert product.multiprocessors == 132
    same = {k for k, v in architecture.parameters().items() if product.parameters()[k] == v}
    assert set(MACHINE_PARAMETERS) - same == {"O_W", "F_SM"}  # of its faster memory
    assert product.machine()["issued_per_cycle"] == architecture.machine()["issued_per_cycle"]


def test_rates_follow_from_speeds():
    parameters = load_device("H200").parameters()
    # 128 additions a cycle on 132 multiprocessors, 536.5 words a cycle.
    assert parameters["O_W"] == 31  # 31.5
    # 600 cycles of latency times 536.5 words a cycle over 132 multiprocessors.
    assert parameters["F_SM"] == 2438  # 2438.6


@pytest.mark.parametrize("device", devices(), ids=device_names())
def test_every_device_has_every_speed(device):
    assert set(SPEEDS) <= set(device.machine())
    # Not every device has tensor cores for doubles, or for sixteen steps.
    on_tensor_cores = {"wide_tensor_lanes", "half_tensor_lanes"}
    assert all(device.machine()[name] > 1 for name in SPEEDS if name not in on_tensor_cores)
    assert all(device.speeds[name] >= 1 for name in on_tensor_cores)


@pytest.mark.parametrize("device", devices(), ids=device_names())
def test_every_device_has_every_number_of_its_pipes(device):
    assert list(device.pipes) == list(PIPES)


def test_a_file_states_only_the_numbers_of_pipes_that_differ(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nbase = "h200"\n[pipes]\nl1_bytes = 4096\n')
    assert load_device(path).pipes == {**load_device("sm_90").pipes, "l1_bytes": 4096}


@pytest.mark.parametrize(
    ("table", "line", "code"),
    [
        ("speeds", "speed = 3", "CF0804"),
        ("speeds", "kept_bytes = 0", "CF0807"),
        ("speeds", "kept_bytes = 1.5", "CF0807"),
        ("pipes", "kept_bytes = 3", "CF0804"),
        ("pipes", "l1_bytes = 0", "CF0807"),
    ],
)
def test_a_wrong_number_is_shown_at_its_line(table, line, code, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'name = "mine"\nbase = "sm_90"\n[{table}]\n{line}\n')
    with pytest.raises(CompileError) as raised:
        load_device(path)
    (found,) = raised.value.diagnostics
    assert found.code == code
    assert found.span is not None


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("a100", "NVIDIA A100"),
        ("A100", "NVIDIA A100"),
        ("rtx 4090", "NVIDIA GeForce RTX 4090"),
        ("RTX4090", "NVIDIA GeForce RTX 4090"),
        ("GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
        ("t4", "NVIDIA T4"),
        ("Tesla T4", "NVIDIA T4"),
        ("b200", "NVIDIA B200"),
        ("h100", "NVIDIA H100 80GB HBM3"),
        ("a100_80gb", "NVIDIA A100 80GB"),
        ("SM-90", "sm_90"),
    ],
)
def test_devices_have_the_names_that_people_say(said, name):
    assert load_device(said).name == name


@pytest.mark.parametrize("said", ["", "nvidia", "rtx", "a1000", "geforce 4090"])
def test_what_is_no_whole_name_is_no_device(said):
    with pytest.raises(CommandLineError):
        load_device(said)


def test_a_product_says_which_speeds_were_measured_on_it(tmp_path):
    assert "dram_bytes_per_kilocycle" in load_device("h200").measured
    assert load_device("a100").measured == ()
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nbase = "h200"\n')
    assert load_device(path).measured == ()  # what its base has was measured elsewhere
    path.write_text('name = "mine"\nbase = "h200"\nmeasured = ["speed"]\n')
    with pytest.raises(CompileError) as raised:
        load_device(path)
    assert _only_diagnostic(raised).code == "CF0807"
    assert "dram_bytes_per_kilocycle" in (_only_diagnostic(raised).help or "")


@pytest.mark.parametrize("device", devices(), ids=device_names())
def test_a_device_is_found_by_the_name_that_the_table_prints(device):
    assert load_device(device.name) == device
    assert load_device(device.name.upper()) == device


def test_a_file_of_ones_own_may_build_on_a_known_device(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "half"\nbase = "sm_90"\nmax_blocks_per_sm = 16\n')
    assert load_device(path).max_blocks_per_sm == 16
    assert load_device(str(path)).parameters()["B_SM"] == 16


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(CommandLineError) as caught:
        load_device("sm_12")
    diagnostic = _only_diagnostic(caught)
    assert diagnostic.code == "CF0801"
    assert "sm_75" in (diagnostic.help or "")


def test_a_missing_file_is_named():
    with pytest.raises(CompileError, match=r"nowhere\.toml"):
        load_device("nowhere.toml")


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('name = "x"\narch = sm_90\n', "CF0803", (2, 8)),
        ("name = [1,", "CF0803", (1, 11)),
        ('base = "sm_90"\nregisters = 3\n', "CF0804", (2, 1)),
        ('base = "sm_90"\n  warp_threads = "32"\n', "CF0807", (2, 3)),
        ('base = "sm_90"\nwarp_threads = true\n', "CF0807", (2, 1)),
        ('base = "sm_90"\nwarp_threads = 0\n', "CF0807", (2, 1)),
        ('base = "sm_90"\nshared_carveouts_kib = [0, "8"]\n', "CF0807", (2, 1)),
        ('base = "sm_90"\n[memory_latency_cycles]\nl1 = 1.5\n', "CF0807", (2, 2)),
        ("base = 90\n", "CF0807", (1, 1)),
        ('name = "x"\nbase = "sm_91"\n', "CF0801", (2, 1)),
    ],
)
def test_a_bad_file_is_reported_where_it_is_wrong(
    tmp_path: Path, text: str, code: str, place: tuple[int, int]
):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(CompileError) as caught:
        load_device(path)
    diagnostic = _only_diagnostic(caught)
    assert diagnostic.code == code
    assert diagnostic.span is not None
    assert diagnostic.span.position == place
    assert diagnostic.help


def test_missing_fields_are_listed(tmp_path: Path):
    path = tmp_path / "short.toml"
    path.write_text("\n".join(line for line in _complete().splitlines() if not line.startswith("has_")))
    with pytest.raises(CompileError, match="lacks has_cluster, has_redux, has_cp_async, has_tma, has_elect"):
        load_device(path)


def test_a_complete_file_needs_no_base(tmp_path: Path):
    path = tmp_path / "own.toml"
    path.write_text(_complete(max_registers_per_thread=128))
    assert load_device(path).parameters()["R_B"] == 128


def test_a_device_cannot_be_its_own_base(tmp_path: Path):
    (tmp_path / "a.toml").write_text('base = "b.toml"\n')
    (tmp_path / "b.toml").write_text('base = "a.toml"\n')
    with pytest.raises(CompileError, match="its own base"):
        load_device(tmp_path / "a.toml")


def test_a_file_that_is_not_text_is_reported(tmp_path: Path):
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CompileError, match="not UTF-8"):
        load_device(path)
