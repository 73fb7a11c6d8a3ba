"""Samples meet what the launcher asks for, and go to its borders."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.soundness.emulated import build, run_leaves
from comprehensive.soundness.sampling import NotSampledError, Sample, all_scalars, comes_to, samples
from comprehensive.soundness.signs import any_sign
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.verification import verify
from comprehensive.verification_report import to_text

SHIFTED = """void f(int n, int size, int rows, int m, unsigned w, const float *x, float y[n], int B)
{
  ASSERT
  int dim = (size + B - 1) / B;
  for (int r = 0; r < rows; r++)
    meta_schedule {
      meta_for (int i = 0; i < dim; i++)
        meta_for (int u = 0; u < B; u++) {
          int p = i*B + u;
          if (p < n && p + m >= 0) y[p] = x[p + m] + w;
        }
    }
}
"""


def compiled(directory: Path, text: str) -> Compilation:
    source = directory / "f.mf"
    source.write_text(text, encoding="utf-8")
    return compile_file(source, Options(registers="estimate"))


def drawn(compilation: Compilation, count: int = 40) -> list[Sample]:
    (plan,) = compilation.plan.functions
    nests = tuple(region.nest for region in plan.regions)
    return list(islice(samples(plan.function, nests, 1, None, any_sign(plan)), count))


def test_what_is_no_size_is_drawn_negative_too_and_the_same_every_time(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, SHIFTED.replace("ASSERT", ""))
    assert any_sign(compilation.plan.functions[0]) == {"m"}
    found = drawn(compilation)
    assert found == drawn(compilation)
    assert {sample.arguments["m"] < 0 for sample in found[:8]} == {True, False}
    assert all(value >= 0 for s in found for name, value in s.arguments.items() if name != "m")


def test_asserts_hold_for_negative_values_too(tmp_path: Path) -> None:
    found = drawn(compiled(tmp_path, SHIFTED.replace("ASSERT", "assert(m >= -2);")))
    assert {s.arguments["m"] for s in found if s.arguments["m"] < 0} == {-1, -2}


def test_asserts_that_nothing_meets_are_said(tmp_path: Path) -> None:
    with pytest.raises(NotSampledError, match="asserts"):
        drawn(compiled(tmp_path, SHIFTED.replace("ASSERT", "assert(m > 1000);")))


WRAPPED = """void f(unsigned n, const double *x, double *y, int B)
{
  ASSERT
  meta_schedule block(B) { meta_for (int i = 0; i < 4; i++) y[i] = x[n - 1u]; }
}
"""


def test_a_point_whose_arrays_no_machine_holds_is_passed_over(tmp_path: Path) -> None:
    found = drawn(compiled(tmp_path, WRAPPED.replace("ASSERT", "")))  # 32 GiB behind x where n is 0
    assert {s.shapes["x"] for s in found} == {(s.arguments["n"],) for s in found}
    assert min(s.arguments["n"] for s in found) == 1


def test_a_program_whose_arrays_are_all_too_large_is_not_sampled_and_the_reason_is_said(
    tmp_path: Path,
) -> None:
    with pytest.raises(NotSampledError, match="asserts do not hold, 'x' has more than 64 MiB"):
        drawn(compiled(tmp_path, WRAPPED.replace("ASSERT", "assert(n < 1);")))


def test_a_negative_value_that_leaves_an_array_is_not_drawn(tmp_path: Path) -> None:
    text = SHIFTED.replace("ASSERT", "").replace("p + m >= 0", "p + m < 7")
    found = drawn(compiled(tmp_path, text))
    assert all(s.arguments["m"] >= 0 or s.arguments["size"] == 0 or s.arguments["n"] == 0 for s in found)


def test_leaves_run_at_negative_values_and_a_wrong_one_is_found(tmp_path: Path) -> None:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    from comprehensive.generate import outputs

    compilation = compiled(tmp_path, SHIFTED.replace("ASSERT", ""))
    texts = dict(outputs(compilation))
    right = build(compilation, texts, tmp_path / "right", c=c, cxx=cxx)
    assert not any(leaf.failures for leaf in run_leaves(compilation, right, 12))
    texts["f.cu"] = texts["f.cu"].replace("p + m >= 0", "m >= 0")
    assert texts["f.cu"] != outputs(compilation)["f.cu"]
    wrong = build(compilation, texts, tmp_path / "wrong", c=c, cxx=cxx)
    found = run_leaves(compilation, wrong, 12)
    failures = [failure for leaf in found for failure in leaf.failures]
    assert failures
    assert all("m = -" in failure for failure in failures)


WAVEFRONT = """void f(int n, float h[n + 1][n + 1], int B)
{
  for (int d = 2; d <= 2 * n; d++) {
    int lo = d > n ? d - n : 1;
    int hi = d - 1 < n ? d - 1 : n;
    meta_schedule block(B) {
      meta_for (int i = lo; i <= hi; i++)
        h[i][d - i] = h[i - 1][d - i] + h[i][d - i - 1];
    }
  }
}
"""


def test_a_loop_of_host_code_is_in_one_of_its_turns(tmp_path: Path) -> None:
    (plan,) = compiled(tmp_path, WAVEFRONT).plan.functions
    (region,) = plan.regions
    turns = [all_scalars(region.nest, {"n": 3, "B": 2}, step) for step in range(5)]
    assert [(t["d"], t["lo"], t["hi"]) for t in turns] == [
        (2, 1, 1),
        (3, 1, 2),
        (4, 1, 3),
        (6, 3, 3),
        (2, 1, 1),
    ]


def test_a_call_may_come_to_no_turn_of_a_loop_of_host_code(tmp_path: Path) -> None:
    (plan,) = compiled(tmp_path, WAVEFRONT).plan.functions
    (region,) = plan.regions
    assert [comes_to(region.nest, {"n": n, "B": 2}) for n in (0, 1, 2)] == [False, True, True]


def test_an_element_that_only_turns_of_the_loop_have_is_checked(tmp_path: Path) -> None:
    report = verify(compiled(tmp_path, WAVEFRONT), points=4, run=True)
    assert report.holds
    assert not report.unchecked, to_text(report)


FIXED = """#define N {size}
void f(int m, const float a[N][N], float c[N][N], int B)
{{
  {before}meta_schedule block(B, 4) {{
    meta_for (int i = 0; i < N; i++)
      meta_for (int j = 0; j < N; j++)
        {body}
  }}
}}
"""
SUM, LOOP = "c[i][j] += a[i][j];", "for (int k = 0; k < 2; k++) c[i][j] += a[i][k];"


@pytest.mark.parametrize(
    ("size", "before", "body", "limit"),
    [
        (100, "", SUM, None),
        (600, "", SUM, 2**18),
        (100, "", LOOP, 4096),
        (100, "for (int t = 0; t < m; t++) ", SUM, 4096),
    ],
)
def test_a_region_of_fixed_size_runs_where_its_points_are_simple(
    size: int, before: str, body: str, limit: int | None, tmp_path: Path
) -> None:
    (plan,) = compiled(tmp_path, FIXED.format(size=size, before=before, body=body)).plan.functions
    drawn = samples(plan.function, tuple(region.nest for region in plan.regions), 1)
    if limit is None:
        assert "B" in next(drawn).arguments
        return
    with pytest.raises(NotSampledError, match=rf"more than {limit} threads, and no parameter .*-D N=20"):
        next(drawn)


def test_the_macros_that_fix_the_size_of_a_region_are_named(tmp_path: Path) -> None:
    text = FIXED.replace("j < N", "j < NJ").replace("N", "NI").replace("NIJ", "NJ").replace("][NI]", "][NJ]")
    text = "#define NJ 190\n" + text.format(size=180, before="", body=LOOP)
    (plan,) = compiled(tmp_path, text).plan.functions
    with pytest.raises(NotSampledError, match=r"(?=.*-D NI=20)(?=.*-D NJ=20).* '#ifndef'"):
        next(samples(plan.function, tuple(region.nest for region in plan.regions), 1))
