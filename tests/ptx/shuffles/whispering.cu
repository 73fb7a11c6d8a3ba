// Electric field, and the magnetic one from it, in a whispering gallery. The pointers may be the same: h0[at] is read
// again after the stores of the electric field, a shuffle over 0 lanes for who knows that it is another array.
// run: whispering(in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], out f32[1890], out f32[1890], out f32[1890], i32=90, i32=21) grid=(3,21) block=(32)
// run: whispering(in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], out f32[1890], out f32[1890], out f32[1890], i32=90, i32=21) grid=(3,7) block=(33,3)
// run: whispering(in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], in f32[1890], out f32[1890], out f32[1890], out f32[1890], i32=90, i32=21) grid=(2,21) block=(48)
// time: whispering(in f32[134217728], in f32[134217728], in f32[134217728], in f32[134217728], in f32[134217728], in f32[134217728], in f32[134217728], in f32[134217728], out f32[134217728], out f32[134217728], out f32[134217728], i32=16384, i32=8192) grid=(64,8192) block=(256)
extern "C" __global__ void whispering(const float *e0_0, const float *e0_1, const float *h0, const float *ca,
                                      const float *cb, const float *da, const float *db, const float *u_em0,
                                      float *e1_0, float *e1_1, float *h1, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
        return;
    int at = j * nx + i, up = at - nx;
    float x = ca[at] * e0_0[at] + cb[at] * (h0[at + nx] - h0[at]);
    float y = ca[at] * e0_1[at] - cb[at] * (h0[at + 1] - h0[at]);
    float x_up = ca[up] * e0_0[up] + cb[up] * (h0[at] - h0[up]);
    float y_left = ca[at - 1] * e0_1[at - 1] - cb[at - 1] * (h0[at] - h0[at - 1]);
    e1_0[at] = x;
    e1_1[at] = y;
    h1[at] = da[at] * h0[at] + db[at] * (x - x_up + y_left - y + u_em0[at]);
}
