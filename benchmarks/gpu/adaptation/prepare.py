"""Generates what the benchmark of adaptation times: ``python -m benchmarks.gpu.adaptation.prepare``.

In: the programs of `cases.py`, nvcc.  Out: for each a directory below ``build/gpu/adaptation`` with two images: in
``adapt`` the candidates that `gen --adapt` embeds, in ``sweep`` every version that there is; and `plan.json`, which
says what these are.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from benchmarks.gpu.adaptation.cases import CASES, HERE, Case
from comprehensive.codegen.cuda import program_unit
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.embedding.adaptive import adaptive
from comprehensive.embedding.automatic import NOISE
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import embedded
from comprehensive.embedding.subjects import subjects_of
from comprehensive.embedding.targets import targets_of
from comprehensive.generate import source_texts
from comprehensive.loops.interpreter import c_value
from comprehensive.machine.device import load_device
from comprehensive.metafork.ast import Parameter
from comprehensive.occupancy_tuning.candidates import candidates_of
from comprehensive.plan.interface import Interface, interface
from comprehensive.plan.plan import FunctionPlan, ProgramPlan
from comprehensive.plan.versions import ORIGINAL, Candidate, Version, key_of

ARCH, DEVICE = "sm_90", "h200"
OUTPUT = Path("build/gpu/adaptation")
CAPS = (255, *range(248, 23, -8))
MOST_SPILLS = 64
"""Bytes; with more a version is not among the fastest (`benchmarks/results/gpu-demotion-2026-11-23.md`)."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.adaptation.prepare", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="beginnings of the names of programs, as in hotspot,cfd")
    parser.add_argument("--jobs", type=int, default=2, help="programs that are generated at a time")
    parser.add_argument(
        "--split",
        action="store_true",
        help="only what `split.py` times: long launches, and kernels for parts of them",
    )
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    chosen = parser.parse_args()
    made = prepared_in_parts if chosen.split else prepared
    wanted = [case for case in CASES if any(case.name.startswith(word) for word in chosen.only.split(","))]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for case, row in zip(wanted, pool.map(made, wanted, [chosen.output] * len(wanted)), strict=True):
            print(f"{case.name}: {len(row['candidates'])} candidates, {len(row['versions'])} versions")
    return 0


