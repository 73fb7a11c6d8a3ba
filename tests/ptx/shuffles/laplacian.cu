// Laplacian of seven points.
// run: laplacian(in f32[1350], out f32[1350], i32=45, i32=6, i32=5, f32=-0.5, f32=0.1) grid=(2,6,5) block=(32)
// run: laplacian(in f32[1350], out f32[1350], i32=45, i32=6, i32=5, f32=-0.5, f32=0.1) grid=(2,2,5) block=(33,3)
// run: laplacian(in f32[1800], out f32[1800], i32=100, i32=6, i32=3, f32=-0.5, f32=0.1) grid=(3,6,3) block=(48)
// time: laplacian(in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512, f32=-0.5, f32=0.1) grid=(16,128,512) block=(64,4)
extern "C" __global__ void laplacian(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny, int nz,
                                     float alpha, float beta)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    w1[at] = alpha * w0[at]
           + beta * (w0[at + 1] + w0[at - 1] + w0[at + nx] + w0[at - nx] + w0[at + plane] + w0[at - plane]);
}
