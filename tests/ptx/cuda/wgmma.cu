// archs: sm_90a
// Products by a group of four warps that reads its matrices from shared memory, and warps with different numbers of
// registers. Whole numbers: the sums are exact.
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Without swizzling: matrices of 8 rows of 16 bytes lie one after the other; strides are in units of 16 bytes.
__device__ __forceinline__ unsigned long long descriptor(const void *p, unsigned leading, unsigned stride)
{
    return (unsigned long long)(shared_address(p) >> 4 & 0x3fff) | (unsigned long long)leading << 16
         | (unsigned long long)stride << 32;
}

// run: wgmma_half(in f16[1024] whole -4..4, in f16[128] whole -4..4, out f32[512]) grid=(1) block=(128)
extern "C" __global__ void wgmma_half(const __half *a, const __half *b, float *c)
{
    __shared__ alignas(128) __half sa[1024];
    __shared__ alignas(128) __half sb[128];
    // 64 x 16 and 8 x 16, each as core matrices of 8 x 8: first along k, then along the rows.
    for (int i = threadIdx.x; i < 1024; i += 128) {
        int row = i / 16, k = i % 16;
        sa[(row / 8 * 2 + k / 8) * 64 + row % 8 * 8 + k % 8] = a[i];
    }
    int row = threadIdx.x / 16, k = threadIdx.x % 16;
    sb[k / 8 * 64 + row * 8 + k % 8] = b[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d0 = 1, d1 = 2, d2 = 3, d3 = 4;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %6, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n\t}"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(descriptor(sa, 8, 16)), "l"(descriptor(sb, 8, 16)), "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *to = c + (warp * 16 + lane / 4) * 8 + lane % 4 * 2;
    to[0] = d0, to[1] = d1, to[64] = d2, to[65] = d3;
}

// The first matrix in registers.
// run: wgmma_of_registers(in f16[128] whole -4..4, out f32[512]) grid=(1) block=(128)
extern "C" __global__ void wgmma_of_registers(const __half *b, float *c)
{
    __shared__ alignas(128) __half sb[128];
    int row = threadIdx.x / 16, k = threadIdx.x % 16;
    sb[k / 8 * 64 + row * 8 + k % 8] = b[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    unsigned x = threadIdx.x & 1 ? 0x3c004000u : 0x42003c00u;
    asm volatile("wgmma.fence.sync.aligned;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %5, %5}, %6, 0, 1, 1, 0;\n\t"
                 "wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x), "r"(x ^ 0x80000000u), "l"(descriptor(sb, 8, 16)) : "memory");
    for (int i = 0; i < 4; i++)
        c[4 * threadIdx.x + i] = d[i];
}

// One group of warps gives registers to the other; one lane of a warp is elected.
// run: specialised(in f32[256], out f32[256]) grid=(1) block=(256)
extern "C" __global__ void __launch_bounds__(256, 1) specialised(const float *a, float *c)
{
    __shared__ float buffer[256];
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        unsigned elected;
        asm volatile("{ .reg .pred P; elect.sync _|P, 0xffffffff; selp.u32 %0, 1, 0, P; }" : "=r"(elected));
        unsigned total = __popc(__ballot_sync(~0u, elected));
        buffer[threadIdx.x] = a[threadIdx.x] * total;
        buffer[threadIdx.x + 128] = a[threadIdx.x + 128];
        asm volatile("bar.sync 1, 256;" ::: "memory");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        asm volatile("bar.sync 1, 256;" ::: "memory");
        for (int i = threadIdx.x - 128; i < 256; i += 128)
            c[i] = buffer[255 - i] + 1;
    }
}
