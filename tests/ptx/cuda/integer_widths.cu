// Arithmetic in 8, 16, 32 and 64 bits, signed and unsigned, through one template.

template <class T> __device__ T mixed(T a, T b, int shift)
{
    T sum = static_cast<T>(a + b), product = static_cast<T>(a * b);
    T quotient = b == 0 ? a : static_cast<T>(a / b);
    T remainder = b == 0 ? b : static_cast<T>(a % b);
    T shifted = static_cast<T>(static_cast<T>(a << (shift & 3)) ^ static_cast<T>(b >> (shift & 7)));
    T chosen = a < b ? static_cast<T>(a & ~b) : static_cast<T>(a | b);
    return static_cast<T>(sum ^ product ^ quotient ^ static_cast<T>(remainder + shifted - chosen));
}

#define WIDTH(name, T)                                                                   \
    extern "C" __global__ void name(const T *a, const T *b, T *c, int n)                 \
    {                                                                                    \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
        if (i < n)                                                                       \
            c[i] = mixed<T>(a[i], b[i], i);                                              \
    }

// run: width_i8(in i8[1000] -128..126, in i8[1000] 2..127, out i8[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_i8, signed char)
// run: width_u8(in u8[1000], in u8[1000], out u8[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_u8, unsigned char)
// run: width_i16(in i16[1000], in i16[1000] 2..900, out i16[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_i16, short)
// run: width_u16(in u16[1000], in u16[1000], out u16[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_u16, unsigned short)
// run: width_i32(in i32[1000] -30000..30000, in i32[1000] 0..9000, out i32[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_i32, int)
// run: width_u32(in u32[1000], in u32[1000] 0..1000000, out u32[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_u32, unsigned)
// run: width_i64(in i64[1000] -3000000000..3000000000, in i64[1000] 0..900000000, out i64[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_i64, long long)
// run: width_u64(in u64[1000], in u64[1000], out u64[1000], i32=1000) grid=(4) block=(256)
WIDTH(width_u64, unsigned long long)

// Powers of two, and divisors known to the compiler: mul.hi and shifts instead of div.
// run: constant_divisors(in i32[333], in u64[333], out i32[333], out u64[333], i32=333) grid=(6) block=(64)
extern "C" __global__ void constant_divisors(const int *a, const unsigned long long *b, int *c,
                                             unsigned long long *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = a[i] / 7 + a[i] % 16 + a[i] / 1000 - a[i] / -3;
    d[i] = b[i] / 10 + b[i] % 1000003 + b[i] / 4096;
}
