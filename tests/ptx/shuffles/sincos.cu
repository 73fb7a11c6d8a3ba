// Sine and cosine of two arrays. Reducing large arguments, nvcc reads a table of its own besides the two loads.
// run: sincos3d(in f32[1350] -200000..200000, in f32[1350], out f32[1350], i32=45, i32=6, i32=5) grid=(2,6,5) block=(32)
// run: sincos3d(in f32[1350], in f32[1350] -200000..200000, out f32[1350], i32=45, i32=6, i32=5) grid=(2,2,5) block=(31,3)
// time: sincos3d(in f32[268435456] -200000..200000, in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512) grid=(16,128,512) block=(64,4)
extern "C" __global__ void sincos3d(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ xy,
                                    int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz)
        return;
    int at = (k * ny + j) * nx + i;
    xy[at] = sinf(x[at]) + cosf(y[at]);
}
