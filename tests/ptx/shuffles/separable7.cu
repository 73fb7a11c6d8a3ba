// A blur of seven by seven points with weights that are products, a point a thread: rows of seven, of which six are in
// the neighbouring lanes. Three rows and columns of border.
// run: separable7(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125) grid=(3,21) block=(32)
// run: separable7(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125) grid=(2,7) block=(48,3)
// run: separable7(in f32[1890], out f32[1890], i32=90, i32=21, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125) grid=(2,11) block=(64,2)
// time: separable7(in f32[268435456], out f32[268435456], i32=16384, i32=16384, f32=0.4, f32=0.2, f32=0.0625, f32=0.03125) grid=(64,16384) block=(256)
extern "C" __global__ void separable7(const float *__restrict__ w0, float *__restrict__ w1, int nx, int ny, float s0,
                                      float s1, float s2, float s3)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 3 || j < 3 || i >= nx - 3 || j >= ny - 3)
        return;
    const float weights[4] = {s0, s1, s2, s3};
    float sum = 0;
#pragma unroll
    for (int y = -3; y <= 3; y++) {
        const float *row = w0 + (j + y) * nx + i;
        sum += weights[y < 0 ? -y : y]
             * (s0 * row[0] + s1 * (row[-1] + row[1]) + s2 * (row[-2] + row[2]) + s3 * (row[-3] + row[3]));
    }
    w1[j * nx + i] = sum;
}
