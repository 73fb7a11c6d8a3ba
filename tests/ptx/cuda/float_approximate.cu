// Approximate instructions and the functions made of them.

// run: approximate(in f32[1000] 0.1..3, in f32[1000] 0.5..2, out f32[1000], i32=1000) grid=(8) block=(128) approx=1e-5
extern "C" __global__ void approximate(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    float s = __sinf(x) + __cosf(y) + __expf(x) + __logf(y) + __fdividef(x, y) + __powf(x, y) + __exp10f(y);
    c[i] = s + rsqrtf(x) + __log2f(x) + exp2f(y) + __frsqrt_rn(y) + __tanf(y * 0.5f);
}

// run: library(in f32[1000] 0.1..3, in f32[1000] 0.5..2, out f32[1000], i32=1000) grid=(8) block=(128) approx=1e-5
extern "C" __global__ void library(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], s, t;
    sincosf(x, &s, &t);
    c[i] = s * t + expf(x) + logf(y) + powf(x, y) + tanhf(x) + atanf(y) + erff(x) + cbrtf(y) + hypotf(x, y) + sinhf(y);
}

// The argument reduction of sin for large arguments: a loop over a table in constant memory, a local array.
// run: large_angles(in f32[333] 100000..9000000, out f32[333], i32=333) grid=(3) block=(128) approx=1e-4
extern "C" __global__ void large_angles(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = sinf(a[i]) + cosf(a[i] * 16);
}

// run: approximate_inline(in f32[333] 0.25..2, out f32[333], i32=333) grid=(3) block=(128) approx=1e-3
extern "C" __global__ void approximate_inline(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], r, s = 0;
    asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); s += r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); s += r;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); s += r;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); s += r;
    asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(x + 1)); s += r;
    double d;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(d) : "d"((double)x)); s += (float)d;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(d) : "d"((double)x)); s += (float)d;
    c[i] = s;
}
