// Inline PTX as people write it: scopes that declare names anew, labels, comments, several statements a line.

// run: scopes(in i32[333], in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void scopes(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i], r;
    asm("{ .reg .pred p; .reg .b32 t1, t2; // two names; 3 digits 4\n\t"
        "  setp.lt.s32 p, %1, %2;   @p sub.s32 t1, %2, %1;   @!p sub.s32 t1, %1, %2;\n\t"
        "  { .reg .b32 t1; .reg .f32 p; /* hides p; and t1 */ cvt.rn.f32.s32 p, %1; cvt.rzi.s32.f32 t1, p; mov.b32 t2, t1; }\n\t"
        "  add.s32 %0, t1, t2; }"
        : "=r"(r) : "r"(x >> 9), "r"(y >> 9));
    int s;
    asm("{\n\t.reg .pred p, q;\n\t.reg .u32 %%tmp;\n\tsetp.eq.u32 p|q, %1, 7;\n\tselp.u32 %%tmp, 1, 2, p;\n\t"
        "@q add.u32 %%tmp, %%tmp, 40; // q = !p\n\tmov.u32 %0, %%tmp;\n\t}" : "=r"(s) : "r"(x & 7));
    c[i] = r + s;
}

// A loop of its own, once in each of two copies.
__device__ __forceinline__ unsigned gcd(unsigned a, unsigned b)
{
    unsigned r;
    asm("{\n\t.reg .pred p;\n\t.reg .u32 x, y, t;\n\tmov.u32 x, %1; mov.u32 y, %2;\n"
        "TOP:\n\tsetp.eq.u32 p, y, 0;\n\t@p bra OUT;\n\trem.u32 t, x, y; mov.u32 x, y; mov.u32 y, t;\n\tbra TOP;\n"
        "OUT: mov.u32 %0, x;\n\t}" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

// run: loops_of_assembly(in u32[333] 1..5000, in u32[333] 0..5000, out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void loops_of_assembly(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = gcd(a[i], b[i]) + 10000 * gcd(b[i] + 6, 24);
}

// Labels made unique by %=, constants by "n", a parameter that is read and written, an address.
// run: operands(in u64[333], out u64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void operands(const unsigned long long *a, unsigned long long *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = a[i];
    unsigned short h = (unsigned short)x;
    unsigned low, high;
    asm volatile("{ .reg .pred p; setp.lo.u64 p, %0, %1; @p bra SKIP_%=; xor.b64 %0, %0, 0xff00ff00; SKIP_%=: }"
                 : "+l"(x) : "l"(0x8000000000000000ull));
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(x));
    asm("mov.b64 %0, {%1, %2};" : "=l"(x) : "r"(high), "r"(low));
    asm("mad.lo.u16 %0, %0, %1, %2;" : "+h"(h) : "n"(37), "h"((unsigned short)i));
    asm("mov.b32 %0, {%1, %1};" : "=r"(low) : "h"(h));
    asm volatile("st.global.u64 [%0+0], %1;" ::"l"(c + i), "l"(x + low) : "memory");
}

// Video instructions, permutes with modes, three-input logic, saturation.
// run: rare_instructions(in u32[333], in u32[333], out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void rare_instructions(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], r, s = 0;
    asm("lop3.b32 %0, %1, %2, %3, 0x1e;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); s ^= r;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i & 3)); s ^= r;
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i & 3)); s += r;
    asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(x & 3)); s += r;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("mul.wide.s16 %0, %1, %2;" : "=r"(r) : "h"((short)x), "h"((short)y)); s ^= r;
    asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s ^= r;
    asm("mul24.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); s ^= r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s = r;
    asm("vadd.u32.s32.s32.sat %0, %1.b0, %2.h1;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("vmad.s32.s32.s32 %0, %1.b1, %2.b3, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s ^= r;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s ^= r;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i & 63)); s ^= r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(i & 63)); s ^= r;
    asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(i & 63)); s ^= r;
    c[i] = s;
}
