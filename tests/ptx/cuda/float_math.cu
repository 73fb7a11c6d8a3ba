// Single precision that IEEE 754 determines to the last bit.

// run: roundings(in f32[1000], in f32[1000], out f32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void roundings(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    float s = __fadd_rn(x, y) - __fadd_rz(x, y) * __fadd_ru(x, y) + __fadd_rd(x, y);
    s += __fmul_rz(x, y) + __fmul_ru(x, y) + __fmul_rd(x, y) + __fsub_rd(x, y);
    s += __fmaf_rz(x, y, s) + __fmaf_ru(x, y, s) + __fmaf_rd(x, y, s);
    c[i] = s;
}

// run: divisions(in f32[1000], in f32[1000] 0.5..9, out f32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void divisions(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    c[i] = x / y + __fdiv_rz(x, y) + __fdiv_ru(y, x) + sqrtf(y) + __fsqrt_rd(y) + __frcp_rn(y) + __frcp_rz(x);
}

// Not finite, subnormal and negative zero among them.
// run: specials(in f32[1000] special, in f32[1000] special, out f32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void specials(const float *a, const float *b, float *c, int *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    c[i] = fminf(x, y) + fmaxf(x, 1.0f) * copysignf(1.0f, y);
    d[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | isnan(x) << 4 | isinf(y) << 5
         | signbit(x) << 6 | !(x >= y) << 7 | !(x > y) << 8 | isfinite(x) << 9;
}

// run: to_whole(in f32[1000] -50..50, out f32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void to_whole(const float *a, float *c, int *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i];
    c[i] = floorf(x) + 3 * ceilf(x) + 5 * truncf(x) + 7 * rintf(x) + 11 * roundf(x) + fabsf(x) + __saturatef(x);
    d[i] = __float2int_rd(x) + 3 * __float2int_ru(x) + 5 * __float2int_rz(x) + 7 * __float2int_rn(x)
         + (int)lrintf(x * 4) + ilogbf(x);
}

// run: remainders(in f32[333], in f32[333] 0.25..3, out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void remainders(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int e;
    float m = frexpf(a[i], &e);
    c[i] = fmodf(a[i], b[i]) + ldexpf(m, e / 2) + nextafterf(a[i], b[i]) + fdimf(a[i], b[i]);
}
