// The blur of gaussblur.cu, four points a thread: in each of five rows a float4 and two floats on either side, which
// the neighbouring lanes have in theirs. Rows begin 4 before their first point and end 4 after the last; two rows of
// border. By __ldg, as nvcc makes one load of the two floats on the right else.
// run: gaussblur_float4(in f32[3456], out f32[2640], i32=132, i32=20, i32=144, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(2,20) block=(32)
// run: gaussblur_float4(in f32[3456], out f32[2640], i32=132, i32=20, i32=144, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(2,7) block=(31,3)
// run: gaussblur_float4(in f32[3456], out f32[2640], i32=132, i32=20, i32=144, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(1,10) block=(48,2)
// time: gaussblur_float4(in f32[269025408], out f32[268435456], i32=16384, i32=16384, i32=16416, f32=0.25, f32=0.125, f32=0.0625, f32=0.03125, f32=0.015, f32=0.01) grid=(16,16384) block=(256)
static __device__ void row(const float *__restrict__ a, int at, float v[8])
{
    float4 four = __ldg(reinterpret_cast<const float4 *>(a + at));
    v[0] = __ldg(a + at - 2), v[1] = __ldg(a + at - 1);
    v[2] = four.x, v[3] = four.y, v[4] = four.z, v[5] = four.w;
    v[6] = __ldg(a + at + 4), v[7] = __ldg(a + at + 5);
}

extern "C" __global__ void gaussblur_float4(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny,
                                            int pitch, float s00, float s10, float s11, float s20, float s21, float s22)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;
    float v[5][8], sum[4];
#pragma unroll
    for (int y = 0; y < 5; y++)
        row(w0, (j + y) * pitch + 4 + i, v[y]);
#pragma unroll
    for (int x = 0; x < 4; x++)
        sum[x] = s00 * v[2][x + 2] + s10 * (v[2][x + 1] + v[2][x + 3] + v[1][x + 2] + v[3][x + 2])
               + s11 * (v[1][x + 1] + v[1][x + 3] + v[3][x + 1] + v[3][x + 3])
               + s20 * (v[2][x] + v[2][x + 4] + v[0][x + 2] + v[4][x + 2])
               + s21 * (v[1][x] + v[0][x + 1] + v[0][x + 3] + v[1][x + 4] + v[3][x] + v[4][x + 1] + v[4][x + 3]
                        + v[3][x + 4])
               + s22 * (v[0][x] + v[0][x + 4] + v[4][x] + v[4][x + 4]);
    *reinterpret_cast<float4 *>(w1 + j * nx + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
