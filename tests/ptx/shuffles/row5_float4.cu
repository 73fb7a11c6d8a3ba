// Five points of a row, four results a thread: a float4 and two floats on either side. The row begins 4 before its
// first point and ends 4 after the last.
// run: row5_float4(in f32[508], out f32[500], i32=500, f32=0.5, f32=0.2, f32=-0.1) grid=(2) block=(64)
// run: row5_float4(in f32[508], out f32[500], i32=500, f32=0.5, f32=0.2, f32=-0.1) grid=(5) block=(31)
// run: row5_float4(in f32[508], out f32[500], i32=500, f32=0.5, f32=0.2, f32=-0.1) grid=(2) block=(96)
// time: row5_float4(in f32[536870920], out f32[536870912], i32=536870912, f32=0.5, f32=0.2, f32=-0.1) grid=(524288) block=(256)
extern "C" __global__ void row5_float4(const float *__restrict__ a, float *__restrict__ c, int n, float c0, float c1,
                                       float c2)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    int at = i + 4;
    float4 four = __ldg(reinterpret_cast<const float4 *>(a + at));
    float left[2] = {__ldg(a + at - 2), __ldg(a + at - 1)}, right[2] = {__ldg(a + at + 4), __ldg(a + at + 5)}, sum[4];
    float v[8] = {left[0], left[1], four.x, four.y, four.z, four.w, right[0], right[1]};
#pragma unroll
    for (int x = 0; x < 4; x++)
        sum[x] = c0 * v[x + 2] + c1 * (v[x + 1] + v[x + 3]) + c2 * (v[x] + v[x + 4]);
    *reinterpret_cast<float4 *>(c + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
