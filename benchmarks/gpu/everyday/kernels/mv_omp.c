/* A matrix times a vector, behind pointers, for OpenMP. */
void mv_omp(int m, int n, const float *a, const float *x, float *y)
{
#pragma omp parallel for
  for (int i = 0; i < m; i++) {
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
      sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
}
