"""Kernels touch nothing outside of arrays that are exactly as large as the serial program needs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.soundness.emulated import Executables, LeafRuns, build, run_leaves
from comprehensive.soundness.state import State
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.examples import quick_of

CONDITIONAL = {
    "not affine": """void f(int n, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++) {
    if (i % 3 != 1) if (i >= 1) y[i] = x[i - 2] + x[i]; } } }""",
    "data": """void f(int n, const unsigned char *m, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++) if (m[i]) y[i] = x[i] + x[i + 1]; } }""",
    "beside what is sure": """void f(int n, const int *m, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 1; i < n; i++) {
    y[i] = x[i] + x[i - 1]; if (m[i] > 0) y[i] += x[i + 1]; } } }""",
    "conditional operator": """void f(int n, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++)
    y[i] = i % 2 == 1 && i > 1 ? x[i - 3] : x[n - 1 - i]; } }""",
    "after a continue": """void f(int n, const int *m, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++) { float s = 0;
    for (int k = 0; k < 3; k++) { if (m[i] != k) continue; s += x[i + k]; } y[i] = s; } } }""",
    "loop that may be empty": """void f(int n, const int *m, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++) { float s = 0;
    for (int k = 0; k < m[i]; k++) s += x[i + 1]; y[i] = s; } } }""",
    "step": """void f(int n, int q, const float *x, float *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++) { float s = 0;
    for (int k = i; k < q; k += 3) if (k % 2 == 0) s += x[i + 1]; y[i] = s; } } }""",
    "written": """void f(int n, const int *m, float *y, int B) {
  meta_schedule block(B) cache(y) { meta_for (int i = 0; i < n; i++) if (m[i] > 0) y[i + 1] = 1.0f; } }""",
    "value that does not count": """void f(int n, const int *x, int *y, int B) {
  meta_schedule block(B) cache(x) { meta_for (int i = 0; i < n; i++)
    y[i] = x[i] + x[i + 1] + (x[i + 3] - x[i + 3]); } }""",
    "declared": """void f(int n, const int *m, const float x[n], float y[n], int B) {
  meta_schedule block(B) cache(x, y) { meta_for (int i = 0; i < n; i++) {
    float s = x[i]; if (m[i] == 0 && i % 5 == 3) s += x[i + 1] + x[i - 2];
    if (i % 2 == 1) y[i - 1] = s; } } }""",
}
COPY = """void f(int n, const float *x, float *y, int B) {
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = x[i]; } }"""
BY_HOST = """void by_loop(int T, int n, const double *s, double *y, int B) {
  for (int t = 0; t < T; t++)
    meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = y[i] * 0.5 + s[3 * t]; } }
void by_data(const int *p, float *o, int B) {
  int m = p[0];
  meta_schedule block(B) { meta_for (int i = 0; i < m; i++) o[i] = 1.0f; } }
void lost(const int *p, float *o, int B) {
  int m = p[2000000000 + p[0]];
  meta_schedule block(B) { meta_for (int i = 0; i < m; i++) o[i] = 1.0f; } }"""


def compiled(directory: Path, text: str) -> Compilation:
    source = directory / "f.mf"
    source.write_text(text, encoding="utf-8")
    return compile_file(source, Options(registers="estimate"))


def executables(compilation: Compilation, texts: Mapping[str, str], work: Path) -> Executables:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    return build(compilation, texts, work, c=c, cxx=cxx)


def runs_of(directory: Path, text: str, change: Callable[[str], str] = str) -> tuple[LeafRuns, ...]:
    """Run the emitted code with a change."""
    compilation = compiled(directory, text)
    texts = dict(outputs(compilation))
    texts["f.cu"] = change(texts["f.cu"])
    return run_leaves(compilation, executables(compilation, texts, directory / "work"), 12)


@pytest.mark.parametrize("name", quick_of(CONDITIONAL, {"data", "written"}))
def test_what_is_only_read_under_a_condition_is_not_copied_from_beyond_the_array(
    name: str, tmp_path: Path
) -> None:
    for leaf in runs_of(tmp_path, CONDITIONAL[name]):
        assert (leaf.state, leaf.failures) == (State.HOLDS, ())


@pytest.mark.parametrize(
    ("touched", "words"),
    [
        ("x[{} + 1]", r"reads element (\d+) of 'x', which has \1 at"),
        pytest.param("x[{} - 1]", r"reads element -1 of 'x', which has \d+ at", marks=pytest.mark.slow),
        pytest.param("y[{} + 1]", r"reads element (\d+) of 'y', which has \1 at", marks=pytest.mark.slow),
    ],
)
def test_kernel_that_touches_an_element_too_many_fails_with_the_element(
    tmp_path: Path, touched: str, words: str
) -> None:
    def doctored(text: str) -> str:
        found = re.search(r"^ *y\[(.*)\] = x\[\1\];$", text, re.MULTILINE)
        assert found is not None
        at = touched.format(f"({found[1]})")
        return text.replace(found[0], f"(void)*(volatile const float *)&{at}, {found[0]}", 1)

    first, *others = runs_of(tmp_path, COPY, doctored)
    assert first.state is State.FAILS
    assert all(re.search(words, failure) for failure in first.failures)
    assert all(run.state is State.HOLDS for run in others)


def test_sizes_that_host_code_decides_are_found_and_a_lost_program_is_not_checked(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, BY_HOST)
    built = executables(compilation, outputs(compilation), tmp_path / "work")
    once, again = (run_leaves(compilation, built, 6) for _ in range(2))
    assert once == again
    for run in once:
        if run.region == "lost":
            assert run.state is State.NOT_CHECKED
            assert "the serial program does not come to its end: SIGSEGV" in run.reason
        else:
            assert (run.state, run.failures) == (State.HOLDS, ())
