// A symmetrical filter of 17 taps over one row, a point a thread: of 17 loads 16 are in lanes nearby. Eight points of
// border.
// run: row17(in f32[3000], out f32[3000], i32=3000, f32=0.3, f32=0.2, f32=0.1, f32=0.05, f32=0.025, f32=0.0125, f32=0.5, f32=-0.25, f32=0.125) grid=(94) block=(32)
// run: row17(in f32[3000], out f32[3000], i32=3000, f32=0.3, f32=0.2, f32=0.1, f32=0.05, f32=0.025, f32=0.0125, f32=0.5, f32=-0.25, f32=0.125) grid=(63) block=(48)
// run: row17(in f32[3000], out f32[3000], i32=3000, f32=0.3, f32=0.2, f32=0.1, f32=0.05, f32=0.025, f32=0.0125, f32=0.5, f32=-0.25, f32=0.125) grid=(32) block=(96)
// time: row17(in f32[268435456], out f32[268435456], i32=268435456, f32=0.3, f32=0.2, f32=0.1, f32=0.05, f32=0.025, f32=0.0125, f32=0.5, f32=-0.25, f32=0.125) grid=(1048576) block=(256)
extern "C" __global__ void row17(const float *__restrict__ a, float *__restrict__ b, int n, float s0, float s1, float s2,
                                 float s3, float s4, float s5, float s6, float s7, float s8)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8 || i >= n - 8)
        return;
    const float weights[9] = {s0, s1, s2, s3, s4, s5, s6, s7, s8};
    float sum = s0 * a[i];
#pragma unroll
    for (int x = 1; x <= 8; x++)
        sum += weights[x] * (a[i - x] + a[i + x]);
    b[i] = sum;
}
