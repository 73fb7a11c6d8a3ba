// Kernels with many numbers of registers and static shared sizes, and what the CUDA runtime says of their occupancy.
#include <cuda_runtime.h>

// LIVE values are read before the first one is used, and used from the last one to the first, so that all are alive.
template <int LIVE, int SHARED, int CAP>
__device__ void body(float *data, int stride)
{
  __shared__ char shared[SHARED > 0 ? SHARED : 1];
  float values[LIVE];
#pragma unroll
  for (int k = 0; k < LIVE; k++) values[k] = data[k * stride + threadIdx.x];
  if (SHARED > 0) {
    for (int k = threadIdx.x; k < SHARED; k += blockDim.x) shared[k] = char(k * stride);
    __syncthreads();
    values[0] += shared[(threadIdx.x * stride) % (SHARED > 0 ? SHARED : 1)];
  }
  __syncthreads();
  float sum = 1;
#pragma unroll
  for (int k = LIVE - 1; k >= 0; k--) data[k * stride + threadIdx.x] = sum = sum * values[k] + float(k);
}

#define KERNEL(LIVE, SHARED, CAP) \
  __global__ void __maxnreg__(CAP) live##LIVE##_shared##SHARED##_cap##CAP(float *data, int stride) \
  { body<LIVE, SHARED, CAP>(data, stride); }
#include "kernels.inc"
#undef KERNEL

struct Entry { const void *kernel; };
#define KERNEL(LIVE, SHARED, CAP) { (const void *)live##LIVE##_shared##SHARED##_cap##CAP },
static const Entry entries[] = {
#include "kernels.inc"
};
#undef KERNEL

extern "C" int occupancy_kernels() { return int(sizeof entries / sizeof entries[0]); }

// Registers of a thread, static shared bytes, most threads of a block; the dynamic limit is raised as far as it goes.
extern "C" int occupancy_attributes(int number, int optin, int *registers, int *shared, int *threads)
{
  cudaFuncAttributes found;
  cudaError_t error = cudaFuncGetAttributes(&found, entries[number].kernel);
  if (error != cudaSuccess) return error;
  *registers = found.numRegs;
  *shared = int(found.sharedSizeBytes);
  *threads = found.maxThreadsPerBlock;
  error = cudaFuncSetAttribute(entries[number].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, optin - *shared);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(entries[number].kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
}

// Blocks that a multiprocessor holds; negative where the runtime refuses to answer.
extern "C" int occupancy_blocks(int number, int threads, int dynamic)
{
  int blocks = 0;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entries[number].kernel, threads, size_t(dynamic));
  if (error == cudaSuccess) return blocks;
  cudaGetLastError();
  return -int(error);
}

extern "C" int occupancy_architecture(char *name, int length)
{
  cudaDeviceProp found;
  const cudaError_t error = cudaGetDeviceProperties(&found, 0);
  if (error != cudaSuccess) return -int(error);
  for (int k = 0; k < length; k++) name[k] = found.name[k];
  name[length - 1] = 0;
  return found.major * 10 + found.minor;
}