def prepared(case: Case, output: Path) -> Mapping[str, Any]:
    """Write the directory of a program; what its `plan.json` says."""
    compilation = compile_file(case.path, Options(registers="estimate", arch=ARCH))
    compiler, device = KernelCompiler.find("", None), load_device(DEVICE)
    tried = adaptive(compilation.plan, compiler, device)
    tile = _tile_of(case)
    every = _every(tile, compilation.plan, compiler)
    directory = output / case.name
    shutil.rmtree(directory, ignore_errors=True)
    for name, plan in (("adapt", tried), ("sweep", every)):
        _write(directory / name, case, compilation, plan, compiler)
    (function,) = tried.functions
    adaptation = function.adaptation
    row = {
        "name": case.name,
        "candidates": []
        if adaptation is None
        else [_tried(function, each, tile) for each in adaptation.candidates],
        "along": 0 if adaptation is None else adaptation.along,
        "predicted": predicted(tile, compilation.plan, compiler),
        "versions": [version.name for version in every.functions[0].versions],
    }
    (directory / "plan.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    return row


def prepared_in_parts(case: Case, output: Path) -> Mapping[str, Any]:
    """Write the directory ``split`` of a program, with sizes of one long launch; what its `plan.json` says."""
    longer = case.lengthened
    compilation = compile_file(case.path, Options(registers="estimate", arch=ARCH))
    compiler = KernelCompiler.find("", None)
    plan = adaptive(compilation.plan, compiler, load_device(DEVICE), parts=True)
    (function,) = plan.functions
    found, tile = function.adaptation, _tile_of(longer)
    directory = output / case.name / "split"
    shutil.rmtree(directory, ignore_errors=True)
    _write(directory, longer, compilation, plan, compiler)
    row = {
        "name": case.name,
        "sizes": {name: value for name, value in longer.scalars.items() if value == int(value)},
        "candidates": [] if found is None else [_tried(function, each, tile) for each in found.candidates],
        "parts": 0 if found is None else found.parts,
        "versions": [version.name for version in function.versions],
    }
    (directory / "plan.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    return row


def _tried(function: FunctionPlan, candidate: Candidate, tile: int) -> Mapping[str, Any]:
    """Return a candidate as the benchmark knows it, with the passes of the kernels that run at the sizes."""
    kernels = function.kernels_of(tile)
    of_version = function.versions[candidate.version].pipelines
    pipelines = sorted({pipeline for kernel, pipeline in of_version if kernel in kernels})
    return {"version": candidate.version, "threads": candidate.threads, "pipelines": pipelines}


def predicted(tile: int, plan: ProgramPlan, compiler: KernelCompiler) -> int:
    """Return the candidate that the prediction alone would keep, of the kernel that runs at the sizes."""
    compiled = compiler.compile(program_unit(plan), ARCH)
    kernels = plan.functions[0].kernels_of(tile)
    for symbol, subject in subjects_of(plan, compiled, compiler.assembler, load_device(DEVICE)).items():
        if key_of(symbol) in kernels:
            found = candidates_of(subject)
            cycles = [] if found is None else [level.cycles or float("inf") for level in found.levels]
            best = min(range(len(cycles)), key=cycles.__getitem__, default=0)
            return best if cycles and cycles[best] * (1 + NOISE) < cycles[0] else 0
    return 0


def _every(tile: int, plan: ProgramPlan, compiler: KernelCompiler) -> ProgramPlan:
    """Return the plan with all versions of the kernels that run: limits of registers, persistent blocks."""
    compiled = compiler.compile(program_unit(plan), ARCH)
    (function,) = plan.functions
    kernels = function.kernels_of(tile)
    pipelines: dict[str, None] = {}
    for symbol, subject in subjects_of(plan, compiled, compiler.assembler, load_device(DEVICE)).items():
        if key_of(symbol) not in kernels:
            continue
        seen: set[tuple[int, int]] = set()
        for cap in CAPS:
            made = subject.made(pipeline := f"register-cap{{registers={cap}}}")
            taken = None if made is None else (made.usage.registers_per_thread, made.usage.spill_bytes)
            if taken is not None and taken not in seen and taken[1] <= MOST_SPILLS:
                seen.add(taken)
                pipelines[pipeline] = None
        pipelines |= {f"grid-stride{{warps={warps}}}": None for warps in (8, 16, 24, 32, 40, 48, 64)}
    versions = (ORIGINAL, *(Version.of(pipeline, kernels) for pipeline in pipelines))
    return replace(plan, functions=(replace(function, versions=versions),))


def _tile_of(case: Case) -> int:
    """Return the tile that launchers choose at the sizes of a case; 0 for a leaf."""
    sizes = [f"{name}={int(value)}" for name, value in case.scalars.items() if value == int(value)]
    given = [word for size in sizes for word in ("-D", size)]
    command = (
        sys.executable,
        "-m",
        "comprehensive",
        "explain",
        str(case.path),
        "--device",
        DEVICE,
        "--json",
        *given,
    )
    document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (region,) = document["regions"]
    chosen = next((row for row in region["ranking"] if row["chosen"]), None)
    return chosen["number"] if chosen is not None and "tile" in chosen["kind"] else 0


def _write(
    directory: Path, case: Case, compilation: Compilation, plan: ProgramPlan, compiler: KernelCompiler
) -> None:
    directory.mkdir(parents=True)
    plan = replace(plan, single_file=True)
    image = embedded(plan, targets_of(ARCH), compiler, "benchmark")
    header = f"{plan.stem}.h"
    texts = {header: source_texts(plan)[header], "kernels.c": image.text, "case.h": _case(case, plan)}
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    shutil.copy(HERE / "bench.c", directory)


def _case(case: Case, plan: ProgramPlan) -> str:
    """Return what `bench.c` has to know of a function, as macros."""
    (function,) = plan.functions
    host = interface(function)
    arrays, passed = _arguments(case, function, host)
    call = ", ".join(passed)
    version = f"(params).{host.version} = (number)" if host.version else "(void)(number)"
    return "\n".join(
        [
            f'#include "{plan.stem}.h"',
            f"#define PARAMS {host.name}_params",
            f"#define ARRAYS {', '.join(arrays)}",
            f"#define LAUNCH(params) {host.name}_launch_explained(0, {call}, (params), stream, &why)",
            f"#define CHOOSE(machine, params) {host.name}_choose((machine), {call}, 0, (params), &why)",
            f"#define MACHINE(number, machine) {host.name}_machine((number), (machine))",
            f"#define SET_VERSION(params, number) {version}",
            f"#define ADAPT {host.adapt or host.members[-1].name}",
            f"#define MOST_VERSION {len(function.versions) - 1}",
            "",
        ]
    )


def _elements(parameter: Parameter, case: Case) -> int:
    sizes = {name: int(value) for name, value in case.scalars.items() if value == int(value)}
    return prod(int(c_value(extent, sizes)) for extent in parameter.dims if extent is not None)


def _arguments(case: Case, function: FunctionPlan, host: Interface) -> tuple[list[str], list[str]]:
    """Return the arrays with their bytes, and what a launch is passed."""
    arrays: list[str] = []
    passed: list[str] = []
    extents = {p.name: p for p in function.function.parameters}
    for argument in host.arguments:
        if argument.pointer:
            count = case.elements.get(argument.name) or _elements(extents[argument.name], case)
            arrays.append(
                f'{{ "{argument.name}", {count}ULL * 4, {case.indices.get(argument.name, 0)}, 0, 0 }}'
            )
            passed.append(f"AT({len(arrays) - 1})")
        else:
            value = case.scalars[argument.name]
            passed.append(f"({argument.type.value})({value!r})")
    return arrays, passed


if __name__ == "__main__":
    raise SystemExit(main())
