"""Generated CUDA on the CPU: the `.cu` compiled as it is by the host's C++ compiler, a block's threads as fibers.

In: a generated source beside its header.  Out: a :class:`CpuLibrary` whose functions run on numpy arrays::

    library = build(Path("out/matmul.cu"), Path("work"), [interface(plan)], sanitize=False, compiler=found)
    library.call("matmul", {"n": 64, "a": a, "b": b, "c": c}, {"B0": 8, "ub1": 8, "s": 2}).status     # 0

Without contraction of multiply and add, so that results compare to the bit with the serial program's.  With
``sanitize`` every call is a process of its own under AddressSanitizer and UndefinedBehaviorSanitizer: an access out
of bounds raises :class:`CpuFaultError` with the report.
"""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from comprehensive.codegen.environment import render_template
from comprehensive.plan.interface import Interface
from comprehensive.runtime.choice import Choice
from comprehensive.runtime.structures import machine_array, machine_values, params
from comprehensive.runtime.values import Value, as_array, as_pointer, as_scalar
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.host import Compiler, cuda_on_cpu
from comprehensive.toolchain.loaded import loaded
from comprehensive.toolchain.unit import compile_unit, write_binary

BUILD_TIMEOUT_S = 300.0
CALL_TIMEOUT_S = 120.0

# Kernels run a few times on small data: the time to compile them is what a user waits for. Of debugging information
# the lines are enough, which sanitizers name.
_FLAGS = ("-std=c++17", "-O0", "-ffp-contract=off", "-g1", "-Wno-unknown-pragmas")
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")


class CpuBuildError(Exception):
    """The host's compiler has rejected the generated source; carries the command and its words."""


class CpuFaultError(Exception):
    """The generated code has crashed or a sanitizer has stopped it; carries the report."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of ``<function>_launch_explained``: what it returned, and wrote to its ``cf_choice``.

    ``leaf`` is -1 where nothing was launched.  ``message`` says why the launch failed on the CPU (a divergent
    barrier), empty otherwise.
    """

    status: int
    leaf: int
    constraint: str
    needed: int
    available: int
    message: str


@dataclass(frozen=True)
class CpuLibrary:
    """The compiled functions; ``path`` is a shared object, or an executable with sanitizers."""

    path: Path
    interfaces: Mapping[str, Interface]
    sanitize: bool
    work: Path

    def call(
        self,
        function: str,
        arguments: Mapping[str, Value],
        parameters: Mapping[str, int] | None,
        *,
        machine: Mapping[str, int] | None = None,
        backwards: bool = False,
        attributes: Mapping[int, int] | None = None,
        kernel_threads: int = 1024,
    ) -> Outcome:
        """Runs a function; arrays are changed in place.

        ``parameters`` may say which register tile and version (`Interface.options`), none otherwise.

        ``machine`` gives values of machine parameters by symbol (``Z_B``: words), None is the fake device.
        ``backwards`` runs the last block and thread first.  ``attributes`` sets limits of the fake device by the
        number of their cudaDeviceAttr; the first call of a library counts.  KeyError for a missing argument,
        TypeError for an array of another type, CpuFaultError for a crash.
        """
        run = _call_process if self.sanitize else _call_shared
        settings = _Settings(backwards, attributes or {}, kernel_threads)
        return run(self, self.interfaces[function], arguments, parameters, machine, settings)

    @cached_property
    def shared(self) -> ctypes.CDLL:
        """The loaded shared object."""
        return loaded(self.path)


@dataclass(frozen=True, slots=True)
class _Settings:
    backwards: bool
    attributes: Mapping[int, int]
    kernel_threads: int


def build(
    source_cu: Path,
    work: Path,
    interfaces: Sequence[Interface],
    *,
    sanitize: bool,
    compiler: Compiler,
    include_flags: Sequence[str] = (),
) -> CpuLibrary:
    """Compiles the source into the directory ``work``. CpuBuildError where the compiler rejects it.

    ``include_flags`` say where it finds what the program includes.
    """
    work.mkdir(parents=True, exist_ok=True)
    stem = source_cu.stem
    flags = [*_FLAGS, *cuda_on_cpu(), *include_flags]
    if sanitize:
        source, target = work / f"{stem}_driver.cpp", work / f"{stem}_driver"
        if not source_cu.parent.samefile(work):
            flags += ["-I", str(source_cu.parent.absolute())]
        source.write_text(_driver_text(source_cu, interfaces))
        flags += _SANITIZERS
    else:
        source, target = source_cu, work / f"lib{stem}_cpu.so"
        flags += ["-shared", "-fPIC"]
    command = (*compiler.command, *flags, "-x", "c++")
    unseen = (f"-fdebug-prefix-map={source.absolute().parent}=.",)
    try:
        compiled = compile_unit(command, source, timeout_s=BUILD_TIMEOUT_S, unseen=unseen)
    except SourceRejectedError as error:
        raise CpuBuildError(str(error)) from error
    write_binary(compiled, target)
    return CpuLibrary(target.absolute(), {i.name: i for i in interfaces}, sanitize, work)


