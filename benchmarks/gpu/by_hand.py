"""Kernels written by hand, called on tensors."""

from __future__ import annotations

from ctypes import c_float, c_int, c_void_p

from torch import Tensor

from benchmarks.gpu import native
from benchmarks.gpu.outcome import PeerError


def call(library: str, function: str, *arguments: int | float | Tensor) -> None:
    """Launches; PeerError where the launch fails."""
    status = native.load(library)[function](*(_passed(argument) for argument in arguments))
    if status != 0:
        raise PeerError(f"{function} gives CUDA error {status}")


def _passed(argument: int | float | Tensor) -> c_void_p | c_float | c_int:
    if isinstance(argument, Tensor):
        return c_void_p(argument.data_ptr())
    return c_float(argument) if isinstance(argument, float) else c_int(argument)
