"""Cubins by nvcc, read: three independent readings agree, and functions are what was compiled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from comprehensive.machine.device import load_device
from comprehensive.sass.errors import SassError
from comprehensive.sass.function import SassFunction
from comprehensive.sass.launch import Launch
from comprehensive.sass.predict import predict
from comprehensive.sass.read import read, read_all
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from tests.examples import quick_of
from tests.sass.checks import Findings, awaited_results, issue_distances, live_registers, reuse_marks
from tests.sass.sweep import ARCHITECTURES

SOURCE = Path(__file__).with_name("kernels.cu")

pytestmark = pytest.mark.toolchain


@pytest.fixture(scope="module")
def hopper(nvcc: Tool, nvdisasm: Tool) -> Mapping[str, SassFunction]:
    return read_all(compile_cubin(nvcc, SOURCE, "sm_90").output)


@pytest.mark.parametrize("architecture", quick_of(ARCHITECTURES, {"sm_75", "sm_90"}))
def test_control_bits_life_ranges_and_blocks_agree(nvcc: Tool, nvdisasm: Tool, architecture: str) -> None:
    reuse, awaited, distances, live = Findings(), Findings(), Findings(), Findings()
    device, closest = load_device(architecture), dict[str, int]()
    for function in read_all(compile_cubin(nvcc, SOURCE, architecture).output).values():
        reuse_marks(function, reuse)
        awaited_results(function, awaited)
        issue_distances(function, device, distances, closest)
        live_registers(function, live)
    assert reuse.broken == awaited.broken == distances.broken == live.broken == []
    assert reuse.held > 1000
    assert awaited.held > 50
    assert live.held > 300
    # Were stall counts read too large, no pair would be as close as it may be.
    limits = device.issue_distance_cycles
    assert not limits or any(limits[pair] == least for pair, least in closest.items())


@pytest.mark.parametrize("architecture", quick_of(ARCHITECTURES, {"sm_75", "sm_90"}))
def test_what_a_function_takes_is_what_ptxas_says(nvcc: Tool, nvdisasm: Tool, architecture: str) -> None:
    compiled = compile_cubin(nvcc, SOURCE, architecture)
    functions = read_all(compiled.output)
    assert list(functions) == ["chosen", "mixed", "nested", "spilled"]
    for name, function in functions.items():
        usage = compiled.usage[name]
        assert f"sm_{function.architecture}" == architecture
        assert function.registers_per_thread == usage.registers_per_thread
        assert function.shared_bytes == usage.shared_bytes
        assert function.frame_bytes == usage.stack_bytes
        live = max(each.live.counts[0] for each in function.instructions)
        assert live <= usage.registers_per_thread


def test_loops_are_those_of_the_source(hopper: Mapping[str, SassFunction]) -> None:
    assert [loop.depth for loop in hopper["nested"].loops] == [1, 2]


def test_padding_is_left_out_and_procedures_are_cut(hopper: Mapping[str, SassFunction]) -> None:
    for function in hopper.values():
        last = function.instructions[-1]
        assert last.base in ("EXIT", "RET", "BRA")
        assert last.text != f"BRA {last.address:#x}"
    names = [procedure.name for procedure in hopper["chosen"].procedures]
    assert names[0] == "chosen"
    assert any("called" in name for name in names)
    assert any("slowpath" in name for name in names)
    table = [b for b in hopper["chosen"].procedures[0].flow.blocks if len(b.successors) > 2]
    assert table, "the switch jumps through tables"


def test_a_loop_without_end_is_no_padding(nvcc: Tool, nvdisasm: Tool, tmp_path: Path) -> None:
    source = tmp_path / "waits.cu"
    source.write_text('extern "C" __global__ void waits() { for (;;) asm volatile(""); }')
    function = read(compile_cubin(nvcc, source, "sm_90").output, "waits")
    assert function.instructions[-1].base == "BRA"
    assert [loop.depth for loop in function.loops] == [1]


def test_one_function_is_read_by_its_name(
    nvcc: Tool, nvdisasm: Tool, hopper: Mapping[str, SassFunction]
) -> None:
    cubin = compile_cubin(nvcc, SOURCE, "sm_90").output
    assert read(cubin, "mixed") == hopper["mixed"]
    with pytest.raises(SassError, match="no function 'blended'") as error:
        read(cubin, "blended")
    assert error.value.diagnostics[0].code == "CF1204"
    assert error.value.diagnostics[0].help == "name one of chosen, mixed, nested, spilled"


def test_spills_are_seen_in_a_prediction(
    nvcc: Tool, hopper: Mapping[str, SassFunction], tmp_path: Path
) -> None:
    free = tmp_path / "free.cu"
    free.write_text(SOURCE.read_text().replace("__launch_bounds__(1024, 2) ", ""))
    roomy = read(compile_cubin(nvcc, free, "sm_90").output, "spilled")
    launch = Launch(threads_per_block=256)
    with_spills, without = (predict(each, load_device("h200"), launch) for each in (hopper["spilled"], roomy))
    assert with_spills.local_cycles > without.local_cycles == 0
    assert with_spills.occupancy.warps_per_sm > without.occupancy.warps_per_sm


def test_a_cubin_that_nvdisasm_does_not_take_is_refused(nvcc: Tool, nvdisasm: Tool) -> None:
    cubin = bytearray(compile_cubin(nvcc, SOURCE, "sm_90").output)
    cubin[49] = 99  # an architecture that there is not
    with pytest.raises(SassError) as error:
        read_all(bytes(cubin))
    assert error.value.diagnostics[0].code == "CF1203"
