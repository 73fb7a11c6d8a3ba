"""Random kernels with hidden pointers behind every pass; ``python -m tests.fuzz.ptx`` has the long runs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from comprehensive.ptx.analysis.space import Space
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of, seeds
from tests.fuzz.ptx import shrunk
from tests.ptx.compared import compared
from tests.ptx.hidden_pointers import hidden_pointers
from tests.ptx.pipelines_drawn import LAST, SINGLE, pipelines

PARTS = 4
"""Into so many parts are the pipelines divided."""


@pytest.mark.toolchain
@pytest.mark.parametrize("part", quick_of(range(PARTS), {1}))
@pytest.mark.parametrize("seed", seeds(4))
def test_hidden_pointers_lead_where_they_led(seed: int, part: int, ptxas: Tool) -> None:
    draw = Random(seed)
    text = hidden_pointers(draw, kernels=1)
    assert compared(text, pipelines(draw)[part::PARTS], ptxas) == ()


@pytest.mark.slow
def test_every_single_pass_takes_hidden_pointers() -> None:
    assert compared(hidden_pointers(Random(40), kernels=1), (*SINGLE, *LAST), None) == ()


def test_a_wrong_law_of_memories_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Callable[[Space, Space], Space] = Space.minus

    def minus(self: Space, other: Space) -> Space:
        return Space.NUMBER if self.is_one and other.is_one else right(self, other)

    monkeypatch.setattr(Space, "minus", minus)
    found = compared(hidden_pointers(Random(3), kernels=1), ("memory-space",), None, ())
    assert [(each.pipeline, each.kernel) for each in found] == [("memory-space", "k0")]


def test_what_is_shrunk_is_as_small_as_can_be() -> None:
    text = "".join(f"{n}\n" for n in range(50))

    def still(candidate: str) -> bool:
        return {"7", "31"} <= set(candidate.split())

    assert shrunk(text, still, end=float("inf")) == "7\n31\n"
