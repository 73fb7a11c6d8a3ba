"""The places of data in memory: arrays of any library in, addresses out.

    ProcessorMemory().view(numpy_array, stream=0)       # a View
    DeviceMemory().view(torch_tensor, stream=0)

A :class:`ProcessorMemory` takes numpy arrays, and what has DLPack or the array interface; a :class:`DeviceMemory`
takes, through cuda-core, what has DLPack or ``__cuda_array_interface__``.  Nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np
from msgspec import Struct

from comprehensive.bindings.errors import LoadError

DeviceKind: TypeAlias = Literal["gpu", "cpu"]

LEGACY_STREAM = 1
"""The default stream, which waits for all others; 0 has no meaning in DLPack."""


class View(Struct, frozen=True):
    """Data that ``owner`` keeps alive; ``dtype`` is numpy's, ``shape`` in elements."""

    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    contiguous: bool
    writable: bool
    owner: object


class NoViewError(Exception):
    """An object is no data, or not on the device at hand; the message goes on after its name."""


class Memory(Protocol):
    """The memory of one kind of device: what gives addresses of arrays in it."""

    @property
    def device(self) -> DeviceKind:
        """The kind of device, as :func:`comprehensive.load` takes it."""
        ...

    def stream(self, stream: object) -> int:
        """The handle of a stream, None being the default one; TypeError for what is none."""
        ...

    def view(self, data: object, stream: int) -> View:
        """Raises NoViewError; what has been begun on the data elsewhere is waited for on the stream."""
        ...


class ProcessorMemory:
    """The memory of this process."""

    device: DeviceKind = "cpu"

    def stream(self, stream: object) -> int:
        if stream is not None:
            raise TypeError("there are no streams on the processor")
        return 0

    def view(self, data: object, stream: int) -> View:
        array = self._array(data)
        return View(
            array.ctypes.data,
            array.dtype,
            array.shape,
            array.flags.c_contiguous,
            array.flags.writeable,
            array,
        )

    @staticmethod
    def _array(data: Any) -> np.ndarray[Any, Any]:
        if isinstance(data, np.ndarray):
            return cast("np.ndarray[Any, Any]", data)
        try:
            if hasattr(data, "__dlpack__"):
                return np.from_dlpack(data)
            if hasattr(data, "__array_interface__"):
                return np.asarray(data)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise NoViewError(f"cannot be seen from the processor: {error}") from error
        raise NoViewError("is no array: it has neither DLPack nor the array interface")


class DeviceMemory:
    """The memory of the current device of cuda-core; LoadError where cuda-core is not installed."""

    device: DeviceKind = "gpu"

    def __init__(self) -> None:
        try:
            self._core: Any = import_module("cuda.core")
            self._view: Callable[..., Any] = import_module(
                "cuda.core.utils"
            ).StridedMemoryView.from_any_interface
        except ImportError as error:
            raise LoadError(
                f"launching on a GPU needs cuda-core ({error}): pip install 'comprehensive[gpu]', or try it without "
                "a GPU: load(..., device='cpu')"
            ) from error

    def current(self) -> Any:
        """The current device, a ``cuda.core.Device``; the first one where none is. LoadError without a GPU."""
        try:
            device = self._core.Device()
            device.set_current()
        except Exception as error:  # of the driver, and of what is there in its place
            raise LoadError(
                f"there is no GPU to run on ({error}); try it without: load(..., device='cpu')"
            ) from error
        return device

    def stream(self, stream: object) -> int:
        if stream is None:
            return LEGACY_STREAM
        if isinstance(stream, int):
            return stream or LEGACY_STREAM
        if hasattr(stream, "__cuda_stream__"):
            return int(self.current().create_stream(stream).handle) or LEGACY_STREAM
        # Of libraries from before the protocol: torch.
        handle = getattr(stream, "cuda_stream", None)
        if isinstance(handle, int):
            return handle or LEGACY_STREAM
        raise TypeError(f"{stream!r} is no stream: it has no __cuda_stream__")

    def view(self, data: object, stream: int) -> View:
        try:
            found = self._view(data, stream_ptr=stream)
            shape, dtype, strides = tuple(found.shape), found.dtype, found.strides
        except Exception as error:  # of the library that has the data, of cuda-core, and of the driver
            raise NoViewError(
                f"has neither DLPack nor __cuda_array_interface__ that can be used: {error}"
            ) from error
        number = self._core.Device().device_id
        if not found.is_device_accessible:
            raise NoViewError("is not in the memory of a GPU")
        if found.device_id not in (number, -1):
            raise NoViewError(f"is on GPU {found.device_id}, and the current one is {number}")
        return View(
            int(found.ptr),
            np.dtype(dtype),
            shape,
            _is_contiguous(shape, strides),
            not found.readonly,
            found,
        )


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Return whether an array is contiguous in the order of C.

    Strides are in elements; those of dimensions with one element are of no account.
    """
    if strides is None or 0 in shape:
        return True
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True
