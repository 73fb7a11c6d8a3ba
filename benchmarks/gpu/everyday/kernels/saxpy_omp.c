/* A vector with a factor, added to another one, for OpenMP. */
void saxpy_omp(int n, float alpha, const float *x, const float *y, float *z)
{
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    z[i] = alpha * x[i] + y[i];
}
