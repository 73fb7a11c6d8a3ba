#include "serial.h"

void serial_figure3(int n, const int *a, const int *b, int *c, int B0, int ub1, int s)
{
  const int dim0 = n / B0, dim1 = n / (ub1 * s);
  for (int i = 0; i < dim0; i++)
    for (int j = 0; j < dim1; j++)
      for (int k = 0; k < n / B0; k++)
        for (int v = 0; v < B0; v++)
          for (int u = 0; u < ub1; u++) {
            const int p = i * B0 + v, q = j * ub1 * s + u;
            for (int z = 0; z < B0; z++)
              for (int w = 0; w < s; w++) {
                const int x = w * ub1;
                c[p * n + q + x] += a[p * n + B0 * k + z] * b[(B0 * k + z) * n + q + x];
              }
          }
}

void serial_product(int n, const int *a, const int *b, int *restrict c, int rows, int columns)
{
  for (int i = 0; i < n; i += rows)
    for (int j = 0; j < n; j += columns)
      for (int k = 0; k < n; k += rows)
        for (int p = i; p < i + rows; p++)
          for (int z = k; z < k + rows; z++) {
            const int factor = a[p * n + z];
            const int *restrict from = b + z * n + j;
            int *restrict to = c + p * n + j;
            for (int q = 0; q < columns; q++) to[q] += factor * from[q];
          }
}

void serial_jacobi(int T, int N, int *a)
{
  for (int t = 0; t < T; t++) {
    const int *restrict from = t % 2 ? a + N : a;
    int *restrict to = t % 2 ? a : a + N;
    for (int p = 0; p < N - 2; p++) to[p + 1] = (from[p] + from[p + 1] + from[p + 2]) / 3;
  }
}

void serial_transpose(int N, const float *a, float *c)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) c[(long)j * N + i] = a[(long)i * N + j];
}

void serial_transpose_blocked(int N, const float *restrict a, float *restrict c, int rows, int columns)
{
  for (int i0 = 0; i0 < N; i0 += rows)
    for (int j0 = 0; j0 < N; j0 += columns)
      for (int j = j0; j < j0 + columns; j++)
        for (int i = i0; i < i0 + rows; i++) c[(long)j * N + i] = a[(long)i * N + j];
}
