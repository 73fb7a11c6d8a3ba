// archs: sm_90 sm_100
// 64 sums that are live through a loop, in blocks of one to three dimensions, some with half a warp.
// run: accumulators(in f32[2000], in f32[400], out f32[400], i32=400, i32=4) grid=(3) block=(128)
// run: accumulators(in f32[2000], in f32[400], out f32[400], i32=150, i32=3) grid=(2) block=(15,5)
// run: accumulators(in f32[2000], in f32[400], out f32[400], i32=180, i32=3) grid=(2) block=(3,5,6)
// run: accumulators(in f32[2000], in f32[400], out f32[400], i32=33, i32=2) grid=(1) block=(40)

extern "C" __global__ void __launch_bounds__(256)
accumulators(const float *__restrict__ a, const float *__restrict__ b, float *c, int n, int steps) {
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x + blockIdx.x * threads;
    if (i >= n) return;
    float s[64];
#pragma unroll
    for (int j = 0; j < 64; j++) s[j] = a[(i + j) % 64];
    for (int t = 0; t < steps; t++) {
        float x = a[t * n + i];
        if (x > 0) {
#pragma unroll
            for (int j = 0; j < 64; j++) s[j] = s[j] * x + b[t * 64 + j];
        } else {
#pragma unroll
            for (int j = 0; j < 64; j += 2) s[j] = s[j + 1] - x;
        }
    }
    float r = 0;
#pragma unroll
    for (int j = 0; j < 64; j++) r += s[j] * s[(7 * j + 3) % 64];
    c[i] = r;
}
