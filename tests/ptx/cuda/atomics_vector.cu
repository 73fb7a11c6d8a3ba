// archs: sm_90 sm_100 sm_120
// Atomics that begin with sm_90: vectors of floats, bfloat16, 128 bits.
#include <cuda_bf16.h>

// run: sums_of_vectors(in f32[1332] whole -9..9, inout f32[8] whole 0..9, inout f32[2] whole 0..9, i32=333) grid=(3) block=(128)
extern "C" __global__ void sums_of_vectors(const float4 *a, float4 *four, float2 *two, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(four + (i & 1), a[i]);
    atomicAdd(two, make_float2(a[i].x, 1.0f));
}

// run: sums_of_bfloats(in f32[100] whole 0..1, inout bf16[4] whole 0..1, i32=100) grid=(1) block=(128)
extern "C" __global__ void sums_of_bfloats(const float *a, __nv_bfloat162 *c, int n)
{
    int i = threadIdx.x;
    if (i < n)
        atomicAdd(c + (i & 1), __floats2bfloat162_rn(a[i], 1.0f));
}

// 128 bits compared and swapped: two counters that move as one.
// run: both_counters(inout u64[2] 0..5, i32=200) grid=(2) block=(100)
extern "C" __global__ void both_counters(unsigned long long *pair, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long low = pair[0], high = pair[1], seen_low, seen_high;
    for (;;) {
        asm volatile("{ .reg .b128 expected, wanted, seen;\n\t"
                     "mov.b128 expected, {%3, %4}; mov.b128 wanted, {%5, %6};\n\t"
                     "atom.relaxed.gpu.global.cas.b128 seen, [%2], expected, wanted;\n\t"
                     "mov.b128 {%0, %1}, seen; }"
                     : "=l"(seen_low), "=l"(seen_high)
                     : "l"(pair), "l"(low), "l"(high), "l"(low + i), "l"(high + 1)
                     : "memory");
        if (seen_low == low && seen_high == high)
            break;
        low = seen_low, high = seen_high;
    }
}
