/* Products of many small matrices behind pointers, for OpenMP. */
void batched_omp(int q, int m, int n, int k, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for collapse(3)
  for (int p = 0; p < q; p++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        float sum = 0.0f;
        for (int l = 0; l < k; l++)
          sum += a[(p * m + i) * k + l] * b[(p * k + l) * n + j];
        c[(p * m + i) * n + j] = sum;
      }
}
