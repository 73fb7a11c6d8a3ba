// Interpolation by cubics in 4 x 4 x 4 points, at places that three arrays hold.
// run: tricubic(in f32[1350] 0..1, in f32[1350] 0..1, in f32[1350] 0..1, in f32[1350], out f32[1350], i32=45, i32=6, i32=5) grid=(2,6,5) block=(32)
// run: tricubic(in f32[1350] 0..1, in f32[1350] 0..1, in f32[1350] 0..1, in f32[1350], out f32[1350], i32=45, i32=6, i32=5) grid=(2,2,5) block=(33,3)
// run: tricubic(in f32[2000] 0..1, in f32[2000] 0..1, in f32[2000] 0..1, in f32[2000], out f32[2000], i32=80, i32=5, i32=5) grid=(2,5,5) block=(48)
// time: tricubic(in f32[268435456] 0..1, in f32[268435456] 0..1, in f32[268435456] 0..1, in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512) grid=(16,128,512) block=(64,4)
static __device__ void weights(float t, float w[4])
{
    w[0] = t * (t - 1.0f) * (2.0f - t) * (1.0f / 6.0f);
    w[1] = (t + 1.0f) * (t - 1.0f) * (t - 2.0f) * 0.5f;
    w[2] = (t + 1.0f) * t * (2.0f - t) * 0.5f;
    w[3] = (t + 1.0f) * t * (t - 1.0f) * (1.0f / 6.0f);
}

extern "C" __global__ void tricubic(const float *__restrict__ a, const float *__restrict__ b,
                                    const float *__restrict__ c, const float *__restrict__ u0, float *__restrict__ u1,
                                    int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 2 || j >= ny - 2 || k >= nz - 2)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    float x[4], y[4], z[4], sum = 0.0f;
    weights(a[at], x);
    weights(b[at], y);
    weights(c[at], z);
#pragma unroll
    for (int up = 0; up < 4; up++)
#pragma unroll
        for (int north = 0; north < 4; north++) {
            int row = at + (up - 1) * plane + (north - 1) * nx;
            sum += z[up] * y[north]
                 * (x[0] * u0[row - 1] + x[1] * u0[row] + x[2] * u0[row + 1] + x[3] * u0[row + 2]);
        }
    u1[at] = sum;
}
