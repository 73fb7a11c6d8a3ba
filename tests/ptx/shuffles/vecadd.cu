// A sum of two arrays: nothing to share.
// run: vecadd(in f32[1350], in f32[1350], out f32[1350], i32=45, i32=6, i32=5) grid=(2,6,5) block=(32)
// run: vecadd(in f32[1350], in f32[1350], out f32[1350], i32=45, i32=6, i32=5) grid=(2,2,5) block=(31,3)
// time: vecadd(in f32[268435456], in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512) grid=(16,128,512) block=(64,4)
extern "C" __global__ void vecadd(const float *__restrict__ w0, const float *__restrict__ w1, float *__restrict__ w2,
                                  int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz)
        return;
    int at = (k * ny + j) * nx + i;
    w2[at] = w0[at] + w1[at];
}
