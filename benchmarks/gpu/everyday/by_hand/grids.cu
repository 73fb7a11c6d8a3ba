// Filters and stencils as one writes them first: a thread a point of the result, nothing cached by hand.
#include "points.cuh"

KERNEL conv_layer(int q, int p, int h, int w, const float *in, const float *k, float *out)
{
  const int o = first(), i = middle(), j = last();
  if (o >= q || i >= h || j >= w) return;
  float sum = 0;
  for (int c = 0; c < p; c++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++)
        sum += in[(c * (h + 2) + i + y) * (w + 2) + j + x] * k[((o * p + c) * 3 + y) * 3 + x];
  out[(o * h + i) * w + j] = sum;
}

KERNEL conv_1x1(int b, int q, int p, int h, int w, const float *in, const float *k, float *out)
{
  const int o = first(), i = middle(), j = last();
  if (o >= b * q || i >= h || j >= w) return;
  float sum = 0;
  for (int c = 0; c < p; c++) sum += in[((o / q * p + c) * h + i) * w + j] * k[o % q * p + c];
  out[(o * h + i) * w + j] = sum;
}

KERNEL conv_same(int q, int p, int h, int w, const float *in, const float *k, float *out)
{
  const int o = first(), i = middle(), j = last();
  if (o >= q || i >= h || j >= w) return;
  float sum = 0;
  for (int c = 0; c < p; c++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) {
        const int row = i + y - 1, column = j + x - 1;
        if (row >= 0 && row < h && column >= 0 && column < w)
          sum += in[(c * h + row) * w + column] * k[((o * p + c) * 3 + y) * 3 + x];
      }
  out[(o * h + i) * w + j] = sum;
}

KERNEL conv2d(int h, int w, int k, const float *in, const float *f, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  float sum = 0;
  for (int y = 0; y < k; y++)
    for (int x = 0; x < k; x++) sum += in[(i + y) * (w + k - 1) + j + x] * f[y * k + x];
  out[i * w + j] = sum;
}

KERNEL conv_layer_any(int q, int p, int h, int w, int k, const float *in, const float *f, float *out)
{
  const int o = first(), i = middle(), j = last();
  if (o >= q || i >= h || j >= w) return;
  float sum = 0;
  for (int c = 0; c < p; c++)
    for (int y = 0; y < k; y++)
      for (int x = 0; x < k; x++)
        sum += in[(c * (h + k - 1) + i + y) * (w + k - 1) + j + x] * f[((o * p + c) * k + y) * k + x];
  out[(o * h + i) * w + j] = sum;
}

KERNEL conv3d(int d, int h, int w, int k, const float *in, const float *f, float *out)
{
  const int o = first(), i = middle(), j = last();
  if (o >= d || i >= h || j >= w) return;
  float sum = 0;
  for (int z = 0; z < k; z++)
    for (int y = 0; y < k; y++)
      for (int x = 0; x < k; x++)
        sum += in[((o + z) * (h + k - 1) + i + y) * (w + k - 1) + j + x] * f[(z * k + y) * k + x];
  out[(o * h + i) * w + j] = sum;
}

KERNEL blur_on_ring(int h, int w, int r, const float *in, const float *f, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  float sum = 0;
  for (int y = -r; y <= r; y++)
    for (int x = -r; x <= r; x++)
      sum += in[(i + y + h) % h * w + (j + x + w) % w] * f[(y + r) * (2 * r + 1) + x + r];
  out[i * w + j] = sum;
}

KERNEL pixel_blur(int h, int w, int c, const float *in, float *out)
{
  const int i = first(), j = middle(), k = last();
  if (i >= h || j >= w || k >= c) return;
  float sum = 0;
  for (int y = 0; y < 3; y++)
    for (int x = 0; x < 3; x++)
      sum += in[((i + y) * (w + 2) + j + x) * c + k];
  out[(i * w + j) * c + k] = sum / 9;
}

KERNEL conv2d_turned(int h, int w, int k, const float *in, const float *f, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  const float *corner = in + (i + k - 1) * (w + k - 1) + j + k - 1;
  float sum = 0;
  for (int y = 0; y < k; y++)
    for (int x = 0; x < k; x++) sum += corner[-y * (w + k - 1) - x] * f[y * k + x];
  out[i * w + j] = sum;
}

KERNEL conv2d_5x5(int h, int w, const float *in, const float *f, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  float sum = 0;
  for (int y = 0; y < 5; y++)
    for (int x = 0; x < 5; x++) sum += in[(i + y) * (w + 4) + j + x] * f[y * 5 + x];
  out[i * w + j] = sum;
}

KERNEL depthwise(int c, int h, int w, const float *in, const float *k, float *out)
{
  const int p = first(), i = middle(), j = last();
  if (p >= c || i >= h || j >= w) return;
  float sum = 0;
  for (int y = 0; y < 3; y++)
    for (int x = 0; x < 3; x++) sum += in[(p * (h + 2) + i + y) * (w + 2) + j + x] * k[(p * 3 + y) * 3 + x];
  out[(p * h + i) * w + j] = sum;
}

