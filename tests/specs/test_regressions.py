"""Programs that once came out wrong; each is checked as `comprehensive check` does, on every leaf."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.plan.interface import interface
from comprehensive.runtime.cpu import build
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.verification import verify
from comprehensive.verification_report import to_text
from tests.examples import quick_of

CF_EOVERFLOW = 4

HEAD = "  int dim = n / B;\n  meta_schedule {cache} {{\n    meta_for (int i = 0; i < dim; i++)\n"
THREADS = "      meta_for (int u = 0; u < B; u++) {{\n        {body}\n      }}\n  }}\n}}\n"


def simple(parameters: str, body: str, cache: str = "", before: str = "") -> str:
    head = HEAD.format(cache=cache).replace("  meta_schedule", f"{before}  meta_schedule")
    return f"void f({parameters}, int B)\n{{\n{head}{THREADS.format(body=body)}"


PROGRAMS = {
    # Points outside of the limits read what the last point inside reads, and its comparison may not hold.
    "a read that a comparison with a coordinate keeps inside": """void f(int n, int k, int d, int c, int m,
  const float x[c][n], const float w[m][c][k], float y[m][n], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int o = 0; o < m; o++)
      meta_for (int t = 0; t < n; t++) {
        float s = 0;
        for (int l = 0; l < c; l++)
          for (int r = 0; r < k; r++) {
            int at = t - d * r;
            if (at >= 0) s += x[l][at] * w[o][l][r];
          }
        y[o][t] = s;
      }
  }
}
""",
    # The rows of a box begin elsewhere in each turn of the loop around it, and not all of them are read.
    "a read whose rows run down with an outer loop": """void f(int n, int k, int r, int d, const float *x,
  const float p[n + 2][k + 4], float y[n], int B)
{
  meta_schedule block(B) {
    meta_for (int j = 0; j < n; j++) {
      float s = 0;
      for (int l = 0; l < k; l++)
        for (int u = 0; u < r; u++) {
          int t = j - d * l;
          s += t >= 0 && t < n ? x[t] * p[j + 2][l + 4] : 0;
        }
      y[j] = s;
    }
  }
}
""",
    "loops of points that count down and in larger steps": """void f(int n, int m, const float a[n][m], float b[n][m],
  int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = n - 1; i > 0; i -= 2)
      meta_for (int j = 1; j < m; j += 3)
        b[i][j] = a[i][j] + a[i][j - 1];
  }
}
""",
    "halves that are read and written in one place": """#include <math.h>
void f(int n, int d, __half x[n][d], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      for (int j = 0; j < d; j++) x[i][j] = expf(x[i][j]);
  }
}
""",
    # A loop over a bound in data may not run: what it writes must be copied in before it is copied out.
    "a data-dependent loop writes a cached array": simple(
        "int n, int cnt[n], int c[n]",
        "int p = i*B + u; for (int z = 0; z < cnt[p]; z++) c[p] = z;",
        "cache(c)",
    ),
    # C converts before it compares: at p == 0 the condition is false.
    "a comparison with an unsigned size": simple(
        "unsigned n, int c[n]", "int p = i*B + u; if (p - 1 < n) c[p] = 1;"
    ),
    "an unsigned scalar that wraps in two steps": simple(
        "int n, int c[n]", "int p = i*B + u - 1; unsigned q = p; if (q < n) c[p + 1] = 1;"
    ),
    # A variable of a time loop may be negative: the guard is needed.
    "a negative step of the host": simple(
        "int n, int c[n]",
        "int p = i*B + u; if (p + t >= 0) c[p] = t;",
        before="  for (int t = -3; t < -1; t++)\n",
    ),
    "two bands declare the same names": """void f(int n, float c[n], float d[n], int s, int B)
{
  int dim = n / (s*B);
  meta_schedule {
    meta_for (int i = 0; i < dim; i++) {
      int q = i*s*B;
      meta_for (int u = 0; u < B; u++)
        for (int w = 0; w < s; w++) { float t = 2; c[q + w*B + u] = t; }
      meta_for (int u = 0; u < B; u++)
        for (int w = 0; w < s; w++) { float t = 3; d[q + w*B + u] = t; }
    }
  }
}
""",
    # Moving the loop to the grid would make its counter an int, and 0 - 1 < 3 true.
    "a granularity loop that counts in unsigned": """void f(int n, int c[n], int s, int B)
{
  int dim = n / (s*B);
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        for (unsigned w = 0; w < s; w++) {
          int p = (i*s + w)*B + u;
          if (w - 1 < 3) c[p] = 1;
        }
  }
}
""",
    # The tile of x would be n - 2 wide, negative at n = 1: it is not cached.
    "a cached array behind a loop that may be empty": simple(
        "int n, float x[n], float y[n]",
        "float t = 0; for (int k = 2; k < n; k++) t += x[k]; y[i*B + u] = t;",
        "cache(x)",
    ),
    "two bands with tiles of which either may be larger": """void f(int n, int r, int B,
    const float *x, float y[r], float z[r])
{
  int dim = r / B;
  meta_schedule cache(x, y) {
    meta_for (int i = 0; i < dim; i++) {
      meta_for (int u = 0; u < B; u++) {
        float a = 0;
        for (int k = 0; k < n; k++) a += x[k*B + u];
        z[i*B + u] = a;
      }
      meta_for (int u = 0; u < B; u++) y[i*B + u] += 1;
    }
  }
}
""",
    "a loop variable declared before its loop": simple(
        "int n, int m, float c[n]", "float x = 0; int k; for (k = 0; k < m; k++) x += 1; c[i*B + u] = x;"
    ),
    "positions in long": """void f(long n, unsigned char c[n], int s, int B)
{
  int dim = n / (s*B);
  meta_schedule cache(c) {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        for (int w = 0; w < s; w++) {
          long p = ((long)i*s + w)*B + u;
          c[p] = c[p] + 1;
        }
  }
}
""",
    "host code that uses helpers, types and constants of the file": """#include <assert.h>
