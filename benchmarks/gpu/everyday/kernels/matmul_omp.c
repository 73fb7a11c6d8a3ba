/* Product of two matrices behind pointers, for OpenMP. */
void matmul_omp(int m, int n, int k, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0.0f;
      for (int l = 0; l < k; l++)
        sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}
