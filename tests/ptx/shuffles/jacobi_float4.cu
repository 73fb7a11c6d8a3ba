// The sweep of jacobi.cu, four points a thread: in each of three rows a float4 and a float on either side. Rows begin 4
// before their first point and end 4 after the last; one row of border. By __ldg as in gaussblur_float4.cu.
// run: jacobi_float4(in f32[3168], out f32[2640], i32=132, i32=20, i32=144, f32=0.5, f32=0.1, f32=0.025) grid=(2,20) block=(32)
// run: jacobi_float4(in f32[3168], out f32[2640], i32=132, i32=20, i32=144, f32=0.5, f32=0.1, f32=0.025) grid=(1,7) block=(33,3)
// run: jacobi_float4(in f32[3168], out f32[2640], i32=132, i32=20, i32=144, f32=0.5, f32=0.1, f32=0.025) grid=(1,20) block=(96)
// time: jacobi_float4(in f32[268992576], out f32[268435456], i32=16384, i32=16384, i32=16416, f32=0.5, f32=0.1, f32=0.025) grid=(16,16384) block=(256)
static __device__ void row(const float *__restrict__ a, int at, float v[6])
{
    float4 four = __ldg(reinterpret_cast<const float4 *>(a + at));
    v[0] = __ldg(a + at - 1);
    v[1] = four.x, v[2] = four.y, v[3] = four.z, v[4] = four.w;
    v[5] = __ldg(a + at + 4);
}

extern "C" __global__ void jacobi_float4(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny,
                                         int pitch, float c0, float c1, float c2)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;
    float v[3][6], sum[4];
#pragma unroll
    for (int y = 0; y < 3; y++)
        row(w0, (j + y) * pitch + 4 + i, v[y]);
#pragma unroll
    for (int x = 0; x < 4; x++)
        sum[x] = c0 * v[1][x + 1] + c1 * (v[1][x] + v[0][x + 1] + v[1][x + 2] + v[2][x + 1])
               + c2 * (v[0][x] + v[2][x] + v[0][x + 2] + v[2][x + 2]);
    *reinterpret_cast<float4 *>(w1 + j * nx + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
