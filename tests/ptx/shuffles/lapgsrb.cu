// Laplacian over 25 points of three planes each way: faces, edges, and points two away.
// run: lapgsrb(in f32[1890], out f32[1890], i32=45, i32=7, i32=6, f32=0.5, f32=0.1, f32=0.05, f32=0.025) grid=(2,7,6) block=(32)
// run: lapgsrb(in f32[1890], out f32[1890], i32=45, i32=7, i32=6, f32=0.5, f32=0.1, f32=0.05, f32=0.025) grid=(2,4,6) block=(31,2)
// run: lapgsrb(in f32[2000], out f32[2000], i32=80, i32=5, i32=5, f32=0.5, f32=0.1, f32=0.05, f32=0.025) grid=(2,5,5) block=(48)
// time: lapgsrb(in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512, f32=0.5, f32=0.1, f32=0.05, f32=0.025) grid=(16,128,512) block=(64,4)
extern "C" __global__ void lapgsrb(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny, int nz,
                                   float c0, float face, float edge, float far)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 2 || j < 2 || k < 2 || i >= nx - 2 || j >= ny - 2 || k >= nz - 2)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    // North and south along j, up and down along k.
    int n = at + nx, s = at - nx, u = at + plane, d = at - plane;
    w1[at] = c0 * w0[at] + face * (w0[at + 1] + w0[at - 1] + w0[n] + w0[s] + w0[u] + w0[d])
           + edge * (w0[n + 1] + w0[u + 1] + w0[d + 1] + w0[s + 1] + w0[u + nx] + w0[d + nx] + w0[u - nx] + w0[d - nx]
                     + w0[n - 1] + w0[u - 1] + w0[d - 1] + w0[s - 1])
           + far * (w0[at + 2] + w0[at - 2] + w0[n + nx] + w0[s - nx] + w0[u + plane] + w0[d - plane]);
}
