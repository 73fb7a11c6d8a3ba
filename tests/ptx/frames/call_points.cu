// archs: sm_90 sm_100
// Three calls where other values are live each time, as in figure 6 of the paper Orion; a loop around calls.
// run: points(in f32[640], out f32[128], i32=128) grid=(2) block=(64)
// run: points_in_loop(in f32[640], out f32[128], i32=128) grid=(2) block=(64)

__device__ __noinline__ float foo(const float *a, int i, float x) {
    float v[30], s = x;
#pragma unroll
    for (int k = 0; k < 30; k++) v[k] = a[(i + 13 * k) & 511];
#pragma unroll
    for (int k = 0; k < 30; k++) s = s * v[k] + v[29 - k];
#pragma unroll
    for (int k = 0; k < 30; k++) s += v[k] * (v[(k + 7) % 30] - s);
    return s * 0.001f;
}

#define GROUP 7

// Three groups of values: two live at each call, every time others.
extern "C" __global__ void __launch_bounds__(64) points(const float *a, float *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float p[GROUP], q[GROUP], r[GROUP], s = 0;
#pragma unroll
    for (int k = 0; k < GROUP; k++) { p[k] = a[i + k] + 1; r[k] = a[i + 2 * k] - 1; }
    float x = foo(a, i, 1);
#pragma unroll
    for (int k = 0; k < GROUP; k++) { q[k] = a[i + 3 * k] * x; s += p[k] * q[GROUP - 1 - k]; }
    x = foo(a, i + 1, s);
#pragma unroll
    for (int k = 0; k < GROUP; k++) { p[k] = a[i + 4 * k] + x; s += q[k] * r[k] - p[k]; }
    x = foo(a, i + 2, s);
#pragma unroll
    for (int k = 0; k < GROUP; k++) s += p[k] * q[GROUP - 1 - k] + x;
    out[i] = s;
}

// Accumulators that live over all calls, and values between two calls, in a loop.
extern "C" __global__ void __launch_bounds__(64) points_in_loop(const float *a, float *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float sum[8], p[GROUP], q[GROUP];
#pragma unroll
    for (int k = 0; k < 8; k++) sum[k] = a[i + k];
#pragma unroll 1
    for (int t = 0; t < 3; t++) {
#pragma unroll
        for (int k = 0; k < GROUP; k++) p[k] = a[i + k + t] + t;
        float x = foo(a, i + t, p[0]);
#pragma unroll
        for (int k = 0; k < GROUP; k++) q[k] = a[i + 2 * k + t] * x + p[k];
        x = foo(a, i + 2 * t, q[1]);
#pragma unroll
        for (int k = 0; k < GROUP; k++) sum[k & 7] += q[k] * x;
        x = foo(a, i + 3 * t, x);
#pragma unroll
        for (int k = 0; k < 8; k++) sum[k] = sum[k] * 0.5f + x;
    }
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += sum[k];
    out[i] = s;
}
