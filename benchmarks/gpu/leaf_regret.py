"""The regret of the launcher's choice of a leaf and its blocks, beside the best.

``python3 -m benchmarks.gpu.leaf_regret DIRECTORY -o FILE`` on a machine with a GPU, nvcc and torch.

The programs of ``benchmarks/gpu/leaves`` have no register tile, or run without (``tile = 0``).  DIRECTORY has what
``gen`` has written for each, in a folder of its name.  Every admissible block of a grid of values is run, compared with
the results of the launcher without parameters, and timed as graphs of launches.  Prints a line of JSON a case.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu.header import Launcher, launcher
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.regret import FEW, GRAPH_MS, GRAPH_OVERHEAD_MS, per_run
from comprehensive.runtime.choice import Choice

HOPELESS = 2.5
"""A candidate that takes so many times the best one is not timed well."""
TOLERANCE = 1e-4
THREADS = (32, 1024)
"""The threads of the blocks that are tried, and more at smaller sizes of a case."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program at a size: ``scalars``, and the elements of the arrays, the last of which are the results."""

    program: str
    scalars: Mapping[str, int]
    arrays: Mapping[str, int]
    results: tuple[str, ...]
    kind: torch.dtype = torch.float32

    @property
    def name(self) -> str:
        return f"{self.program} {' x '.join(str(value) for value in self.scalars.values())}"


def square(program: str, n: int, **more: Any) -> Case:
    return Case(program, {"n": n}, {"a": n * n, "b": n * n, "c": n * n}, ("c",), **more)


def rows(program: str, m: int, n: int, arrays: Sequence[str], results: tuple[str, ...]) -> Case:
    """Return a case over rows and columns.

    ``w`` and ``v`` have an element a column, ``y`` without ``x`` beside it one a row.
    """
    wide = {"a": m * n, "x": m * n, "b": m * n, "w": n, "v": n, "s": n, "t": n, "r": m, "c": n}
    sizes = {name: wide.get(name, m * n if "x" in arrays else m) for name in arrays}
    return Case(program, {"m": m, "n": n}, sizes, results)


def layer(f: int, c: int, n: int) -> Case:
    sizes = {"x": c * (n + 2) ** 2, "w": 9 * f * c, "y": f * n * n}
    return Case("convolution", {"f": f, "c": c, "n": n}, sizes, ("y",))


def bodies(n: int) -> Case:
    names = ("x", "y", "z", "mass", "fx", "fy", "fz")
    return Case("n_body", {"n": n}, dict.fromkeys(names, n), names[4:])


