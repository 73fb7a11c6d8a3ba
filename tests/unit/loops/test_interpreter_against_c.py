"""The reference interpreter computes what gcc computes, bit for bit."""

from __future__ import annotations

import ctypes
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comprehensive.loops.interpreter import UndefinedBehaviour, dimensions, holds_preconditions, run
from comprehensive.loops.ir import Array, Loop, Nest, Role, Scalar, Threads
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.scalar_types import INTEGER_TYPES
from comprehensive.runtime.values import c_type
from tests.examples import examples
from tests.unit.loops.c_oracle import c_text, compile_c, needs_gcc, pointer
from tests.unit.loops.nests import nests_of, program_of, spec_text

TYPES = [type for type in ScalarType if type is not ScalarType.BFLOAT16]
"""Compilers of C have `half`, but not all of them `bfloat16`."""
PASSED = [type for type in TYPES if not type.is_storage]
NAMES = {f"x{n}": type for n, type in enumerate(PASSED)} | {f"y{n}": type for n, type in enumerate(PASSED)}
ARITHMETIC = ["+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]
LITERAL_TYPES = [type for type in INTEGER_TYPES if not type.is_narrow]
INTEGER = ["%", "<<", ">>", "&", "|", "^"]

LEAVES = (
    st.sampled_from(sorted(NAMES)).map(Name)
    | st.integers(0, 40).map(IntLiteral)
    | st.sampled_from(LITERAL_TYPES).map(lambda t: IntLiteral(3, t))
    | st.sampled_from(["0.5", "0.1", "3e4", "1.", ".75"]).map(lambda t: FloatLiteral(t, ScalarType.FLOAT))
    | st.sampled_from(["0.1", "1e-3", "16777217.0"]).map(lambda t: FloatLiteral(t, ScalarType.DOUBLE))
)
INTEGER_CASTS = st.sampled_from([t for t in TYPES if t.is_integer])


def _grow(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    as_int = st.builds(Cast, INTEGER_CASTS, children)
    return st.one_of(
        st.builds(Binary, st.sampled_from(ARITHMETIC), children, children),
        st.builds(Binary, st.sampled_from(ARITHMETIC), children, children),
        st.builds(Binary, st.sampled_from(INTEGER), as_int, as_int),
        st.builds(Unary, st.sampled_from(["-", "+", "!"]), children),
        st.builds(lambda e: Unary("~", e), as_int),
        st.builds(Conditional, children, children, children),
        st.builds(Cast, st.sampled_from(TYPES), children),
        # Only functions whose results IEEE 754 or the C standard fix.
        st.builds(
            lambda f, e: Call(f, (e,)),
            st.sampled_from(["sqrtf", "sqrt", "fabsf", "floorf", "ceil"]),
            children,
        ),
        st.builds(lambda f, a, b: Call(f, (a, b)), st.sampled_from(["fminf", "fmax"]), children, children),
        st.builds(lambda e: Call("abs", (Cast(ScalarType.INT, e),)), children),
    )


EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=8)
ASSIGNMENTS = st.tuples(
    st.sampled_from(TYPES), st.sampled_from(["=", "+=", "-=", "*=", "/="]), EXPRESSIONS, st.integers(0, 30)
)

EDGES = {
    type: [type.lowest, type.lowest + 1, 0, 1, 5, type.highest - 1, type.highest] for type in INTEGER_TYPES
}
VALUES = EDGES | {
    ScalarType.BOOL: [0, 1],
    ScalarType.INT: [*EDGES[ScalarType.INT], -7, -1, 33],
    ScalarType.LONG: [-(2**40), -3, 0, 2, 2**24 + 1, 2**53 + 1],
    ScalarType.UNSIGNED_LONG: [0, 3, 2**24 + 1, 2**53 + 1, 2**63 + 2**39 + 1, 2**64 - 1],
    ScalarType.FLOAT: [-1.5, -0.0, 0.0, 0.1, 3.0, 1e30],
    ScalarType.DOUBLE: [-2.5, 0.0, 0.1, 7.0, 1e300],
}


def _nest(type: ScalarType, operator: str, value: Expr) -> Nest:
    scalars = tuple(Scalar(name, t, Role.SCALAR) for name, t in NAMES.items())
    body = (Assign(Index("out", (Name("u"),)), operator, value),)
    one = IntLiteral(1)
    band = Threads((Loop("u", one),), body)
    return Nest("test", scalars, (Array("out", type, (one,)),), (), (Loop("v", one),), (band,))


def _same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    if left.dtype.kind == "f" and np.isnan(left).all():
        return bool(np.isnan(right).all())
    return left.tobytes() == right.tobytes()


@needs_gcc
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ASSIGNMENTS, min_size=20, max_size=40), st.randoms(use_true_random=False))
def test_expressions_and_assignments_mean_what_they_mean_in_c(cases, random) -> None:
    parameters = ", ".join(f"{type.value} {name}" for name, type in NAMES.items())
    functions = [
        f"void f{n}({parameters}, {type.value} *out) {{ out[0] {operator} {c_text(value)}; }}"
        for n, (type, operator, value, _) in enumerate(cases)
    ]
    arguments = {name: random.choice(VALUES[type]) for name, type in NAMES.items()}
    defined = 0
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c("\n".join(("#include <stdbool.h>", *functions)), Path(folder))
        for n, (type, operator, value, initial) in enumerate(cases):
            out = np.array([initial], dtype=type.numpy_name)
            try:
                ours = run(_nest(type, operator, value), arguments, {"out": out})["out"]
            except UndefinedBehaviour:
                continue
            defined += 1
            converted = [c_type(t)(arguments[name]) for name, t in NAMES.items()]
            getattr(library, f"f{n}")(*converted, pointer(out))
            assert _same_bits(ours, out), (functions[n], arguments, ours, out)
    assert defined > 0


