/* The sum of every row, for OpenMP. */
void row_sums_omp(int m, int n, const float a[m][n], float y[m])
{
#pragma omp parallel for
  for (int i = 0; i < m; i++) {
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
      sum += a[i][j];
    y[i] = sum;
  }
}
