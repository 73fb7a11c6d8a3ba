// 16-bit floats of IEEE 754, one and two a register.
#include <cuda_fp16.h>

// run: half_scalar(in f16[1000], in f16[1000], out f16[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void half_scalar(const __half *a, const __half *b, __half *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half x = a[i], y = b[i];
    __half s = __hfma(x, y, __hadd(x, y)) - __hmul(x, y);
    if (__hlt(x, y))
        s = __hneg(s);
    c[i] = __hadd_sat(__habs(s), __hmul(x, __float2half(0.125f)));
}

// run: half_pairs(in f16[1000], in f16[1000], out f16[1000], out u32[500], i32=500) grid=(4) block=(128)
extern "C" __global__ void half_pairs(const __half2 *a, const __half2 *b, __half2 *c, unsigned *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 x = a[i], y = b[i];
    c[i] = __hfma2(x, y, __lowhigh2highlow(x)) + __halves2half2(__low2half(y), __high2half(x));
    d[i] = __hbgt2(x, y) + 2 * __hbeq2(x, x) + __heq2_mask(x, y) + __half2int_rn(x.x) + __half2ushort_rz(__habs(y.y));
}

// run: half_conversions(in f32[1000] -60..60, out f16[1000], out f32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void half_conversions(const float *a, __half *c, float *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half rn = __float2half_rn(a[i]), rz = __float2half_rz(a[i]), ru = __float2half_ru(a[i]);
    c[i] = rn + rz + ru + __int2half_rn((int)a[i]) + hfloor(rn) + hceil(rz) + hrint(ru) + htrunc(rn);
    d[i] = __half2float(rn) + __half2float(__double2half(a[i] * 3.0)) + (float)__half2ll_rd(rn);
}

// run: half_approximate(in f16[333] 0.5..2, out f16[333], i32=333) grid=(3) block=(128) approx=5e-3
extern "C" __global__ void half_approximate(const __half *a, __half *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = hexp(a[i]) + hlog2(a[i]) + hsqrt(a[i]) + hrcp(a[i]) + hsin(a[i]) + a[i] / __float2half(3.0f);
}
