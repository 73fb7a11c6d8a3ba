// archs: sm_90 sm_100
// Doubles and vectors of floats over calls, and as parameters and results.
// run: doubles(in f64[640], out f64[128], i32=128) grid=(2) block=(64)
// run: vectors(in f32[2560], out f32[512], i32=128) grid=(2) block=(64)

__device__ __noinline__ double of_doubles(const double *a, int i, double x) {
    double v[9], s = x;
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = a[(i + 11 * k) & 511];
#pragma unroll
    for (int k = 0; k < 9; k++) s = s * 0.5 + v[k] * v[8 - k];
#pragma unroll
    for (int k = 0; k < 9; k++) s -= v[k] * s;
    return s * 0.001;
}

extern "C" __global__ void __launch_bounds__(64) doubles(const double *a, double *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    double v[5], w[5], s = 0;
    float f[4];
#pragma unroll
    for (int k = 0; k < 5; k++) v[k] = a[i + k];
#pragma unroll
    for (int k = 0; k < 4; k++) f[k] = (float)a[i + 20 + k];
    double x = of_doubles(a, i, v[0]);
#pragma unroll
    for (int k = 0; k < 5; k++) { w[k] = a[i + 6 * k] + x; s += v[k] * w[k]; }
    x = of_doubles(a, i + 1, s);
#pragma unroll
    for (int k = 0; k < 4; k++) s += f[k] * x;
    x += of_doubles(a, i + 2, s);
#pragma unroll
    for (int k = 0; k < 5; k++) s += w[k] * x;
    out[i] = s;
}

__device__ __noinline__ float4 of_vectors(const float4 *a, int i, float4 x) {
    float4 v[7];
#pragma unroll
    for (int k = 0; k < 7; k++) v[k] = a[(i + 11 * k) & 511];
#pragma unroll
    for (int k = 0; k < 7; k++) {
        x.x = x.x * 0.5f + v[k].y; x.y = x.y * 0.5f + v[6 - k].z; x.z = x.z * 0.5f + v[k].w; x.w = x.w * 0.5f + v[6 - k].x;
    }
#pragma unroll
    for (int k = 0; k < 7; k++) { x.x += v[k].x * x.y; x.y -= v[k].z * x.z; x.z += v[k].y * 0.1f; x.w += v[k].w * x.x; }
    return make_float4(x.x * 0.01f, x.y * 0.01f, x.z * 0.01f, x.w * 0.01f);
}

extern "C" __global__ void __launch_bounds__(64) vectors(const float4 *a, float4 *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float4 p = a[i], q = a[i + 1], r = a[i + 2], s = a[i + 3];
    float4 x = of_vectors(a, i, p);
    s.x += p.x * x.x; s.y += p.y * x.y; s.z += p.z * x.z; s.w += p.w * x.w;
    p = a[i + 5];
    x = of_vectors(a, i + 1, s);
    s.x += q.x * x.x; s.y += q.y * x.y; s.z += q.z * x.z; s.w += q.w * x.w;
    q = a[i + 6];
    x = of_vectors(a, i + 2, s);
    s.x += r.x * x.x; s.y += r.y * x.y; s.z += r.z * x.z; s.w += r.w * x.w;
    x = of_vectors(a, i + 3, s);
    out[i] = make_float4(s.x + p.x * x.x + q.x, s.y + p.y * x.y + q.y, s.z + p.z * x.z + q.z, s.w + p.w * x.w + q.w);
}
