"""A product of doubles as nvcc compiles it: the PTX interpreter gives the bits of a chain of multiply-adds in order.

Contracted or not, as the compiler is told: the kernel finds out by itself, and leaves tensor cores alone where it is
not.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.codegen.cuda import program_unit
from comprehensive.diagnostics import SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.kernel_ir.kernel import Source
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.interpreter.floats import arithmetic
from comprehensive.ptx.interpreter.values import callable_of
from comprehensive.ptx.module import parse
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.examples import quick_of

pytestmark = pytest.mark.toolchain

SOURCE = Path(__file__).resolve().parents[1] / "golden" / "programs" / "tensor_cores.mf"
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
    compilation = compile_file(SOURCE, Options(registers="estimate"))
    (function,) = compilation.plan.functions
    (region,) = function.regions
    tile = next(t for t in region.tilings if t.kernel.tensor_core_type)
    tile = replace(tile, kernel=replace(tile.kernel, together=(1,)), instances=tile.instances[-1:])
    alone = replace(function, regions=(replace(region, leaves=(), tilings=(tile,)),))
    unit = tmp_path / "unit.cu"
    unit.write_text(program_unit(replace(compilation.plan, functions=(alone,))), encoding="utf-8")
    ptx = compile_ptx(nvcc, unit, arch, [flag]).output.decode()
    module = parse(SourceFile("unit.ptx", ptx))

    random = np.random.default_rng(1)
    data = {"a": random.standard_normal((M, K)), "b": random.standard_normal((K, N)), "c": np.zeros((M, N))}
    data["a"][3, 5], data["b"][7, 9], data["b"][20, 30] = np.inf, -np.inf, np.nan
    steps = {"a": K, "b": N, "c": N}
    limits = dict(zip((name for name, _ in tile.kernel.limits), (M, N, K), strict=True))
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
    blocks = -(-M // (t0 * u0)) * -(-N // (t1 * u1))
    entry = next(line for line in ptx.splitlines() if ".entry" in line).split(".entry")[1].strip(" (")
    run(module, entry, blocks, (t1, t0, 1), arguments, shared_bytes=shared)

    wanted = np.zeros((M, N))
    with np.errstate(invalid="ignore"):
        for k in range(K):
            x, y = np.broadcast_arrays(data["a"][:, k : k + 1], data["b"][k])
            wanted = FUSED(x.copy(), y.copy(), wanted) if flag == "-fmad=true" else wanted + x * y
    same = (data["c"].view(np.int64) == wanted.view(np.int64)) | (np.isnan(data["c"]) & np.isnan(wanted))
    assert same.all()
    assert 0 < np.isnan(wanted).sum() < M * N / 2
