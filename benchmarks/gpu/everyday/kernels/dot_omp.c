/* The dot product of two vectors, a reduction of OpenMP: the sum may be added up in any order. */
// gen: --reassociate
void dot_omp(int n, const float *x, const float *y, float *s)
{
  float sum = 0.0f;
#pragma omp parallel for reduction(+ : sum)
  for (int j = 0; j < n; j++)
    sum += x[j] * y[j];
  s[0] = sum;
}
