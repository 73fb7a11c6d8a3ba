// The matrix product in the shape of the paper's figure 4: tiles of both factors in shared memory, s elements of c a
// thread, ub1 apart, summed up in global memory; block shape and s are run-time values. The first leaf of specs/matmul.mf
// is this kernel; the copy here also multiplies rectangles, and is the yardstick of what tiles in registers gain.
#include <cuda_runtime.h>

namespace {

__global__ void product(int n, int k, const float *a, const float *b, float *c, int B0, int ub1, int s)
{
  extern __shared__ float tiles[]; // B0 x B0 of a, B0 x (s*ub1) of b
  float *const tile_a = tiles, *const tile_b = tiles + B0 * B0;
  const int width = s * ub1, u = threadIdx.x, v = threadIdx.y;
  const int p = blockIdx.y * B0 + v, q = blockIdx.x * width + u;
  for (int step = 0; step < k / B0; step++) {
    for (int x0 = threadIdx.y; x0 < B0; x0 += blockDim.y)
      for (int x1 = threadIdx.x; x1 < B0; x1 += blockDim.x)
        tile_a[x0 * B0 + x1] = a[(long)(blockIdx.y * B0 + x0) * k + B0 * step + x1];
    for (int x0 = threadIdx.y; x0 < B0; x0 += blockDim.y)
      for (int x1 = threadIdx.x; x1 < width; x1 += blockDim.x)
        tile_b[x0 * width + x1] = b[(long)(B0 * step + x0) * n + blockIdx.x * width + x1];
    __syncthreads();
    for (int z = 0; z < B0; z++)
      for (int w = 0; w < s; w++)
        c[(long)p * n + q + w * ub1] += tile_a[v * B0 + z] * tile_b[z * width + w * ub1 + u];
    __syncthreads();
  }
}

} // namespace

// Adds a (m x k) times b (k x n) to c; B0 has to divide m and k, s*ub1 has to divide n. Returns a CUDA error, 0 for none.
extern "C" int figure4_matmul(int m, int n, int k, const float *a, const float *b, float *c, int B0, int ub1, int s)
{
  const int bytes = (B0 * B0 + B0 * ub1 * s) * (int)sizeof(float);
  const cudaError_t error = cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  product<<<dim3(n / (ub1 * s), m / B0), dim3(ub1, B0), bytes>>>(n, k, a, b, c, B0, ub1, s);
  return cudaGetLastError();
}
