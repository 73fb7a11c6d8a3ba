/* A product after a scaled one, as OpenMP has it: the directive on the first loop, private variables outside. */
void openmp(int n, int m, double alpha, const double a[n][n], const double b[n][m], double c[n][m])
{
  int i, j, k;
  double x;
#pragma omp target teams distribute parallel for private(j, k, x) \
        map(to: a[0:n][0:n], b[0:n][0:m]) map(tofrom: c[0:n][0:m])
  for (i = 0; i < n; i++) {
    for (j = 0; j < m; j++)
      c[i][j] *= alpha;
    for (k = 0; k < n; k++) {
      x = a[i][k];
#pragma omp simd
      for (j = 0; j < m; j++)
        c[i][j] += x * b[k][j];
    }
  }
}
