// Where a thread is: along the last, the last but one and the first of up to three coordinates.
#pragma once

__device__ static inline int last() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ static inline int middle() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ static inline int first() { return blockIdx.z * blockDim.z + threadIdx.z; }

#define KERNEL extern "C" __global__ void
