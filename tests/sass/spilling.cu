// Kernels with local memory: spills of one width and of several, and what has to stay there.

#include <cassert>

__device__ __forceinline__ void live_words(const float *a, float *b, int n) {
  float v[40];
#pragma unroll
  for (int i = 0; i < 40; ++i) v[i] = a[threadIdx.x + i * n];
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 40; ++i) v[i] = v[i] * v[(i + 1) % 40] + k;
#pragma unroll
  for (int i = 0; i < 40; ++i) b[threadIdx.x + i * n] = v[i];
}

// 40 words live through a loop, at 32 registers.
extern "C" __global__ void __launch_bounds__(1024, 2) words(const float *a, float *b, int n) { live_words(a, b, n); }

// Nothing says how many threads there are.
extern "C" __global__ void __maxnreg__(32) unbounded(const float *a, float *b, int n) { live_words(a, b, n); }

// Launches have exactly that shape.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
extern "C" __global__ void __block_size__((64, 2, 1)) __maxnreg__(32) exact(const float *a, float *b, int n) {
  live_words(a, b, n);
}
#endif

// Doubles and words, in blocks of two dimensions, beside shared memory of the kernel's own.
extern "C" __global__ void __launch_bounds__(1024, 2) widths(const double *a, float *b, int n) {
  __shared__ double own[100];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t < 100) own[t] = a[t];
  __syncthreads();
  double v[12];
  float w[12];
#pragma unroll
  for (int i = 0; i < 12; ++i) v[i] = a[t + i * n], w[i] = b[t + i * n];
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 12; ++i) v[i] = v[i] * v[(i + 1) % 12] + own[k], w[i] = w[i] * w[(i + 5) % 12] + (float)v[i];
#pragma unroll
  for (int i = 0; i < 12; ++i) b[t + i * n] = w[i] + (float)v[i];
}

// An array with subscripts that are not constant.
extern "C" __global__ void __launch_bounds__(128) array(const int *a, int *b, int n) {
  int own[64];
  for (int i = 0; i < 64; ++i) own[i] = a[i * n];
  for (int i = 0; i < n; ++i) own[a[i] & 63] += own[a[i + 1] & 63];
  b[threadIdx.x] = own[n & 63];
}

// What is called is not here, and has a frame of its own on the stack.
extern "C" __global__ void __launch_bounds__(1024, 2) calls(const float *a, float *b, int n) {
  live_words(a, b, n);
  assert(b[threadIdx.x] > 0);
}

// The slow path of the division stands behind the kernel.
extern "C" __global__ void __launch_bounds__(1024, 2) divides(const float *a, float *b, int n) {
  live_words(a, b, n);
  b[threadIdx.x] /= n;
}

extern "C" __global__ void nothing(float *a) { a[0] = 1; }
