"""Constant expressions of integers are numbers in the normal form, as macros leave them in loops and subscripts."""

from __future__ import annotations

from comprehensive.loops.normalize import normalize
from comprehensive.loops.verify import verify
from comprehensive.metafork.printer import print_stmts
from tests.unit.loops.nests import nest_of

PARAMETERS = "int m, int n, const float *x, float y[m][n]"


def text(body: str) -> str:
    nest = nest_of(
        f"meta_for (int v = 0; v < m; v++) meta_for (int u = 0; u < 1; u++) {{ {body} }}", PARAMETERS
    )
    found = normalize(nest)
    verify(found)
    assert normalize(found) == found
    return print_stmts(found.bands[0].body)


def test_a_loop_up_to_half_of_a_macro_has_a_constant_number_of_turns() -> None:
    found = text("for (int j = 0; j < 32 / 2; j++) y[v][j] = x[v * (32 / 2) + j + (2 * 3 + 1) % 4];")
    assert found == "for (int j = 0; j < 16; j++)\n  y[v][j] = x[v * 16 + j + 3];\n"


def test_constant_expressions_of_other_types_stay_in_them() -> None:
    found = text("y[v][0] = 1.0f / 3 + x[0] * (7 / 2) + (float)(5u - 6u) + (float)(1L << 2);")
    assert "1.0f / 3 " in found
    assert "x[0] * 3 " in found
    assert "(float)(5u - 6u)" in found
