"""The size of a buffer is exact: the interpreter gets through with it, and not with one element less."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from comprehensive.data import spec_directory
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.loops.interpreter import UndefinedBehaviour, run, scalar_values
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
from comprehensive.soundness.columns import NotEvaluableError
from comprehensive.soundness.reach import TooManyIterationsError, reach
from comprehensive.soundness.sampling import all_scalars
from tests.unit.loops.nests import body_of

PARAMETERS = "int n, int B, unsigned m, int k, int *a"
VALUES = {"n": 3, "B": 4, "m": 5, "k": -2}


def reached(nest: Nest, values: Mapping[str, int] = VALUES) -> int:
    return reach(nest, {k: int(v) for k, v in scalar_values(nest, values).items()})["a"]


@pytest.mark.parametrize(
    "statements",
    [
        "unsigned p = v*B + u; a[p] = 1;",
        "unsigned p = v*B + u; if (p - 1 < m) a[p] = 1;",
        "unsigned p = v*B + u - 1; if (p < m) a[p] = 1;",
        "int p = v*B + u + m - m; if (p - 1 < 5) a[p] = 1;",
        "unsigned char p = 254 + u; a[p] = 1;",
        "unsigned p = v*B + u; unsigned q = p - 3; if (q < m) a[q] = 1;",
        "long p = v*B + u; a[p / 2] = 1;",
        "if (v*B + u + k >= 0) a[v*B + u + k] = 1;",
        "for (unsigned w = 0; w < m; w++) a[v + w] = 1;",
        "for (unsigned w = 0; w < m; w++) if (w - 1 < 2) a[w] = 1;",
        "for (unsigned w = m; w > 1; w -= 2) a[w] = 1;",
        "unsigned d = 2; for (unsigned w = m; w > 1; w -= d) a[w] = 1;",
        "for (int w = m; w >= 1; w--) a[w] = 1;",
        "a[k < m ? 1 : 0] = 1;",
        "a[(k + m) % 7] = 1;",
        "int p = v*B + u - 2; if (p < 0) p = -p; a[p] = 1;",
        "int p = v - 1, q = u; if (p < 0) p = 0; if (p >= n) p = n - 1; else q = q + 1; a[p*B + q] = 1;",
        "int p = v; p = p > 1 ? 1 : p; { float t = 0; if (p) t = 1; } { int t = 0; if (p) t = 1; a[p] = t; }",
        "a[(-k) / 2 + ((~k) & 3) + (m >> 1)] = 1;",
    ],
)
def test_a_buffer_is_as_large_as_needed(statements: str) -> None:
    nest = body_of(statements, PARAMETERS)
    needed = reached(nest)
    assert needed > 0
    run(nest, VALUES, {"a": np.zeros(needed, dtype=np.int32)})
    with pytest.raises(UndefinedBehaviour):
        run(nest, VALUES, {"a": np.zeros(needed - 1, dtype=np.int32)})


def test_a_subscript_in_data_is_named_as_it_is_written() -> None:
    nest = body_of("int p = v*B + u; b[a[p]] = 1;", "int n, int B, int *a, int *b")
    with pytest.raises(NotEvaluableError, match=r"^a\[p\]$"):
        reach(nest, {"n": 3, "B": 4})


def test_a_bound_that_wraps_around_is_not_expanded() -> None:
    nest = body_of("for (unsigned w = 0; w < m - 6; w++) if (w < 2) a[w] = 1;", PARAMETERS)
    with pytest.raises(TooManyIterationsError):
        reached(nest)
    assert reached(nest, {**VALUES, "m": 7}) == 1


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("blur5x5", {"h": 12, "w": 17}), ("blur5x5", {"h": 40, "w": 9}), ("reverse", {"n": 77})],
)
def test_corners_of_loops_reach_at_least_as_far_and_at_blocks_of_one_no_farther(
    name: str, sizes: Mapping[str, int]
) -> None:
    path = spec_directory() / f"{name}.mf"
    (nest,) = build(parse(read_source(path), DiagnosticSink()), DiagnosticSink())
    for block in (1, 3, 8):
        program = {s.name: block for s in nest.with_role(Role.PROGRAM)}
        scalars = all_scalars(nest, {**sizes, **program})
        exact, most = reach(nest, scalars), reach(nest, scalars, corners=True)
        assert all(most[array] >= elements > 0 for array, elements in exact.items())
        if block == 1:
            assert most == exact


def test_corners_know_the_last_iteration_of_a_serial_loop_that_counts_by_steps_or_down() -> None:
    for loop in (
        "for (int t = 2; t < 20; t += 4)",
        "for (int t = 18; t > 0; t -= 4)",
        "for (int t = 5; t < 5; t++)",
    ):
        nest = body_of(f"{loop} a[v*B + u + t] = 1;", PARAMETERS)
        scalars = {k: int(v) for k, v in scalar_values(nest, VALUES).items()}
        assert reach(nest, scalars, corners=True) == reach(nest, scalars)
