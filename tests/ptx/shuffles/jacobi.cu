// A sweep of Jacobi with nine points.
// run: jacobi(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.5, f32=0.1, f32=0.025) grid=(3,21) block=(32)
// run: jacobi(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.5, f32=0.1, f32=0.025) grid=(3,6) block=(33,4)
// run: jacobi(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.5, f32=0.1, f32=0.025) grid=(1,21) block=(96)
// time: jacobi(in f32[268435456], out f32[268435456], i32=16384, i32=16384, f32=0.5, f32=0.1, f32=0.025) grid=(64,16384) block=(256)
extern "C" __global__ void jacobi(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny, float c0,
                                  float c1, float c2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
        return;
    int at = j * nx + i, up = at - nx, down = at + nx;
    w1[at] = c0 * w0[at] + c1 * (w0[at - 1] + w0[up] + w0[at + 1] + w0[down])
           + c2 * (w0[up - 1] + w0[down - 1] + w0[up + 1] + w0[down + 1]);
}
