"""Programs whose host code, or whose data, needs something of the C source that kernels are embedded in."""

HELPERS = """
struct pair { int low, high; };
typedef struct pair pair;
enum { HALF = 2, WHOLE = HALF * 2 };
int limits[2] = { HALF, WHOLE };
static int used;
int rounded(int n, int B0) { return (n + B0 - 1) / B0; }
pair halves(int n) { used = limits[0]; pair p = { n / used, n - n / 2 }; return p; }

int helpers(int n, float a[n], int B0) {
  int dim = rounded(n, B0);
  pair p = halves(n);
  for (int t = 0; t < dim; t++) {
    if (t == 2 || p.low < 0) return t;
    meta_schedule {
      meta_for (int i = 0; i < dim; i++)
        meta_for (int u = 0; u < B0; u++)
          if (i * B0 + u < n) a[i * B0 + u] = a[i * B0 + u] * 0.5f;
    }
  }
  return 0;
}
"""

TABLE = """
static const float weight[4] = { 1, 2, 4, 8 };

void table(int n, const int x[n], float y[n], int B0) {
  int dim = (n + B0 - 1) / B0;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B0; u++)
        if (i * B0 + u < n) y[i * B0 + u] = weight[x[i * B0 + u] & 3];
  }
}
"""
