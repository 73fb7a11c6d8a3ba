/* Softmax of every row, behind pointers, for OpenMP. */
#include <math.h>

void softmax_omp(int m, int n, const float *a, float *y)
{
#pragma omp parallel for
  for (int i = 0; i < m; i++) {
    float most = a[i * n];
    for (int j = 1; j < n; j++)
      most = fmaxf(most, a[i * n + j]);
    float sum = 0.0f;
    for (int j = 0; j < n; j++) {
      y[i * n + j] = expf(a[i * n + j] - most);
      sum += y[i * n + j];
    }
    for (int j = 0; j < n; j++)
      y[i * n + j] /= sum;
  }
}
