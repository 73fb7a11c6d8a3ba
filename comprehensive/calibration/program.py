"""The benchmark: `templates/host/calibrate.cu` compiled for a device, and run there in a process of its own.

In: a target, of ``find_devices``.  Out: what the program has printed::

    with tempfile.TemporaryDirectory() as scratch:
        text = answer_of(compiled(target, Path(scratch)), target, limit_s=300.0)

The stand-in ``cpu`` is the same source compiled against `calibrate_on_cpu.h`, a pretended device with its own clock.
Imports nothing outside the standard library besides its neighbours, which do not either.
"""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from comprehensive.data import template_directory
from comprehensive.diagnostics import CompileError
from comprehensive.toolchain.compiled import SourceRejectedError
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.toolchain.nvcc import load_tool
from comprehensive.toolchain.process import ToolError, run
from comprehensive.toolchain.unit import compile_unit, write_binary
from comprehensive.tuning.devices import Target
from comprehensive.tuning.lease import lease

SOURCE = "calibrate.cu"
SHIMS = ("cuda_on_cpu.h", "calibrate_on_cpu.h")
COMPILE_LIMIT_S = 600.0


def compiled(target: Target, folder: Path, cuda_path: str | None = None) -> Path:
    """The program, in the folder.

    ToolError where there is no compiler, CompileError (CF0952) where it rejects the source.
    """
    program = folder / "calibrate"
    source = template_directory() / "host" / SOURCE
    command = _compiler(target, cuda_path)
    try:
        answer = compile_unit(command, source, timeout_s=COMPILE_LIMIT_S)
    except SourceRejectedError as rejected:
        lines = [line.strip() for line in rejected.log.splitlines() if line.strip()]
        words = "; ".join([line for line in lines if "error" in line][:3] or lines[-2:])[:1000]
        raise CompileError.of(
            "CF0952",
            f"the benchmark does not compile: {words or f'{command[0]} makes no program and says nothing'}",
            help=f"use a CUDA toolkit that knows {target.arch} and a host compiler that it knows "
            "(`comprehensive doctor`)",
        ) from rejected
    write_binary(answer, program)
    return program


def _compiler(target: Target, cuda_path: str | None) -> tuple[str, ...]:
    if not target.on_gpu:
        compiler = find_cxx_compiler()
        if compiler is None:
            raise ToolError("the device cpu needs a C++ compiler\nhelp: set CXX, or install g++")
        shims = (word for name in SHIMS for word in ("-include", str(template_directory() / "host" / name)))
        return (*compiler.command, "-std=c++17", "-O2", "-Wno-unknown-pragmas", *shims, "-x", "c++")
    found = find_tool("nvcc", cuda_path)
    if isinstance(found, Missing):
        raise ToolError(f"calibrating a GPU needs nvcc\n{found.explain()}\nhelp: {found.help}")
    return (str(load_tool(found).path), "-O3", "-std=c++17", f"-arch={target.arch}")


def answer_of(program: Path, target: Target, limit_s: float) -> str:
    """Return what the program prints on the first device of the target, which is leased meanwhile.

    CompileError: CF0953 where it does not come to its end, CF0954 where the device fails it.
    """
    device = target.identifiers[0]
    held = lease([device], Path(tempfile.gettempdir())) if target.on_gpu else None
    environment = {"CUDA_VISIBLE_DEVICES": device} if target.on_gpu else {}
    try:
        answer = run([program], timeout_s=limit_s, environment=environment)
    except ToolError as problem:
        words = str(problem).replace(str(program), "the benchmark")
        raise CompileError.of(
            "CF0953", words, help="see that the device is idle and well (nvidia-smi), or raise --limit"
        ) from problem
    finally:
        if held is not None:
            os.close(held.descriptor)
    if answer.returncode == 0:
        return answer.stdout
    lines = answer.stdout.splitlines()
    if lines and lines[-1].startswith("error "):
        raise CompileError.of(
            "CF0954",
            f"the device fails the benchmark: {lines[-1].removeprefix('error ')}",
            help="see that nothing else uses the device and its memory (nvidia-smi), and try again",
        )
    code = answer.returncode
    end = signal.Signals(-code).name if code < 0 else f"status {code}"
    said = (answer.stderr.strip().splitlines() or [""])[-1][:300]
    raise CompileError.of(
        "CF0953",
        f"the benchmark ended by {end}" + (f": {said}" if said else ""),
        help="see that the device is well (nvidia-smi), and try again",
    )