# --- in this process -----------------------------------------------------------------------------------------


def _call_shared(
    library: CpuLibrary,
    interface: Interface,
    arguments: Mapping[str, Value],
    parameters: Mapping[str, int] | None,
    machine: Mapping[str, int] | None,
    settings: _Settings,
) -> Outcome:
    shared = library.shared
    for attribute, value in sorted(settings.attributes.items()):
        shared.cf_cpu_set_attribute(attribute, value)
    shared.cf_cpu_set_kernel_threads(settings.kernel_threads)
    shared.cf_cpu_set_order(int(settings.backwards))
    shared.cf_cpu_error.restype = ctypes.c_char_p
    limits = None if machine is None else machine_array(machine)
    passed = [
        as_pointer(a, arguments[a.name]) if a.pointer else as_scalar(a, arguments[a.name])
        for a in interface.arguments
    ]
    given = None if parameters is None else params(interface, parameters)
    choice = Choice()
    launch = shared[f"{interface.name}_launch_explained"]
    status = launch(
        None if limits is None else ctypes.byref(limits),
        *passed,
        None if given is None else ctypes.byref(given),
        None,
        ctypes.byref(choice),
    )
    message = shared.cf_cpu_error().decode() if status != 0 else ""
    constraint = (choice.constraint or b"").decode()
    return Outcome(status, choice.leaf, constraint, choice.needed, choice.available, message)


# --- in a process of its own ---------------------------------------------------------------------------------


def _driver_text(source_cu: Path, interfaces: Sequence[Interface]) -> str:
    return render_template("host/cpu_driver.cpp.j2", source=source_cu.name, interfaces=tuple(interfaces))


def _call_process(
    library: CpuLibrary,
    interface: Interface,
    arguments: Mapping[str, Value],
    parameters: Mapping[str, int] | None,
    machine: Mapping[str, int] | None,
    settings: _Settings,
) -> Outcome:
    passed = {a.name: arguments[a.name] for a in interface.arguments if a.pointer}
    arrays = {a.name: as_array(a, v) for a in interface.arguments if (v := passed.get(a.name)) is not None}
    request = bytearray()
    _write_integers(request, int(settings.backwards), settings.kernel_threads, len(settings.attributes))
    for attribute, value in sorted(settings.attributes.items()):
        _write_integers(request, attribute, value)
    _write_integers(request, int(machine is not None), *machine_values(machine or {}))
    values = {a.name: 0 for a in interface.program} if parameters is None else parameters
    chosen = [as_scalar(a, values[a.name]).value for a in interface.program]
    chosen += [values.get(option.name, 0) for option in interface.options]
    _write_integers(request, int(parameters is not None), *chosen)
    for argument in interface.arguments:
        value = arguments[argument.name]
        if argument.pointer:
            content = arrays[argument.name].tobytes() if argument.name in arrays else b""
            _write_integers(request, len(content) if argument.name in arrays else -1)
            request += content
        elif argument.type.is_integer:
            _write_integers(request, as_scalar(argument, value).value)
        else:
            request += struct.pack("<d", as_scalar(argument, value).value)
    with tempfile.TemporaryDirectory(dir=library.work) as folder:
        sent, answered = Path(folder) / "request", Path(folder) / "answer"
        sent.write_bytes(request)
        _run_driver([str(library.path), interface.name, str(sent), str(answered)])
        answer = answered.read_bytes()
    status, leaf, needed, available, length, message_length = struct.unpack_from("<6q", answer)
    position = struct.calcsize("<6q")
    constraint = answer[position : position + length].decode()
    position += length
    message = answer[position : position + message_length].decode()
    position += message_length
    for array in arrays.values():
        if array.flags.writeable:
            array.reshape(-1).view("uint8")[:] = bytearray(answer[position : position + array.nbytes])
        position += array.nbytes
    return Outcome(status, leaf, constraint, needed, available, message)


def _write_integers(request: bytearray, *values: int) -> None:
    request += struct.pack(f"<{len(values)}q", *values)


def _run_driver(command: Sequence[str]) -> None:
    # Leaks are of no interest: the driver ends after one call.
    environment = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:detect_stack_use_after_return=0",
    }
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=CALL_TIMEOUT_S, check=False, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise CpuFaultError(f"no end after {CALL_TIMEOUT_S:.0f} s") from error
    if done.returncode != 0:
        raise CpuFaultError(done.stderr.strip() or f"exit status {done.returncode}")