SERIAL_C = "#define meta_schedule\n#define cache(...)\n#define meta_for for\n"

STATEMENTS = """
void f(int n, int B, unsigned w, const float *x, float *y, int *out) { meta_schedule {
  meta_for (int v = 0; v < n; v++) meta_for (int u = 0; u < B; u++) {
    int p = v*B + u, steps = 0;
    float best, local[3][2];
    unsigned char c = p * 77;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 2; j++) local[i][j] = x[(p + i*j) % (n*B)] / (i + 1);
    best = local[0][1];
    for (int i = 2; i >= 0; i -= 2) best = fmaxf(best, local[i][i / 2] * local[1][1] - 0.1f);
    while (steps < 10) { steps++; if (steps % 3 == u % 3) continue; if (steps * steps > w) break; c += steps; }
    do { c <<= 1; steps--; if (steps == 4) continue; c ^= 5; } while (steps > 0 && c != 0);
    int q;
    for (q = p; q != 0; q -= 1) out[p] += q & 1 ? c : -q;
    for (long r = 3 * p + 20; r > 0; r -= w + 1) out[p] += r;
    y[p] = best + 0.3 * (double)steps - (w >> 3);
    y[p] *= sqrtf(fabsf(x[p])) + q;
  } } }
"""


@needs_gcc
def test_statements_mean_what_they_mean_in_c(tmp_path: Path) -> None:
    (nest,) = nests_of(STATEMENTS)
    library = compile_c(SERIAL_C + STATEMENTS, tmp_path)
    rng = np.random.default_rng(5)
    for n, B, w in [(1, 1, 0), (3, 5, 40), (2, 7, 99)]:
        data = {
            "x": rng.standard_normal(n * B).astype("float32"),
            "y": np.zeros(n * B, "float32"),
            "out": np.zeros(n * B, "int32"),
        }
        ours = run(nest, {"n": n, "B": B, "w": w}, data)
        library.f(n, B, ctypes.c_uint(w), *(pointer(data[name]) for name in ("x", "y", "out")))
        for name, array in data.items():
            assert ours[name].tobytes() == array.tobytes(), name


# Host code around one region, its scalars (time loops aside), and sizes that the blocks do not divide.
SPECS = {
    "matmul": ({"n": 7, "B0": 2, "ub1": 3, "s": 1}, ("a", "b", "c")),
    "transpose": ({"N": 11, "B0": 2, "B1": 3, "s": 2}, ("a", "c")),
    "blur5x5": ({"h": 9, "w": 11, "B0": 2, "B1": 4}, ("in", "out")),
    "matvec": ({"m": 7, "n": 5, "B": 2}, ("a", "x", "y")),
    "reverse": ({"n": 23, "B": 3, "s": 2}, ("in", "out")),
    "matadd": ({"N": 10, "B0": 3, "B1": 2}, ("a", "b", "c")),
}


@needs_gcc
@pytest.mark.parametrize("name", sorted(SPECS))
def test_the_examples_mean_their_serial_elision(name: str, tmp_path: Path) -> None:
    arguments, arrays = SPECS[name]
    program = program_of(spec_text(name))
    (nest,) = nests_of(spec_text(name))
    library = compile_c(SERIAL_C + spec_text(name), tmp_path)
    rng = np.random.default_rng(7)
    size = max(arguments.values()) ** 2
    data: dict[str, np.ndarray] = {}
    for array in nest.arrays:
        words = math.prod(dimensions(nest, array.name, arguments)) if array.dims else size
        data[array.name] = rng.integers(0, 50, words).astype(array.type.numpy_name)
    assert set(data) == set(arrays)
    assert holds_preconditions(nest, arguments)
    ours = run(nest, arguments, data)
    backwards = run(nest, arguments, data, order="reversed")
    before = {name: array.copy() for name, array in data.items()}
    (function,) = program.functions
    called = [pointer(data[p.name]) if p.is_data else arguments[p.name] for p in function.parameters]
    getattr(library, name)(*called)
    assert any(before[array].tobytes() != data[array].tobytes() for array in data)
    for array in data:
        assert ours[array].tobytes() == data[array].tobytes()
        assert backwards[array].tobytes() == data[array].tobytes()
