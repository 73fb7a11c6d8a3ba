// archs: sm_90 sm_100 sm_120
// bfloat16: arithmetic, pairs and conversions.
#include <cuda_bf16.h>

// run: bfloat_scalar(in bf16[1000], in bf16[1000], out bf16[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void bfloat_scalar(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 x = a[i], y = b[i];
    c[i] = __hgt(x, y) ? __hfma(x, y, x) : __hsub(__hneg(x), __hmul(y, y));
}

// run: bfloat_conversions(in f32[1000], out bf16[1000], out f32[1000], out i32[500], i32=500) grid=(4) block=(128)
extern "C" __global__ void bfloat_conversions(const float2 *a, __nv_bfloat162 *c, float2 *d, int *e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat162 pair = __float22bfloat162_rn(a[i]);
    c[i] = __hfma2(pair, pair, __float2bfloat162_rn(a[i].x));
    d[i] = __bfloat1622float2(__hadd2(pair, __floats2bfloat162_rn(a[i].y, 1.0f)));
    e[i] = __bfloat162int_rn(pair.x) + __bfloat162short_rd(pair.y) + (int)__bfloat162float(__float2bfloat16_rz(a[i].x));
}
