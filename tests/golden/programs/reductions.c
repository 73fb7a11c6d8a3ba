/* Reductions to scalars: parts in one region, which a second one puts together. */
#include <math.h>

void reductions(int n, int m, const float a[n][m], const int *k, float *y, float *r, int *total)
{
  float norm = 0.0f, most = 1.0f;
  int sum = 3;

#pragma omp parallel for collapse(2) reduction(+: norm) reduction(max: most)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      norm += a[i][j] * a[i][j];
      if (fabsf(a[i][j]) > most)
        most = fabsf(a[i][j]);
    }
  r[0] = sqrtf(norm);
  r[1] = most;

#pragma omp parallel for reduction(+: sum)
  for (int i = n - 1; i >= 0; i -= 2) {
    y[i] = k[i];
    sum += k[i];
  }
  *total = sum;
}
