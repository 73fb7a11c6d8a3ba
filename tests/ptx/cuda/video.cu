// Instructions for video: bytes and halves selected, merged, accumulated, saturated; two and four in a register.

// run: video_scalar(in u32[333], in u32[333], in u32[333], out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void video_scalar(const unsigned *a, const unsigned *b, const unsigned *d, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], z = d[i], r, s = 0;
    asm("vadd.u32.u32.s32 %0, %1.b2, %2.h0;" : "=r"(r) : "r"(x), "r"(y)); s ^= r;
    asm("vsub.s32.u32.u32.sat %0.b1, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s += r;
    asm("vabsdiff.u32.s32.s32.add %0, %1.h1, %2.b3, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    asm("vmin.s32.s32.s32 %0.h0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s += r;
    asm("vmax.u32.u32.u32.max %0, %1.b0, %2.b1, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    asm("vshl.u32.u32.u32.clamp %0, %1, %2.b0;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("vshr.s32.s32.u32.wrap %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); s ^= r;
    asm("vset.u32.s32.lt %0, %1.h0, %2.h1;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("vmad.s32.u32.u32.shr7 %0, %1.b0, %2.b2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    c[i] = s;
}

// run: video_vector(in u32[333], in u32[333], in u32[333], out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void video_vector(const unsigned *a, const unsigned *b, const unsigned *d, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], z = d[i], r, s = 0;
    asm("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    asm("vsub2.s32.s32.s32 %0.h10, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s += r;
    asm("vavrg2.s32.s32.s32 %0, %1.h10, %2.h32, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    asm("vmin4.u32.u32.u32 %0.b3210, %1.b3210, %2.b7654, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s += r;
    asm("vmax2.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    asm("vset4.u32.u32.ge %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s += r;
    asm("vabsdiff2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); s ^= r;
    c[i] = s;
}
