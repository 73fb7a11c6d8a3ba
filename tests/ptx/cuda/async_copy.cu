// archs: sm_90 sm_100 sm_120
// Copies from global to shared memory that do not pass through registers, in groups.
#include <cuda_pipeline_primitives.h>

// run: pipelined(in f32[1024], out f32[256], i32=4) grid=(2) block=(128) smem=1024
extern "C" __global__ void pipelined(const float *a, float *c, int stages)
{
    extern __shared__ float buffer[];
    const float *from = a + blockIdx.x * 128 * stages;
    float s = 0;
    __pipeline_memcpy_async(buffer + threadIdx.x, from + threadIdx.x, 4);
    __pipeline_commit();
    for (int k = 0; k < stages; k++) {
        if (k + 1 < stages)
            __pipeline_memcpy_async(buffer + (k + 1) % 2 * 128 + threadIdx.x, from + (k + 1) * 128 + threadIdx.x, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        s = s * 0.5f + buffer[k % 2 * 128 + 127 - threadIdx.x];
        __syncthreads();
    }
    c[blockIdx.x * 128 + threadIdx.x] = s;
}

// 16 bytes at a time past the first-level cache, fewer than asked for (the rest becomes zero), and all groups at once.
// run: partly_zero(in u32[256], out u32[256]) grid=(1) block=(64)
extern "C" __global__ void partly_zero(const uint4 *a, uint4 *c)
{
    __shared__ uint4 buffer[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(buffer + threadIdx.x), bytes = threadIdx.x % 5 * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(a + threadIdx.x), "r"(bytes) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_all;" ::: "memory");
    __syncthreads();
    c[threadIdx.x] = buffer[63 - threadIdx.x];
}

// run: with_hints(in u64[64], out u64[64]) grid=(1) block=(64)
extern "C" __global__ void with_hints(const unsigned long long *a, unsigned long long *c)
{
    __shared__ unsigned long long buffer[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(buffer + threadIdx.x);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n\t"
                 "@p cp.async.ca.shared::cta.global.L2::128B [%0], [%1], 8;\n\t"
                 "@!p cp.async.ca.shared.global [%0], [%1], 8, 0;\n\t"
                 "cp.async.commit_group; cp.async.wait_group 0; }" ::"r"(to), "l"(a + threadIdx.x), "r"(threadIdx.x & 3) : "memory");
    __syncthreads();
    c[threadIdx.x] = buffer[threadIdx.x ^ 1];
}
