"""The names of architectures that are let through to nvcc."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import CommandLineError
from comprehensive.machine.architectures import demand_architecture


@pytest.mark.parametrize("name", ["sm_75", "sm_90", "sm_90a", "sm_100f", "sm_121a"])
def test_an_architecture_that_nvcc_compiles_for_is_known(name: str) -> None:
    demand_architecture(name)


@pytest.mark.parametrize(
    "name",
    ["sm_12", "sm_900", "nonsense", "", "SM_90", "sm_90b", "sm_80a", "sm_90f", "compute_90", "sm_90 -G"],
)
def test_anything_else_is_answered_with_what_is_known(name: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        demand_architecture(name)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "CF0808"
    assert "sm_75, sm_80" in (diagnostic.help or "")


def test_ptx_is_also_for_virtual_architectures() -> None:
    demand_architecture("compute_90", virtual=True)
    demand_architecture("sm_90", virtual=True)
