"""Files in the style of public suites, PolyBench, Rodinia and NPB: each is read, or told how to write it."""

from __future__ import annotations

import pytest

from comprehensive.pragmas.read import Models
from tests.unit.pragmas.sources import read

PROGRAMS: dict[str, tuple[Models, tuple[str, ...], int, str]] = {
    "jacobi": (
        "acc",
        (),
        3,
        r"""#include <math.h>
#define NX 512
#define NY 512
void jacobi(double A[NX][NY], double Anew[NX][NY], int iters, double *err)
{
  int i, j, it;
  double error;
#pragma acc data copy(A) create(Anew)
  for (it = 0; it < iters; it++) {
    error = 0.0;
#pragma acc parallel loop reduction(max:error) present(A, Anew)
    for (i = 1; i < NX - 1; i++) {
#pragma acc loop reduction(max:error)
      for (j = 1; j < NY - 1; j++) {
        Anew[i][j] = 0.25 * (A[i][j+1] + A[i][j-1] + A[i-1][j] + A[i+1][j]);
        error = fmax(error, fabs(Anew[i][j] - A[i][j]));
      }
    }
    err[it] = error;
#pragma acc parallel loop gang vector collapse(2) independent
    for (i = 1; i < NX - 1; i++)
      for (j = 1; j < NY - 1; j++)
        A[i][j] = Anew[i][j];
  }
}
""",
    ),
    "cg": (
        "omp",
        (),
        5,
        r"""void conj(int naa, const int *rowstr, const int *colidx, const double *a, double *p, double *q,
          double *r, double *z, double *out)
{
  int j, k;
  double d, sum, rho, rho0 = 1.0, alpha;
  d = 0.0;
#pragma omp parallel for private(sum, k)
  for (j = 0; j < naa; j++) {
    sum = 0.0;
    for (k = rowstr[j]; k < rowstr[j+1]; k++)
      sum = sum + a[k] * p[colidx[k]];
    q[j] = sum;
  }
#pragma omp parallel for reduction(+:d)
  for (j = 0; j < naa; j++)
    d = d + p[j] * q[j];
  out[0] = d;
  rho = 0.0;
#pragma omp parallel for reduction(+:rho)
  for (j = 0; j < naa; j++) {
    z[j] = z[j] + 0.5 * p[j];
    r[j] = r[j] - 0.5 * q[j];
    rho += r[j] * r[j];
  }
  out[1] = rho;
}
""",
    ),
    "corr": (
        "omp",
        (),
        5,
        r"""#include <math.h>
void correlation(int m, int n, double data[n][m], double mean[m], double stddev[m], double symmat[m][m])
{
  int i, j, j1, j2;
#pragma omp parallel for private(i)
  for (j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (i = 0; i < n; i++) mean[j] += data[i][j];
    mean[j] /= (double)n;
  }
#pragma omp parallel for private(i)
  for (j = 0; j < m; j++) {
    stddev[j] = 0.0;
    for (i = 0; i < n; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] = sqrt(stddev[j] / n);
    stddev[j] = stddev[j] <= 0.1 ? 1.0 : stddev[j];
  }
#pragma omp parallel for private(j) collapse(2)
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt((double)n) * stddev[j];
    }
#pragma omp parallel for private(j2, i) schedule(dynamic)
  for (j1 = 0; j1 < m - 1; j1++) {
    symmat[j1][j1] = 1.0;
    for (j2 = j1 + 1; j2 < m; j2++) {
      symmat[j1][j2] = 0.0;
      for (i = 0; i < n; i++) symmat[j1][j2] += data[i][j1] * data[i][j2];
      symmat[j2][j1] = symmat[j1][j2];
    }
  }
}
""",
    ),
    "mc": (
        "omp",
        (),
        2,
        r"""void pi(long n, double *result)
{
  double sum = 0.0, x, step = 1.0 / (double)n;
  long i;
#pragma omp parallel for simd reduction(+:sum) private(x) num_threads(8)
  for (i = 0; i < n; i++) {
    x = (i + 0.5) * step;
    sum += 4.0 / (1.0 + x * x);
  }
  *result = step * sum;
}
""",
    ),
    "stats": (
        "omp",
        ("CF1116", "CF0215"),
        0,
        r"""void stats(int n, const float *restrict x, float *restrict out)
{
  float lo = x[0], hi = x[0];
  int count = 0;
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: count) reduction(min:lo) \
    reduction(max:hi) reduction(+:count)
  for (int i = 1; i < n; i++) {
    if (x[i] < lo) lo = x[i];
    else if (x[i] > hi) hi = x[i];
    if (x[i] > 0) count++;
  }
  out[0] = lo; out[1] = hi; out[2] = count;
}
""",
    ),
    "returns": (
        "omp",
        (),
        2,
        r"""double dot(int n, const double *x, const double *y)
{
  double s = 0.0;
#pragma omp parallel for reduction(+:s)
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
  return s;
}
""",
    ),
    "returns_early": (
        "omp",
        ("CF0330", "CF0330", "CF1109"),
        1,
        r"""double dot(int n, const double *x, const double *y)
{
  double s = 0.0;
  if (n < 1) return -1.0;
#pragma omp parallel for reduction(+:s)
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
  return s;
}
""",
    ),
    "lastprivate": (
        "omp",
        ("CF1102",),
        0,
        r"""void f(int n, float *a)
{
  float t;
#pragma omp parallel for lastprivate(t)
  for (int i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }
}
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_is_read_or_told_how_to_write_it(name: str) -> None:
    models, expected, regions, text = PROGRAMS[name]
    program, said = read(text, models)
    assert [d.code for d in said] == list(expected)
    assert all(d.help for d in said)
    if not any(d.severity.value == "error" for d in said):
        assert sum(len(function.regions) for function in program.functions) == regions
