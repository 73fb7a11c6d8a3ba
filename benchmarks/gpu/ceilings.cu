// What the device does at most: bytes copied, and multiply-adds in registers. Every function works on the default stream
// and returns the number of the CUDA error, 0 for none.
#include <cuda_runtime.h>

namespace {

template <int unrolled> __global__ void copy(const float4 *from, float4 *to)
{
  const size_t first = (size_t)blockIdx.x * blockDim.x * unrolled + threadIdx.x;
  float4 held[unrolled];
#pragma unroll
  for (int i = 0; i < unrolled; i++) held[i] = from[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < unrolled; i++) to[first + i * blockDim.x] = held[i];
}

// All points of a cube but its outermost ones, four of a row a thread: the sectors at either end of a row are written in
// part, which costs the second-level cache reads from memory.
__global__ void copy_inner(int extent, const float *from, float *to)
{
  const int vectors = extent / 4, rows = blockDim.y;
  const int column = blockIdx.x % (vectors / 32) * 32 + threadIdx.x;
  const int row = blockIdx.x / (vectors / 32) * rows + threadIdx.y;
  const int plane = row / extent, inside = row % extent;
  if (plane == 0 || plane == extent - 1 || inside == 0 || inside == extent - 1) return;
  const size_t at = (size_t)row * extent + 4 * column;
  const float4 held = *reinterpret_cast<const float4 *>(from + at);
  if (column != 0 && column != vectors - 1) {
    *reinterpret_cast<float4 *>(to + at) = held;
    return;
  }
  if (column != 0) to[at] = held.x;
  to[at + 1] = held.y;
  to[at + 2] = held.z;
  if (column == 0) to[at + 3] = held.w;
}

// Chains that do not wait for each other, each x = x / 2 + 1 / 2, which keeps 1. The factors and the distance of the
// chains, which is 0, are not known to the compiler: equal chains would become one.
constexpr int chains = 8;

__global__ void multiply_adds(int repetitions, float half, float distance, float *result)
{
  float x[chains];
#pragma unroll
  for (int i = 0; i < chains; i++) x[i] = 2.0f * half + i * distance;
#pragma unroll 16
  for (int repetition = 0; repetition < repetitions; repetition++)
#pragma unroll
    for (int i = 0; i < chains; i++) x[i] = fmaf(x[i], half, half);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < chains; i++) sum += x[i];
  result[blockIdx.x * blockDim.x + threadIdx.x] = sum / chains;
}

} // namespace

// Copies `count` floats, a multiple of 16 * threads; a thread holds 1 or 4 float4.
extern "C" int ceilings_copy(int count, const float *from, float *to, int threads, int unrolled)
{
  const int blocks = count / 4 / threads / unrolled;
  const float4 *const source = reinterpret_cast<const float4 *>(from);
  float4 *const target = reinterpret_cast<float4 *>(to);
  if (unrolled == 1) copy<1><<<blocks, threads>>>(source, target);
  else if (unrolled == 4) copy<4><<<blocks, threads>>>(source, target);
  else return cudaErrorInvalidValue;
  return cudaGetLastError();
}

// Of a cube of so many points along each side, a multiple of 128, all that are not on its surface; `rows` a block.
extern "C" int ceilings_copy_inner(int extent, int, int, const float *from, float *to, int rows)
{
  copy_inner<<<extent / 128 * (extent * extent / rows), dim3(32, rows)>>>(extent, from, to);
  return cudaGetLastError();
}

extern "C" int ceilings_memcpy(int count, const float *from, float *to)
{
  return cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice);
}

// The number of chains is fixed here, and has to be the caller's.
extern "C" int ceilings_fma(int blocks, int threads, int repetitions, int wanted_chains, float *result)
{
  if (wanted_chains != chains) return cudaErrorInvalidValue;
  multiply_adds<<<blocks, threads>>>(repetitions, 0.5f, 0.0f, result);
  return cudaGetLastError();
}
