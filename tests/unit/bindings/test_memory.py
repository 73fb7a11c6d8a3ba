"""Memory of the processor as the bindings see it: whether it is contiguous, and views of it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from comprehensive.bindings.memory import NoViewError, ProcessorMemory, _is_contiguous


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((3, 4), None, True),
        ((3, 4), (4, 1), True),
        ((3, 4), (1, 3), False),
        ((1, 4), (99, 1), True),
        ((3, 1), (1, 99), True),
        ((0, 4), (1, 9), True),
        ((3, 4), (8, 2), False),
        ((), (), True),
    ],
)
def test_contiguity(shape: tuple[int, ...], strides: tuple[int, ...] | None, expected: bool) -> None:
    assert _is_contiguous(shape, strides) is expected


def test_views_keep_their_owner() -> None:
    view = ProcessorMemory().view(np.arange(4, dtype=np.int32), 0)
    assert list((ctypes.c_int32 * 4).from_address(view.address)) == [0, 1, 2, 3]
    with pytest.raises(NoViewError, match="is no array"):
        ProcessorMemory().view(None, 0)
