"""The resources of kernels in the manifest, against what compiled kernels say of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from comprehensive import generate
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.toolchain.nvcc import Tool
from tests.compiled_specs import compiled


def manifest_of(spec: str, directory: Path, options: Options) -> Any:
    generate.write(compiled(spec), directory, options)
    return json.loads((directory / f"{spec}.json").read_text(encoding="utf-8"))


@pytest.mark.toolchain
@pytest.mark.slow
def test_threads_that_share_a_loop_are_counted(tmp_path: Path, nvcc: Tool) -> None:
    compilation = compile_file(spec_directory() / "matvec.mf", Options("estimate", reassociate=True))
    generate.write(compilation, tmp_path, Options("ptxas", cuda_path=str(nvcc.path.parents[1])))
    manifest = json.loads((tmp_path / "matvec.json").read_text(encoding="utf-8"))
    for instance in manifest["functions"][0]["regions"][0]["tiles"][0]["instances"]:
        threads = instance["sizes"]["T0"] * instance["sizes"]["D"]
        for each in instance["resources"]:
            assert each["threads_per_block"] == threads
            assert each["shared_bytes_per_block"] == 4 * threads
            assert each["blocks_per_sm"] * threads <= 2048


@pytest.mark.toolchain
def test_every_variant_has_its_registers_and_every_instance_its_occupancy(tmp_path: Path, nvcc: Tool) -> None:
    arch = "sm_90a"
    options = Options("ptxas", arch, cuda_path=str(nvcc.path.parents[1]))
    manifest = manifest_of("matvec", tmp_path, options)
    assert manifest["resources"] == {"from": f"nvcc {nvcc.version}", "arch": arch}
    (region,) = manifest["functions"][0]["regions"]
    for leaf in region["leaves"]:
        assert 0 < leaf["resources"]["registers_per_thread"] <= 255
    for instance in region["tiles"][0]["instances"]:
        sizes = instance["sizes"]
        assert [each["elements_together"] for each in instance["resources"]] == [4, 1]
        for each in instance["resources"]:
            # Stages of T0*U0 rows of D elements, and of D elements of the vector.
            rows = sizes["T0"] * sizes["U0"] * sizes["D"]
            assert each["shared_bytes_per_block"] == 4 * sizes["S"] * (rows + sizes["D"])
            threads = sizes["T0"] * sizes["H"]
            assert each["threads_per_block"] == threads
            by_registers = 65536 // (each["registers_per_thread"] * threads)
            by_memory = 228 * 1024 // (each["shared_bytes_per_block"] + 1024)
            held = min(by_registers, by_memory, 2048 // threads)
            assert abs(each["blocks_per_sm"] - held) <= 1
            assert each["warps_per_sm"] == each["blocks_per_sm"] * max(1, threads // 32)


@pytest.mark.toolchain
def test_time_tiles_are_counted_too(tmp_path: Path, nvcc: Tool) -> None:
    options = Options("ptxas", cuda_path=str(nvcc.path.parents[1]))
    (region,) = manifest_of("jacobi1d", tmp_path, options)["functions"][0]["regions"]
    (instance,) = region["tiles"][-1]["instances"]
    (taken,) = instance["resources"]
    assert taken["elements_together"] == 1
    assert taken["spill_store_bytes"] == 0
    assert taken["shared_bytes_per_block"] == 2 * 4 * instance["sizes"]["T0"] * instance["sizes"]["U0"]


def test_without_ptxas_the_manifest_leaves_it_open(tmp_path: Path) -> None:
    manifest = manifest_of("matadd", tmp_path, Options("estimate"))
    (region,) = manifest["functions"][0]["regions"]
    assert manifest["resources"] is None
    assert all(leaf["resources"] is None for leaf in region["leaves"])
    assert all(instance["resources"] is None for instance in region["tiles"][0]["instances"])
    assert compiled("matadd").plan.functions[0].regions[0].tilings
