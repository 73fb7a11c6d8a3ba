// A velocity from the stresses on a staggered grid: four points along each dimension, xx along x.
// run: uxx1(in f32[1890] 1..2, in f32[1890], in f32[1890], in f32[1890], in f32[1890], out f32[1890], i32=45, i32=7, i32=6, f32=0.5, f32=1.125, f32=-0.05) grid=(2,7,6) block=(32)
// run: uxx1(in f32[1890] 1..2, in f32[1890], in f32[1890], in f32[1890], in f32[1890], out f32[1890], i32=45, i32=7, i32=6, f32=0.5, f32=1.125, f32=-0.05) grid=(2,3,6) block=(33,3)
// run: uxx1(in f32[2000] 1..2, in f32[2000], in f32[2000], in f32[2000], in f32[2000], out f32[2000], i32=80, i32=5, i32=5, f32=0.5, f32=1.125, f32=-0.05) grid=(2,5,5) block=(48)
// time: uxx1(in f32[268435456] 1..2, in f32[268435456], in f32[268435456], in f32[268435456], in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512, f32=0.5, f32=1.125, f32=-0.05) grid=(16,128,512) block=(64,4)
extern "C" __global__ void uxx1(const float *__restrict__ d1, const float *__restrict__ u0,
                                const float *__restrict__ xx, const float *__restrict__ xy,
                                const float *__restrict__ xz, float *__restrict__ u1, int nx, int ny, int nz, float dth,
                                float c1, float c2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 2 || j < 2 || k < 2 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    float density = 0.25f * (d1[at] + d1[at - nx] + d1[at - plane] + d1[at - plane - nx]);
    u1[at] = u0[at] + dth * density * (c1 * (xx[at] - xx[at - 1]) + c2 * (xx[at + 1] - xx[at - 2])
                                       + c1 * (xy[at] - xy[at - nx]) + c2 * (xy[at + nx] - xy[at - 2 * nx])
                                       + c1 * (xz[at] - xz[at - plane]) + c2 * (xz[at + plane] - xz[at - 2 * plane]));
}
