"""The size of a buffer is exact: the interpreter gets through with it, and not with one element less."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from comprehensive.loops.interpreter import UndefinedBehaviour, run, scalar_values
from comprehensive.loops.ir import Nest
from comprehensive.soundness.columns import NotEvaluableError
from comprehensive.soundness.reach import TooManyIterationsError, reach
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
    with pytest.raises(NotEvaluableError, match=r"^a\[v \* B \+ u\]$"):
        reach(nest, {"n": 3, "B": 4})


def test_a_bound_that_wraps_around_is_not_expanded() -> None:
    nest = body_of("for (unsigned w = 0; w < m - 6; w++) if (w < 2) a[w] = 1;", PARAMETERS)
    with pytest.raises(TooManyIterationsError):
        reached(nest)
    assert reached(nest, {**VALUES, "m": 7}) == 1