typedef int count;
enum { FEW = 2 };
static const int STEPS = 1;
static int half(int n) { return n / 2; }
static inline int tiles(int n, int B)
{
  return (n + B - 1) / B + 0 * half(n);
}
void f(int n, float y[n], int B)
{
  assert(tiles(n, B) >= 0);
  int dim = tiles(n, B);
  count rounds = FEW;
  for (int t = 0; t < half(2 * STEPS) * rounds; t++)
    meta_schedule {
      meta_for (int i = 0; i < dim; i++)
        meta_for (int u = 0; u < B; u++) { int p = i*B + u; if (p < n) y[p] = 2 * y[p] + 1; }
    }
}
int main(void) { float y[4] = { 0 }; f(4, y, 2); return 0; }
""",
    "a region that touches no data": (
        "void f(int n, int B) { meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { int v = i; } } }"
    ),
    "a quotient in a subscript": simple(
        "int n, float x[n], float y[n]",
        "int p = i*B + u; if (p < n / 2) y[p] = x[p] + x[p + n / 2];",
        "cache(x, y)",
    ),
    # C has one prototype of a name; C++ chooses among overloads by the types of arguments.
    "functions called with arguments of other types than theirs": "#include <math.h>\n#include <stdlib.h>\n"
    + simple(
        "int n, const float x[n], const unsigned char c[n], long l[n], double y[n]",
        "int p = i*B + u; float s = fmax(x[p], c[p]);"
        " y[p] = sqrt(fabs(x[p])) * 3.0f + pow(s, x[p]) / 3 + abs(x[p]) / 2;"
        " l[p] = abs(l[p] * 3000000000L) + labs(c[p] - 100);"
        " y[p] *= (c[p] < p) % 3 + (!c[p] << 1) + fminf(y[p], s) / 7;",
    ),
    "host code that calls such functions": """#include <math.h>
#include <stdlib.h>
#define MAGNITUDE(x) fabs(x)
static int rounded(float x) { return sqrt(x) * 1e8; }
void f(int n, float x, long l, int y[n], int B)
{
  int r = rounded(x*x + 1.0f) / 3 + pow(x*x + 1.0f, 0.5f) * 1e8;
  int s = MAGNITUDE(x / 3) * 1e9 + exp(MAGNITUDE(x) - 2.5f) * 1e8;
  for (int t = 0; t < 1 + abs(l * 4294967297L) % 3; t++)
    meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[i] = r - y[i] / 7 + s; }
}
""",
    "a cached array that a loop reads in steps": simple(
        "int n, int m, const float *x, float y[n]",
        "int p = i*B + u; for (int z = 1; z < 8; z += 2) y[p] += x[p*m + z];",
        "cache(x)",
    ),
}


# Those that name what no other test is about; most of the rest are about sizes and types of host code.
QUICK = {
    "a data-dependent loop writes a cached array",
    "two bands with tiles of which either may be larger",
}


@pytest.mark.parametrize("name", quick_of(PROGRAMS, QUICK))
def test_a_program_that_once_came_out_wrong_is_right(tmp_path: Path, name: str) -> None:
    source = tmp_path / "f.mf"
    source.write_text(PROGRAMS[name], encoding="utf-8")
    report = verify(compile_file(source, Options(registers="estimate")), points=8, run=True)
    assert report.holds, to_text(report)
    assert all(leaf.runs > 0 for leaf in report.runs or ()), to_text(report)


WIDE = """void f(unsigned dim, unsigned s, int y[dim*s*4], int B)
{
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        for (int w = 0; w < s; w++) y[(i*s + w)*B + u] = 1;
  }
}
"""


def test_a_grid_of_more_than_32_bits_is_refused_and_not_wrapped_around(tmp_path: Path) -> None:
    cxx = find_cxx_compiler()
    if cxx is None:
        pytest.skip("no C++ compiler on this machine")
    source = tmp_path / "f.mf"
    source.write_text(WIDE, encoding="utf-8")
    compilation = compile_file(source, Options(registers="estimate"))
    for name, text in outputs(compilation).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (plan,) = compilation.plan.functions
    library = build(tmp_path / "f.cu", tmp_path, [interface(plan)], sanitize=False, compiler=cxx)
    # 2**31 times 2 is 0 in unsigned: nothing would be launched, and nothing said.
    arguments = {"dim": 2**31, "s": 2, "y": np.zeros(1, np.int32)}
    outcome = library.call("f", arguments, {"B": 1}, machine={"R_B": 9, "T_B": 1024})
    assert (outcome.status, outcome.needed) == (CF_EOVERFLOW, 2**32)


def test_strides_of_unsigned_dimensions_are_not_wrapped_around(tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text(
        """void f(unsigned n, float a[n][n][n], int B)
{
  int dim = n / B;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++) a[i*B + u][0][0] = 1;
  }
}
""",
        encoding="utf-8",
    )
    texts = outputs(compile_file(source, Options(registers="estimate")))
    assert "const long long cf_given_a_stride0_wide = cf_mul(n, n);" in texts["f.cu"]
