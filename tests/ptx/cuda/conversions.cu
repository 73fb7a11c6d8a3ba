// Every pair of arithmetic types, with truncation, extension, saturation and rounding.

template <class To, class From> __device__ long long as_integer(From x) { return (long long)(To)x; }

template <class From> __device__ long long to_all(From x)
{
    return as_integer<signed char>(x) + 3 * as_integer<unsigned char>(x) + 5 * as_integer<short>(x)
         + 7 * as_integer<unsigned short>(x) + 11 * as_integer<int>(x) + 13 * as_integer<unsigned>(x)
         + 17 * as_integer<long long>(x) + 19 * as_integer<unsigned long long>(x) + as_integer<bool>(x)
         + 23 * (long long)(float)x + 29 * (long long)(double)x;
}

#define CONVERT(name, From)                                                                \
    extern "C" __global__ void name(const From *a, long long *c, int n)                    \
    {                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
        if (i < n)                                                                         \
            c[i] = to_all<From>(a[i]);                                                     \
    }

// run: from_i8(in i8[333], out i64[333], i32=333) grid=(3) block=(128)
CONVERT(from_i8, signed char)
// run: from_u16(in u16[333], out i64[333], i32=333) grid=(3) block=(128)
CONVERT(from_u16, unsigned short)
// run: from_i32(in i32[333], out i64[333], i32=333) grid=(3) block=(128)
CONVERT(from_i32, int)
// run: from_u64(in u64[333] 0..9000000000000000, out i64[333], i32=333) grid=(3) block=(128)
CONVERT(from_u64, unsigned long long)
// run: from_f32(in f32[333] 0..100, out i64[333], i32=333) grid=(3) block=(128)
CONVERT(from_f32, float)
// run: from_f64(in f64[333] 0..100, out i64[333], i32=333) grid=(3) block=(128)
CONVERT(from_f64, double)

// run: integer_to_float(in i64[333], in u32[333], out f32[333], out f64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void integer_to_float(const long long *a, const unsigned *b, float *c, double *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = __ll2float_rz(a[i]) + __ull2float_ru(a[i]) + __uint2float_rd(b[i]) + __int2float_rn(b[i]);
    d[i] = __ll2double_rd(a[i]) + __ull2double_ru(a[i]) + __uint2double_rn(b[i]) + __longlong_as_double(a[i] >> 2 & 0x3fffffffffffffff);
}

// Saturating, also from what is not finite or out of range.
// run: saturating(in f32[333] special, in i32[333], out i32[333], out i64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void saturating(const float *a, const int *b, int *c, long long *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int s8, u8, s16, u32;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(s8) : "r"(b[i] >> 20));
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(u8) : "r"(b[i] >> 20));
    asm("{ .reg .s16 t; cvt.sat.s16.s32 t, %1; cvt.s32.s16 %0, t; }" : "=r"(s16) : "r"(b[i] >> 8));
    asm("cvt.rzi.sat.u32.f32 %0, %1;" : "=r"(u32) : "f"(a[i]));
    c[i] = s8 + 3 * u8 + 5 * s16 + 7 * u32;
    long long s64;
    unsigned long long u64;
    asm("cvt.rni.s64.f32 %0, %1;" : "=l"(s64) : "f"(a[i] > 1e30f || !(a[i] > -1e30f) ? 2.5f : a[i]));
    asm("cvt.rpi.u64.f64 %0, %1;" : "=l"(u64) : "d"((double)(b[i] & 0xffff) * 0.37));
    d[i] = s64 ^ (long long)u64;
}
