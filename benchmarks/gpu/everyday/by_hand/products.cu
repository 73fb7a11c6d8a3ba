// Products as one writes them first: a thread an element of the result, nothing cached by hand.
#include "points.cuh"

KERNEL matmul(int m, int n, int k, const float *a, const float *b, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
  c[i * n + j] = sum;
}

KERNEL looked_up(int m, int n, int k, int v, const float *a, const float *table, const int *at, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * table[at[l] * n + j];
  c[i * n + j] = sum;
}

KERNEL gathered(int m, int n, int k, int v, const float *table, const float *b, const int *at, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += table[at[i] * k + l] * b[l * n + j];
  c[i * n + j] = sum;
}

KERNEL matmul_bias_relu(int m, int n, int k, const float *a, const float *b, const float *bias, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
  c[i * n + j] = fmaxf(sum + bias[j], 0.0f);
}

KERNEL matmul_abt(int m, int n, int k, const float *a, const float *b, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * b[j * k + l];
  c[i * n + j] = sum;
}

KERNEL matmul_atb(int m, int n, int k, const float *a, const float *b, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[l * m + i] * b[l * n + j];
  c[i * n + j] = sum;
}

KERNEL aat(int n, int k, const float *a, float *c)
{
  const int i = middle(), j = last();
  if (i >= n || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * a[j * k + l];
  c[i * n + j] = sum;
}

KERNEL aat_lower(int n, int k, const float *a, float *c)
{
  const int i = middle(), j = last();
  if (i >= n || j > i) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * a[j * k + l];
  c[i * n + j] = sum;
}

KERNEL batched(int q, int m, int n, int k, const float *a, const float *b, float *c)
{
  const int p = first(), i = middle(), j = last();
  if (p >= q || i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; l++) sum += a[(p * m + i) * k + l] * b[(p * k + l) * n + j];
  c[(p * m + i) * n + j] = sum;
}

KERNEL layer_of_tokens(int q, int t, int n, int k, const float *x, const float *w, const float *bias, float *y)
{
  const int p = first(), i = middle(), j = last();
  if (p >= q || i >= t || j >= n) return;
  float sum = bias[j];
  for (int l = 0; l < k; l++) sum += x[(p * t + i) * k + l] * w[j * k + l];
  y[(p * t + i) * n + j] = sum;
}

KERNEL matmul_double(int m, int n, int k, const double *a, const double *b, double *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  double sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
  c[i * n + j] = sum;
}

KERNEL byte_matmul(int m, int n, int k, const signed char *a, const signed char *b, int *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  int sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * b[j * k + l];
  c[i * n + j] = sum;
}

KERNEL matmul_int(int m, int n, int k, const int *a, const int *b, int *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  int sum = 0;
  for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
  c[i * n + j] = sum;
}

KERNEL pairwise(int m, int n, int d, const float *a, const float *b, float *c)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < d; l++) {
    const float difference = a[i * d + l] - b[j * d + l];
    sum += difference * difference;
  }
  c[i * n + j] = sum;
}

KERNEL nearest(int m, int n, int d, const float *a, const float *b, float *y)
{
  const int i = last();
  if (i >= m) return;
  float least = 3.4e38f;
  for (int j = 0; j < n; j++) {
    float sum = 0;
    for (int l = 0; l < d; l++) {
      const float difference = a[i * d + l] - b[j * d + l];
      sum += difference * difference;
    }
    least = fminf(least, sum);
  }
  y[i] = least;
}

KERNEL kernel_sums(int m, int n, int d, float width, const float *a, const float *b, const float *w, float *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = 0;
  for (int j = 0; j < n; j++) {
    float squares = 0;
    for (int l = 0; l < d; l++) {
      const float difference = a[i * d + l] - b[j * d + l];
      squares += difference * difference;
    }
    sum += w[j] * expf(-width * squares);
  }
  y[i] = sum;
}

KERNEL mv(int m, int n, const float *a, const float *x, float *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
  y[i] = sum;
}

KERNEL mtv(int m, int n, const float *a, const float *x, float *y)
{
  const int j = last();
  if (j >= n) return;
  float sum = 0;
  for (int i = 0; i < m; i++) sum += a[i * n + j] * x[i];
  y[j] = sum;
}

KERNEL gesummv(int m, int n, float alpha, float beta, const float *a, const float *b, const float *x, float *y)
{
  const int i = last();
  if (i >= m) return;
  float one = 0, two = 0;
  for (int j = 0; j < n; j++) {
    one += a[i * n + j] * x[j];
    two += b[i * n + j] * x[j];
  }
  y[i] = alpha * one + beta * two;
}

KERNEL trmv(int n, const float *a, const float *x, float *y)
{
  const int i = last();
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j <= i; j++) sum += a[i * n + j] * x[j];
  y[i] = sum;
}

KERNEL trmv_upper(int n, const float *a, const float *x, float *y)
{
  const int i = last();
  if (i >= n) return;
  float sum = 0;
  for (int j = i; j < n; j++) sum += a[i * n + j] * x[j];
  y[i] = sum;
}

KERNEL trailing(int n, int k, int q, float *a)
{
  const int i = k + q + middle(), j = k + q + last();
  if (i >= n || j >= n) return;
  float sum = a[i * n + j];
  for (int l = k; l < k + q; l++) sum -= a[i * n + l] * a[l * n + j];
  a[i * n + j] = sum;
}

KERNEL low_rank(int m, int n, int k, int r, float scale, const float *x, const float *w, const float *p, const float *q,
    float *y)
{
  const int i = middle(), j = last();
  if (i >= m || j >= n) return;
  float sum = 0, low = 0;
  for (int l = 0; l < k; l++) sum += x[i * k + l] * w[j * k + l];
  for (int l = 0; l < r; l++) low += p[i * r + l] * q[l * n + j];
  y[i * n + j] = sum + scale * low;
}

KERNEL cell(int m, int k, int r, const float *w, const float *x, const float *u, const float *h, const float *b,
    float *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = b[i];
  for (int l = 0; l < k; l++) sum += w[i * k + l] * x[l];
  for (int l = 0; l < r; l++) sum += u[i * r + l] * h[l];
  y[i] = sum > 0 ? sum : 0;
}

KERNEL matvec_unrolled(int m, int n, const float *a, const float *x, float *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
  y[i] = sum;
}
