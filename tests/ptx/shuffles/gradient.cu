// Gradient by central differences, into three arrays; two loads are two apart along x.
// run: gradient(in f32[1350], out f32[1350], out f32[1350], out f32[1350], i32=45, i32=6, i32=5, f32=0.5, f32=0.25, f32=2) grid=(2,6,5) block=(32)
// run: gradient(in f32[1350], out f32[1350], out f32[1350], out f32[1350], i32=45, i32=6, i32=5, f32=0.5, f32=0.25, f32=2) grid=(2,2,5) block=(33,3)
// run: gradient(in f32[1800], out f32[1800], out f32[1800], out f32[1800], i32=100, i32=6, i32=3, f32=0.5, f32=1, f32=2) grid=(2,6,3) block=(96)
// time: gradient(in f32[268435456], out f32[268435456], out f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512, f32=0.5, f32=0.25, f32=2) grid=(16,128,512) block=(64,4)
extern "C" __global__ void gradient(const float *__restrict__ u, float *__restrict__ ux, float *__restrict__ uy,
                                    float *__restrict__ uz, int nx, int ny, int nz, float alpha, float beta,
                                    float gamma)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    ux[at] = alpha * (u[at + 1] - u[at - 1]);
    uy[at] = beta * (u[at + nx] - u[at - nx]);
    uz[at] = gamma * (u[at + plane] - u[at - plane]);
}