CASES = (
    *(square("linear_matmul", n) for n in (512, 1021, 2048)),
    *(square("cached_matmul", n) for n in (1024, 1536, 1023)),
    *(
        Case("batched_matmul", {"m": m, "n": n}, dict.fromkeys("abc", m * n * n), ("c",))
        for m, n in ((64, 128), (8, 777), (512, 64))
    ),
    *(rows("softmax", m, n, ("x", "y"), ("y",)) for m, n in ((4096, 1024), (32768, 100), (300, 8192))),
    *(rows("layer_norm", m, n, ("x", "w", "v", "y"), ("y",)) for m, n in ((8192, 768), (1000, 4096))),
    *(layer(f, c, n) for f, c, n in ((64, 32, 56), (128, 128, 28), (16, 3, 512))),
    *(bodies(n) for n in (4096, 16384, 50000)),
    *(Case("triangular", {"n": n}, {"a": n * n, "x": n, "y": n}, ("y",)) for n in (2048, 8192)),
    *(rows("dot_rows", m, n, ("a", "b", "y"), ("y",)) for m, n in ((4096, 4096), (65536, 200), (512, 20000))),
    *(rows("columns", m, n, ("a", "s", "t"), ("s", "t")) for m, n in ((4096, 4096), (512, 100000))),
    *(
        rows("linear_transpose", m, n, ("a", "b"), ("b",))
        for m, n in ((1024, 1024), (4095, 4097), (8192, 8192))
    ),
    *(Case("border", {"n": n}, {"a": n * n, "b": n * n}, ("b",)) for n in (512, 2048, 8191)),
    *(Case("floors", {"n": n}, {"a": (n + 2) ** 2, "b": n * n}, ("b",)) for n in (1024, 4096, 4095)),
    *(
        Case("gram", {"m": m, "n": n}, {"a": m * n, "c": m * m}, ("c",), torch.float64)
        for m, n in ((512, 512), (1500, 300))
    ),
    *(rows("scaled", m, n, ("a", "r", "c"), ("a",)) for m, n in ((1024, 1024), (5000, 7001))),
)


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of a launch; ``cycles`` are those that the launcher expects."""

    params: Mapping[str, int] | None
    leaf: int
    ms: float
    cycles: int
    right: bool


class Program:
    """A program that ``gen`` has written, and the library that nvcc has made of it."""

    def __init__(self, directory: Path, name: str) -> None:
        text = (directory / name / f"{name}.h").read_text(encoding="utf-8")
        self.read: Launcher = launcher(text, name)
        library = ctypes.CDLL(str(directory / f"{name}.so"))
        self.call: Any = library[f"{name}_launch_explained"]
        types = [argument.ctype for argument in self.read.arguments]
        self.call.argtypes = [ctypes.c_void_p, *types, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.choose: Any = library[f"{name}_choose"]
        self.choose.argtypes = self.call.argtypes
        fields = [(member.name, member.ctype) for member in self.read.parameters]
        self.kind = type("Params", (ctypes.Structure,), {"_fields_": fields})

    def launching(
        self, values: Mapping[str, int | Tensor], point: Mapping[str, int] | None
    ) -> tuple[Callable[[int | None], None], Any, Any]:
        given = [values[a.name] for a in self.read.arguments]
        arguments = [v.data_ptr() if isinstance(v, Tensor) else v for v in given]
        params = None if point is None else ctypes.byref(self.kind(**point))
        why = Choice()

        def run(stream: int | None) -> None:
            status = self.call(None, *arguments, params, stream, ctypes.byref(why))
            if status != 0:
                raise PeerError(f"refused with status {status}: {why.constraint.decode()}")

        return run, why, params

    def defaults(self, values: Mapping[str, int | Tensor]) -> tuple[dict[str, int], float]:
        """Return the launcher's choice, and the microseconds that choosing takes for sizes not seen just before."""
        given = [values[a.name] for a in self.read.arguments]
        arguments = [v.data_ptr() if isinstance(v, Tensor) else v for v in given]
        others = [v if isinstance(g, Tensor) else v + 1 for v, g in zip(arguments, given, strict=True)]
        found, why, microseconds = self.kind(), Choice(), math.inf
        for _ in range(5):
            self.choose(None, *others, None, ctypes.byref(found), ctypes.byref(why))
            begin = time.perf_counter()
            self.choose(None, *arguments, None, ctypes.byref(found), ctypes.byref(why))
            microseconds = min(microseconds, 1e6 * (time.perf_counter() - begin))
        return {member.name: getattr(found, member.name) for member in self.read.parameters}, microseconds


def points(names: Sequence[str], case: Case) -> Iterator[dict[str, int]]:
    """Blocks of up to 1024 threads, those of 256 first: powers of two, for floors divisors of sizes, too."""
    odd = {v for n in case.scalars.values() if n % 64 for v in range(3, 513) if n % v == 0}
    powers = [1 << k for k in range(11)]
    values = sorted({*powers, *([] if case.program not in ("floors", "cached_matmul") else odd)})
    if len(names) == 1:
        values = sorted({*values, 96, 160, 192, 224, 320, 384, 448, 640, 768, 896})
    small = [v for v in values if v <= 16]
    domains = [small if name == "s" else values for name in names]
    found = [dict(zip(names, each, strict=True)) for each in product(*domains)]
    threads = {id(point): math.prod(v for name, v in point.items() if name != "s") for point in found}
    least = THREADS[0] if len(names) > 1 else 1
    kept = [point for point in found if least <= threads[id(point)] <= THREADS[1]]
    yield from sorted(kept, key=lambda p: abs(math.log2(threads[id(p)] / 256)))


