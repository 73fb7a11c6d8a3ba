// Conway's game of life on floats 0 and 1: nine loads, three a row from left to right.
// run: gameoflife(in f32[1890] whole 0..1, out f32[1890], i32=90, i32=21) grid=(3,21) block=(32)
// run: gameoflife(in f32[1890] whole 0..1, out f32[1890], i32=90, i32=21) grid=(3,6) block=(33,4)
// run: gameoflife(in f32[1890] whole 0..1, out f32[1890], i32=90, i32=21) grid=(1,21) block=(96)
// time: gameoflife(in f32[268435456] whole 0..1, out f32[268435456], i32=16384, i32=16384) grid=(64,16384) block=(256)
extern "C" __global__ void gameoflife(const float *__restrict__ u0, float *__restrict__ u1, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
        return;
    int at = j * nx + i, up = at - nx, down = at + nx;
    int around = (u0[up - 1] > 0.5f) + (u0[up] > 0.5f) + (u0[up + 1] > 0.5f) + (u0[at - 1] > 0.5f);
    int here = u0[at] > 0.5f;
    around += (u0[at + 1] > 0.5f) + (u0[down - 1] > 0.5f) + (u0[down] > 0.5f) + (u0[down + 1] > 0.5f);
    u1[at] = around == 3 || around + here == 3 ? 1.0f : 0.0f;
}
