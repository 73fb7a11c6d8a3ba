"""Kernels of our own generator: each leaf gives in the interpreter the bits of the same source on the CPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.plan.interface import interface
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import parse
from comprehensive.runtime.cpu import build
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.compiled_specs import compiled, texts

pytestmark = pytest.mark.toolchain

SPECS = Path(__file__).resolve().parents[2] / "specs"
DTYPES = {"float": np.float32, "double": np.float64, "int": np.int32}
SIZES = [
    ("matmul", {"n": 24, "B0": 4, "ub1": 8, "s": 2}),
    ("matadd", {"N": 37, "B0": 4, "B1": 8}),
    ("matvec", {"m": 45, "n": 29, "B": 16}),
    ("transpose", {"N": 48, "B0": 8, "B1": 4, "s": 3}),
    ("reverse", {"n": 517, "B": 32, "s": 3}),
]


def value(expression: str, scalars: Mapping[str, int]) -> int:
    """Return the value of an extent as the description has it: ``s*B0*ub1 + B0^2``."""
    return int(eval(expression.replace("/", "//").replace("^", "**"), {}, dict(scalars)))


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [pytest.param(*case, marks=() if case[0] in {"transpose"} else pytest.mark.slow) for case in SIZES],
    ids=[name for name, _ in SIZES],
)
def test_every_leaf_gives_the_bits_of_the_cpu(
    spec: str, sizes: dict[str, int], tmp_path: Path, nvcc: Tool
) -> None:
    compiler = find_cxx_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler on the PATH")
    compilation = compiled(spec)
    for name, text in texts(spec).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    source = tmp_path / f"{spec}.cu"
    described = json.loads((tmp_path / f"{spec}.json").read_text(encoding="utf-8"))
    (function,) = described["functions"]
    arrays = {a["name"]: drawn(a, sizes) for a in function["arguments"] if a["pointer"]}

    library = build(
        source,
        tmp_path / "cpu",
        [interface(f) for f in compilation.plan.functions],
        sanitize=False,
        compiler=compiler,
    )
    wanted = {name: array.copy() for name, array in arrays.items()}
    programs = {name: sizes[name] for name in function["parameters"]}
    data = {name: size for name, size in sizes.items() if name not in programs}
    assert library.call(function["name"], {**data, **wanted}, programs).status == 0

    # Without contraction, as on the CPU.
    ptx = compile_ptx(nvcc, source, "sm_90", ["-fmad=false"]).output.decode()
    module = parse(SourceFile(f"{spec}.ptx", ptx))
    leaves = [leaf for region in function["regions"] for leaf in region["leaves"]]
    (region,) = function["regions"]
    scalars = dict(sizes)
    for scalar in region["scalars"]:
        if scalar["role"] == "host":
            scalars[scalar["name"]] = value(scalar["value"], scalars)
    for leaf in leaves:
        found = {name: array.copy() for name, array in arrays.items()}
        launch(module, leaf["kernel"], region, scalars, found)
        for name, array in found.items():
            assert array.tobytes() == wanted[name].tobytes(), (leaf["kernel"]["name"], name)
    changed = [name for name, array in arrays.items() if array.tobytes() != wanted[name].tobytes()]
    assert leaves
    assert changed


def drawn(argument: dict[str, Any], sizes: Mapping[str, int]) -> np.ndarray:
    # A pointer says no extent: these have one dimension, of the largest size.
    extents = [
        str(max(sizes.values())) if extent is None else extent for extent in argument["dims"] or [None]
    ]
    generator = np.random.default_rng(len(argument["name"]))
    numbers = 1000 * generator.random([value(extent, sizes) for extent in extents])
    return numbers.astype(DTYPES[argument["type"]])


def launch(
    module: Any,
    kernel: dict[str, Any],
    region: dict[str, Any],
    scalars: Mapping[str, int],
    arrays: dict[str, Any],
) -> None:
    """Launch with the grid and the block of the description; the last extent is that along x."""
    dims = {array["name"]: array["dims"] for array in region["arrays"]}
    arguments: list[Any] = []
    for parameter in kernel["parameters"]:
        match parameter["source"]:
            case "array":
                arguments.append(arrays[parameter["of"]])
            case "scalar":
                arguments.append(scalars[parameter["of"]])
            case "stride":
                inner = dims[parameter["of"]][parameter["dimension"] + 1 :]
                arguments.append(int(np.prod([value(extent, scalars) for extent in inner])))
            case "extent":
                (extent,) = (axis["extent"] for axis in kernel["grid"] if axis["iterator"] == parameter["of"])
                arguments.append(value(extent, scalars))
            case other:
                raise AssertionError(other)
    grid = [value(axis["extent"], scalars) for axis in reversed(kernel["grid"])]
    block = [value(extent, scalars) for extent in reversed(kernel["block"])]
    shared_bytes = 4 * value(kernel["shared_words"], scalars)
    run(module, kernel["name"], grid, block, arguments, shared_bytes=shared_bytes)
