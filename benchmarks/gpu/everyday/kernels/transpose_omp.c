/* A matrix transposed, for OpenMP. */
void transpose_omp(int m, int n, const float a[m][n], float c[n][m])
{
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      c[j][i] = a[i][j];
}
