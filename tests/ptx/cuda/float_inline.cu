// Floating-point instructions that no operator of C gives: testp, copysign, slct, set, ftz, sat.

// run: float_inline(in f32[1000] special, in f32[1000] special, out u32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void float_inline(const float *a, const float *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], z, w;
    unsigned r = 0, s;
#define TEST(kind)                                                                                     \
    asm("{ .reg .pred p; testp." kind ".f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(s) : "f"(x));       \
    r = 2 * r + s;
    TEST("finite") TEST("infinite") TEST("number") TEST("notanumber") TEST("normal") TEST("subnormal")
    asm("copysign.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    r ^= __float_as_uint(z);
    asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(z) : "f"(x), "f"(y), "f"(y));
    r += __float_as_uint(z);
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(r), "r"(i), "r"(i - 500));
    r ^= s << 1;
    asm("set.lt.u32.f32 %0, %1, %2;" : "=r"(s) : "f"(x), "f"(y));
    r += 3 * s;
    asm("set.geu.f32.f32 %0, %1, %2;" : "=f"(w) : "f"(x), "f"(y));
    r += __float_as_uint(w);
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(w) : "f"(x), "f"(y));
    if (w == w)
        r ^= __float_as_uint(w);
    asm("fma.rn.sat.f32 %0, %1, %2, %2;" : "=f"(w) : "f"(x), "f"(y));
    r += __float_as_uint(w);
    asm("neg.ftz.f32 %0, %1; abs.f32 %0, %0;" : "=f"(w) : "f"(x));
    if (w == w)
        r += __float_as_uint(w);
    asm("{ .reg .pred p, q; setp.lt.f32 q, %1, 0f3F800000; setp.num.and.f32 p|q, %1, %2, q; @!q add.u32 %0, %0, 5; @p add.u32 %0, %0, 1; }"
        : "+r"(r) : "f"(x), "f"(y));
    c[i] = r;
}
