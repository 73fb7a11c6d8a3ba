// Divergence by central differences; the two loads of ux are two apart.
// run: divergence(in f32[1350], in f32[1350], in f32[1350], out f32[1350], i32=45, i32=6, i32=5, f32=0.5, f32=0.25, f32=2) grid=(2,6,5) block=(32)
// run: divergence(in f32[1350], in f32[1350], in f32[1350], out f32[1350], i32=45, i32=6, i32=5, f32=0.5, f32=0.25, f32=2) grid=(2,3,5) block=(31,2)
// run: divergence(in f32[2412], in f32[2412], in f32[2412], out f32[2412], i32=134, i32=6, i32=3, f32=0.5, f32=1, f32=2) grid=(3,6,3) block=(48)
// time: divergence(in f32[268435456], in f32[268435456], in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512, f32=0.5, f32=0.25, f32=2) grid=(16,128,512) block=(64,4)
extern "C" __global__ void divergence(const float *__restrict__ ux, const float *__restrict__ uy,
                                      const float *__restrict__ uz, float *__restrict__ u, int nx, int ny, int nz,
                                      float alpha, float beta, float gamma)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    u[at] = alpha * (ux[at + 1] - ux[at - 1]) + beta * (uy[at + nx] - uy[at - nx])
          + gamma * (uz[at + plane] - uz[at - plane]);
}
