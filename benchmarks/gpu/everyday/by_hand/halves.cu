// Elements of 16 bits as one writes them first: a thread a point, converted where they are read and written.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "points.cuh"

KERNEL half_matmul(int m, int n, int k, const __half *a, const __half *b, __half *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += __half2float(a[i * k + l]) * __half2float(b[l * n + j]);
  c[i * n + j] = __float2half(sum);
}

KERNEL half_saxpy(int n, float alpha, const __half *x, const __half *y, __half *z)
{
  const int i = last();
  if (i < n) z[i] = __float2half(alpha * __half2float(x[i]) + __half2float(y[i]));
}

KERNEL half_five_point(int h, int w, const __half *a, __half *b)
{
  const int i = middle(), j = last();
  if (i < 1 || i >= h - 1 || j < 1 || j >= w - 1) return;
  const __half *p = a + i * w + j;
  const float sides = __half2float(p[-w]) + __half2float(p[w]) + __half2float(p[-1]) + __half2float(p[1]);
  b[i * w + j] = __float2half(0.2f * (__half2float(p[0]) + sides));
}

KERNEL bfloat16_row_sums(int m, int n, const __nv_bfloat16 *a, __nv_bfloat16 *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += __bfloat162float(a[i * n + j]);
  y[i] = __float2bfloat16(sum);
}
