"""Products on tensor cores as nvcc compiles them: the PTX interpreter gives the bits of multiply-adds in order.

Of doubles contracted or not, as the compiler is told: the kernel finds out by itself, and leaves tensor cores alone
where it is not.  Of elements of 16 bits numbers are such that every order gives the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.codegen.cuda import program_unit
from comprehensive.diagnostics import SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.kernel_ir.kernel import Source
from comprehensive.loops.bfloat16 import from_bits, to_bits
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.interpreter.floats import arithmetic
from comprehensive.ptx.interpreter.values import callable_of
from comprehensive.ptx.module import parse
from comprehensive.records import replace
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.examples import quick_of

pytestmark = pytest.mark.toolchain

PROGRAMS = Path(__file__).resolve().parents[1] / "golden" / "programs"
M, N, K = 65, 66, 37
FUSED = callable_of(arithmetic("fma", "f64", "rn"))


@pytest.mark.parametrize(
    ("arch", "flag"),
    quick_of(
        [("sm_90", "-fmad=true"), ("sm_90", "-fmad=false"), ("sm_80", "-fmad=true")],
        {("sm_90", "-fmad=true")},
    ),
)
def test_the_smallest_instance_gives_the_bits_of_the_loop(
    arch: str, flag: str, tmp_path: Path, nvcc: Tool
) -> None:
    random = np.random.default_rng(1)
    data = {"a": random.standard_normal((M, K)), "b": random.standard_normal((K, N)), "c": np.zeros((M, N))}
    data["a"][3, 5], data["b"][7, 9], data["b"][20, 30] = np.inf, -np.inf, np.nan
    ptx = launched("tensor_cores", data, 1, tmp_path, nvcc, arch, flag)
    assert "mma.sync" in ptx
    wanted = np.zeros((M, N))
    with np.errstate(invalid="ignore"):
        for k in range(K):
            x, y = np.broadcast_arrays(data["a"][:, k : k + 1], data["b"][k])
            wanted = FUSED(x.copy(), y.copy(), wanted) if flag == "-fmad=true" else wanted + x * y
    same = (data["c"].view(np.int64) == wanted.view(np.int64)) | (np.isnan(data["c"]) & np.isnan(wanted))
    assert same.all()
    assert 0 < np.isnan(wanted).sum() < M * N / 2


@pytest.mark.parametrize(
    ("together", "width"), [(4, 8), (2, 2), (1, 1)], ids=["vectors of 16 bytes", "pairs", "single elements"]
)
@pytest.mark.parametrize("type", ["half", "bfloat16"])
def test_halves_are_multiplied_and_added_up(
    together: int, width: int, type: str, tmp_path: Path, nvcc: Tool
) -> None:
    """Sums of products of small integers are exact in any order."""
    m, n, k = 65, 9 * width, 75 // width * width if width < 8 else 72
    random = np.random.default_rng(1)
    numbers = [random.integers(-8, 9, shape).astype(np.float32) for shape in ((m, k), (k, n))]
    a, b = (x.astype(np.float16) if type == "half" else to_bits(x) for x in numbers)
    data = {"a": a, "b": b, "c": np.zeros((m, n), a.dtype)}
    ptx = launched("mixed_precision", data, together, tmp_path, nvcc, "sm_90", "-fmad=true", type=type)
    assert ptx.count("ldmatrix") > 0 < ptx.count(f"f32.{'f16' if type == 'half' else 'bf16'}")
    wanted = (numbers[0] @ numbers[1]).astype(np.float32)
    found = data["c"].astype(np.float32) if type == "half" else from_bits(data["c"])
    rounded = wanted.astype(np.float16).astype(np.float32) if type == "half" else from_bits(to_bits(wanted))
    assert (found == rounded).all()


def launched(
    program: str,
    data: dict[str, Any],
    together: int,
    folder: Path,
    nvcc: Tool,
    arch: str,
    flag: str,
    *,
    type: str = "half",
) -> str:
    """Run the smallest instance of the tile on tensor cores, as nvcc compiles it, and return its PTX.

    ``data`` are two matrices and their product; results are written into it.
    """
    source = folder / f"{program}.mf"
    text = (PROGRAMS / f"{program}.mf").read_text(encoding="utf-8")
    source.write_text(text.replace("half", type), encoding="utf-8")
    compilation = compile_file(
        source, Options(registers="estimate", reassociate=program == "mixed_precision")
    )
    (function,) = compilation.plan.functions
    (region,) = function.regions
    tile = next(t for t in region.tilings if t.kernel.tensor_core_bytes)
    tile = replace(tile, kernel=replace(tile.kernel, together=(together,)), instances=tile.instances[-1:])
    alone = replace(function, regions=(replace(region, leaves=(), tilings=(tile,)),))
    unit = folder / "unit.cu"
    unit.write_text(program_unit(replace(compilation.plan, functions=(alone,))), encoding="utf-8")
    ptx = compile_ptx(nvcc, unit, arch, [flag]).output.decode()
    module = parse(SourceFile("unit.ptx", ptx))
    (m, k), n = data["a"].shape, data["b"].shape[1]
    steps = {"a": k, "b": n, "c": n}
    limits = dict(zip((name for name, _ in tile.kernel.limits), (m, n, k), strict=True))
    arguments: list[Any] = []
    for p in tile.kernel.parameters:
        match p.source:
            case Source.ARRAY:
                arguments.append(data[p.of])
            case Source.STRIDE:
                arguments.append(steps[p.of])
            case _:
                arguments.append(limits[p.of])
    sizes = tile.sizes(tile.instances[0])
    t0, t1, u0, u1 = (sizes[name] for name in ("T0", "T1", "U0", "U1"))
    shared = 4 * int(tile.kernel.shared_words.evaluate(sizes))
    blocks = -(-m // (t0 * u0)) * -(-n // (t1 * u1))
    entry = next(line for line in ptx.splitlines() if ".entry" in line).split(".entry")[1].strip(" (")
    run(module, entry, blocks, (t1, t0, 1), arguments, shared_bytes=shared)
    return ptx
