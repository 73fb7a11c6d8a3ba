// archs: sm_100a sm_120a
// Floats of 4 and 6 bits and scales that are powers of two.

// run: narrow_floats(in f32[1000] -8..8, out u32[500], out u32[500], i32=500) grid=(4) block=(128)
extern "C" __global__ void narrow_floats(const float2 *a, unsigned *c, unsigned *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned four, back;
    unsigned short six, scale;
    asm("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; mov.b32 %0, {t, t, t, t}; }" : "=r"(four) : "f"(a[i].x), "f"(a[i].y));
    asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(six) : "f"(a[i].x), "f"(a[i].y));
    asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(scale) : "f"(a[i].x), "f"(a[i].y));
    asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(back) : "h"(six));
    c[i] = four + (six << 8);
    d[i] = scale ^ back;
}
