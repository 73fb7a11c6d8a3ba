// Moves, elements and look-ups as one writes them first: a thread a point.
#include "points.cuh"

KERNEL transpose(int m, int n, const float *a, float *c)
{
  const int j = middle(), i = last();
  if (i < m && j < n) c[j * m + i] = a[i * n + j];
}

KERNEL hwc_to_chw(int h, int w, const float *in, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  for (int c = 0; c < 3; c++) out[(c * h + i) * w + j] = in[(i * w + j) * 3 + c];
}

KERNEL permute(int p, int q, int r, int s, const float *a, float *b)
{
  const int j = first(), l = middle(), i = last() / r, k = last() % r;
  if (i < p && j < q && l < s) b[((l * q + j) * p + i) * r + k] = a[((i * q + j) * r + k) * s + l];
}

KERNEL symmetric(int n, const float *a, float *c)
{
  const int i = middle(), j = last();
  if (i < n && j < n) c[i * n + j] = 0.5f * (a[i * n + j] + a[j * n + i]);
}

KERNEL gather(int n, int m, const float *x, const int *at, float *y)
{
  const int i = last();
  if (i < n) y[i] = x[at[i]];
}

KERNEL embedding(int n, int v, int d, const float *table, const int *at, float *y)
{
  const int i = middle(), j = last();
  if (i < n && j < d) y[i * d + j] = table[at[i] * d + j];
}

KERNEL saxpy(int n, float alpha, const float *x, const float *y, float *z)
{
  const int i = last();
  if (i < n) z[i] = alpha * x[i] + y[i];
}

KERNEL silu(int n, const float *x, float *y)
{
  const int i = last();
  if (i < n) y[i] = x[i] / (1 + expf(-x[i]));
}

KERNEL bias_rows(int m, int n, const float *a, const float *bias, float *c)
{
  const int i = middle(), j = last();
  if (i < m && j < n) c[i * n + j] = fmaxf(a[i * n + j] + bias[j], 0.0f);
}

KERNEL submatrix(int m, int n, int p, const float *a, const float *b, float *c)
{
  const int i = middle(), j = last();
  if (i < m && j < n) c[i * p + j] = a[i * p + j] + b[i * p + j];
}

KERNEL rank1(int m, int n, const float *x, const float *y, float *a)
{
  const int i = middle(), j = last();
  if (i < m && j < n) a[i * n + j] += x[i] * y[j];
}

KERNEL gray(int n, const unsigned char *in, unsigned char *out)
{
  const int i = last();
  if (i < n) out[i] = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
}

KERNEL black_scholes(int n, float rate, float volatility, const float *price, const float *strike, const float *years,
                     float *call)
{
  const int i = last();
  if (i >= n) return;
  const float deviation = volatility * sqrtf(years[i]);
  const float one = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / deviation;
  const float up = 0.5f * (1 + erff(one * 0.70710678f)), down = 0.5f * (1 + erff((one - deviation) * 0.70710678f));
  call[i] = price[i] * up - strike[i] * expf(-rate * years[i]) * down;
}

KERNEL nbody(int n, const float *x, const float *y, const float *z, const float *mass, float *force)
{
  const int i = last();
  if (i >= n) return;
  float fx = 0, fy = 0, fz = 0;
  for (int j = 0; j < n; j++) {
    const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float pull = mass[j] * inverse * inverse * inverse;
    fx += pull * dx;
    fy += pull * dy;
    fz += pull * dz;
  }
  force[3 * i] = fx;
  force[3 * i + 1] = fy;
  force[3 * i + 2] = fz;
}

KERNEL spmv(int m, int n, int q, const int *row, const int *column, const float *value, const float *x, float *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = 0;
  for (int p = row[i]; p < row[i + 1]; p++) sum += value[p] * x[column[p]];
  y[i] = sum;
}

KERNEL histogram(int n, int m, const int *x, int *h)
{
  const int i = last();
  if (i < n) atomicAdd(h + x[i], 1);
}

KERNEL collatz(int n, int *y)
{
  const int i = last();
  if (i >= n) return;
  long long x = i + 1;
  int steps = 0;
  for (; x != 1; steps++) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  y[i] = steps;
}

KERNEL cutoff(int n, const float *x, const float *y, const float *z, float *energy)
{
  const int i = last();
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < n; j++) {
    const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
    const float square = dx * dx + dy * dy + dz * dz;
    if (j != i && square < 0.5f) {
      const float inverse = 1.0f / (square + 0.5f), power = inverse * inverse * inverse;
      sum += power * (power - 1.0f);
    }
  }
  energy[i] = sum;
}

KERNEL channels(int b, int h, int w, int c, const float *in, const float *scale, float *out)
{
  const int row = first(), j = middle(), k = last();
  if (row >= b * h || j >= w || k >= c) return;
  const int at = (row * w + j) * c + k;
  out[at] = in[at] * scale[k];
}
