"""Writes what :mod:`tests.gpu.ptx_bits` compares on a machine with a GPU: PTX, inputs, and the interpreter's results.

    python -m tests.gpu.ptx_prepare -o build/ptx-bits
    python -m tests.gpu.ptx_prepare -o build/ptx-passes -p 'memory-space,vectorize-accesses,pre,dce'

With passes the device gets what they make of the PTX, and the interpreter what it was before.  Additions and
multiplications that say no rounding get ``.rn``: without it ptxas may make one fused instruction of two, and results
would be its choice.

The kernels are those of the corpus that have runs and that the interpreter knows, compiled for architectures that the
device can run, and one kernel for each form of the instructions in :mod:`tests.gpu.ptx_instructions`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.interpreter.approximations import is_approximate
from comprehensive.ptx.interpreter.program import reached
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.pipeline import rewrite
from tests.gpu.ptx_instructions import instruction_cases
from tests.ptx.corpus import assemblies, compiled, sources
from tests.ptx.runs import DTYPES, Buffer, Run, drawn, runs_of

ROOT = Path(__file__).resolve().parents[2]
ARCHS = ("sm_75", "sm_90")


@dataclass(frozen=True)
class Case:
    """A launch; ``arguments`` begin as given, those of kind ``array`` lie in global memory."""

    source: str
    ptx: Path
    kernel: str
    kinds: tuple[str, ...]
    types: tuple[str, ...]
    arguments: tuple[np.ndarray, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    smem_bytes: int = 0
    sources: tuple[int, ...] = ()
    """Arguments that an element of the result comes from, element by element."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "ptx-bits")
    parser.add_argument("--arch", action="append", help="of the PTX, instead of sm_75 and sm_90")
    parser.add_argument("-p", "--passes", default="", help="over the PTX that the device gets")
    arguments = parser.parse_args()
    output: Path = arguments.output
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    written: list[dict[str, Any]] = []
    for case in (*corpus_cases(output, tuple(arguments.arch or ARCHS)), *_instructions(output)):
        try:
            written.append(_written(case, output, len(written)))
        except CompileError as error:
            print(f"left out: {case.source} {case.kernel}: {error.diagnostics[0].message}")
    if arguments.passes:
        for ptx in sorted(output.rglob("*.ptx")):
            text, _ = rewrite(ptx.read_bytes().decode(), arguments.passes, name=ptx.name)
            ptx.write_bytes(text.encode())
    (output / "cases.json").write_text(json.dumps(written, indent=1), encoding="utf-8")
    print(f"{len(written)} kernels in {output}")


def corpus_cases(output: Path, archs: tuple[str, ...]) -> Iterator[Case]:
    """All runs of the corpus for some architectures, compiled into a directory."""
    for source in sources():
        for arch in archs:
            if arch in source.archs:
                ptx = compiled(source, arch, output)
                ptx.write_text(uncontracted(ptx.read_text(encoding="utf-8")), encoding="utf-8")
                yield from (_case(f"{source.name} {arch}", ptx, each) for each in source.runs)
    for source in assemblies():
        if source.archs[0].rstrip("a") <= "sm_90" and source.archs[0] != "sm_100":
            ptx = output / source.path.name
            ptx.write_bytes(uncontracted(source.path.read_bytes().decode()).encode())
            yield from (
                _case(source.name, ptx, each) for each in runs_of(source.path.read_text(encoding="utf-8"))
            )


_CONTRACTIBLE = re.compile(
    r"(?<![\w.%$])(add|sub|mul)(?!(?:\.\w+)*\.r[nzmp]\b)(?=(?:\.\w+)*\.(?:b?f16(?:x2)?|f32(?:x2)?|f64)\b)"
)
"""Modifiers may be in any order."""


def uncontracted(ptx: str) -> str:
    """``mul.ftz.f32`` as ``mul.rn.ftz.f32``: the same numbers, and ptxas may not contract it (PTX ISA, mul)."""
    return _CONTRACTIBLE.sub(r"\1.rn", ptx)


def _case(name: str, ptx: Path, each: Run) -> Case:
    kinds, types, arrays = list[str](), list[str](), list[np.ndarray]()
    for argument, contents in zip(each.arguments, drawn(each), strict=True):
        is_array = isinstance(argument, Buffer)
        kinds.append("array" if is_array else "value")
        types.append(argument.type if isinstance(argument, Buffer) else "")
        arrays.append(
            np.frombuffer(contents, DTYPES[argument.type] if isinstance(argument, Buffer) else np.uint8)
        )
    return Case(
        name,
        ptx,
        each.kernel,
        tuple(kinds),
        tuple(types),
        tuple(arrays),
        each.grid,
        each.block,
        each.smem_bytes,
    )


def _instructions(output: Path) -> Iterator[Case]:
    for number, each in enumerate(instruction_cases()):
        ptx = output / f"instruction{number}.ptx"
        ptx.write_text(each.ptx, encoding="utf-8")
        kinds = ("array",) * len(each.arrays)
        places = tuple(range(1, len(each.arrays)))
        yield Case(
            each.name,
            ptx,
            "k",
            kinds,
            each.types,
            each.arrays,
            (each.blocks, 1, 1),
            (each.threads, 1, 1),
            0,
            places,
        )


def _written(case: Case, output: Path, number: int) -> dict[str, Any]:
    """Return the description of a case for the other machine; the arrays are in a file of their own."""
    module = parse(SourceFile(str(case.ptx), case.ptx.read_text(encoding="utf-8")))
    given = [array.copy() for array in case.arguments]
    passed = [a if kind == "array" else a.tobytes() for kind, a in zip(case.kinds, given, strict=True)]
    run(module, case.kernel, case.grid, case.block, passed, shared_bytes=case.smem_bytes)
    data = f"{number}.npz"
    arrays = {f"in{place}": array for place, array in enumerate(case.arguments)}
    arrays |= {f"out{place}": array for place, array in enumerate(given)}
    np.savez_compressed(output / data, **arrays)
    return {
        "source": case.source,
        "ptx": str(case.ptx.relative_to(output)),
        "kernel": case.kernel,
        "kinds": case.kinds,
        "types": case.types,
        "grid": case.grid,
        "block": case.block,
        "smem_bytes": case.smem_bytes,
        "sources": case.sources,
        "approximate": _approximates(module, case.kernel),
        "data": data,
    }


def _approximates(module: Module, kernel: str) -> bool:
    """Whether the kernel does, or a function that it calls."""
    steps = (step for flow in reached(module, module.kernels[kernel]).values() for step in flow.steps)
    return any(is_approximate(step.instruction.opcode) for step in steps)


if __name__ == "__main__":
    main()
