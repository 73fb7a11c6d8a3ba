// archs: sm_90 sm_100 sm_120
// Minimum, maximum and relu of 16-bit floats, which begin with sm_80.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// run: half_minimum(in f16[1000], in f16[1000], out f16[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void half_minimum(const __half *a, const __half *b, __half *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __hmin(a[i], b[i]) + __hmax_nan(a[i], b[i]) + __hfma_relu(a[i], b[i], a[i]);
}

// run: bfloat_minimum(in bf16[1000], in bf16[1000], out bf16[1000], i32=500) grid=(4) block=(128)
extern "C" __global__ void bfloat_minimum(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __hadd2(__hmin2(a[i], b[i]), __hmax2(a[i], __hfma2_relu(b[i], a[i], b[i])));
}

// Three sources, and the sign of an exclusive or.
// run: three_way(in f32[333] special, in f32[333] special, out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void three_way(const float *a, const float *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float low, high;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(low) : "f"(a[i]), "f"(b[i]));
    asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(high) : "f"(a[i]), "f"(b[i]));
    c[i] = __float_as_uint(low) ^ (high == high ? __float_as_uint(high) : 1u);
}
