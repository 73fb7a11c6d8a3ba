"""An element that a loop without steps does not touch need not be there: kernels over tiles leave it alone, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.driver import Options, compile_file
from comprehensive.verification import verify

PROGRAM = """void f(int n, int m, const float b[n], float *y, int B0) {{
  meta_schedule block(B0) {{ meta_for (int i = 0; i < m; i++) {{ for (int k = 0; k < n; k++) {{ {body} }} }} }}
}}
"""


@pytest.mark.parametrize(
    ("body", "reassociate"),
    [
        pytest.param("y[i] = b[k];", False, marks=pytest.mark.slow),
        ("y[i] += b[k] * 0.5f;", True),
        pytest.param("y[i] = fmaxf(y[i], b[k]);", True, marks=pytest.mark.slow),
    ],
    ids=["the last one", "a sum", "the greatest"],
)
def test_no_element_is_touched_where_the_loop_has_no_steps(
    body: str, reassociate: bool, tmp_path: Path
) -> None:
    path = tmp_path / "f.mf"
    path.write_text(PROGRAM.format(body=body))
    compilation = compile_file(path, Options(registers="estimate", reassociate=reassociate))
    assert compilation.plan.functions[0].regions[0].single
    # Of 30 points a few have n = 0, where `y` has no element behind its pointer.
    report = verify(compilation, points=30, run=True)
    assert report.holds, report.runs
