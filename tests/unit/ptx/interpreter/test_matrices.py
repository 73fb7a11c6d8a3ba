"""Products of matrices of doubles by a warp, against loops over rows, columns and steps."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.interpreter.floats import arithmetic
from comprehensive.ptx.interpreter.values import callable_of
from tests.unit.ptx.interpreter.launches import launch

FUSED = callable_of(arithmetic("fma", "f64", "rn"))


@pytest.mark.parametrize(("rows", "steps"), [(8, 4), (16, 4), (16, 8), (16, 16)])
def test_sums_are_chains_of_fused_multiply_adds(rows: int, steps: int) -> None:
    random = np.random.default_rng(rows + steps)
    a, b, c = (random.standard_normal(shape) for shape in ((rows, steps), (steps, 8), (rows, 8)))
    halves, groups = rows // 8, steps // 4
    # What thread (g, q) has of each, in the order of the registers.
    threads = [(lane // 4, lane % 4) for lane in range(32)]
    of_a = [[a[g + 8 * h, q + 4 * e] for e in range(groups) for h in range(halves)] for g, q in threads]
    of_b = [[b[q + 4 * e, g] for e in range(groups)] for g, q in threads]
    of_c = [[c[g + 8 * h, 2 * q + e] for h in range(halves) for e in range(2)] for g, q in threads]
    given = [np.array(each).reshape(-1) for each in (of_c, of_a, of_b)]
    counts = (2 * halves, halves * groups, groups)
    loads, names, register = "", list[str](), 0
    for number, count in enumerate(counts):
        loads += f"    mad.lo.u64 %rd{1 + number}, %wide, {8 * count}, %rd{16 + number};\n"
        own = [f"%m{register + k}" for k in range(count)]
        loads += "".join(f"    ld.global.f64 {m}, [%rd{1 + number}+{8 * k}];\n" for k, m in enumerate(own))
        names.append("{" + ", ".join(own) + "}")
        register += count
    operation = f"mma.sync.aligned.m{rows}n8k{steps}.row.col.f64.f64.f64.f64"
    stores = "".join(f"    st.global.f64 [%rd1+{8 * k}], %m{k};\n" for k in range(counts[0]))
    body = f"{loads}    {operation} {names[0]}, {names[1]}, {names[2]}, {names[0]};\n{stores}"
    launch(body, given, registers=".reg .f64 %m<32>;")
    wanted = c
    for step in range(steps):
        wanted = FUSED(
            *(np.ascontiguousarray(np.broadcast_to(x, c.shape)) for x in (a[:, step : step + 1], b[step])),
            wanted,
        )
    found = given[0].reshape(32, -1)
    expected = [[wanted[g + 8 * h, 2 * q + e] for h in range(halves) for e in range(2)] for g, q in threads]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("operation", "block", "code"),
    [
        ("m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2}", 31, "CF1012"),
        (
            "m8n8k4.row.col.f16.f16.f16.f16 {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7, %r8}, {%r1, %r2, %r3, %r4}",
            32,
            "CF1011",
        ),
    ],
    ids=["a part of a warp", "other elements"],
)
def test_what_it_does_not_do_is_told(operation: str, block: int, code: str) -> None:
    with pytest.raises(CompileError, match=code):
        launch(f"    mma.sync.aligned.{operation};\n", [], block=block)
