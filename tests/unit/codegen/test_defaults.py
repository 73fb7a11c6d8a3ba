"""Callers without parameters get all points of every size, and a feasible choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.machine.device import load_device
from tests.compiled_specs import compiled
from tests.unit.codegen.compiled import Selection

SIZES = (1, 7, 12, 64, 100, 1000, 1024, 1536, 4095, 4096)


def selection(spec: str, folder: Path) -> tuple[Selection, str]:
    compilation = compiled(spec)
    (region,) = compilation.plan.functions[0].regions
    program = tuple(s.name for s in region.nest.scalars if s.role.name == "PROGRAM")
    size = next(s.name for s in region.nest.scalars if s.name.lower() == "n")
    return Selection(compilation.plan, folder, (size,), program), size


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> tuple[Selection, str]:
    return selection("matmul", tmp_path_factory.mktemp("matmul"))


@pytest.mark.parametrize("n", SIZES)
def test_blocks_of_a_product_leave_out_no_rest_of_its_size(n: int, product: tuple[Selection, str]) -> None:
    """The grid of specs/matmul.mf has floors: what B0 or ub1*s does not divide is not computed."""
    found, size = product
    status, params = found.defaults(load_device("h200").machine(), {size: n})
    assert status == 0
    assert n % params["B0"] == 0
    assert n % (params["ub1"] * params["s"]) == 0


def test_blocks_are_as_large_as_before_where_sizes_allow_that(tmp_path: Path) -> None:
    found, size = selection("transpose", tmp_path)
    status, params = found.defaults(load_device("h200").machine(), {size: 4096})
    assert status == 0
    assert 32 <= params["B0"] * params["B1"] <= 1024
