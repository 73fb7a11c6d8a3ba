"""The levels of ``occupancy``: the kernels of a file at the occupancy levels that they have.

In: a compilation, or a file of PTX.  Out: a :class:`Shown` for each kernel::

    of_program(compilation, device, every=False)      # candidates of each kernel
    of_ptx(Path("kernels.ptx"), device, (256, 128), every=True)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from comprehensive.codegen.cuda import program_unit
from comprehensive.diagnostics import CommandLineError, SourceFile
from comprehensive.driver import Compilation
from comprehensive.embedding.automatic import Choice
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.demoted import own_passes
from comprehensive.embedding.embedded import compiled_with
from comprehensive.embedding.subjects import subjects_of
from comprehensive.machine.device import Device
from comprehensive.occupancy_tuning.candidates import candidates_of
from comprehensive.occupancy_tuning.subject import Subject, sweep
from comprehensive.plan.versions import KernelKey, key_of
from comprehensive.ptx.files import read_text
from comprehensive.ptx.module import parse
from comprehensive.report.levels_text import Shown
from comprehensive.sass.launch import MANY_BLOCKS, Launch, multiprocessors_of
from comprehensive.toolchain.assembler import Assembler, find_assembler
from comprehensive.toolchain.usage import simple_name


def of_program(
    compilation: Compilation, device: Device, names: Sequence[str], cuda_path: str | None, *, every: bool
) -> tuple[Shown, ...]:
    """Return the kernels of a program, with all their levels or the candidates alone.

    ``names`` are symbols, or the names of kernels of which all instances are meant; none stands for all.
    CommandLineError (CF0730) for a name that no kernel has; ToolError where nvcc or the assembler is missing.
    """
    subjects = _subjects(compilation, device, KernelCompiler.find("", cuda_path))
    wanted = _wanted({symbol: simple_name(symbol) for symbol in subjects}, names)
    return tuple(_shown((subjects[symbol] for symbol in wanted), every=every))


def of_kernels(
    compilation: Compilation, device: Device, kernels: Sequence[KernelKey], cuda_path: str | None
) -> Mapping[KernelKey, Shown]:
    """Return the candidates of single kernels; those that cannot be launched in blocks of any size are left out.

    ToolError where nvcc or the assembler is missing.
    """
    subjects = _subjects(compilation, device, KernelCompiler.find("", cuda_path))
    found = _shown((each for symbol, each in subjects.items() if key_of(symbol) in kernels), every=False)
    return {key_of(shown.symbol): shown for shown in found}


def automatic_choices(
    compilation: Compilation, arch: str, cuda_path: str | None
) -> Mapping[KernelKey, Choice]:
    """Return what ``--passes auto`` chooses for each kernel, and why; errors as of :func:`of_kernels`."""
    compiler = KernelCompiler.find("", cuda_path)
    _, chosen = compiled_with(compilation.plan, compiler, arch, automatic=True)
    return {key_of(symbol): choice for symbol, choice in chosen.items()}


def _subjects(compilation: Compilation, device: Device, compiler: KernelCompiler) -> Mapping[str, Subject]:
    plan = compilation.plan
    compiled = compiler.compile(program_unit(plan), device.arch, own_passes(plan))
    return subjects_of(plan, compiled, compiler.assembler, device)


def of_ptx(
    path: Path,
    device: Device,
    threads: Sequence[int],
    names: Sequence[str],
    cuda_path: str | None,
    *,
    every: bool,
) -> tuple[Shown, ...]:
    """Return the kernels of a file of PTX, launched in blocks of so many threads; errors as of :func:`of_program`.

    CompileError where the file is no PTX.
    """
    module = parse(SourceFile(str(path), read_text(str(path))))
    assembler: Assembler = find_assembler(cuda_path)
    total = MANY_BLOCKS * multiprocessors_of(device) * threads[0]
    launches = {each: Launch(each, blocks=-(-total // each)) for each in threads}
    wanted = _wanted({symbol: symbol for symbol in module.kernels}, names)
    subjects = (Subject(module, symbol, assembler, device, launches) for symbol in wanted)
    return tuple(_shown(subjects, every=every))


def _wanted(known: dict[str, str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the symbols that are asked for, of those that are known with the names in the source."""
    for name in names:
        if name not in known and name not in known.values():
            help = f"known are {', '.join(dict.fromkeys(known.values()))}" if known else "it has no kernels"
            message = f"there is no kernel '{name}'"
            raise CommandLineError.of("CF0730", message, help=help)
    return tuple(s for s, name in known.items() if not names or s in names or name in names)


def _shown(subjects: Iterator[Subject], *, every: bool) -> Iterator[Shown]:
    """Yield what is shown of kernels; those that cannot be launched at all are left out."""
    for subject in subjects:
        found = candidates_of(subject)
        if found is not None:
            levels = sweep(subject) if every else found.levels
            yield Shown(subject.symbol, found.max_live, found.threshold, found.direction, levels)
