/* Two loops that OpenACC leaves to the compiler, one of which is serial on the outside, and a histogram. */
void openacc(int n, int m, int *a, int h[16])
{
#pragma acc data copy(a[0:n*m], h[0:16])
#pragma acc kernels
  for (int t = 1; t < n; t++)
    for (int i = 0; i < m; i++)
      a[t * m + i] += a[(t - 1) * m + i];
#pragma acc parallel loop gang vector_length(128)
  for (int k = n - 1; k >= 0; k--) {
#pragma acc atomic update
    h[a[k] & 15] = h[a[k] & 15] + 1;
  }
}