KERNEL maxpool(int c, int h, int w, const float *in, float *out)
{
  const int p = first(), i = middle(), j = last();
  if (p >= c || i >= h || j >= w) return;
  const float *upper = in + (p * 2 * h + 2 * i) * 2 * w + 2 * j, *lower = upper + 2 * w;
  out[(p * h + i) * w + j] = fmaxf(fmaxf(upper[0], upper[1]), fmaxf(lower[0], lower[1]));
}

KERNEL fir(int n, int k, const float *x, const float *f, float *y)
{
  const int i = last();
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < k; j++) sum += x[i + j] * f[j];
  y[i] = sum;
}

KERNEL box_mean(int h, int w, int r, const float *in, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  float sum = 0;
  int count = 0;
  for (int y = max(0, i - r); y <= min(h - 1, i + r); y++)
    for (int x = max(0, j - r); x <= min(w - 1, j + r); x++) {
      sum += in[y * w + x];
      count++;
    }
  out[i * w + j] = sum / count;
}

KERNEL bilateral(int h, int w, int r, const float *in, float *out)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  float sum = 0, weights = 0;
  for (int y = -r; y <= r; y++)
    for (int x = -r; x <= r; x++) {
      const float other = in[min(max(i + y, 0), h - 1) * w + min(max(j + x, 0), w - 1)];
      const float apart = other - in[i * w + j];
      const float weight = expf(-apart * apart);
      sum += weight * other;
      weights += weight;
    }
  out[i * w + j] = sum / weights;
}

KERNEL fir_causal(int n, int k, const float *x, const float *f, float *y)
{
  const int i = last();
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < k && j <= i; j++) sum += x[i - j] * f[j];
  y[i] = sum;
}

__device__ static float five(const float *a, int w) { return 0.2f * (a[0] + a[-w] + a[w] + a[-1] + a[1]); }

KERNEL five_point(int h, int w, const float *a, float *b)
{
  const int i = middle(), j = last(), at = i * w + j;
  if (i > 0 && i < h - 1 && j > 0 && j < w - 1) b[at] = five(a + at, w);
}

KERNEL seven_point(int d, int h, int w, float r, const float *a, float *b)
{
  const int i = first(), j = middle(), k = last(), at = (i * h + j) * w + k;
  if (i == 0 || i >= d - 1 || j == 0 || j >= h - 1 || k == 0 || k >= w - 1) return;
  b[at] = a[at] + r * (a[at - h * w] + a[at + h * w] + a[at - w] + a[at + w] + a[at - 1] + a[at + 1] - 6 * a[at]);
}

KERNEL clamped(int h, int w, const float *a, float *b)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  const int up = max(i - 1, 0), down = min(i + 1, h - 1), left = max(j - 1, 0), right = min(j + 1, w - 1);
  b[i * w + j] = 0.2f * (a[i * w + j] + a[up * w + j] + a[down * w + j] + a[i * w + left] + a[i * w + right]);
}

KERNEL five_on_ring(int h, int w, const float *a, float *b)
{
  const int i = middle(), j = last();
  if (i >= h || j >= w) return;
  const int up = (i + h - 1) % h, down = (i + 1) % h, left = (j + w - 1) % w, right = (j + 1) % w;
  b[i * w + j] = 0.2f * (a[i * w + j] + a[up * w + j] + a[down * w + j] + a[i * w + left] + a[i * w + right]);
}

KERNEL border(int h, int w, const float *a, float *b)
{
  const int i = middle(), j = last(), at = i * w + j;
  if (i >= h || j >= w) return;
  b[at] = i > 0 && i < h - 1 && j > 0 && j < w - 1 ? five(a + at, w) : a[at];
}

KERNEL coefficients(int d, int h, int w, const float *a, const float *c, float *b)
{
  const int i = first(), j = middle(), k = last(), at = (i * h + j) * w + k, volume = d * h * w;
  if (i == 0 || i >= d - 1 || j == 0 || j >= h - 1 || k == 0 || k >= w - 1) return;
  b[at] = c[at] * a[at] + c[volume + at] * a[at - h * w] + c[2 * volume + at] * a[at + h * w]
    + c[3 * volume + at] * a[at - w] + c[4 * volume + at] * a[at + w] + c[5 * volume + at] * a[at - 1]
    + c[6 * volume + at] * a[at + 1];
}

// One of 2 * t sweeps.
KERNEL jacobi(int t, int n, const float *a, float *b)
{
  const int i = middle(), j = last(), at = i * n + j;
  if (i > 0 && i < n - 1 && j > 0 && j < n - 1) b[at] = 0.25f * (a[at - n] + a[at + n] + a[at - 1] + a[at + 1]);
}

KERNEL sobel(int h, int w, const unsigned char *in, unsigned char *out)
{
  const int i = middle(), j = last();
  if (i == 0 || i >= h - 1 || j == 0 || j >= w - 1) return;
  const unsigned char *p = in + i * w + j;
  const int x = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
  const int y = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
  out[i * w + j] = min(abs(x) + abs(y), 255);
}
