"""Whole files: every kernel computes what the C file computes, which compiles with OpenMP and without."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.toolchain.host import find_c_compiler
from comprehensive.verification import verify
from tests.unit.pragmas.sources import in_function

PROGRAMS = {
    "saxpy": """void saxpy(int n, float a, const float *x, float *restrict y)
{
#pragma omp target teams distribute parallel for simd map(to: x[0:n]) map(tofrom: y[0:n])
  for (int i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}
""",
    "heat": """void heat(int n, int steps, float u[n][n], float v[n][n])
{
  int i, j;
#pragma omp parallel default(none) shared(u, v, n, steps) private(i, j)
  for (int t = 0; t < steps; t++) {
#pragma omp for collapse(2) schedule(static)
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        v[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma omp for
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
}
""",
    "dot": """void dot(int n, const double *x, const double *y, double *result)
{
  double sum = 1.5;
#pragma omp parallel for reduction(+: sum)
  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  result[0] = sum;
}
""",
    "moments": """static inline double moments(int n, const double *x, double *mean)
{
  double sum = 0, squares = 0;
#pragma omp parallel for reduction(+: sum, squares)
  for (int i = 0; i < n; i++) { sum += x[i]; squares += x[i] * x[i]; }
  *mean = sum / n;
  return squares / n - sum / n * (sum / n);
}
""",
    "flags": """_Bool flags(int n, const int *x, int *y, int *out)
{
  _Bool changed = 0;
  int negative = 7, all = 1;
#pragma omp parallel for reduction(||: changed) reduction(max: negative) reduction(&&: all)
  for (int i = 0; i < n; i++) {
    int v = x[i] > 3 ? x[i] : 3;
    if (v != y[i]) { y[i] = v; changed = 1; }
    if (x[i] < 0) negative = 9;
    if (x[i] > 100) all = 0;
  }
  out[0] = negative;
  out[1] = all;
  return changed;
}
""",
    "metropolis": """static unsigned next(unsigned *s) { *s = *s * 1664525u + 1013904223u; return *s; }
static float uniform(unsigned *s) { return (next(s) >> 8) * (1.0f / 16777216.0f); }
void metropolis(int n, int sweeps, const int *spin, int *out, unsigned *seed)
{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    unsigned state = seed[i];
    int s = spin[i];
    for (int t = 0; t < sweeps; t++) {
      if (s < 0 || uniform(&state) < 0.3f) s = -s;
      while (uniform(&state) > 0.7f) s += (int)(next(&state) & 1u);
      s = t & 1 ? s + (next(&state) >> 31) : s - (next(&seed[i]) >> 31);
    }
    out[i] = s;
  }
}
""",
    "hidden": """void hidden(int n, int m, const float in[n], const float (*w)[m], float out[m])
{
  int j, k;
  float sum = 0.0f;
#pragma omp parallel for private(k) reduction(+: sum)
  for (j = 0; j < m; j++) {
    sum = 0.0f;
    for (k = 0; k < n; k++)
      sum += w[k][j] * in[k];
    out[j] = sum;
  }
}
""",
    "residual": """void residual(int n, int m, const double u[n][m], double v[n][m], double *worst)
{
  double most = 0.0;
#pragma omp parallel for reduction(max: most)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
      double change = v[i][j] - u[i][j];
      most = change > most ? change : most;
    }
  *worst += most;
}
""",
    "histogram": """void histogram(int n, const int *x, int h[64], unsigned total[1])
{
#pragma omp parallel for reduction(+: total[0:1])
  for (int i = n - 1; i >= 0; i -= 2) {
#pragma omp atomic
    h[x[i] & 63] += 1;
    total[0] += 3;
  }
}
""",
    "triangle": """void triangle(int n, double a[n][n])
{
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[i][j] = 2 * a[i][j];
}
""",
    "rows": """void rows(int n, int m, const double *restrict A, double *restrict sums)
{
  int i, j;
  double sum;
#pragma acc parallel loop gang copyin(A[0:n*m]) copyout(sums[0:n])
  for (i = 0; i < n; i++) {
    sum = 0;
#pragma acc loop vector reduction(+:sum)
    for (j = 0; j < m; j++)
      sum += A[i * m + j];
    sums[i] = sum;
  }
}
""",
    "kernels": """void kernels(int n, int m, float a[restrict n][m], float *restrict b)
{
#pragma acc data copy(a[0:n][0:m], b[0:n*m])
#pragma acc kernels
  {
    for (int t = 1; t < n; t++)
      for (int i = 0; i < m; i++)
        a[t][i] += a[t - 1][i];
    for (int k = 0; k < n * m; k++)
      b[k] = 2 * b[k];
  }
}
""",
    "void functions": """static void deriv(const double *s, double *ds, double drive)
{
  ds[0] = s[0] - s[1] + drive;
  ds[1] = 0.08 * (s[0] - s[1]);
  if (drive < 0) return;
  ds[1] += s[0];
}
static void axpy(int n, double a, const double *x, double *y)
{
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
void euler(int cells, double dt, double *state, const double *drive)
{
#pragma omp parallel for
  for (int c = 0; c < cells; c++) {
    double y[2], k[2];
    for (int e = 0; e < 2; e++) y[e] = state[e * cells + c];
    deriv(y, k, drive[c]);
    axpy(2, dt, k, y);
    axpy(2, y[1], y, y);
    for (int e = 0; e < 2; e++) state[e * cells + c] = y[e];
  }
}
""",
    "scop": """void covariance(int m, int n, double float_n, double data[n][m], double cov[m][m], double mean[m])
{
  int i, j, k;
#pragma scop
  for (j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      data[i][j] -= mean[j];
  for (i = 0; i < m; i++)
    for (j = i; j < m; j++) {
      cov[i][j] = 0.0;
      for (k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[j][i] = cov[i][j];
    }
#pragma endscop
}
""",
}


def compiled(name: str, folder: Path) -> tuple[Path, Options]:
    path = folder / f"{name}.c"
    path.write_text(PROGRAMS[name], encoding="utf-8")
    return path, Options(registers="estimate", pragma="auto")


QUICK = ("histogram", "scop")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS]
)
def test_kernels_compute_what_the_file_computes(name: str, tmp_path: Path) -> None:
    report = verify(compile_file(*compiled(name, tmp_path)), points=2, run=True)
    assert report.holds
    assert report.runs
    assert sum(run.runs for run in report.runs) > 0


@pytest.mark.parametrize("option", [(), ("-fopenmp",)])
def test_the_files_compile_as_they_are(option: tuple[str, ...], tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "all.c"
    source.write_text("\n".join(PROGRAMS.values()), encoding="utf-8")
    quiet = ("-Wall", "-Werror", "-Wno-unknown-pragmas", "-c", str(source), "-o", str(tmp_path / "all.o"))
    answer = subprocess.run([*compiler.command, *option, *quiet], capture_output=True, text=True, check=False)
    if "fopenmp" in answer.stderr:
        pytest.skip("the C compiler has no OpenMP")
    assert answer.returncode == 0, answer.stderr


def test_launchers_have_no_directives(tmp_path: Path) -> None:
    written = outputs(compile_file(*compiled("heat", tmp_path)))
    assert "#pragma omp" not in written["heat.cu"]
    assert "heat_launch(int n, int steps, float *u, float *v, const heat_params *params" in written["heat.h"]
    assert "#pragma omp parallel default(none)" in written["heat.heat_1.leaf0.mf"]


def test_a_product_has_register_tiles_whichever_loop_has_the_directive(tmp_path: Path) -> None:
    path = tmp_path / "product.c"
    body = "#pragma omp parallel for\n  for (i = 0; i < n; i++)\n    for (int k = 0; k < n; k++)\n"
    body += "      for (int l = 0; l < n; l++) x[i][l] += y[i][k] * z[k][l];\n"
    path.write_text(in_function(body, "int n, float x[n][n], float y[n][n], float z[n][n]"), encoding="utf-8")
    (region,) = compile_file(path, Options(registers="estimate", pragma="omp")).plan.functions[0].regions
    assert region.tilings
