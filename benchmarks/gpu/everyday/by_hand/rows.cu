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
