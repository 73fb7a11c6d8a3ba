// A blur of seventeen rows of nine points with weights that are products, four points a thread: in each row a float4 and
// four floats on either side, which the neighbouring lanes have in theirs. Rows begin 4 before their first point and end
// 4 after the last; eight rows of border. By __ldg, as in gaussblur_float4.cu.
// run: separable17_float4(in f32[5184], out f32[2640], i32=132, i32=20, i32=144, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125, f32=0.01) grid=(2,20) block=(32)
// run: separable17_float4(in f32[5184], out f32[2640], i32=132, i32=20, i32=144, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125, f32=0.01) grid=(2,7) block=(31,3)
// run: separable17_float4(in f32[5184], out f32[2640], i32=132, i32=20, i32=144, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125, f32=0.01) grid=(1,10) block=(48,2)
// time: separable17_float4(in f32[269222400], out f32[268435456], i32=16384, i32=16384, i32=16416, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125, f32=0.01) grid=(16,16384) block=(256)
extern "C" __global__ void separable17_float4(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny,
                                              int pitch, float s0, float s1, float s2, float s3, float s4)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;
    const float weights[5] = {s0, s1, s2, s3, s4};
    float sum[4] = {0, 0, 0, 0};
#pragma unroll
    for (int y = -8; y <= 8; y++) {
        int at = (j + y + 8) * pitch + 4 + i;
        float4 four = __ldg(reinterpret_cast<const float4 *>(w0 + at));
        float v[12] = {__ldg(w0 + at - 4), __ldg(w0 + at - 3), __ldg(w0 + at - 2), __ldg(w0 + at - 1),
                       four.x, four.y, four.z, four.w,
                       __ldg(w0 + at + 4), __ldg(w0 + at + 5), __ldg(w0 + at + 6), __ldg(w0 + at + 7)};
#pragma unroll
        for (int x = 0; x < 4; x++)
            sum[x] += weights[(y < 0 ? -y : y) / 2]
                    * (s0 * v[x + 4] + s1 * (v[x + 3] + v[x + 5]) + s2 * (v[x + 2] + v[x + 6])
                       + s3 * (v[x + 1] + v[x + 7]) + s4 * (v[x] + v[x + 8]));
    }
    *reinterpret_cast<float4 *>(w1 + j * nx + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
