"""Generated functions in Python: the path of a manifest in, callables out.

    import comprehensive

    module = comprehensive.load("out/matmul.json")
    module.matmul(n, a, b, c)             # a, b, c: tensors of torch, arrays of cupy, ...

The functions are those of the generated source, compiled with nvcc once and kept in the user's cache: the same launcher
chooses as in C.  Device, streams and arrays come through cuda-core.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from comprehensive.bindings.described import Described, described
from comprehensive.bindings.errors import LoadError
from comprehensive.bindings.function import GeneratedFunction
from comprehensive.bindings.memory import DeviceMemory, Memory, ProcessorMemory
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.toolchain.loaded import loaded
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.shared_objects import Build, build, cpu_command, gpu_command, shim


class Module:
    """Functions by name: ``module.matmul`` and ``module["matmul"]``."""

    def __init__(self, functions: Mapping[str, GeneratedFunction]) -> None:
        self._functions = MappingProxyType(dict(functions))

    def __getitem__(self, name: str) -> GeneratedFunction:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __getattr__(self, name: str) -> GeneratedFunction:
        if name.startswith("_") or name not in self._functions:
            known = ", ".join(vars(self).get("_functions", ()))
            raise AttributeError(f"there is no function {name}; there are {known}")
        return self._functions[name]

    def __dir__(self) -> Iterator[str]:
        return iter(self._functions)

    def __repr__(self) -> str:
        return f"<generated functions {', '.join(f.signature for f in self._functions.values())}>"


def load(
    manifest: str | Path, *, device: str = "gpu", cuda_path: str | None = None, options: Sequence[str] = ()
) -> Module:
    """The functions of a manifest, compiled for the current GPU; for other ones when they are first called there.

    ``device`` may be ``cpu``: the same code on this machine's processor, on numpy arrays, to try out and to choose for
    machines that are not there.  ``cuda_path`` is the only place where nvcc is looked for, if it is given; ``options``
    are passed to the compiler (``-fmad=false``, ``-I`` of headers that the program includes).  What is compiled is kept
    in ``$COMPREHENSIVE_CACHE``, else in the user's cache directory, else for this process.

    Raises LoadError for a manifest that cannot be used, without compiler, without cuda-core (extra ``gpu``) or GPU.
    """
    found = described(Path(manifest))
    match device:
        case "gpu":
            memory = DeviceMemory()
            return _module(found, _ForGpus(found, memory, cuda_path, options), memory)
        case "cpu":
            library = _for_processor(found, options)
            return _module(found, lambda: library, ProcessorMemory())
        case _:
            raise LoadError(f"there is no device '{device}': give gpu or cpu")


def _module(found: Described, library: Callable[[], ctypes.CDLL], memory: Memory) -> Module:
    library()
    return Module({name: GeneratedFunction(f, library, memory) for name, f in found.functions.items()})


class _ForGpus:
    """The library for the current GPU; one for each architecture."""

    def __init__(
        self, found: Described, memory: DeviceMemory, cuda_path: str | None, options: Sequence[str]
    ) -> None:
        self._found = found
        self._memory = memory
        self._cuda_path = cuda_path
        self._options = options
        self._opened: dict[str, ctypes.CDLL] = {}

    def __call__(self) -> ctypes.CDLL:
        arch = f"sm_{self._memory.current().arch}"
        if arch not in self._opened:
            nvcc = find_tool("nvcc", self._cuda_path)
            if isinstance(nvcc, Missing):
                raise LoadError(
                    f"generated functions are compiled with nvcc\n{nvcc.explain()}\nhelp: {nvcc.help}"
                )
            # Compiled kernels, where there are some: nvcc then only compiles C and links the runtime.
            main = self._found.embedded or self._found.kernels
            command = gpu_command(nvcc.path, arch, *self._options)
            self._opened[arch] = _opened(ctypes.CDLL, self._found, main, command)
        return self._opened[arch]


def _for_processor(found: Described, options: Sequence[str]) -> ctypes.CDLL:
    compiler = find_cxx_compiler()
    if compiler is None:
        raise LoadError("there is no C++ compiler: install g++, or set CXX")
    return _opened(loaded, found, found.kernels, cpu_command(compiler, *options), *shim())


def _opened(
    load: Callable[[str], ctypes.CDLL],
    found: Described,
    main: str,
    command: tuple[str, ...],
    *more: tuple[str, str],
) -> ctypes.CDLL:
    job = Build(_own_directory().name, (*found.texts, *more), main, command)
    try:
        library = build(job)
        if library.path is None:
            raise LoadError(f"{command[0]} rejects {main}: {library.errors}")
        return load(library.path)
    except (ToolError, OSError) as error:
        raise LoadError(f"{main} cannot be compiled or loaded: {error}") from error


@cache
def _own_directory() -> TemporaryDirectory[str]:
    """Return a directory for the libraries that this process has open.

    The cache may lose any entry meanwhile.
    """
    return TemporaryDirectory(prefix="comprehensive-")
