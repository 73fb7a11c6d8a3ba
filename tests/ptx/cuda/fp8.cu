// archs: sm_90 sm_100 sm_120
// 8-bit floats: conversions both ways, saturating.
#include <cuda_fp8.h>

// run: to_fp8(in f32[1000] -600..600, out u16[500], out u16[500], i32=500) grid=(4) block=(128)
extern "C" __global__ void to_fp8(const float2 *a, unsigned short *c, unsigned short *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = __nv_cvt_float2_to_fp8x2(a[i], __NV_SATFINITE, __NV_E4M3);
    d[i] = __nv_cvt_float2_to_fp8x2(a[i], __NV_SATFINITE, __NV_E5M2);
}

// run: from_fp8(in u16[500], out u32[500], out u32[500], i32=500) grid=(4) block=(128)
extern "C" __global__ void from_fp8(const unsigned short *a, unsigned *c, unsigned *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned short x = a[i] & 0x7777;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(c[i]) : "h"(x));
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(d[i]) : "h"((unsigned short)(a[i] & 0x3b3b)));
}

// run: fp8_classes(in f32[333], out u8[333], out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void fp8_classes(const float *a, __nv_fp8_e4m3 *c, float *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_fp8_e4m3 x(a[i]);
    c[i] = x;
    d[i] = float(x) + float(__nv_fp8_e5m2(a[i]));
}
