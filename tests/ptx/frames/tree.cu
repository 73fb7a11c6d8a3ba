// archs: sm_90 sm_100
// A tree of calls three deep, where the lowest function is called at two heights.
// run: tree(in f32[640], out f32[128], i32=128) grid=(2) block=(64)

__device__ __noinline__ float lowest(const float *a, int i) {
    float v[18], s = 1;
#pragma unroll
    for (int k = 0; k < 18; k++) v[k] = a[(i + 5 * k) & 511];
#pragma unroll
    for (int k = 0; k < 18; k++) s = s * 0.5f + v[k] * v[17 - k];
#pragma unroll
    for (int k = 0; k < 18; k++) s += v[k] * s;
    return s * 0.01f;
}

__device__ __noinline__ float middle(const float *a, int i, float x) {
    float v[12], w[12], s = x;
#pragma unroll
    for (int k = 0; k < 12; k++) v[k] = a[(i + 3 * k) & 511];
    float y = lowest(a, i + 1);
#pragma unroll
    for (int k = 0; k < 12; k++) { w[k] = v[k] * y + a[(i + 9 * k) & 511]; s += v[k]; }
    y += lowest(a, i + 2);
#pragma unroll
    for (int k = 0; k < 12; k++) s += w[k] * y;
    return s;
}

extern "C" __global__ void __launch_bounds__(64) tree(const float *a, float *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float v[10], w[10], s = 0;
#pragma unroll
    for (int k = 0; k < 10; k++) v[k] = a[i + k];
    float x = middle(a, i, v[0]);
#pragma unroll
    for (int k = 0; k < 10; k++) { w[k] = a[i + 2 * k] + x; s += v[k]; }
    if (s > 0) x += lowest(a, i);
#pragma unroll
    for (int k = 0; k < 10; k++) { v[k] = a[i + 7 * k] * x; s += w[k] * x; }
    x = middle(a, i + 3, s);
#pragma unroll
    for (int k = 0; k < 10; k++) s += v[k] * x;
    out[i] = s;
}