def measured(directory: Path, case: Case, seconds: float) -> dict[str, Any]:
    program = Program(directory, case.program)
    torch.manual_seed(1)
    arrays = {name: torch.rand(count, device="cuda", dtype=case.kind) for name, count in case.arrays.items()}
    begin = {name: arrays[name].clone() for name in case.results}
    values = {**case.scalars, **arrays}
    names = [member.name for member in program.read.parameters if member.name != "tile"]
    tile = {"tile": 0} if len(names) < len(program.read.parameters) else {}

    def once(point: Mapping[str, int] | None) -> tuple[Any, Any, dict[str, Tensor]]:
        for name, start in begin.items():
            arrays[name].copy_(start)
        run, why, _ = program.launching(values, point)
        run(None)
        torch.cuda.synchronize()
        return run, why, {name: arrays[name].clone() for name in case.results}

    best = math.inf
    found: list[Timed] = []
    _, _, expected = once(None)

    def timed(point: Mapping[str, int] | None) -> Timed:
        run, why, result = once(point)
        right = all(
            torch.allclose(result[name], expected[name], rtol=TOLERANCE, atol=TOLERANCE) for name in result
        )
        single = per_run(run, 1)
        if single - GRAPH_OVERHEAD_MS > HOPELESS * best:
            return Timed(point, why.leaf, single, why.cycles, right)
        few = per_run(run, FEW)
        ms = per_run(run, max(FEW, min(300, math.ceil(GRAPH_MS / few))))
        return Timed(point, why.leaf, ms, why.cycles, right)

    begun = time.monotonic()
    chosen = timed(None)
    defaults, microseconds = program.defaults(values)
    of_leaf = timed({**defaults, **tile})
    best = of_leaf.ms
    refused = 0
    for point in points(names, case):
        if time.monotonic() - begun > seconds:
            break
        try:
            one = timed({**point, **tile})
        except PeerError:
            refused += 1
            continue
        found.append(one)
        if one.right:
            best = min(best, one.ms)
    return {
        "case": case.name,
        "program": case.program,
        "scalars": dict(case.scalars),
        "chosen": asdict(chosen),
        "of_leaf": asdict(of_leaf),
        "choice_us": microseconds,
        "found": [asdict(each) for each in found],
        "refused": refused,
    }


def build(directory: Path, name: str) -> str:
    if (directory / f"{name}.so").exists():
        return ""
    source = directory / name / f"{name}.cu"
    command = ["nvcc", "-arch=sm_90", "-O3", "-shared", "-Xcompiler", "-fPIC"]
    answer = subprocess.run(
        [*command, str(source), "-o", str(directory / f"{name}.so")],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if answer.returncode == 0 else f"{name}: {answer.stderr}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.leaf_regret", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="beginnings of the names of cases")
    parser.add_argument("--seconds", type=float, default=8.0, help="for a case")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    wanted = [case for case in CASES if any(case.name.startswith(word) for word in chosen.only.split(","))]
    with ThreadPoolExecutor(16) as pool:
        names = dict.fromkeys(case.program for case in wanted)
        for said in pool.map(lambda name: build(chosen.directory, name), names):
            print(said, end="", file=sys.stderr)
    with chosen.output.open("w", encoding="utf-8") as target:
        for case in wanted:
            try:
                answer = measured(chosen.directory, case, chosen.seconds)
            except (PeerError, OSError, RuntimeError) as error:
                answer = {"case": case.name, "failed": str(error)}
                print(answer, file=sys.stderr)
            target.write(json.dumps(answer) + "\n")
            target.flush()
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
