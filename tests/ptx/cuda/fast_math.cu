// flags: -use_fast_math
// The whole file with -use_fast_math: ftz everywhere, approximate division and root.

// run: fast(in f32[1000] 0.1..3, in f32[1000] 0.5..2, out f32[1000], i32=1000) grid=(8) block=(128) approx=1e-4
extern "C" __global__ void fast(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    c[i] = x / y + sqrtf(x) + sinf(x) * cosf(y) + expf(-x) + logf(y) + powf(x, y) + tanhf(x);
}

// Flushing to zero is exact: subnormal sums vanish.
// run: flushed(in f32[333] special, in f32[333] special, out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void flushed(const float *a, const float *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = (a[i] + b[i] == 0.0f) | (a[i] * b[i] > 0.0f) << 1 | (fabsf(a[i]) < 1e-38f) << 2;
}
