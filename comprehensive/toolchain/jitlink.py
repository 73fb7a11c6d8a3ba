"""Assembles PTX inside this process, through NVIDIA's nvJitLink library.

In: the library that :func:`find_jitlink` has found, and PTX.  Out: :class:`Compiled`, as from ptxas::

    load_jitlink(find_jitlink()).assemble(text, "sm_90").usage["scale"].registers_per_thread

The library holds the ptxas of its version, which it uses as ``ptxas -c``, linking the result; no process is started.
Several threads may assemble at once.  A crash of the assembler is one of this process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from comprehensive.toolchain.cache import Cache, cache_key
from comprehensive.toolchain.compiled import (
    ENTRY_FORMAT,
    Compiled,
    SourceRejectedError,
    recall,
    remember,
    without_times,
)
from comprehensive.toolchain.find import Found, Missing, Search, find_library
from comprehensive.toolchain.process import ToolError

# nvJitLink.h: NVJITLINK_SUCCESS, NVJITLINK_INPUT_PTX.
_SUCCESS = 0
_INPUT_PTX = 2
# What goes wrong before there is a log, by the number of nvJitLinkResult.
_RESULTS = {
    1: "unrecognized option",
    2: "no architecture",
    16: "unrecognized architecture",
    17: "unsupported architecture",
}


def find_jitlink(cuda_path: str | Path | None = None) -> Search:
    """The library, in a toolkit or in the wheel of the extra ``jitlink``."""
    return find_library("nvJitLink", "jitlink", cuda_path)


def load_jitlink(search: Search, *, cache: Cache | None = None) -> JitLink:
    """The library in memory; ToolError, with what to do, where it is missing or cannot be used."""
    if isinstance(search, Missing):
        raise ToolError(f"assembling in process needs nvJitLink\n{search.explain()}\nhelp: {search.help}")
    return _load(search, cache or Cache.default())


def _load(found: Found, cache: Cache) -> JitLink:
    try:
        library = ctypes.CDLL(str(found.path))
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        result = library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
    except (OSError, AttributeError) as problem:
        raise ToolError(f"{found.path} cannot be used: {problem}") from problem
    if result != _SUCCESS:
        raise ToolError(f"{found.path} says no version (nvJitLinkResult {result})")
    return JitLink(found.path, f"{major.value}.{minor.value}", cache, library)


@dataclass(frozen=True, slots=True)
class JitLink:
    """The library nvJitLink.

    ``version`` is that of the toolkit to which the library belongs, such as ``13.0``.
    """

    path: Path
    version: str
    cache: Cache
    _library: ctypes.CDLL = field(repr=False)

    def assemble(self, ptx: str, arch: str, flags: Sequence[str] = ()) -> Compiled:
        """PTX to a cubin, for ``sm_90`` and the like; ``flags`` are those of ptxas, the remembered answer first.

        Raises SourceRejectedError with the words of the assembler, also where the PTX needs other objects.
        """
        options = (f"-arch={arch}", "-Xptxas=-v", *(f"-Xptxas={flag}" for flag in flags))
        # The version has no last number; another build has another size.
        library = f"{self.path} {self.version} {self.path.stat().st_size}"
        key = cache_key(ENTRY_FORMAT, "nvJitLink", library, *options, ptx)
        kept = recall(self.cache, key)
        if kept is None:
            kept = self._assemble(ptx, options)
            remember(self.cache, key, kept)
        return kept

    def _assemble(self, ptx: str, options: tuple[str, ...]) -> Compiled:
        handle = ctypes.c_void_p()
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        result = self._library.nvJitLinkCreate(ctypes.byref(handle), len(options), words)
        if result != _SUCCESS:
            # There is no log: the handle cannot be used, nor destroyed.
            raise self._rejected(options, _RESULTS.get(result, f"nvJitLinkResult {result}"))
        try:
            data = ptx.encode()
            name = ctypes.c_char_p(b"kernels.ptx")
            result = self._library.nvJitLinkAddData(
                handle, _INPUT_PTX, data, ctypes.c_size_t(len(data)), name
            )
            if result == _SUCCESS:
                result = self._library.nvJitLinkComplete(handle)
            log = self._text(handle, "InfoLog") + self._text(handle, "ErrorLog")
            if result != _SUCCESS:
                raise self._rejected(options, log)
            return Compiled(self._bytes(handle, "LinkedCubin"), without_times(log))
        finally:
            self._library.nvJitLinkDestroy(ctypes.byref(handle))

    def _rejected(self, options: Sequence[str], log: str) -> SourceRejectedError:
        return SourceRejectedError((f"nvJitLink {self.version}", *options, "kernels.ptx"), log)

    def _text(self, handle: ctypes.c_void_p, what: str) -> str:
        return self._bytes(handle, what).rstrip(b"\0").decode(errors="replace")

    def _bytes(self, handle: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._demand(f"nvJitLinkGet{what}Size", handle, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._demand(f"nvJitLinkGet{what}", handle, buffer)
        return buffer.raw

    def _demand(self, function: str, *arguments: object) -> None:
        call: Callable[..., int] = self._library[function]
        result = call(*arguments)
        if result != _SUCCESS:
            raise ToolError(f"{function} of {self.path} fails (nvJitLinkResult {result})")
