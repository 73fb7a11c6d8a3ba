// Kernels as one writes them first: a thread an element, blocks of 256 threads, nothing cached by hand.
// Every function launches on the default stream and returns the number of the CUDA error, 0 for none.
#include <cuda_runtime.h>

namespace {

const dim3 block(32, 8);

dim3 tiles(int columns, int rows, int layers = 1)
{
  return dim3((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y, layers);
}

__device__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }

__global__ void matmul(int m, int n, int k, const float *a, const float *b, float *c)
{
  const int i = row(), j = column();
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
  c[(size_t)i * n + j] = sum;
}

__global__ void transpose(int rows, int columns, const float *a, float *c)
{
  const int i = row(), j = column();
  if (i < rows && j < columns) c[(size_t)j * rows + i] = a[(size_t)i * columns + j];
}

__global__ void matadd(int rows, int columns, const int *a, const int *b, int *c)
{
  const int i = row(), j = column();
  const size_t at = (size_t)i * columns + j;
  if (i < rows && j < columns) c[at] = a[at] + b[at];
}

__global__ void matvec(int rows, int columns, const float *a, const float *x, float *y)
{
  const int i = column();
  if (i >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; j++) sum += a[(size_t)i * columns + j] * x[j];
  y[i] = sum;
}

__global__ void jacobi1d(int n, const int *a, int *b)
{
  const int i = column() + 1;
  if (i < n - 1) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}

__global__ void jacobi2d(int n, const float *a, float *b)
{
  const int i = row() + 1, j = column() + 1;
  const size_t at = (size_t)i * n + j;
  if (i < n - 1 && j < n - 1) b[at] = 0.2f * (a[at] + a[at - n] + a[at + n] + a[at - 1] + a[at + 1]);
}

__global__ void heat3d(int n, float r, const float *a, float *b)
{
  const int i = blockIdx.z + 1, j = row() + 1, k = column() + 1;
  const size_t layer = (size_t)n * n, at = i * layer + (size_t)j * n + k;
  if (j < n - 1 && k < n - 1)
    b[at] = a[at]
      + r * (a[at - layer] + a[at + layer] + a[at - n] + a[at + n] + a[at - 1] + a[at + 1] - 6.0f * a[at]);
}

__global__ void blur5x5(int rows, int columns, const float *in, float *out)
{
  const int i = row(), j = column();
  if (i >= rows - 4 || j >= columns - 4) return;
  float sum = 0;
  for (int y = 0; y < 5; y++)
    for (int x = 0; x < 5; x++) sum += in[(size_t)(i + y) * columns + j + x];
  out[(size_t)(i + 2) * columns + j + 2] = sum / 25.0f;
}

} // namespace

extern "C" int naive_matmul(int m, int n, int k, const float *a, const float *b, float *c)
{
  matmul<<<tiles(n, m), block>>>(m, n, k, a, b, c);
  return cudaGetLastError();
}

extern "C" int naive_transpose(int rows, int columns, const float *a, float *c)
{
  transpose<<<tiles(columns, rows), block>>>(rows, columns, a, c);
  return cudaGetLastError();
}

extern "C" int naive_matadd(int rows, int columns, const int *a, const int *b, int *c)
{
  matadd<<<tiles(columns, rows), block>>>(rows, columns, a, b, c);
  return cudaGetLastError();
}

extern "C" int naive_matvec(int rows, int columns, const float *a, const float *x, float *y)
{
  matvec<<<(rows + 255) / 256, 256>>>(rows, columns, a, x, y);
  return cudaGetLastError();
}

extern "C" int naive_jacobi1d(int n, const int *a, int *b)
{
  jacobi1d<<<(n - 2 + 255) / 256, 256>>>(n, a, b);
  return cudaGetLastError();
}

extern "C" int naive_jacobi2d(int n, const float *a, float *b)
{
  jacobi2d<<<tiles(n - 2, n - 2), block>>>(n, a, b);
  return cudaGetLastError();
}

extern "C" int naive_heat3d(int n, float r, const float *a, float *b)
{
  heat3d<<<tiles(n - 2, n - 2, n - 2), block>>>(n, r, a, b);
  return cudaGetLastError();
}

extern "C" int naive_blur5x5(int rows, int columns, const float *in, float *out)
{
  blur5x5<<<tiles(columns - 4, rows - 4), block>>>(rows, columns, in, out);
  return cudaGetLastError();
}
