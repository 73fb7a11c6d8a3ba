// What readers of machine code meet: loops in loops, local and shared memory, shuffles, calls that are not inlined, divisions
// and roots with their slow paths, a jump table, double precision, atomics.

__device__ __noinline__ float called(float x) { return x / (x + 1.0f); }

extern "C" __global__ void nested(const float *a, float *b, int n, int m) {
  __shared__ float row[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < m; ++j) {
    row[threadIdx.x] = a[i + j * n];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; ++k) sum += row[(k * 7) & 127] * b[k];
    __syncthreads();
  }
  b[i] = sum;
}

extern "C" __global__ void chosen(float *a, int n) {
  float x = a[threadIdx.x];
  switch (n) {
    case 1: x = called(x); break;
    case 2: x *= 3; break;
    case 3: x = sqrtf(x); break;
    case 4: x = sinf(x); break;
    case 5: x /= 3.1f; break;
    case 6: x = called(x + 1); break;
    case 7: x = x * x; break;
    default: x = -x;
  }
  a[threadIdx.x] = x;
}

extern "C" __global__ void mixed(double *d, int *counts, int n) {
  double s = 0;
  int own[16];
  for (int i = 0; i < 16; ++i) own[i] = counts[i] + i;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += d[i] / (own[i & 15] + 0.5);
  for (int w = 16; w > 0; w /= 2) s += __shfl_down_sync(0xffffffff, s, w);
  if (threadIdx.x == 0) d[0] = s;
  if (s > 1) atomicAdd(&counts[own[n & 15] & 7], 1);
}

extern "C" __global__ void __launch_bounds__(1024, 2) spilled(const float *a, float *b, int n) {
  float v[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) v[i] = a[threadIdx.x + i * n];
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 48; ++i) v[i] = v[i] * v[(i + 1) % 48] + k;
#pragma unroll
  for (int i = 0; i < 48; ++i) b[threadIdx.x + i * n] = v[i];
}
