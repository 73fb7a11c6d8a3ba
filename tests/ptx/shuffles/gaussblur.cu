// Blur of 5 x 5 points, the near ones first.
// run: gaussblur(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(3,21) block=(32)
// run: gaussblur(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(2,7) block=(48,3)
// run: gaussblur(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(3,21) block=(31)
// time: gaussblur(in f32[268435456], out f32[268435456], i32=16384, i32=16384, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(64,16384) block=(256)
extern "C" __global__ void gaussblur(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny, float s00,
                                     float s10, float s11, float s20, float s21, float s22)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 2 || j < 2 || i >= nx - 2 || j >= ny - 2)
        return;
    int r0 = j * nx + i, m1 = r0 - nx, p1 = r0 + nx, m2 = m1 - nx, p2 = p1 + nx;
    w1[r0] = s00 * w0[r0] + s10 * (w0[r0 - 1] + w0[r0 + 1] + w0[m1] + w0[p1])
           + s11 * (w0[m1 - 1] + w0[m1 + 1] + w0[p1 - 1] + w0[p1 + 1])
           + s20 * (w0[r0 - 2] + w0[r0 + 2] + w0[m2] + w0[p2])
           + s21 * (w0[m1 - 2] + w0[m2 - 1] + w0[m2 + 1] + w0[m1 + 2] + w0[p1 - 2] + w0[p2 - 1] + w0[p2 + 1]
                    + w0[p1 + 2])
           + s22 * (w0[m2 - 2] + w0[m2 + 2] + w0[p2 - 2] + w0[p2 + 2]);
}
