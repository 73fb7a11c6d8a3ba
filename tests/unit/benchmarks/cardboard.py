"""A driver of cardboard in the place of the GPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.gpu import driver


class Cardboard:
    """A driver that does what it is asked for by saying so; two milliseconds between any events."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.different = 0

    def __getattr__(self, call: str) -> Callable[..., int]:
        def called(*arguments: Any) -> int:
            self.calls.append(call)
            if call == "cuEventElapsedTime":
                arguments[0]._obj.value = 2.0
            elif call == "cuDeviceGetAttribute":
                arguments[0]._obj.value = 9 if arguments[1] == 75 else 0
            elif call == "cuDeviceGetName":
                arguments[0].value = b"Cardboard"
            elif call == "cuMemcpyDtoH_v2":
                arguments[0]._obj.value = self.different
            return 0

        return called


def installed(monkeypatch: pytest.MonkeyPatch, different: int = 0) -> Cardboard:
    """``different`` words are said to differ in every comparison."""
    cardboard = Cardboard()
    cardboard.different = different

    def opened(_: str) -> Cardboard:
        return cardboard

    monkeypatch.setattr(driver.ctypes, "CDLL", opened)
    return cardboard
