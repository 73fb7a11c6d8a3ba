"""The first GPU through the driver's library: modules, arrays, launches and times; the standard library only.

device = Device()
module = device.load(Path("saxpy.ptx"))
device.launch(device.function(module, "saxpy"), (8, 1, 1), (128, 1, 1), 0, [x, y])
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Dimensions: TypeAlias = Sequence[int]

_LOG, _LOG_BYTES = 5, 6
"""CU_JIT_ERROR_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES."""
_DYNAMIC_SHARED_BYTES = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""
_MAJOR, _MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*."""
_MOST_SHARED_UNASKED = 48 * 1024


class DriverError(Exception):
    def __init__(self, call: str, code: int, words: str) -> None:
        super().__init__(f"{call}: {words} ({code})")
        self.code = code


class Device:
    """The first device, with its primary context. OSError where there is no driver, DriverError where no device."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.check("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(100)
        self.check("cuDeviceGetName", name, 100, device)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check("cuDeviceGetAttribute", ctypes.byref(major), _MAJOR, device)
        self.check("cuDeviceGetAttribute", ctypes.byref(minor), _MINOR, device)
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.check("cuCtxSetCurrent", context)
        self.name, self.sm = name.value.decode(), 10 * major.value + minor.value

    def check(self, call: str, *arguments: Any) -> None:
        """Call the driver. DriverError where it says that something went wrong."""
        code = getattr(self._cuda, call)(*arguments)
        if code:
            words = ctypes.c_char_p()
            self._cuda.cuGetErrorString(code, ctypes.byref(words))
            raise DriverError(call, code, (words.value or b"?").decode())

    def load(self, ptx: Path) -> ctypes.c_void_p:
        """A module, by the driver or by ptxas where the driver does not take the PTX."""
        # A driver may know PTX by its beginning, which must be no long comment.
        text = ptx.read_bytes()
        found = re.search(rb"^[ \t]*\.version", text, re.MULTILINE)
        try:
            return self.load_image(text[found.start() if found else 0 :] + b"\0")
        except DriverError:
            if shutil.which("ptxas") is None:
                raise
            with tempfile.TemporaryDirectory() as directory:
                cubin = Path(directory) / "cubin"
                subprocess.run(["ptxas", f"-arch=sm_{self.sm}", str(ptx), "-o", str(cubin)], check=True)
                return self.load_image(cubin.read_bytes())

    def load_image(self, image: bytes) -> ctypes.c_void_p:
        """A module of a cubin, or of PTX that ends in a zero."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(_LOG, _LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.check("cuModuleLoadDataEx", ctypes.byref(module), image, 2, options, values)
        except DriverError as error:
            words = log.value.decode(errors="replace").strip()
            raise DriverError("cuModuleLoadDataEx", error.code, words or str(error)) from None
        return module

    def unload(self, module: ctypes.c_void_p) -> None:
        self.check("cuModuleUnload", module)

    def function(self, module: ctypes.c_void_p, kernel: str) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        self.check("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        return function

    def blocks_per_sm(self, function: ctypes.c_void_p, threads: int, shared_bytes: int) -> int:
        """Return the number of blocks of a kernel that fit a multiprocessor, with as much dynamic shared memory
        each."""
        if shared_bytes > _MOST_SHARED_UNASKED:
            self.check("cuFuncSetAttribute", function, _DYNAMIC_SHARED_BYTES, shared_bytes)
        found = ctypes.c_int()
        call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        self.check(call, ctypes.byref(found), function, threads, ctypes.c_size_t(shared_bytes))
        return found.value

    def array(self, size: int) -> ctypes.c_uint64:
        """Allocate so many bytes of global memory, one at least."""
        pointer = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return pointer

    def free(self, pointer: ctypes.c_uint64) -> None:
        self.check("cuMemFree_v2", pointer)

    def launch(
        self,
        function: ctypes.c_void_p,
        grid: Dimensions,
        block: Dimensions,
        shared_bytes: int,
        arguments: Sequence[Any],
        stream: ctypes.c_void_p | None = None,
    ) -> None:
        """Launch a kernel.

        ``arguments`` are objects of ctypes, of the sizes of the kernel's parameters.
        """
        if shared_bytes > _MOST_SHARED_UNASKED:
            self.check("cuFuncSetAttribute", function, _DYNAMIC_SHARED_BYTES, shared_bytes)
        packed = (ctypes.c_void_p * max(len(arguments), 1))(*(ctypes.addressof(a) for a in arguments))
        self.check("cuLaunchKernel", function, *grid, *block, shared_bytes, stream, packed, None)

    def synchronize(self) -> None:
        self.check("cuCtxSynchronize")

    def milliseconds(self, work: Callable[[], None]) -> float:
        """Return the time between two events around what ``work`` puts into the default stream."""
        events = ctypes.c_void_p(), ctypes.c_void_p()
        for event in events:
            self.check("cuEventCreate", ctypes.byref(event), 0)
        try:
            self.check("cuEventRecord", events[0], None)
            work()
            self.check("cuEventRecord", events[1], None)
            self.check("cuEventSynchronize", events[1])
            elapsed = ctypes.c_float()
            self.check("cuEventElapsedTime", ctypes.byref(elapsed), *events)
            return elapsed.value
        finally:
            for event in events:
                self.check("cuEventDestroy_v2", event)
