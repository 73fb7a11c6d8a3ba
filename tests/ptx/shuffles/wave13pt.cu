// A step of the wave equation, fourth order in space: 13 points of this step and one of the last.
// run: wave13pt(in f32[1890], in f32[1890], out f32[1890], i32=45, i32=7, i32=6, f32=0.5, f32=-1, f32=0.1, f32=-0.01) grid=(2,7,6) block=(32)
// run: wave13pt(in f32[1890], in f32[1890], out f32[1890], i32=45, i32=7, i32=6, f32=0.5, f32=-1, f32=0.1, f32=-0.01) grid=(2,3,6) block=(33,3)
// run: wave13pt(in f32[2400], in f32[2400], out f32[2400], i32=96, i32=5, i32=5, f32=0.5, f32=-1, f32=0.1, f32=-0.01) grid=(1,5,5) block=(96)
// time: wave13pt(in f32[268435456], in f32[268435456], out f32[268435456], i32=1024, i32=512, i32=512, f32=0.5, f32=-1, f32=0.1, f32=-0.01) grid=(16,128,512) block=(64,4)
extern "C" __global__ void wave13pt(const float *__restrict__ w0, const float *__restrict__ w1, float *__restrict__ w2,
                                    int nx, int ny, int nz, float m0, float m1, float m2, float m3)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 2 || j < 2 || k < 2 || i >= nx - 2 || j >= ny - 2 || k >= nz - 2)
        return;
    // The middle dimension is the table's k, the outer one its j.
    int plane = nx * ny, at = k * plane + j * nx + i;
    w2[at] = m0 * w1[at] + m1 * w0[at]
           + m2 * (w1[at + 1] + w1[at - 1] + w1[at + plane] + w1[at - plane] + w1[at + nx] + w1[at - nx])
           + m3 * (w1[at + 2] + w1[at - 2] + w1[at + 2 * plane] + w1[at - 2 * plane] + w1[at + 2 * nx]
                   + w1[at - 2 * nx]);
}
