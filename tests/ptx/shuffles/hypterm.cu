// Fluxes of a compressible flow by differences of eighth order, in the shape of the kernel for the leading dimension
// of "hypterm": 13 arrays (5 written), offsets to 4, 48 loads. Loads at 1..4 and at -4..-1 are two runs of four
// neighbours along x, with two shuffles each if |N| <= 1, whatever the order. The 12 shuffles that are published are
// then three arrays read so, with 24 loads; the other 24, of five arrays, are along y, where lanes have nothing for
// each other.
// run: hypterm(in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], out f32[2160], out f32[2160], out f32[2160], out f32[2160], out f32[2160], i32=60, i32=12, i32=3, f32=0.8, f32=-0.2, f32=0.038, f32=-0.0035) grid=(2,12,3) block=(32)
// run: hypterm(in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], out f32[2160], out f32[2160], out f32[2160], out f32[2160], out f32[2160], i32=60, i32=12, i32=3, f32=0.8, f32=-0.2, f32=0.038, f32=-0.0035) grid=(2,4,3) block=(33,3)
// run: hypterm(in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], in f32[2160], out f32[2160], out f32[2160], out f32[2160], out f32[2160], out f32[2160], i32=60, i32=12, i32=3, f32=0.8, f32=-0.2, f32=0.038, f32=-0.0035) grid=(1,12,3) block=(96)
// time: hypterm(in f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864], out f32[67108864], out f32[67108864], out f32[67108864], out f32[67108864], out f32[67108864], i32=512, i32=512, i32=256, f32=0.8, f32=-0.2, f32=0.038, f32=-0.0035) grid=(8,128,256) block=(64,4)
static __device__ float difference(const float *__restrict__ a, int at, int step, const float c[4])
{
    return c[0] * (a[at + step] - a[at - step]) + c[1] * (a[at + 2 * step] - a[at - 2 * step])
         + c[2] * (a[at + 3 * step] - a[at - 3 * step]) + c[3] * (a[at + 4 * step] - a[at - 4 * step]);
}

extern "C" __global__ void hypterm(const float *__restrict__ energy, const float *__restrict__ velocity,
                                   const float *__restrict__ pressure, const float *__restrict__ mx,
                                   const float *__restrict__ my, const float *__restrict__ mz,
                                   const float *__restrict__ vy, const float *__restrict__ vz,
                                   float *__restrict__ f0, float *__restrict__ f1, float *__restrict__ f2,
                                   float *__restrict__ f3, float *__restrict__ f4, int nx, int ny, int nz, float c0,
                                   float c1, float c2, float c3)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 4 || j < 4 || i >= nx - 4 || j >= ny - 4 || k >= nz)
        return;
    int at = (k * ny + j) * nx + i;
    float c[4] = {c0, c1, c2, c3};
    float by_velocity = 0.0f, work = 0.0f;
    // What is multiplied is read at the same points, one after the other.
#pragma unroll
    for (int n = 1; n <= 4; n++) {
        float ahead = velocity[at + n], behind = velocity[at - n];
        float pushed = pressure[at + n], pulled = pressure[at - n];
        by_velocity += c[n - 1] * (energy[at + n] * ahead - energy[at - n] * behind);
        work += c[n - 1] * (pushed * ahead - pulled * behind);
    }
    f0[at] = -difference(mx, at, nx, c);
    f1[at] = -difference(my, at, nx, c) - work;
    f2[at] = -c0 * (mz[at + nx] - mz[at - nx]) - c1 * (mz[at + 2 * nx] - mz[at - 2 * nx]);
    f3[at] = -c0 * (vy[at + nx] - vy[at - nx]) * (vz[at + nx] - vz[at - nx]);
    f4[at] = -by_velocity - work;
}
