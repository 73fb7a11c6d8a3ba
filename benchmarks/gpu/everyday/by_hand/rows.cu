// Reductions as one writes them first: a thread a row or a column; the dot product in blocks that add to the result.
#include "points.cuh"

KERNEL row_sums(int m, int n, const float *a, float *y)
{
  const int i = last();
  if (i >= m) return;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += a[i * n + j];
  y[i] = sum;
}

KERNEL column_sums(int m, int n, const float *a, float *y)
{
  const int j = last();
  if (j >= n) return;
  float sum = 0;
  for (int i = 0; i < m; i++) sum += a[i * n + j];
  y[j] = sum;
}

KERNEL softmax(int m, int n, const float *a, float *y)
{
  const int i = last();
  if (i >= m) return;
  float most = a[i * n], sum = 0;
  for (int j = 1; j < n; j++) most = fmaxf(most, a[i * n + j]);
  for (int j = 0; j < n; j++) sum += expf(a[i * n + j] - most);
  for (int j = 0; j < n; j++) y[i * n + j] = expf(a[i * n + j] - most) / sum;
}

KERNEL layer_norm(int m, int n, float epsilon, const float *a, const float *gamma, const float *beta, float *y)
{
  const int i = last();
  if (i >= m) return;
  float mean = 0, variance = 0;
  for (int j = 0; j < n; j++) mean += a[i * n + j];
  mean /= n;
  for (int j = 0; j < n; j++) variance += (a[i * n + j] - mean) * (a[i * n + j] - mean);
  const float scale = 1 / sqrtf(variance / n + epsilon);
  for (int j = 0; j < n; j++) y[i * n + j] = (a[i * n + j] - mean) * scale * gamma[j] + beta[j];
}

KERNEL batch_norm(int b, int c, int h, float epsilon, const float *x, const float *gamma, const float *beta, float *y)
{
  const int k = last();
  if (k >= c) return;
  float sum = 0.0f, squares = 0.0f;
  for (int i = 0; i < b; i++)
    for (int p = 0; p < h; p++) {
      const float value = x[(i * c + k) * h + p];
      sum += value;
      squares += value * value;
    }
  const float mean = sum / (b * h);
  const float scale = gamma[k] / sqrtf(squares / (b * h) - mean * mean + epsilon);
  for (int i = 0; i < b; i++)
    for (int p = 0; p < h; p++)
      y[(i * c + k) * h + p] = (x[(i * c + k) * h + p] - mean) * scale + beta[k];
}

KERNEL attend(int m, int n, int d, const float *q, const float *k, const float *values, float *s, float *o)
{
  const int i = last();
  if (i >= m) return;
  float most = -INFINITY, sum = 0.0f;
  for (int t = 0; t < n; t++) {
    float score = 0.0f;
    for (int e = 0; e < d; e++)
      score += q[i * d + e] * k[(t * m + i) * d + e];
    s[i * n + t] = score;
    most = fmaxf(most, score);
  }
  for (int t = 0; t < n; t++) {
    s[i * n + t] = expf(s[i * n + t] - most);
    sum += s[i * n + t];
  }
  for (int e = 0; e < d; e++) {
    float value = 0.0f;
    for (int t = 0; t < n; t++)
      value += s[i * n + t] * values[(t * m + i) * d + e];
    o[i * d + e] = value / sum;
  }
}

KERNEL logsumexp(int m, int n, const float *a, float *y)
{
  const int i = last();
  if (i >= m) return;
  float most = a[i * n], sum = 0;
  for (int j = 1; j < n; j++) most = fmaxf(most, a[i * n + j]);
  for (int j = 0; j < n; j++) sum += expf(a[i * n + j] - most);
  y[i] = most + logf(sum);
}

KERNEL max_and_sum(int m, int n, const float *a, float *y)
{
  const int i = last();
  if (i >= m) return;
  float most = a[i * n], sum = 0;
  for (int j = 1; j < n; j++) most = fmaxf(most, a[i * n + j]);
  for (int j = 0; j < n; j++) sum += a[i * n + j];
  y[i] = most + sum;
}

KERNEL argmax(int m, int n, const float *a, int *y)
{
  const int i = last();
  if (i >= m) return;
  int best = 0;
  float most = a[i * n];
  for (int j = 1; j < n; j++)
    if (a[i * n + j] > most) {
      most = a[i * n + j];
      best = j;
    }
  y[i] = best;
}

KERNEL dot(int n, const float *x, const float *y, float *s)
{
  float sum = 0;
  for (int j = last(); j < n; j += blockDim.x * gridDim.x) sum += x[j] * y[j];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffff, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(s, sum);
}
